package perturb

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"privrec/internal/run"
)

// killed ends a stage as a kill would: its lock is free, its folder is there.
func killed(t *testing.T, st *Stage) string {
	t.Helper()
	if err := st.held.Free(); err != nil {
		t.Fatal(err)
	}
	return st.Dir()
}

// What a killed process left is removed by the next stage beside it, of whatever output,
// and said; what another process holds stays, and so does what has files to lose.
func TestStageSweepsWhatTheDeadLeft(t *testing.T) {
	dir := t.TempDir()
	o := fourOutputs(dir, true)
	other := o
	other.Files = []Output{{"table", filepath.Join(dir, "p.table")}}
	half := func(o Outputs) string { // killed half way between old files and new ones
		generation(t, o, "old", under)
		st := staged(t, o, "new")
		if !dying(t, st, len(o.Files)+len(o.Files)/2) {
			t.Fatal("not half way")
		}
		return killed(t, st)
	}
	atWork := staged(t, other, "begun")
	alive := staged(t, o, "alive")
	ofOthers := half(other)
	generation(t, o, "old", under)
	whole := staged(t, o, "new")
	if err := whole.Commit(run.Silent{}); err != nil {
		t.Fatal(err)
	}
	replaced := killed(t, whole) // after its last name
	begun := killed(t, atWork)   // before its first
	for _, name := range []string{stagePrefix + "file", "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	st, said := staged(t, o, "next"), &phases{}
	for path, stays := range map[string]bool{begun: false, replaced: false, alive.Dir(): true, ofOthers: true, filepath.Join(dir, stagePrefix+"file"): true, filepath.Join(dir, "mine"): true} {
		if exists(path) != stays {
			t.Errorf("%s: there %v, want %v", path, !stays, stays)
		}
	}
	if err := errors.Join(st.Commit(said), st.Drop(), alive.Drop()); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(said.said, "\n")
	for _, path := range []string{begun, replaced} {
		if !strings.Contains(text, "removed "+path+", which a command that was stopped had left") {
			t.Errorf("said %q, and not that %s is gone", text, path)
		}
	}
	if got := generations(o); !slices.Equal(got, []string{"next", "next", "next", "next"}) {
		t.Errorf("%q", got)
	}
}

// Half a set of its own is no waste: it stays until the new set has its names.
func TestStageKeepsItsOwnHalf(t *testing.T) {
	o := fourOutputs(t.TempDir(), true)
	generation(t, o, "old", under)
	st := staged(t, o, "new")
	if !dying(t, st, 2) {
		t.Fatal("not half way")
	}
	half := killed(t, st)
	next := staged(t, o, "next")
	if !exists(half) {
		t.Fatal("the old files are gone before there are new ones")
	}
	if err := errors.Join(next.Commit(run.Silent{}), next.Drop()); err != nil || exists(half) {
		t.Errorf("%v; half there: %v", err, exists(half))
	}
}

// Stages that come and go in one folder never remove each other's.
func TestStagesAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		o := Outputs{Files: []Output{{"table", filepath.Join(dir, string(rune('a'+i)))}}, Force: true}
		wg.Go(func() {
			for range 100 {
				st, err := NewStage(o)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(st.Path("table"), nil, 0o644); err != nil {
					t.Error(err)
				}
				if err := errors.Join(st.Commit(run.Silent{}), st.Drop()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 8 {
		t.Errorf("left %v (%v)", left, err)
	}
}
