//go:build !f64

// What an epoch costs, and where it goes on, does not depend on the width of numbers: float64 has no such tests.

package dpsgd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// allocated makes the smoke setting small, with random allocation.
func allocated(unit string) []string {
	return append(slices.Clone(units[unit]), "train.sampling=allocation")
}

// epochsOf returns the epochs of random allocation in the ledger of a run, and fails on any other noise on gradients.
func epochsOf(t *testing.T, dir string) (list []privacy.AllocatedGaussian, count int64) {
	t.Helper()
	l, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries() {
		if e.Purpose != purpose {
			continue
		}
		a, ok := e.Event.(privacy.AllocatedGaussian)
		if !ok {
			t.Fatalf("the ledger has %+v", e)
		}
		list, count = append(list, a), count+e.Count
	}
	return list, count
}

// The ledger has epochs, which compose to the setting's epsilon for the unit that was calibrated. Bytes depend neither
// on workers nor on where a run was interrupted, and an epoch in which it was is paid once.
func TestAllocation(t *testing.T) {
	for _, unit := range []string{"user", "sample"} {
		t.Run(unit, func(t *testing.T) {
			sets := allocated(unit)
			dir, text := start(t, sets...)
			a := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true)
			o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true)
			list, count := epochsOf(t, dir)
			own, other := float64(a.Units[0].Accounted.Eps), float64(a.Units[1].Accounted.Eps)
			if own > 5 || own < 5*(1-1e-6) || a.Units[0].Unit != unit || other <= own ||
				!strings.Contains(a.Claimed.Theorem, "allocation") {
				t.Errorf("%+v", a.Account)
			}
			if count != 2 || a.Steps.Epoch < 2 || a.Steps.Count != 2*a.Steps.Epoch ||
				int64(o.Steps) != a.Steps.Count || a.Steps.ByRDP != 0 || a.Steps.Rate != 1/float64(a.Steps.Epoch) {
				t.Errorf("%d epochs in the ledger, %d steps made, the account says %+v", count, o.Steps, a.Steps)
			}
			for _, e := range list {
				if e.Steps != a.Steps.Epoch || e.Times != 1 || e.Sigma != a.Steps.NoiseMultiplier*e.Sensitivity ||
					string(e.Unit) != unit || e.Neighbouring != privacy.AddRemove {
					t.Errorf("%+v", e)
				}
			}
			if !strings.Contains(text, "steps in epochs of") || strings.Contains(text, "integer orders") {
				t.Errorf("what is printed does not say that steps are of epochs:\n%s", text)
			}
			want := runtest.Artefacts(t, dir)
			for _, workers := range []string{"run.workers=2", "run.workers=5"} {
				more, _ := start(t, append(slices.Clone(sets), workers)...)
				runtest.Same(t, workers, runtest.Artefacts(t, more), want)
			}
			for _, at := range []int{4, 9, 15} {
				dir, saving := filepath.Join(t.TempDir(), "run"), append(slices.Clone(sets), "run.save_steps=1")
				if _, err := try(runtest.NewFuse(t, at, nil), dir, saving, run.Options{}); !run.WasInterrupted(err) {
					t.Fatalf("interrupted at look %d: %v", at, err)
				}
				if _, err := try(t.Context(), dir, saving, run.Options{Resume: true}); err != nil {
					t.Fatal(err)
				}
				runtest.Same(t, "interrupted", runtest.Artefacts(t, dir), want)
			}
		})
	}
	if err := Task().Check(smoke, allocated("interaction")); err == nil ||
		!strings.Contains(err.Error(), "train.sampling") {
		t.Errorf("exchanged interactions: %v", err)
	}
}

// A run with secure noise that was stopped within an epoch passes over the rest of it, and has no more epochs than it
// planned.
func TestSecureAllocation(t *testing.T) {
	sets := append(allocated("user"), "model.user_input=id", "run.secure=true", "run.save_steps=1")
	dir := filepath.Join(t.TempDir(), "run")
	checkpoint := filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
	if _, err := try(runtest.NewFuse(t, 4, nil), dir, sets, run.Options{}); !run.WasInterrupted(err) {
		t.Fatal(err)
	}
	early, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := try(runtest.NewFuse(t, 9, nil), dir, sets, run.Options{Resume: true}); !run.WasInterrupted(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(checkpoint, early, 0o600); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if _, err := try(t.Context(), dir, sets, run.Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	a := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true)
	if _, count := epochsOf(t, dir); count != 2 || a.Steps.Count != 2*a.Steps.Epoch ||
		a.Noise != string(privacy.Secure) {
		t.Errorf("%d epochs in the ledger, the account has %+v", count, a.Steps)
	}
	if own := float64(a.Units[0].Accounted.Eps); own > 5 || own < 5*(1-1e-6) {
		t.Errorf("epsilon %v", own)
	}
	if _, err := os.Stat(filepath.Join(dir, experiment.ModelFile)); err != nil {
		t.Error(err)
	}
}

// A user's samples cost more than one sample does, and at most what they cost without amplification.
func TestAllocatedGroup(t *testing.T) {
	c := Default()
	c.Train.Sampling = string(privacy.Allocation)
	d, n := c.steps(284_863, 0.9)
	if d.Steps != 2849 || n != 28_490 || d.Rate != 0 {
		t.Fatalf("%+v, %d steps", d, n)
	}
	last := 0.0
	for _, k := range []int64{1, 2, 10} {
		eps, err := group(d, n, k, c.Privacy.Delta, nil)
		if err != nil || !(eps > 2*last) {
			t.Errorf("a group of %d: epsilon %v after %v, %v", k, eps, last, err)
		}
		last = eps
	}
}
