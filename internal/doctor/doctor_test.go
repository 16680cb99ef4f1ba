package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"privrec/internal/dataset/registry"
	"privrec/internal/fetch"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

func TestFamiliesPass(t *testing.T) {
	for _, f := range families() {
		got := f.test()
		if !got.OK || got.Cases == 0 || got.Worst > 1 {
			t.Errorf("%+v", got)
		}
	}
}

// A kernel that gets one element wrong, by little, is found in every family that
// compares values, as are NaN, other bits and a panic.
func TestFaultsAreFound(t *testing.T) {
	ones := func(i int) float64 { return 1 }
	nan := tensor.Float(math.NaN())
	for name, run := range map[string]func(j *judge){
		"one of three": func(j *judge) { j.near("x", []tensor.Float{1, 2.001, 3}, []float64{1, 2, 3}, ones) },
		"nan":          func(j *judge) { j.near("x", []tensor.Float{1, nan}, []float64{1, 2}, ones) },
		"short":        func(j *judge) { j.near("x", []tensor.Float{1}, []float64{1, 2}, ones) },
		"bits":         func(j *judge) { j.same("x", []tensor.Float{1, 2}, []tensor.Float{1, tensor.Float(2 + epsilon*2)}) },
		"panic":        func(j *judge) { panic("kernel") },
	} {
		got := family{name: name, run: run}.test()
		if got.OK || got.Fault == "" {
			t.Errorf("%s is not found: %+v", name, got)
		}
	}
}

func TestErrSaysWhatToDo(t *testing.T) {
	r := &Report{OK: true}
	if r.Err() != nil {
		t.Error(r.Err())
	}
	r = &Report{Tests: []Test{{Name: "functions"}, {Name: "vectors", OK: true}}, Build: run.Build{SIMD: "avx2"}}
	var h interface{ Hint() string }
	if err := r.Err(); err == nil || !strings.HasSuffix(err.Error(), "failed: functions") || !errors.As(err, &h) || !strings.Contains(h.Hint(), "PRIVREC_SIMD=off") {
		t.Errorf("%v", err)
	}
	r.Build.SIMD = "off"
	if err := r.Err(); !errors.As(err, &h) || strings.Contains(h.Hint(), "PRIVREC_SIMD") {
		t.Errorf("plain Go failed, and the hint is still %q", h.Hint())
	}
}

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path             string
		exists, writable bool
	}{{dir, true, true}, {filepath.Join(dir, "a", "b"), false, true}, {file, true, false}, {filepath.Join(file, "x"), false, false}, {"", false, false}} {
		p := place("runs", c.path, true)
		if p.Exists != c.exists || p.Writable != c.writable || (p.Error == "") != (c.writable || c.path == "") {
			t.Errorf("%q: %+v", c.path, p)
		}
		if c.writable && p.Free <= 0 {
			t.Errorf("%q: no room told: %+v", c.path, p)
		}
	}
	if p := place("data", dir, false); !p.Exists || p.Writable || p.Error != "" {
		t.Errorf("data are read only: %+v", p)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestSets(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	state := func(name string) Set {
		t.Helper()
		list, err := sets(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return list[slices.IndexFunc(list, func(s Set) bool { return s.Name == name })]
	}
	if s := state("ml-1m"); s.State != Missing {
		t.Errorf("nothing there: %+v", s)
	}
	write("ml-1m/ratings.dat", "1::1::5::1\n")
	if s := state("ml-1m"); s.State != Incomplete || s.Bytes == 0 {
		t.Errorf("one of two files: %+v", s)
	}
	write("ml-1m/users.dat.gz", "not read here")
	if s := state("ml-1m"); s.State != fetch.VerdictUnverified || s.Receipt {
		t.Errorf("both files: %+v", s)
	}
	write("ml-1m/"+registry.ReceiptName, "{")
	if s := state("ml-1m"); s.Problem == "" || !s.Receipt {
		t.Errorf("a receipt that is none: %+v", s)
	}
	left := int64(3)
	set, err := registry.Find("ml-1m")
	if err != nil {
		t.Fatal(err)
	}
	v := Set{Name: "ml-1m"}
	if look(t.Context(), set, dir, &v, &left); v.State != Unread {
		t.Errorf("too large to read: %+v", v)
	}
}

// The text fits a terminal of 80 columns for any report, except for long paths.
func TestText(t *testing.T) {
	r := &Report{Machine: Machine{Machine: run.Machine{CPU: "AMD EPYC", Cores: 2, MemoryBytes: 8 << 30}, Threads: 2, SIMD: "off", Load: 9}}
	r.Places = []Place{{Use: "runs", Path: "/r", Error: "no"}, {Use: "data"}}
	for _, f := range families() {
		r.Tests = append(r.Tests, Test{Name: f.name, Cases: 100_000, Worst: 123.4, OK: true})
	}
	r.Tests[2] = Test{Name: "vectors", Fault: "element 3"}
	for _, s := range known() {
		r.Sets = append(r.Sets, Set{Name: s.Name, State: Missing})
	}
	r.Sets[0].State = fetch.VerdictUnverified
	var b bytes.Buffer
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) { // with its end
		if utf8.RuneCountInString(line) > 81 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	for _, want := range []string{"a self-test failed", "FAILED", "vectors: element 3", "BUSY: 9", "plain Go", "CANNOT BE WRITTEN: no", "PRIVREC_DATA is not set",
		"missing: ml-100k"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, &b)
		}
	}
}

func TestExamine(t *testing.T) {
	r, err := Examine(t.Context(), Options{Runs: t.TempDir()}, run.Silent{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK || r.Err() != nil || len(r.Sets) < 3 || len(r.Places) != 3 || r.Machine.Threads < 1 {
		t.Errorf("%+v", r)
	}
	if b, err := json.Marshal(r); err != nil || !bytes.Contains(b, []byte(`"self_tests":[{"name":"matrix products","ok":true`)) {
		t.Errorf("%s %v", b, err)
	}
}
