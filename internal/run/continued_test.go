package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
)

// A run with secure noise that went on after a stop says that its guarantee is for one copy of its folder, in the
// ledger and once, however often it went on. One that never stopped says nothing of it, and one that spends from a
// budget need not. The manifest says that the noise is secure, whichever key asked for it.
func TestContinuedSecureRun(t *testing.T) {
	about := privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}
	event := privacy.Gaussian{Sigma: 10, Sensitivity: 1, Unit: about.Unit, Neighbouring: about.Neighbouring}
	plan := &privacy.Plan{Budget: privacy.Budget{Epsilon: 0.5, Delta: 1e-6}, Subject: about, Releases: []privacy.Entry{{Purpose: "sum", Count: 1, Event: event}}}
	for name, c := range map[string]struct {
		stops  int
		budget bool
		want   bool
	}{"never stopped": {}, "stopped": {stops: 1, want: true}, "stopped twice": {stops: 2, want: true}, "from a budget": {stops: 2, budget: true}} {
		dir, left := filepath.Join(t.TempDir(), "run"), c.stops
		task := Task{Verb: "train", Name: "continued", Action: Bind(func() spender { return spender{} }, nil, func(ctx context.Context, env *Env, _ spender) error {
			if err := env.RecordData("d", "abc"); err != nil {
				return err
			}
			l, err := env.Ledger(privacy.Secure, privacy.Declaration{Plan: plan})
			if err != nil {
				return err
			}
			if _, again, err := env.LoadCheckpoint(); err != nil {
				return err
			} else if !again {
				if err := l.Record("sum", event, 1); err != nil {
					return err
				}
			}
			if err := env.SaveCheckpoint(Checkpoint{State: []byte("{}")}); err != nil {
				return err
			}
			if left--; left >= 0 {
				return ErrInterrupted
			}
			return nil
		})}
		sets := []string{"run.out=" + dir}
		if c.budget {
			file := filepath.Join(t.TempDir(), "b.jsonl")
			if err := budget.Create(file, budget.Terms{Epsilon: 1, Delta: 1e-5, Unit: about.Unit, Neighbouring: about.Neighbouring, Rule: budget.Sum}); err != nil {
				t.Fatal(err)
			}
			sets = append(sets, "parent="+file)
		}
		for range c.stops + 1 {
			o := quiet(new(bytes.Buffer), Options{Sets: sets})
			o.Resume = true
			if _, err := task.Start(t.Context(), o); err != nil && !WasInterrupted(err) {
				t.Fatal(name, err)
			}
		}
		l, err := privacy.Reading{}.File(filepath.Join(dir, LedgerName))
		if err != nil {
			t.Fatal(name, err)
		}
		said := slices.DeleteFunc(l.Assumptions(), func(a privacy.Assumption) bool { return a != onlyOne })
		if c.want != (len(said) == 1) || len(said) > 1 {
			t.Errorf("%s: it is said %d times", name, len(said))
		}
		m, err := ReadManifest(dir)
		if err != nil || !m.Secure || m.Status != StatusDone || len(m.Attempts) != c.stops+1 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// A run that was killed goes on where its folder and its budget were moved together. Where they were copied it is
// refused: the copy of the budget does not know that the run went on.
func TestCopiedBudget(t *testing.T) {
	about := privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}
	event := privacy.Gaussian{Sigma: 20, Sensitivity: 1, Unit: about.Unit, Neighbouring: about.Neighbouring}
	plan := &privacy.Plan{Budget: privacy.Budget{Epsilon: 0.5, Delta: 1e-6}, Subject: about, Releases: []privacy.Entry{{Purpose: "sum", Count: 2, Event: event}}}
	task := Task{Verb: "train", Name: "copied", Action: Bind(func() spender { return spender{} }, nil, func(ctx context.Context, env *Env, _ spender) error {
		if err := env.RecordData("d", "abc"); err != nil {
			return err
		}
		l, err := env.Ledger(privacy.Secure, privacy.Declaration{Plan: plan})
		if err == nil {
			err = l.Record("sum", event, 1)
		}
		if err == nil {
			err = env.SaveCheckpoint(Checkpoint{State: []byte("{}")})
		}
		if err == nil && !env.Resume {
			err = ErrInterrupted
		}
		return err
	})}
	base := t.TempDir()
	here, there, moved := filepath.Join(base, "here"), filepath.Join(base, "there"), filepath.Join(base, "moved")
	if err := os.Mkdir(here, 0o700); err != nil {
		t.Fatal(err)
	}
	start := func(dir string) error {
		t.Chdir(dir)
		o := quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=run", "parent=b.jsonl"}})
		o.Resume = true
		_, err := task.Start(t.Context(), o)
		return err
	}
	if err := budget.Create(filepath.Join(here, "b.jsonl"), budget.Terms{Epsilon: 1, Delta: 1e-5, Unit: about.Unit, Neighbouring: about.Neighbouring, Rule: budget.Sum}); err != nil {
		t.Fatal(err)
	}
	if err := start(here); !WasInterrupted(err) {
		t.Fatal(err)
	}
	if err := os.CopyFS(there, os.DirFS(here)); err != nil {
		t.Fatal(err)
	}
	if err := start(there); !errors.Is(err, budget.ErrElsewhere) {
		t.Errorf("copied: %v", err)
	}
	if err := os.Rename(here, moved); err != nil {
		t.Fatal(err)
	}
	if err := start(moved); err != nil {
		t.Errorf("moved: %v", err)
	}
	if got := spent(t, "b.jsonl"); got != 0.5 {
		t.Errorf("spent %v, want 0.5", got)
	}
}

// A secure run whose ledger was cut within its last line has made the releases before that line for good.
func TestCutLedgerIsReleasedForGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), LedgerName)
	l, err := privacy.CreateLedger(path, privacy.Secure, nil)
	if err != nil {
		t.Fatal(err)
	}
	event := privacy.Gaussian{Sigma: 10, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	if err := errors.Join(l.Record("sum", event, 1), l.Flush("one"), l.Record("sum", event, 1), l.Leave()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	if !releasedForGood(path, nil) {
		t.Error("the run could begin anew")
	}
}
