package accountant_test

import (
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// TestExchangedOnSamples: a sampled Gaussian under Replace costs what its norms allow.
// Taken for a clipped sum, a thousand releases were said to cost 1.205 where values from 0 to the
// sensitivity, of which one comes or goes, cost 1.828 already.
func TestExchangedOnSamples(t *testing.T) {
	step := func(norm float64, relation privacy.Neighbouring) privacy.Event {
		return privacy.Sampled{Rate: 0.01, Method: privacy.Poisson, Event: privacy.Gaussian{
			Sigma: 1, Sensitivity: 1, Norm: norm, Unit: unitOf, Neighbouring: relation}}
	}
	spent := func(m accountant.Method, norm float64, relation privacy.Neighbouring) (accountant.Result, error) {
		a, err := accountant.New(m, unitOf, relation)
		check(t, err)
		if err := a.Charge(step(norm, relation), 1000); err != nil {
			return accountant.Result{}, err
		}
		return a.Spent(1e-5)
	}
	comes := must(spent(accountant.Contour, 0, privacy.AddRemove)).Epsilon
	if math.Abs(comes-1.8282) > 1e-4 {
		t.Fatalf("one that comes or goes costs %v", comes)
	}
	for _, c := range []struct {
		norm, least, most float64
		contour           accountant.Method
	}{{0.5, 1.2, 1.21, accountant.Contour}, {1, comes, 2.3, accountant.PLD}, {0, 2.3, 75, accountant.PLD}, {7, 2.3, 75, accountant.PLD}} {
		r := must(spent(accountant.Contour, c.norm, privacy.Replace))
		if r.Method != string(c.contour) || !(r.Epsilon >= c.least && r.Epsilon <= c.most) {
			t.Errorf("norm %v: epsilon %v by %s, want %v to %v by %s", c.norm, r.Epsilon, r.Method, c.least, c.most, c.contour)
		}
		p := must(spent(accountant.PLD, c.norm, privacy.Replace))
		if !(p.Epsilon >= c.least && p.Epsilon <= c.most) {
			t.Errorf("norm %v: epsilon %v by the bracket, want %v to %v", c.norm, p.Epsilon, c.least, c.most)
		}
		// Rényi DP has one bound for all that are not known to be clipped.
		bound, err := spent(accountant.RDP, c.norm, privacy.Replace)
		if refused := c.norm == 0.5; refused != (err != nil) || !refused && bound.Epsilon < p.Lower {
			t.Errorf("norm %v: rényi bound %v, %v; bracket from %v", c.norm, bound.Epsilon, err, p.Lower)
		}
		t.Logf("norm %v: epsilon %v by %s", c.norm, r.Epsilon, r.Method)
	}
}
