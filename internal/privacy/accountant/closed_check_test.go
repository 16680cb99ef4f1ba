package accountant

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

// TestClosedFormsAreCheckedToo puts a closed form that is too small, or too large, in
// place of the right one: the bracket must answer instead. Gaussians alone are held against the definition, which shows
// a part in 10,000 too.
func TestClosedFormsAreCheckedToo(t *testing.T) {
	gauss := privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	for name, e := range map[string]privacy.Event{
		"gaussian": gauss,
		"sampled":  privacy.Sampled{Event: gauss, Rate: 0.1, Method: privacy.Poisson},
		"laplace":  privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove},
	} {
		l, err := terms.Flatten(e, 1, privacy.Record, privacy.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []question{{ctx: t.Context(), delta: 1e-5}, {ctx: t.Context(), epsilon: 0.3, forDelta: true}} {
			value := func(r Result) float64 {
				if q.forDelta {
					return r.Delta
				}
				return r.Epsilon
			}
			right, err := contour(l, q, Result{})
			if err != nil || right.Method != "" || len(right.Notes) > 0 || !(value(right) > 0) {
				t.Fatalf("%s: %+v, %v", name, right, err)
			}
			wrongs, why := []float64{0, value(right) / 2, value(right) * 1.2}, "outside the certified bracket"
			if name == "gaussian" {
				wrongs = append(wrongs, value(right)*0.9999, value(right)*1.0001)
				why = "the definition gives a delta of"
			}
			for _, wrong := range wrongs {
				r, err := checked(l, q, Result{},
					func(l terms.List, _ question, r Result) (Result, error) {
						_, err := analytic(l, q, r)
						return q.answer(r, wrong), err
					},
					func([]terms.Term) (exact.Value, float64, error) {
						return exact.Value{Method: exact.Closed}, wrong, nil
					})
				if err != nil || r.Method != string(PLD) || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], why) {
					t.Errorf("%s: %v passes for %v: %+v, %v", name, wrong, value(right), r, err)
				}
				if got := value(r); math.Abs(got-value(right)) > 1e-3*value(right) {
					t.Errorf("%s: the bracket answers %v, want about %v", name, got, value(right))
				}
			}
		}
	}
}
