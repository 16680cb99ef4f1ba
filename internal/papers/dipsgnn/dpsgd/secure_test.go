package dpsgd

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// A run with secure noise has the account of the same run with seeded noise. Its ledger has discrete noise alone,
// and it says which files the guarantee is for.
func TestSecureRun(t *testing.T) {
	sets := append(slices.Clone(units["user"]), "model.user_input=id", "train.epochs=1")
	seeded, _ := start(t, sets...)
	dir, text := start(t, append(sets, "run.secure=true")...)
	a, b := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true), runtest.ReadJSON[Privacy](t, seeded, "privacy.json", true)
	for i := range b.Units {
		x, y := float64(a.Units[i].Accounted.Eps), float64(b.Units[i].Accounted.Eps)
		if math.Abs(x-y) > 1e-3*y || a.Units[i].Unit != b.Units[i].Unit {
			t.Errorf("epsilon %v for one %s with secure noise, %v with seeded", x, a.Units[i].Unit, y)
		}
	}
	if own := float64(a.Units[0].Accounted.Eps); own > 5 || own < 5*(1-1e-6) || a.Noise != string(privacy.Secure) {
		t.Errorf("%+v", a)
	}
	if z := a.Steps.NoiseMultiplier / b.Steps.NoiseMultiplier; math.Abs(z-1) > 1e-6 {
		t.Errorf("noise multiplier %v with secure noise, %v with seeded", a.Steps.NoiseMultiplier, b.Steps.NoiseMultiplier)
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
	if err != nil || l.Noise() != privacy.Secure {
		t.Fatal(err)
	}
	steps := int64(0)
	for _, e := range l.Entries() {
		s, ok := e.Event.(privacy.Sampled)
		if steps += e.Count; !ok || s.Event.Kind() != (privacy.DiscreteGaussian{}).Kind() {
			t.Errorf("the ledger has %+v", e)
		}
	}
	if steps != a.Steps.Count || !slices.Equal(a.Published, []string{experiment.ModelFile, run.LedgerName}) || !strings.Contains(text, experiment.ModelFile) {
		t.Errorf("%d steps in the ledger, %d in the account; published %v", steps, a.Steps.Count, a.Published)
	}
	for _, name := range a.Published {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// A run that was stopped after its last checkpoint passes over the steps that were lost, and never draws more than it
// planned, also where it has no checkpoint at all.
func TestSecureResumes(t *testing.T) {
	sets := append(slices.Clone(units["user"]), "model.user_input=id", "run.secure=true", "run.save_steps=1")
	for _, kept := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "run")
		checkpoint := filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
		if _, err := try(runtest.NewFuse(t, 4, nil), dir, sets, run.Options{}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
		early, err := os.ReadFile(checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		known := drawn(t, dir)
		if _, err := try(runtest.NewFuse(t, 9, nil), dir, sets, run.Options{Resume: true}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
		lost := drawn(t, dir) - known
		if kept {
			err = os.WriteFile(checkpoint, early, 0o600)
		} else {
			err = os.RemoveAll(filepath.Dir(checkpoint))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := try(t.Context(), dir, sets, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		a := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true)
		if steps := drawn(t, dir); steps != a.Steps.Count || lost == 0 {
			t.Errorf("with a checkpoint %v: %d steps in the ledger after %d were lost, planned were %d", kept, steps, lost, a.Steps.Count)
		}
	}
}

// drawn returns how many releases the ledger of a run has.
func drawn(t *testing.T, dir string) (n int64) {
	t.Helper()
	l, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries() {
		n += e.Count
	}
	return n
}

// The local perturbation of features has no secure form.
func TestSecureRefusesFeatures(t *testing.T) {
	var usage *run.UsageError
	if _, err := try(t.Context(), filepath.Join(t.TempDir(), "run"), append(slices.Clone(units["user"]), "run.secure=true"), run.Options{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "user_input") {
		t.Error(err)
	}
}
