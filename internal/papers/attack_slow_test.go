//go:build slow

package papers

import "testing"

// Runs of every paper can be attacked: with noise and without, of items with times and of
// such without.
func TestAttackOnRuns(t *testing.T) {
	for _, c := range []struct {
		name, config string
		sets         []string
	}{
		{"train dipsgnn", "dipsgnn/smoke.yaml", []string{"train.epochs=1"}},
		{"train srgnn", "", []string{"data.name=standin-tiny", "model.dim=4", "train.epochs=1"}},
		{"train rdpgcf", "rdpgcf/smoke.yaml", []string{"train.epochs=1"}},
		{"train bprmf", "", []string{"data.name=standin-tiny", "model.dim=8", "train.epochs=1"}},
		{"train ease", "", []string{"data.name=standin-tiny", "data.recipe=rdpgcf"}},
		{"train pricdsr", "pricdsr/smoke.yaml", []string{"train.epochs=1"}},
		{"train sasrec", "exposure/smoke-sasrec.yaml", []string{"train.epochs=1"}},
	} {
		t.Run(c.name, func(t *testing.T) { onRun(t, c.name, c.config, c.sets...) })
	}
}
