package dpae

import (
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// The ledger has one event of each epoch, which compose to the setting's epsilon for a user. A run that was stopped
// within an epoch and begun again has the same bytes, with any number of workers.
func TestAllocation(t *testing.T) {
	dir, sets := filepath.Join(t.TempDir(), "run"), []string{"train.sampling=allocation"}
	suite.Start(t, suite.Tasks[0], dir, sets...)
	a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
	if user := float64(a.Units[0].Accounted.Eps); len(a.Units) != 2 || user > 3 || user < 3*(1-1e-6) ||
		a.Units[1].Accounted.Eps < a.Units[0].Accounted.Eps {
		t.Errorf("%+v", a.Units)
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	epochs := int64(0)
	for _, e := range l.Entries() {
		x, ok := e.Event.(privacy.AllocatedGaussian)
		if epochs += e.Count; !ok || x.Steps != 7 || x.Times != 1 || x.Unit != privacy.User { // 200 users, 32 a step
			t.Errorf("the ledger has %+v", e)
		}
	}
	if o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true); epochs != 2 || o.Steps != 14 {
		t.Errorf("%d epochs in the ledger, %d steps, want 2 and 14", epochs, o.Steps)
	}
	want := runtest.Artefacts(t, dir)
	for _, workers := range []string{"run.workers=2", "run.workers=5"} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := suite.Try(runtest.NewFuse(t, 4, nil), suite.Tasks[0], dir, append(slices.Clip(sets), workers),
			run.Options{}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
		if err := suite.Try(t.Context(), suite.Tasks[0], dir, append(slices.Clip(sets), workers),
			run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		runtest.Same(t, workers, runtest.Artefacts(t, dir), want)
	}
}
