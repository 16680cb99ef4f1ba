package accountant

import (
	"context"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

// TestSampledPureHasNoExactValue asks about noise whose privacy is known by its epsilon alone, on samples: no single
// pair of laws is the worst there, so the exact method must say that it does not cover it, and not answer for the whole
// data.
func TestSampledPureHasNoExactValue(t *testing.T) {
	noise := privacy.SphericalLaplace{Scale: 1, Sensitivity: 1, Unit: privacy.User,
		Neighbouring: privacy.AddRemove}
	for _, rate := range []float64{0.01, 0.5, math.Nextafter(1, 0)} {
		e := privacy.Sampled{Event: noise, Rate: rate, Method: privacy.Poisson}
		l, err := terms.Flatten(e, 1, privacy.User, privacy.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := exact.Delta(context.Background(), l.Terms, 0.5); err == nil {
			t.Errorf("rate %v: exact delta %v, want that it is not covered", rate, v)
		}
		a, err := New(Contour, privacy.User, privacy.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Charge(e, 1); err != nil {
			t.Fatal(err)
		}
		r, err := a.Spent(1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if r.Method != string(RDP) || !strings.Contains(strings.Join(r.Notes, " "), "sampled") {
			t.Errorf("rate %v: by %s, notes %q", rate, r.Method, r.Notes)
		}
	}
}
