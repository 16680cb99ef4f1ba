package accountant

import (
	"math"
	"testing"
)

// The integral of the definition is the closed form, whatever the noise: deltas of 1 less 1e-300 to 1e-300, and far
// below.
func TestDefinitionOfGaussians(t *testing.T) {
	n, least := 0, 0.0
	for mu := 1e-9; mu < 1e5; mu *= 1.7 {
		for k := -40.0; k <= 400; k += 1.3 { // z, the place of epsilon
			epsilon := mu * (k/4 + mu/2)
			if !(epsilon >= 0) {
				continue
			}
			n++
			got, want := logDeltaByDefinition(mu, epsilon), LogDelta(mu, epsilon)
			if least = min(least, want); !(math.Abs(got-want) <= 1e-8) {
				t.Fatalf("mu %v, epsilon %v: log of delta %v, closed form %v", mu, epsilon, got, want)
			}
		}
		got, want := logDeltaByDefinition(mu, 0), LogDelta(mu, 0)
		if !(math.Abs(got-want) <= 1e-8) {
			t.Fatalf("mu %v, epsilon 0: log of delta %v, closed form %v", mu, got, want)
		}
	}
	if n < 5000 || least > -1000 {
		t.Errorf("%d pairs down to a log of %v were compared", n, least)
	}
}
