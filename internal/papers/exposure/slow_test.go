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
			start(t, dir, "attack.encoder="+encoder, "attack.decoder="+decoder, "train.epochs=1")
			o := result[Outcome](t, dir, "metrics.json")
			if o.Method != encoder+" encoder, "+decoder+" decoder" || len(o.Evaluations) != 4 || o.Evaluations[0].Values["ListRecall@10"] == 0 {
				t.Errorf("%s, %s: %+v", encoder, decoder, o.Evaluations)
			}
			n++
		}
	}
	if n != 12 {
		t.Errorf("%d attacks", n)
	}
}
