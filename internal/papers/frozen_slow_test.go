//go:build slow && amd64 && !amd64.v3 && !f64

package papers

import "testing"

// TestFrozenML1M demands the frozen bytes of DIPSGNN after an epoch on the real ML-1M.
func TestFrozenML1M(t *testing.T) {
	onReal(t, job{Setting: "dipsgnn-ml-1m", Task: "train dipsgnn", Config: "dipsgnn/ml-1m.yaml", Sets: []string{
		"model.dim=4", "model.user_dim=2", "train.epochs=1", "train.batch=2000", "train.validation=0", "train.select=last", "train.refit=false",
		"train.patience=0", `eval.noise=["on"]`, "eval.every=false",
	}})
}
