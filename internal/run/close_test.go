package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/train"
)

// closing runs a task that saves once and then ends in its own way.
func closing(t *testing.T, dir string, resume bool, end func(env *Env) error) error {
	t.Helper()
	task := Task{Verb: "train", Name: "ending", Action: Bind(func() toy { return toy{} }, nil,
		func(ctx context.Context, env *Env, c toy) error {
			if err := declaresNothing(env); err != nil {
				return err
			}
			if err := env.SaveCheckpoint(Checkpoint{State: []byte("{}")}); err != nil {
				return err
			}
			return end(env)
		})}
	_, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}, Resume: resume}))
	return err
}

// An interruption that could not save is a failure, and the manifest says which.
func TestInterruptedButNotSaved(t *testing.T) {
	full := errors.New("no space left")
	for name, end := range map[string]func(env *Env) error{
		"the loop's refusal": func(*Env) error {
			return fmt.Errorf("%w, %w: %w", train.ErrInterrupted, train.ErrNotSaved, full)
		},
		"the directory's": func(env *Env) error {
			err := env.SaveCheckpoint(Checkpoint{State: []byte("{}"), Tensors: []NamedTensor{{"x", []int{1}, []bool{true}}}})
			return fmt.Errorf("%w, and not saved: %w: %w", ErrInterrupted, err, full)
		},
		"the log's": func(env *Env) error {
			env.writing.log.err = full
			return ErrInterrupted
		},
		"the ledger's": func(env *Env) error {
			if err := env.books.ledger.Close(); err != nil {
				return err
			}
			env.writing.log.err = full
			return fmt.Errorf("epoch 3: %w", ErrInterrupted)
		},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		err := closing(t, dir, false, end)
		if err == nil || WasInterrupted(err) || !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
		if m, err := ReadManifest(dir); err != nil || m.Status != StatusFailed || !strings.Contains(m.Error, "no space left") || m.Attempts[0].Status != StatusFailed {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// A run is done when its ledger and its log are.
func TestDoneOnlyWhenClosed(t *testing.T) {
	full := errors.New("no space left")
	dir := filepath.Join(t.TempDir(), "run")
	end := func(env *Env) error {
		env.writing.log.err = full
		return nil
	}
	if err := closing(t, dir, false, end); !errors.Is(err, full) {
		t.Error(err)
	}
	if m, err := ReadManifest(dir); err != nil || m.Status != StatusFailed || !strings.Contains(m.Error, "no space left") {
		t.Errorf("%+v, %v", m, err)
	}
	if err := closing(t, dir, true, func(*Env) error { return nil }); err != nil {
		t.Error(err)
	}
	if m, err := ReadManifest(dir); err != nil || m.Status != StatusDone || m.Error != "" {
		t.Errorf("%+v, %v", m, err)
	}
}

type forGood struct{}

func (forGood) Error() string { return "the noise is none" }
func (forGood) Final() bool   { return true }

// A failure that is final stays one: nothing goes on from it, whether something
// was saved before or not.
func TestFinalFailure(t *testing.T) {
	final := fmt.Errorf("epoch 2: %w", forGood{})
	early := toyTask(func(int) error { return final })
	dir := filepath.Join(t.TempDir(), "early")
	o := func(dir string, resume bool) Options {
		return quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}, Resume: resume})
	}
	if _, err := early.Start(t.Context(), o(dir, false)); !errors.Is(err, final) {
		t.Fatal(err)
	}
	late := filepath.Join(t.TempDir(), "late")
	if err := closing(t, late, false, func(*Env) error { return final }); !errors.Is(err, final) {
		t.Fatal(err)
	}
	for _, d := range []string{dir, late} {
		m, err := ReadManifest(d)
		if err != nil || m.Status != StatusFailed || !m.Final || !strings.Contains(m.Error, "the noise is none") {
			t.Errorf("%+v, %v", m, err)
		}
		before := tree(t, d)
		for _, resume := range []bool{true, false} {
			var err error
			if d == dir {
				_, err = toyTask(nil).Start(t.Context(), o(d, resume))
			} else {
				err = closing(t, d, resume, func(*Env) error { return nil })
			}
			var usage *UsageError
			if !errors.As(err, &usage) || usage.Hint() == "" || resume && !strings.Contains(err.Error(), "the noise is none") {
				t.Errorf("resume %v: %v", resume, err)
			}
		}
		if after := tree(t, d); len(after) != len(before) || after[manifestName] != before[manifestName] {
			t.Error("a refused directory was written to")
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "lock")); err == nil {
		t.Error("lock left behind")
	}
}
