//go:build slow

package exposure

import (
	"testing"

	attack "privrec/internal/attack/exposure"
)

// All twelve attacks run through.
func TestTwelveAttacks(t *testing.T) {
	n := 0
	for _, encoder := range attack.Encoders() {
		for _, decoder := range attack.Decoders() {
			dir := t.TempDir()
			start(t, dir, "attack.encoder="+encoder, "attack.decoder="+decoder, "train.epochs=1", "eval.vocabulary=[full]", "eval.k=[5,10]")
			o := result[Outcome](t, dir, "metrics.json")
			if o.Method != encoder+" encoder, "+decoder+" decoder" || len(o.Evaluations) != 2 || o.Evaluations[0].Values["Recall@10"] == 0 {
				t.Errorf("%s, %s: %s, %d evaluations, %v", encoder, decoder, o.Method, len(o.Evaluations), o.Evaluations[0].Values)
			}
			n++
		}
	}
	if n != 12 {
		t.Errorf("%d attacks", n)
	}
}
