package sgdmf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// allocated has epochs of 4 steps, and a last one of 2.
var allocated = []string{"train.sampling=allocation", "train.sample=0.3", "train.steps=10"}

// epochsOf returns the number of epochs in the ledger of a run, each of so many steps, and the names of their periods.
func epochsOf(t *testing.T, dir string, steps int64) (count int64, periods []string) {
	t.Helper()
	l, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries() {
		if e.Purpose != purposeGradients {
			continue
		}
		a, ok := e.Event.(privacy.AllocatedGaussian)
		if !ok || a.Steps != steps || a.Times != 1 || a.Unit != privacy.User || a.Neighbouring != privacy.AddRemove {
			t.Errorf("the ledger has %+v", e)
		}
		count, periods = count+e.Count, append(periods, e.Period)
	}
	return count, periods
}

// The ledger has epochs, the last one whole although it ends within, which compose to the setting's epsilon. Bytes
// depend neither on workers nor on where a run was interrupted.
func TestAllocation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	suite.Start(t, suite.Tasks[0], dir, allocated...)
	a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
	total, claimed := float64(a.Total), float64(a.Claimed.Eps)
	if total > claimed || total < claimed*(1-1e-6) || len(a.Beside) != 2 ||
		float64(a.Beside[0].Lower) > total || float64(a.Beside[0].Eps) < total ||
		!strings.Contains(a.Claimed.Theorem, "allocated") {
		t.Errorf("%+v", a)
	}
	count, periods := epochsOf(t, dir, 4)
	if o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true); o.Steps != 10 || count != 3 ||
		!slices.Equal(periods, []string{"epoch 1", "epoch 2", "epoch 3"}) {
		t.Errorf("%d steps, %d epochs %v", o.Steps, count, periods)
	}
	want := runtest.Artefacts(t, dir)
	for _, workers := range []string{"run.workers=2", "run.workers=5"} {
		more := filepath.Join(t.TempDir(), "run")
		suite.Start(t, suite.Tasks[0], more, append(slices.Clip(allocated), workers)...)
		runtest.Same(t, workers, runtest.Artefacts(t, more), want)
	}
	saving := append(slices.Clip(allocated), "run.save_steps=1")
	for _, at := range []int{2, 4} { // two steps after each look: within an epoch, and between two
		dir := filepath.Join(t.TempDir(), "run")
		if err := suite.Try(runtest.NewFuse(t, at, nil), suite.Tasks[0], dir, saving,
			run.Options{}); !run.WasInterrupted(err) {
			t.Fatalf("interrupted at look %d: %v", at, err)
		}
		if err := suite.Try(t.Context(), suite.Tasks[0], dir, saving, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		runtest.Same(t, "interrupted", runtest.Artefacts(t, dir), want)
	}
}

// A run with secure noise that is stopped anywhere passes over the rest of its epoch, and has no more epochs than it
// planned.
func TestSecureAllocation(t *testing.T) {
	sets := append(slices.Clip(allocated), "run.secure=true", "run.save_steps=1")
	for _, at := range []int{3, 4} {
		dir := filepath.Join(t.TempDir(), "run")
		checkpoint := filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
		if err := suite.Try(runtest.NewFuse(t, 2, nil), suite.Tasks[0], dir, sets,
			run.Options{}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
		early, err := os.ReadFile(checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		if err := suite.Try(runtest.NewFuse(t, at, nil), suite.Tasks[0], dir, sets,
			run.Options{Resume: true}); !run.WasInterrupted(err) {
			t.Fatalf("interrupted at look %d: %v", at, err)
		}
		if err := os.WriteFile(checkpoint, early, 0o600); err != nil { // as a kill leaves it
			t.Fatal(err)
		}
		if err := suite.Try(t.Context(), suite.Tasks[0], dir, sets, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
		if count, periods := epochsOf(t, dir, 4); count != 3 || o.Steps != 10 {
			t.Errorf("interrupted at look %d: %d epochs %v, want 3; %d steps", at, count, periods, o.Steps)
		}
	}
}

// An epoch has the least number of steps in which a user's probability is at most the setting's.
func TestStepsOfAnEpoch(t *testing.T) {
	for q, want := range map[float64]int64{
		1: 1, 0.9: 2, 0.5: 2, 1.0 / 3: 3, 0.3: 4, 0.1: 10, 0.05: 20, 1e-6: 1_000_000,
	} {
		if got := (TrainConfig{Sample: q}).epoch(); got != want {
			t.Errorf("probability %v: %d steps, want %d", q, got, want)
		}
	}
	for n := range int64(5000) {
		if got := (TrainConfig{Sample: 1 / float64(n+1)}).epoch(); got != n+1 {
			t.Fatalf("probability 1/%d: %d steps", n+1, got)
		}
	}
}
