package run

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/privacy"
)

// Nothing is kept or shown before the run has said what is open, and nothing lies on
// disk then.
func TestNothingBeforeTheLedger(t *testing.T) {
	for name, keep := range map[string]func(e *Env) error{
		"checkpoint": func(e *Env) error { return e.SaveCheckpoint(Checkpoint{State: []byte("{}")}) },
		"metrics":    func(e *Env) error { return e.WriteMetrics(1) },
		"privacy":    func(e *Env) error { return e.WritePrivacy(1) },
		"scores":     func(e *Env) error { return e.WriteScores("s", Column{"a", []string{"x"}}) },
		"artefact":   func(e *Env) error { return e.WriteArtefact("a", func(io.Writer) error { return nil }) },
		"result":     func(e *Env) error { return e.Print(text("x")) },
	} {
		e := newEnv(t.TempDir(), "h", false)
		e.writing.out = new(bytes.Buffer)
		if err := keep(e); !errors.Is(err, errNoLedger) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(e.Dir); err != nil || len(left) > 0 || e.writing.kept {
			t.Errorf("%s: left %v (%v)", name, left, err)
		}
		if _, err := e.Once(); !errors.Is(err, errNoLedger) {
			t.Errorf("%s: once: %v", name, err)
		}
		if err := declaresNothing(e); err != nil {
			t.Fatal(err)
		}
		if err := keep(e); err != nil {
			t.Errorf("%s, after the ledger was opened: %v", name, err)
		}
		if declaresNothing(e) == nil {
			t.Error("the ledger was opened twice")
		}
		if _, err := e.books.close(true); err != nil {
			t.Error(err)
		}
	}
}

// releases are the entries of a run's ledger as it lies on disk: how many are declared,
// and how many releases there are beside them.
func releases(t *testing.T, dir string) (declared, released int64) {
	t.Helper()
	l, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries() {
		if e.Event == privacy.Event(toySum) {
			declared++
		} else {
			released += e.Count
		}
	}
	return declared, released
}

// Whatever a run keeps, every release so far is on disk beside it. A run that goes on
// releases once what is released once, and its ledger has the declaration even if the
// program that began it made none.
func TestLedgerOnDisk(t *testing.T) {
	noise := privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	declaration := privacy.Declaration{WithoutNoise: []privacy.Unprotected{toySum}}
	for _, declared := range []bool{true, false} {
		dir := t.TempDir()
		e := newEnv(dir, "h", false)
		if declared {
			if _, err := e.Ledger(privacy.Research, declaration); err != nil {
				t.Fatal(err)
			}
			if d, r := releases(t, dir); d != 1 || r != 0 {
				t.Fatalf("opened: %d declared, %d releases on disk", d, r)
			}
		} else { // an earlier program
			l, err := privacy.CreateLedger(filepath.Join(dir, "ledger.jsonl"), privacy.Research, nil)
			if err != nil {
				t.Fatal(err)
			}
			e.books.ledger = l
		}
		once, err := e.Once()
		if err != nil || once != e.books.ledger {
			t.Fatalf("a new run releases into another ledger (%v)", err)
		}
		for i, keep := range []func() error{
			func() error { return e.SaveCheckpoint(Checkpoint{State: []byte("{}")}) },
			func() error { return e.WriteArtefact("a", func(io.Writer) error { return nil }) },
			func() error { return e.WriteMetrics(1) },
			func() error { return e.SaveCheckpoint(Checkpoint{State: []byte("{}")}) },
		} {
			if err := errors.Join(once.Record("p", noise, 1), keep()); err != nil {
				t.Fatal(err)
			}
			if _, r := releases(t, dir); r != int64(i+1) {
				t.Fatalf("declared %v: %d of %d releases on disk", declared, r, i+1)
			}
		}
		e.books.ledger.Leave()
		again := newEnv(dir, "h", true)
		l, err := again.Ledger(privacy.Research, declaration)
		if err != nil {
			t.Fatal(err)
		}
		if d, r := releases(t, dir); d != 1 || r != 4 {
			t.Errorf("declared %v, resumed: %d declared, %d releases on disk", declared, d, r)
		}
		if once, err = again.Once(); err != nil || once == l {
			t.Errorf("declared %v: a resumed run releases again into its ledger (%v)", declared, err)
		}
		if _, err := again.books.close(true); err != nil {
			t.Error(err)
		}
	}
}
