package perturb

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/run"
)

// fourOutputs are four files of a folder.
func fourOutputs(dir string, force bool) Outputs {
	var o Outputs
	for _, name := range []string{"ledger", "text", "json", "table"} {
		o.Files = append(o.Files, Output{name, filepath.Join(dir, "o."+name)})
	}
	o.Force = force
	return o
}

// generation writes the files of a set, or stages them.
func generation(t *testing.T, o Outputs, name string, path func(x Output) string) {
	t.Helper()
	for _, x := range o.Files {
		if err := os.WriteFile(path(x), []byte(name+" "+x.Name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// staged is a stage with new files on it.
func staged(t *testing.T, o Outputs, name string) *Stage {
	t.Helper()
	st, err := NewStage(o)
	if err != nil {
		t.Fatal(err)
	}
	generation(t, o, name, func(x Output) string { return st.Path(x.Name) })
	return st
}

func under(x Output) string { return x.Path }

// generations are those of the files that stand under their names, in their order; "" where
// there is none.
func generations(o Outputs) (list []string) {
	for _, x := range o.Files {
		b, _ := os.ReadFile(x.Path)
		name, _, _ := strings.Cut(string(b), " ")
		list = append(list, name)
	}
	return list
}

// errDeath is what a rename of the test panics with: the process ends there.
var errDeath = errors.New("death")

// dying commits, which ends at its n-th rename from 0.
func dying(t *testing.T, st *Stage, n int) (died bool) {
	t.Helper()
	st.rename = func(from, to string) error {
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
	if err := st.Commit(run.Silent{}); err != nil {
		t.Error(err)
	}
	return false
}

// phases keeps what progress was told.
type phases struct {
	run.Silent
	said []string
}

func (p *phases) Phase(text string) { p.said = append(p.said, text) }

// Whenever a process dies while it replaces the files of an output, what is left is the old
// set, the new one, or no output and a folder that the next process names; that one then
// replaces the files when it is told to, and removes the folder.
func TestDeathBetweenNames(t *testing.T) {
	all := func(name string) []string { return []string{name, name, name, name} }
	for _, old := range []string{"old", ""} {
		halves := 0
		for n := 0; ; n++ {
			o := fourOutputs(t.TempDir(), old != "")
			if old != "" {
				generation(t, o, old, under)
			}
			st := staged(t, o, "new")
			died := dying(t, st, n)
			got := generations(o)
			whole := slices.Equal(got, all(old)) || slices.Equal(got, all("new"))
			if !whole && got[3] != "" {
				t.Errorf("death at rename %d: the output stands beside others: %q", n, got)
			}
			o.Force = false
			var usage *run.UsageError
			err := o.Free()
			if named := errors.As(err, &usage) && strings.Contains(usage.Message, "was stopped while it replaced the files of "+o.main()) && strings.Contains(usage.Message, st.Dir()); named == whole {
				t.Errorf("death at rename %d left %q; the next process: %v", n, got, err)
			}
			if !whole {
				halves++
				for _, x := range o.Files {
					if old == "" { // none to lose
						break
					}
					b, err := os.ReadFile(st.Path(wasPrefix + x.Name))
					if err != nil {
						b, err = os.ReadFile(x.Path)
					}
					if err != nil || !strings.HasPrefix(string(b), "old ") {
						t.Errorf("death at rename %d: the old %s is %q (%v)", n, x.Name, b, err)
					}
				}
			}
			o.Force = true
			next, said := staged(t, o, "next"), &phases{}
			if err := errors.Join(o.Free(), next.Commit(said), next.Drop()); err != nil {
				t.Errorf("death at rename %d, then by force: %v", n, err)
			}
			if now := generations(o); !slices.Equal(now, all("next")) {
				t.Errorf("death at rename %d, then by force: %q", n, now)
			}
			if _, err := os.Stat(st.Dir()); whole == errors.Is(err, os.ErrNotExist) || whole == (len(said.said) == 1) {
				t.Errorf("death at rename %d left %q, the folder then: %v, said %q", n, got, err, said.said)
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
// cannot be put back either, the error says where they are, and so does the next process.
func TestFailureBetweenNames(t *testing.T) {
	for n := range 8 {
		for _, again := range []bool{false, true} {
			dir := t.TempDir()
			o := fourOutputs(dir, true)
			generation(t, o, "old", under)
			st := staged(t, o, "new")
			calls := 0
			st.rename = func(from, to string) error {
				calls++
				if calls-1 == n || again && calls-1 > n {
					return errors.New("full")
				}
				return os.Rename(from, to)
			}
			err := st.Commit(run.Silent{})
			var write *format.WriteError
			if !errors.As(err, &write) || st.stuck != (again && n > 0) {
				t.Fatalf("failure at rename %d: %v, stuck %v", n, err, st.stuck)
			}
			if e := st.Drop(); e != nil {
				t.Fatal(e)
			}
			if st.stuck {
				if halves, err := o.interrupted(); err != nil || !slices.Equal(halves, []string{st.Dir()}) || generations(o)[3] != "" {
					t.Errorf("failure at rename %d: %q is left, found %q (%v)", n, generations(o), halves, err)
				}
				if !strings.Contains(err.Error(), st.Dir()) {
					t.Errorf("failure at rename %d: %v does not name %s", n, err, st.Dir())
				}
				continue
			}
			left, err := os.ReadDir(dir)
			if got := generations(o); err != nil || len(left) != 4 || slices.Contains(got, "new") || slices.Contains(got, "") {
				t.Errorf("failure at rename %d: %q, %d files (%v)", n, got, len(left), err)
			}
		}
	}
}

// Files that came to be while others were worked on are not replaced unasked, not even
// between the look and the rename.
func TestSwapDoesNotReplaceUnasked(t *testing.T) {
	o := fourOutputs(t.TempDir(), false)
	st := staged(t, o, "new")
	if err := os.WriteFile(o.Files[1].Path, []byte("old text"), 0o644); err != nil {
		t.Fatal(err)
	}
	var usage *run.UsageError
	if err := st.Commit(run.Silent{}); !errors.As(err, &usage) {
		t.Errorf("commit: %v", err)
	}
	if err := st.swap(); !errors.Is(err, os.ErrExist) || !slices.Equal(generations(o), []string{"", "old", "", ""}) {
		t.Errorf("%v, %q", err, generations(o))
	}
}
