package accountant_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/pld"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// discrete are the mechanisms whose noise and values are whole steps of a grid.
var discrete = map[string]func(sensitivity float64) privacy.Event{
	"discrete laplace": func(d float64) privacy.Event {
		return privacy.DiscreteLaplace{Scale: 8, Sensitivity: d, Unit: unitOf, Neighbouring: privacy.AddRemove}
	},
	"discrete gaussian": func(d float64) privacy.Event {
		return privacy.DiscreteGaussian{Sigma: 8, Sensitivity: d, Dimension: 1, Unit: unitOf, Neighbouring: privacy.AddRemove}
	},
	"discrete gaussian, ten dimensions": func(d float64) privacy.Event {
		return privacy.DiscreteGaussian{Sigma: 8, Sensitivity: d, Dimension: 10, Unit: unitOf, Neighbouring: privacy.AddRemove}
	},
}

// priced asks every accountant below the account for one term, for nothing where it
// does not cover it.
var priced = map[string]func(t terms.Term) (float64, error){
	"exact": func(t terms.Term) (float64, error) {
		v, err := exact.Epsilon(context.Background(), []terms.Term{t}, 1e-5)
		return v.Epsilon, err
	},
	"pld": func(t terms.Term) (float64, error) {
		b, err := pld.Bracket(context.Background(), []terms.Term{t}, 1e-5, pld.Options{Bins: 1 << 10})
		return b.Upper, err
	},
	"rdp": func(t terms.Term) (float64, error) {
		c, err := rdp.FromTerm(t)
		if err != nil {
			return 0, err
		}
		p, err := rdp.Epsilon(context.Background(), c, 1e-5, rdp.Options{})
		return p.Epsilon, err
	},
}

// nextTo lists sensitivities that rounding leaves next to a whole number.
func nextTo(k float64) (list []float64) {
	for _, d := range []float64{1e-16, 3e-16, 1e-15, 1e-13, 1e-11, 1e-10, 1e-9} {
		list = append(list, k*(1-d), k*(1+d))
	}
	return append(list, math.Nextafter(k, 0), math.Nextafter(k, math.Inf(1)))
}

// TestRoundedSensitivitiesCostTheWholeNumber holds every accountant to the epsilon of
// the whole number that a sensitivity is next to.
func TestRoundedSensitivitiesCostTheWholeNumber(t *testing.T) {
	for kind, event := range discrete {
		for name, price := range priced {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				covered := 0
				for k := 1.0; k <= 50; k++ {
					want, err := price(terms.Term{Leaf: event(k), Rate: 1, Relation: privacy.AddRemove, Count: 3})
					if err != nil {
						continue
					}
					covered++
					if !(want > 0) {
						t.Fatalf("%v steps cost %v", k, want)
					}
					for _, d := range nextTo(k) {
						if got, err := price(terms.Term{Leaf: event(d), Rate: 1, Relation: privacy.AddRemove, Count: 3}); err != nil || got != want {
							t.Errorf("a sensitivity of %v costs %v, %v; want that of %v, %v", d, got, err, k, want)
						}
					}
				}
				if covered == 0 {
					t.Error("nothing is covered")
				}
			})
		}
	}
}

// TestRoundedSensitivitiesInAnAccount asks whole accounts, sampled and not, and holds
// terms that only rounding tells apart to be one.
func TestRoundedSensitivitiesInAnAccount(t *testing.T) {
	for kind, event := range discrete {
		for _, m := range []accountant.Method{accountant.Contour, accountant.PLD, accountant.RDP} {
			for _, rate := range []float64{1, 0.1} {
				spent := func(list ...float64) (float64, error) {
					a := newAccount(t, m)
					for _, d := range list {
						e := event(d)
						if rate < 1 {
							e = privacy.Sampled{Event: e, Rate: rate, Method: privacy.Poisson}
						}
						if err := a.Charge(e, 2); err != nil {
							return 0, err
						}
					}
					r, err := a.Spent(1e-5)
					return r.Epsilon, err
				}
				want, err := spent(3, 3)
				if err != nil {
					continue // not covered
				}
				if got, err := spent(3*(1-1e-10), 3+1e-15); err != nil || got != want {
					t.Errorf("%s, %s at rate %v: %v, %v; want %v", kind, m, rate, got, err, want)
				}
			}
		}
	}
}

// TestTenTenths holds the examples that were found: ten times 0.1 was taken for no move
// at all, and 2.9999999999 for two steps.
func TestTenTenths(t *testing.T) {
	tenth := 0.0
	for range 10 {
		tenth += 0.1
	}
	lap := func(scale, d float64) privacy.Event {
		return privacy.DiscreteLaplace{Scale: scale, Sensitivity: d, Unit: unitOf, Neighbouring: privacy.AddRemove}
	}
	gauss := func(sigma, d float64, dimension int64) privacy.Event {
		return privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: d, Dimension: dimension, Unit: unitOf, Neighbouring: privacy.AddRemove}
	}
	for name, c := range map[string]struct {
		event, whole privacy.Event
		count        int64
		least, most  float64
	}{
		"laplace":                {lap(0.5, tenth), lap(0.5, 1), 20, 39.9, 40},
		"gaussian":               {gauss(0.5, tenth, 10), gauss(0.5, 1, 10), 20, 60, 85.2},
		"just below three steps": {gauss(1, 2.9999999999, 1), gauss(1, 3, 1), 1, 16.4, 16.5},
	} {
		for _, m := range []accountant.Method{accountant.Contour, accountant.PLD, accountant.RDP} {
			t.Run(fmt.Sprintf("%s/%s", name, m), func(t *testing.T) {
				spent := func(e privacy.Event) float64 {
					a := newAccount(t, m)
					if err := a.Charge(e, c.count); err != nil {
						t.Fatal(err)
					}
					r, err := a.Spent(1e-5)
					if err != nil {
						t.Fatal(err)
					}
					return r.Epsilon
				}
				got, want := spent(c.event), spent(c.whole)
				t.Logf("epsilon %v", got)
				if got != want {
					t.Errorf("epsilon %v, want that of the whole number, %v", got, want)
				}
				if m != accountant.RDP && !(got >= c.least && got <= c.most*(1+1e-9)) {
					t.Errorf("epsilon %v, want from %v to %v", got, c.least, c.most)
				}
			})
		}
	}
}

func newAccount(t *testing.T, m accountant.Method) *accountant.Account {
	t.Helper()
	a, err := accountant.New(m, unitOf, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
