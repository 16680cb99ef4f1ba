package papers

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"privrec/internal/run/runtest"
)

// An attack on the vectors of a run that keeps several releases reads those of the first, where none is
// named.
func TestMembershipOfReleases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	begin(t, "train rdpgcf", filepath.Join(configs, "rdpgcf/smoke.yaml"), "run.out="+dir, "run.workers=1", "run.hold_out.rows=0.5", "train.epochs=1", "model.dim=4", "data.name=standin-tiny")
	attacked := func(release string) string {
		to := filepath.Join(t.TempDir(), "attack")
		begin(t, "attack membership", "", "run.out="+to, "run.workers=1", "profile=own", "on.run="+dir, "on.release="+release, "attack.sees=[vectors]", "eval.resamples=100")
		o := runtest.ReadJSON[struct {
			Evaluations json.RawMessage `json:"evaluations"`
		}](t, to, "metrics.json", false)
		return string(o.Evaluations)
	}
	first := attacked("")
	if first != attacked("noisy") || first == attacked("clean") {
		t.Error("the first release is not the one that is attacked")
	}
}
