package exposure

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// generation writes a set of four files, or stages one.
func generation(t *testing.T, files []run.Output, name string, path func(x run.Output) string) {
	t.Helper()
	for _, x := range files {
		if err := os.WriteFile(path(x), []byte(name+" "+x.Name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// generations are those of the files that stand under their names, in their order; "" where
// there is none.
func generations(files []run.Output) (list []string) {
	for _, x := range files {
		b, _ := os.ReadFile(x.Path)
		name, _, _ := strings.Cut(string(b), " ")
		list = append(list, name)
	}
	return list
}

// errDeath is what a rename of the test panics with: the process ends there.
var errDeath = errors.New("death")

// dying calls commit, which ends at its n-th rename from 0.
func dying(t *testing.T, w *swap, n int) (died bool) {
	t.Helper()
	w.rename = func(from, to string) error {
		if n--; n < 0 {
			panic(errDeath)
		}
		return os.Rename(from, to)
	}
	defer func() {
		if x := recover(); x != nil {
			if x != errDeath {
				panic(x)
			}
			died = true
		}
	}()
	if err := w.commit(); err != nil {
		t.Error(err)
	}
	return false
}

// Whenever a process dies while it replaces the files of an output, what is left is the old
// set, the new one, or no output and a folder that the next command names; that one then
// replaces the files when it is told to, and removes the folder.
func TestDeathBetweenNames(t *testing.T) {
	all := func(name string) []string { return []string{name, name, name, name} }
	for _, old := range []string{"old", ""} {
		halves := 0
		for n := 0; ; n++ {
			dir := t.TempDir()
			o := PerturbOptions{In: put(t, dir, "in.txt", "a 1 2 3\nb 4 5 6\n"), Out: filepath.Join(dir, "out.txt"), Items: 50, Ratio: 0.5, Workers: 1}
			files := outputsOf(o.Out)
			if old != "" {
				generation(t, files, old, func(x run.Output) string { return x.Path })
			}
			st, err := run.NewStage(files)
			if err != nil {
				t.Fatal(err)
			}
			generation(t, files, "new", func(x run.Output) string { return st.Path(x.Name) })
			died := dying(t, &swap{st: st, files: files, force: old != ""}, n)
			got := generations(files)
			whole := slices.Equal(got, all(old)) || slices.Equal(got, all("new"))
			if !whole && got[3] != "" {
				t.Errorf("death at rename %d: the output stands beside others: %q", n, got)
			}
			_, err = PerturbFile(t.Context(), o)
			var usage *run.UsageError
			names := errors.As(err, &usage) && strings.Contains(usage.Message, "was stopped while it replaced the files of "+o.Out) && strings.Contains(usage.Message, st.Dir())
			if names == whole {
				t.Errorf("death at rename %d left %q; the next command: %v", n, got, err)
			}
			if !whole {
				halves++
				if old != "" { // all of the old files are still there
					for _, x := range files {
						b, err := os.ReadFile(st.Path(wasPrefix + x.Name))
						if err != nil {
							b, err = os.ReadFile(x.Path)
						}
						if err != nil || !strings.HasPrefix(string(b), "old ") {
							t.Errorf("death at rename %d: the old %s is %q (%v)", n, x.Name, b, err)
						}
					}
				}
			}
			o.Force = true
			if _, err := PerturbFile(t.Context(), o); err != nil {
				t.Errorf("death at rename %d, then --force: %v", n, err)
			}
			if now := generations(files); slices.Contains(now, "old") || slices.Contains(now, "new") || slices.Contains(now, "") {
				t.Errorf("death at rename %d, then --force: %q", n, now)
			}
			if _, err := os.Stat(st.Dir()); whole == errors.Is(err, os.ErrNotExist) {
				t.Errorf("death at rename %d left %q, the folder then: %v", n, got, err)
			}
			if !died {
				break
			}
		}
		if want := map[string]int{"old": 7, "": 3}[old]; halves != want {
			t.Errorf("from %q: %d states in between, want %d", old, halves, want)
		}
	}
}

// A rename that fails leaves what was there, and nothing beside it; where the old files
// cannot be put back either, the error says where they are, and so does the next command.
func TestFailureBetweenNames(t *testing.T) {
	for n := range 8 {
		for _, again := range []bool{false, true} {
			dir := t.TempDir()
			files := outputsOf(filepath.Join(dir, "out.txt"))
			generation(t, files, "old", func(x run.Output) string { return x.Path })
			st, err := run.NewStage(files)
			if err != nil {
				t.Fatal(err)
			}
			generation(t, files, "new", func(x run.Output) string { return st.Path(x.Name) })
			calls := 0
			w := &swap{st: st, files: files, force: true, rename: func(from, to string) error {
				calls++
				if calls-1 == n || again && calls-1 > n {
					return errors.New("full")
				}
				return os.Rename(from, to)
			}}
			err = w.commit()
			var write *dataset.WriteError
			if !errors.As(err, &write) || w.stuck != (again && n > 0) {
				t.Fatalf("failure at rename %d: %v, stuck %v", n, err, w.stuck)
			}
			if w.stuck {
				if halves, err := interruptedSwap(files); err != nil || !slices.Equal(halves, []string{st.Dir()}) || generations(files)[3] != "" {
					t.Errorf("failure at rename %d: %q is left, found %q (%v)", n, generations(files), halves, err)
				}
				if !strings.Contains(err.Error(), st.Dir()) {
					t.Errorf("failure at rename %d: %v does not name %s", n, err, st.Dir())
				}
				continue
			}
			if err := st.Drop(); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadDir(dir)
			if got := generations(files); err != nil || len(left) != 4 || slices.Contains(got, "new") || slices.Contains(got, "") {
				t.Errorf("failure at rename %d: %q, %d files (%v)", n, got, len(left), err)
			}
		}
	}
}

// Files that came to be while the slates were worked on are not replaced unasked.
func TestSwapDoesNotReplaceUnasked(t *testing.T) {
	dir := t.TempDir()
	files := outputsOf(filepath.Join(dir, "out.txt"))
	st, err := run.NewStage(files)
	if err != nil {
		t.Fatal(err)
	}
	generation(t, files, "new", func(x run.Output) string { return st.Path(x.Name) })
	put(t, dir, "out.report.txt", "old text")
	w := &swap{st: st, files: files, rename: os.Rename}
	if err := w.commit(); !errors.Is(err, os.ErrExist) || !slices.Equal(generations(files), []string{"", "old", "", ""}) {
		t.Errorf("%v, %q", err, generations(files))
	}
}
