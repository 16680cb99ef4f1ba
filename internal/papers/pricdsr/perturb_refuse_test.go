package pricdsr

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/perturb"
	"privrec/internal/run"
)

// Sizes that no sampler can hold are refused before anything of that size is made.
func TestSizesAreRefusedBeforeMemoryIsTaken(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "in.tsv", "user_id\titem_id\nann\t1\n")
	for _, c := range []struct {
		items, length int
		want          string
	}{
		{math.MaxInt, 3, "items is 9223372036854775807"}, {1 << 28, 1 << 27, "length is 134217728"},
		{20, math.MaxInt, "length is 9223372036854775807"}, {math.MaxInt, math.MaxInt, "length is"},
	} {
		_, err := Perturb(context.Background(), Options{Settings: perturb.Settings{In: in, Out: filepath.Join(dir, "out.tsv"), Items: c.items, Length: c.length, Workers: 1}, Epsilon: 3, Small: true})
		var usage *run.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d items, %d cells: %v, want %q", c.items, c.length, err, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
}

// What is read is never replaced, by whatever name: it is the only true copy.
func TestWhatIsReadIsNotReplaced(t *testing.T) {
	const text = "user_id\titem_id\nann\t1\n"
	for _, c := range []struct{ in, catalogue, out string }{
		{"in.tsv", "", "in.tsv"}, {"in.tsv", "", "./x/../in.tsv"}, {"in.tsv", "", "link.tsv"}, {"link.tsv", "", "in.tsv"},
		{"out.empty.tsv", "", "out.tsv"}, {"out.report.txt", "", "out.csv"}, {"in.tsv", "all.tsv", "all.tsv"},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "x"), 0o755), os.Symlink(filepath.Join(dir, "in.tsv"), filepath.Join(dir, "link.tsv"))); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "in.tsv", text)
		if c.in != "link.tsv" {
			write(t, dir, c.in, text)
		}
		o := Options{Settings: perturb.Settings{In: filepath.Join(dir, c.in), InForm: "tsv", Out: dir + "/" + c.out, Items: 9, Length: 2, Force: true, Workers: 1}, Epsilon: 3}
		if c.catalogue != "" {
			o.Items, o.Catalogue = 0, write(t, dir, c.catalogue, "item_id\n1\n2\n")
		}
		_, err := Perturb(context.Background(), o)
		var usage *run.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "is read by this run") {
			t.Errorf("%+v: %v", c, err)
		}
		if got := read(t, o.In); got != text {
			t.Errorf("%+v: the input is now %q", c, got)
		}
	}
}

// An id that a file cannot hold is refused whatever the noise: not only when its item
// is drawn, or the user's row comes out empty.
func TestRefusalsDoNotDependOnTheNoise(t *testing.T) {
	for _, c := range []struct{ name, text, catalogue, out, want string }{
		{"in.csv", "user_id,item_id\n\"a\tb\",1\n", "", "out.csv", `user id "a\tb" has a tab in it`},
		{"in.csv", "user_id,item_id\n\"a\tb\",1\n", "", "out.tsv", `id "a\tb" has a separator of the output's form`},
		{"in.tsv", "user_id\titem_id\na b\t1\n", "", "out.txt", `id "a b" has a separator of the output's form`},
		{"in.tsv", "user_id\titem_id\na\t1\n", "item_id\n1\nx y\n", "out.txt", `id "x y" has a separator of the output's form`},
	} {
		dir := t.TempDir()
		o := Options{Settings: perturb.Settings{In: write(t, dir, c.name, c.text), Out: filepath.Join(dir, c.out), Items: 1, Length: 1, Workers: 1}, Limits: true} // half of the rows come out empty
		if c.catalogue != "" {
			o.Items, o.Catalogue = 0, write(t, dir, "all.tsv", c.catalogue)
		}
		for o.Seed = range 30 { // false alarms: none, a refusal is certain
			var data *dataset.Error // of the file, not of the command
			if _, err := Perturb(context.Background(), o); !errors.As(err, &data) || !strings.Contains(err.Error(), c.want) || data.File == "" || (data.Line == 2) == (c.catalogue != "") {
				t.Errorf("%q as %s, seed %d: %v", c.text, c.out, o.Seed, err)
				break
			}
		}
	}
}

// A file that came to be while the run was on stays.
func TestAFileThatCameMeanwhileStays(t *testing.T) {
	dir := t.TempDir()
	o := options()
	o.In, o.Out = write(t, dir, "in.tsv", table(someHistories(20, 60, 9, 1))), filepath.Join(dir, "out.tsv")
	o.Progress = onPhase(func() { write(t, dir, "out.report.txt", "another's") })
	if _, err := Perturb(context.Background(), o); err == nil || !strings.Contains(err.Error(), "out.report.txt is there already") {
		t.Errorf("error %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || read(t, filepath.Join(dir, "out.report.txt")) != "another's" {
		t.Errorf("left %v (%v)", left, err)
	}
}

// onPhase is called at every phase.
type onPhase func()

func (f onPhase) Phase(string)      { f() }
func (f onPhase) Begin(string, int) {}
func (f onPhase) Add(int)           {}
func (f onPhase) End(string)        {}

// A command that died while it replaced a set is named by the next one, which with force
// writes a new set.
func TestPerturbFindsAHalfReplacedSet(t *testing.T) {
	dir := t.TempDir()
	o := Options{Settings: perturb.Settings{In: filepath.Join(dir, "in.txt"), Out: filepath.Join(dir, "out.tsv"), Items: 9, Length: 3, Workers: 1}, Epsilon: 2}
	half := filepath.Join(dir, ".tmp-perturb-1")
	if err := os.Mkdir(half, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{o.In: "a 1 2 3\n", filepath.Join(half, "replaces"): `{"out": "out.tsv"}`,
		filepath.Join(half, "was-out"): "old", filepath.Join(half, "out"): "new"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var usage *run.UsageError
	if _, err := Perturb(t.Context(), o); !errors.As(err, &usage) || !strings.Contains(usage.Message, half) {
		t.Errorf("does not name %s: %v", half, err)
	}
	o.Force = true
	if _, err := Perturb(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".tmp-perturb-*")); err != nil || len(left) > 0 {
		t.Errorf("left %q (%v)", left, err)
	}
}
