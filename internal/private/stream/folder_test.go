package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// goods are the items of the streams of these tests.
var goods = []string{"a", "b", "c", "d", "e"}

// files are the rows of four days: user and item.
var files = [4]string{"u1 a,u1 b,u2 b,u2 c,u3 a", "u1 c,u1 a,u4 d,u4 e,u4 a,u4 b", "u3 b,u5 nothing,u5 e",
	"u2 a,u6 c,u6 d"}

// rowsFile writes rows as a table and returns its path.
func rowsFile(t testing.TB, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	text := "user_id,item_id\n" + strings.NewReplacer(" ", ",", ",", "\n").Replace(rows) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// create makes a stream of public counts in a new folder.
func create(t testing.TB, s Settings, seed uint64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	o := Start{Public: []float64{9, 8, 2, 1, 0}, Most: 4, Power: 0.2, NoiseSeed: seed}
	if err := Create(t.Context(), dir, s, goods, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

// open opens a stream until close, or the end of the test.
func open(t testing.TB, dir string, moved bool) *Folder {
	t.Helper()
	f, err := Open(t.Context(), dir, moved)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// on opens a stream, does something with it and closes it.
func on(t testing.TB, dir string, do func(f *Folder) error) error {
	t.Helper()
	f, err := Open(t.Context(), dir, false)
	if err != nil {
		return err
	}
	err = do(f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return err
}

// contents returns all files of a folder.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// copied copies a folder to a place beside it.
func copied(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "s")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// streams are the settings of a plain and of a secure stream.
func streams(t *testing.T, do func(t *testing.T, s Settings, seed uint64)) {
	for name, secure := range map[string]bool{"blt": false, "banded": false, "secure": true} {
		t.Run(name, func(t *testing.T) {
			if secure {
				do(t, small(t, "banded", len(files), true), 0)
				return
			}
			do(t, small(t, name, len(files), false), 5)
		})
	}
}

// values returns the values of a series in a release.
func (r *Released) values(name string) []float64 {
	if name == "counts" {
		return r.Counts
	}
	return r.Matrix
}

// What a stream releases is, step by step, what users contributed plus B z, with z of the step's own stream of noise
// and B by dense algebra. In a secure stream C applied to what each release adds is in whole steps of the noise. It
// does not matter if the stream is opened again after every command.
func TestReleasesAreSumsAndNoise(t *testing.T) {
	streams(t, func(t *testing.T, s Settings, seed uint64) {
		again := create(t, s, seed)
		f := open(t, copied(t, again), true)
		x := NewSums(s, f.Catalogue)
		number := f.Catalogue.number()
		z, before := map[string][][]float64{}, map[string][]float64{}
		increments := map[string][][]float64{}
		for step, rows := range files {
			path := rowsFile(t, rows)
			a, err := f.Add(t.Context(), path, dayOf(step), false)
			if err != nil || a.Step != step+1 || a.Rows != strings.Count(rows, ",")+1 {
				t.Fatal(a, err)
			}
			users := map[string][]int32{}
			for _, row := range strings.Split(rows, ",") {
				if i, ok := number[row[3:]]; ok {
					users[row[:2]] = append(users[row[:2]], i)
				}
			}
			for id, items := range users {
				x.Add(id, items)
			}
			r, err := f.Release()
			if err != nil || r.Step != step+1 || r.Day != dayOf(step) {
				t.Fatal(r, err)
			}
			if kept, err := Read(f.Dir); err != nil || !reflect.DeepEqual(kept, r) {
				t.Fatalf("read again: %+v (%v)", kept, err)
			}
			for _, n := range f.series() {
				draw := f.key.Stream("private.stream", n.noise.Purpose, f.now.Chain)
				row := make([]float64, len(n.exact))
				draw.Normals64(row)
				for j := range row {
					row[j] *= n.noise.Deviation
				}
				z[n.name] = append(z[n.name], row)
				got := r.values(n.name)
				if before[n.name] == nil {
					before[n.name] = make([]float64, len(got))
				}
				more := make([]float64, len(got))
				for j := range got {
					more[j] = got[j] - before[n.name][j]
				}
				increments[n.name], before[n.name] = append(increments[n.name], more), got
				strategy, err := s.Design.Strategy()
				if err != nil {
					t.Fatal(err)
				}
				c := dense(strategy.Column(), step+1)
				if s.Secure {
					other := 0
					for _, v := range times(c, increments[n.name])[step] {
						whole := v / n.noise.Step
						if math.Abs(whole-math.Round(whole)) > 1e-3 {
							t.Fatalf("step %d of %s: %v of the unit", step+1, n.name, whole)
						}
						if math.Mod(math.Round(whole), 256) != 0 {
							other++
						}
					}
					if other == 0 {
						t.Errorf("step %d of %s has no noise", step+1, n.name)
					}
					continue
				}
				exact := x.Matrix
				if n.name == "counts" {
					exact = x.Counts
				}
				for j, v := range got {
					sum := 0.0
					for _, y := range solve(c, z[n.name], j) {
						sum += y
					}
					if math.Abs(v-sum-float64(exact[j])*n.unit) > 1e-9 {
						t.Fatalf("step %d, value %d of %s: %v less noise of %v, want %v", step+1, j, n.name, v, sum,
							float64(exact[j])*n.unit)
					}
				}
			}
			for _, do := range []func(*Folder) error{
				func(f *Folder) error { _, err := f.Add(t.Context(), path, dayOf(step), false); return err },
				func(f *Folder) error { _, err := f.Release(); return err },
				func(f *Folder) error { _, err := f.Document(); return err },
			} {
				if err := on(t, again, do); err != nil {
					t.Fatal(err)
				}
			}
		}
		l, err := (privacy.Reading{Unfinished: true}).File(filepath.Join(f.Dir, run.LedgerName))
		if err != nil || (l.Noise() == privacy.Secure) != s.Secure || len(l.Entries()) != 2 {
			t.Errorf("ledger %v (%v)", l, err)
		}
		one, two := contents(t, f.Dir), contents(t, again)
		delete(one, aboutName) // names the folder
		delete(two, aboutName)
		if same := maps.Equal(one, two); same == s.Secure {
			t.Errorf("in one process and in many: equal is %v", same)
		}
	})
}

// dayOf returns the day of a step.
func dayOf(step int) string { return fmt.Sprintf("2026-11-%02d", 7*step+1) }

// solve returns C^-1 z of a column.
func solve(c, z [][]float64, j int) []float64 {
	y := make([]float64, len(c))
	for t := range c {
		y[t] = z[t][j]
		for k := range t {
			y[t] -= c[t][k] * y[k]
		}
		y[t] /= c[t][t]
	}
	return y
}

// after returns what a new stream releases after some files, one step for each.
func after(t testing.TB, s Settings, seed uint64, o Start, ids []string, files ...string) *Released {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	o.NoiseSeed = seed
	if err := Create(t.Context(), dir, s, ids, o); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir, false)
	var r *Released
	for _, rows := range files {
		if _, err := f.Add(t.Context(), rowsFile(t, rows), "", false); err != nil {
			t.Fatal(err)
		}
		var err error
		if r, err = f.Release(); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Equal seeds, rows and settings give equal noise. If one of them differs, even by rows of items that no stream knows,
// nothing of the noise is shared: else two releases would show what it is.
func TestNoiseIsOfSeedRowsAndSettings(t *testing.T) {
	s := small(t, "banded", 4, false)
	all := after(t, s, 5, Start{}, goods, files[0])
	same := after(t, s, 5, Start{}, goods, files[0])
	if !slices.Equal(all.Counts, same.Counts) || !slices.Equal(all.Matrix, same.Matrix) {
		t.Error("equal streams differ")
	}
	terms, err := s.Terms()
	if err != nil {
		t.Fatal(err)
	}
	more, seed, counts := s, s, s
	more.Epsilon, seed.Seed, counts.Counts = 8, 2, 0.1000001
	wide, err := more.Terms()
	if err != nil {
		t.Fatal(err)
	}
	turned := slices.Clone(goods)
	turned[3], turned[4] = turned[4], turned[3]
	for what, r := range map[string]*Released{
		"other seed":     after(t, s, 6, Start{}, goods, files[0]),
		"other rows":     after(t, s, 5, Start{}, goods, files[0]+",u9 unknown"),
		"in two files":   after(t, s, 5, Start{}, goods, "u1 a,u1 b,u2 b,u2 c", "u3 a"),
		"key":            after(t, s, 0, Start{}, goods, files[0]),
		"other epsilon":  after(t, more, 5, Start{}, goods, files[0]),
		"other choices":  after(t, seed, 5, Start{}, goods, files[0]),
		"other share":    after(t, counts, 5, Start{}, goods, files[0]),
		"items turned":   after(t, s, 5, Start{}, turned, files[0]),
		"another matrix": after(t, s, 5, Start{Public: []float64{5, 4, 3, 2, 1}, Most: 5, Power: 0.3}, goods, files[0]),
	} {
		deviation := terms.Counts.Deviation
		if what == "other epsilon" {
			deviation = wide.Counts.Deviation
		}
		for i := 3; i < 5; i++ { // nobody has them: their counts are noise
			if a, b := all.Counts[i]/terms.Counts.Deviation, r.Counts[i]/deviation; math.Abs(a-b) < 1e-6 {
				t.Errorf("%s: count %d has the noise %v again", what, i, a)
			}
		}
	}
}

// A start by noisy counts pays for them, lists them and takes their noise from the rows and the settings.
func TestStart(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := small(t, "banded", 4, secure)
		s.Start = 0.2
		rows := rowsFile(t, files[0]+","+files[1])
		dir := filepath.Join(t.TempDir(), "s")
		if err := Create(t.Context(), dir, s, goods, Start{Rows: rows, Most: 3, Power: 0.2}); err != nil {
			t.Fatal(err)
		}
		f := open(t, dir, false)
		l, err := (privacy.Reading{Unfinished: true}).File(filepath.Join(dir, run.LedgerName))
		if err != nil || len(l.Entries()) != 3 || len(f.Catalogue.Rows) != 3 || f.sums.Users() != 0 {
			t.Errorf("%v (%v), %+v", l, err, f.Catalogue)
		}
		if _, err := f.Add(t.Context(), rows, "", false); err != nil {
			t.Errorf("the rows of the start as the first file: %v", err)
		}
	}
}

// Whatever does not fit is refused by name, and nothing is written.
func TestRefused(t *testing.T) {
	base := create(t, small(t, "banded", 2, false), 5)
	f := open(t, base, false)
	first := rowsFile(t, files[0])
	if _, err := f.Add(t.Context(), first, "2026-11-08", false); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Release(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	keyed := open(t, create(t, small(t, "banded", 2, false), 0), false)
	if err := keyed.Close(); err != nil {
		t.Fatal(err)
	}
	other := contents(t, keyed.Dir)
	twin := contents(t, create(t, small(t, "banded", 2, false), 5))
	unlike := small(t, "banded", 2, false)
	unlike.Epsilon = 3
	unlikeFiles := contents(t, create(t, unlike, 5))
	put := func(name, text string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	remove := func(name string) func(dir string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	change := func(name, from, to string) func(dir string) error {
		return func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && !bytes.Contains(b, []byte(from)) {
				err = fmt.Errorf("%s has no %q", name, from)
			}
			if err != nil {
				return err
			}
			return put(name, strings.Replace(string(b), from, to, 1))(dir)
		}
	}
	add := func(rows, day string, late bool) func(context.Context, *Folder) error {
		return func(ctx context.Context, f *Folder) error {
			_, err := f.Add(ctx, rowsFile(t, rows), day, late)
			return err
		}
	}
	for _, c := range []struct {
		name, want string
		from       string // a folder; "": base
		before     func(dir string) error
		do         func(context.Context, *Folder) error
	}{
		{name: "twice", want: "was added before, for step 1", do: add(files[0], "", false)},
		{name: "the day again", want: "is not after 2026-11-08, which was released in step 1",
			do: add(files[1], "2026-11-08", false)},
		{name: "an earlier day", want: "is not after", do: add(files[1], "2026-11-07", false)},
		{name: "no day", want: "want a date", do: add(files[1], "2026-11-31", false)},
		{name: "an empty id", want: "no id", do: add("u1 ", "", false)},
		{name: "no table", want: "want a table", do: func(ctx context.Context, f *Folder) error {
			_, err := f.Add(ctx, filepath.Join(f.Dir, aboutName), "", false)
			return err
		}},
		{name: "no state", want: "read the state of the stream", before: remove(stateName)},
		{name: "a damaged state", want: "damaged", before: change(stateName, "u1", "u7")},
		{name: "a cut state", want: "read the state of the stream", before: put(stateName, "x")},
		{name: "another state", want: "it is of another stream", before: put(stateName, other[stateName])},
		{name: "no items", want: itemsName, before: remove(itemsName)},
		{name: "other items", want: "it was changed after the stream began", before: change(itemsName, "b\t", "x\t")},
		{name: "no ledger", want: run.LedgerName, before: remove(run.LedgerName)},
		{name: "a cut ledger", want: "", before: put(run.LedgerName, "")},
		{name: "another ledger", want: "it does not list", before: put(run.LedgerName, unlikeFiles[run.LedgerName])},
		{name: "another description", want: "of another stream", before: put(aboutName, twin[aboutName])},
		{name: "an edited epsilon", want: "it does not list",
			before: change(aboutName, `"epsilon": 1`, `"epsilon": 2`)},
		{name: "an edited horizon", want: "2 steps, want 3", before: change(aboutName, `"horizon": 2`, `"horizon": 3`)},
		{name: "another version", want: "of this version", before: change(aboutName, "stream 1", "stream 2")},
		{name: "no description", want: "is not the folder of a stream", before: remove(aboutName)},
		{name: "no key", want: "the key of the noise", from: keyed.Dir, before: remove(run.NoiseFile)},
		{name: "a damaged key", want: "is damaged, or of another stream", from: keyed.Dir,
			before: change(run.NoiseFile, " ", "0 ")},
		{name: "another key", want: "is damaged, or of another stream", from: keyed.Dir,
			before: put(run.NoiseFile, rng.NewKey().Reveal()+" "+rng.NewKey().Check("x")+"\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copied(t, base)
			if c.from != "" {
				dir = copied(t, c.from)
			}
			if c.before != nil {
				if err := c.before(dir); err != nil {
					t.Fatal(err)
				}
			} else if err := open(t, dir, true).Close(); err != nil { // goes on at its new place
				t.Fatal(err)
			}
			was := contents(t, dir)
			f, err := Open(t.Context(), dir, c.before != nil)
			if c.do != nil && err == nil {
				err = c.do(t.Context(), f)
			}
			if f != nil {
				f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if now := contents(t, dir); !maps.Equal(now, was) {
				t.Errorf("files changed: %v", slices.Sorted(maps.Keys(now)))
			}
		})
	}
}

// refuses fails unless a call returns an error that says something.
func refuses(t *testing.T, want string, call func() error) {
	t.Helper()
	if err := call(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// A copy is refused until it is said that the folder was moved, and then the other one is the copy. One command at a
// time works on a stream. Late rows are taken if they are called that. After the last step nothing is taken.
func TestOneStreamGoesOn(t *testing.T) {
	dir := create(t, small(t, "banded", 2, false), 5)
	moved := copied(t, dir)
	refuses(t, "is a copy of it", func() error { _, err := Open(t.Context(), moved, false); return err })
	f := open(t, moved, true)
	refuses(t, "another command works on the stream", func() error {
		_, err := Open(t.Context(), moved, false)
		return err
	})
	if _, err := f.Add(t.Context(), rowsFile(t, files[0]), "2026-11-08", false); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(t.Context(), rowsFile(t, files[1]), "2026-11-01", true); err != nil {
		t.Fatal(err)
	}
	r, err := f.Release()
	if err != nil || r.Day != "2026-11-08" {
		t.Errorf("after late rows the day is %q (%v)", r.Day, err)
	}
	was := contents(t, moved)
	refuses(t, "all of its 2 releases", func() error { _, err := f.Release(); return err })
	refuses(t, "all of its 2 releases", func() error {
		_, err := f.Add(t.Context(), rowsFile(t, files[2]), "", false)
		return err
	})
	if !maps.Equal(was, contents(t, moved)) {
		t.Error("files changed")
	}
	f.Close()
	if f, err = Open(t.Context(), moved, false); err != nil || f.now.Step != 2 {
		t.Error(err)
	}
	f.Close()
	refuses(t, "is there already", func() error {
		return Create(t.Context(), moved, small(t, "banded", 2, false), goods, Start{})
	})
}

// Ids with signs that tables and JSON have a use for are kept as they are.
func TestOddIDs(t *testing.T) {
	odd := []string{`"q"`, `"`, "#h", " s ", "a,b", "日本", "NaN", "1e5", `\t`, "<&>"}
	dir := filepath.Join(t.TempDir(), "s")
	if err := Create(t.Context(), dir, small(t, "banded", 2, false), odd, Start{}); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir, false)
	if _, err := f.Release(); err != nil || !slices.Equal(f.Catalogue.IDs, odd) {
		t.Errorf("%q (%v)", f.Catalogue.IDs, err)
	}
	if r, err := Read(dir); err != nil || !slices.Equal(r.IDs, odd) {
		t.Errorf("%v", err)
	}
}

// A stream that cannot begin leaves no folder.
func TestCreateRefused(t *testing.T) {
	tree := small(t, "tree", 4, false)
	start := small(t, "banded", 4, false)
	start.Start = 0.2
	bad := small(t, "banded", 4, false)
	bad.Delta = 0
	for want, c := range map[string]struct {
		s   Settings
		ids []string
		o   Start
	}{
		"a tree has noise for its nodes": {tree, goods, Start{}},
		"delta is 0":                     {bad, goods, Start{}},
		"is there twice":                 {small(t, "banded", 4, false), []string{"a", "b", "a"}, Start{}},
		"1 items":                        {small(t, "banded", 4, false), []string{"a"}, Start{}},
		"0 items in the matrix": {small(t, "banded", 4, false), goods,
			Start{Public: make([]float64, 5), Most: 0}},
		"no such file":       {start, goods, Start{Rows: filepath.Join(t.TempDir(), "none.csv"), Most: 3}},
		`"b\tc" is no id`:    {small(t, "banded", 4, false), []string{"a", "b\tc"}, Start{}},
		`"\ufeffx" is no id`: {small(t, "banded", 4, false), []string{"a", "\ufeffx"}, Start{}},
		`"\xff" is no id`:    {small(t, "banded", 4, false), []string{"a", "\xff"}, Start{}},
	} {
		dir := filepath.Join(t.TempDir(), "s")
		if err := Create(t.Context(), dir, c.s, c.ids, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the folder is there", want)
		}
	}
}

// A release is read from the folder of a stream, whatever its name, and one that was changed is refused.
func TestRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop [old]*")
	if err := Create(t.Context(), dir, small(t, "banded", 2, false), goods, Start{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "has no release") {
		t.Error(err)
	}
	f := open(t, dir, false)
	for step := 1; step <= 2; step++ {
		if _, err := f.Release(); err != nil {
			t.Fatal(err)
		}
		if r, err := Read(dir); err != nil || r.Step != step {
			t.Errorf("%v, want step %d", err, step)
		}
	}
	b, err := os.ReadFile(f.path(1))
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(dir, stateName)); err == nil || !strings.Contains(err.Error(), "not of a stream") {
		t.Error(err)
	}
	if d, err := f.Document(); err != nil || d == nil {
		t.Error(err)
	} else if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}
