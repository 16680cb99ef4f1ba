//go:build slow

package gerai

import (
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run/runtest"
)

// Literally as printed the network is dead on the paper's data: all scores become equal, and a tie
// counts against the row, so that it finds less than a random order does.
func TestPrintedIsDead(t *testing.T) {
	if os.Getenv("PRIVREC_DATA") == "" { // .ci/run sets it where the data are, and fails when a test says this then
		t.Skip("PRIVREC_DATA is not set: skipping the check on real data")
	}
	dir := filepath.Join(t.TempDir(), "run")
	whole := topntest.Suite{Tasks: Tasks()}
	whole.Start(t, whole.Task(t, "gerai"), dir, "model.init=n01", "model.norm=clip", "loss.alive=0", "train.rate=0.005", "train.batch=64", "train.epochs=2")
	o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
	for _, name := range []string{"sampled Hit@5", "sampled Hit@30"} {
		if got, random := o.Evaluations[0].Values[name], o.Floors[0].Values[name]; got > random/2 {
			t.Errorf("%s is %v, a random order gives %v", name, got, random)
		}
	}
}
