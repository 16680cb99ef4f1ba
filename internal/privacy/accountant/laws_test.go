package accountant_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// spentOn is epsilon at delta of events that were charged one after another.
func spentOn(t *testing.T, m accountant.Method, delta float64, events ...privacy.Event) float64 {
	t.Helper()
	return must(charged(t, m, privacy.AddRemove, 1, events...).Spent(delta)).Epsilon
}

// goal is an epsilon for releases that see every unit.
func goal(epsilon float64) accountant.Goal {
	return accountant.Goal{Epsilon: epsilon, Delta: 1e-5, Exposed: 1}
}

// mixture is a run of different releases that every method but the closed one has.
func mixture() []privacy.Event {
	step := privacy.Sampled{Event: gaussian(2), Rate: 0.05, Method: privacy.Poisson}
	return []privacy.Event{
		privacy.SelfComposed{Event: step, Count: 40}, gaussian(6), gaussian(9),
		privacy.DiscreteGaussian{Sigma: 30, Sensitivity: 4, Dimension: 1, Unit: unitOf, Neighbouring: privacy.AddRemove},
		privacy.Sampled{Event: privacy.Composed{Events: []privacy.Event{gaussian(3), gaussian(4)}}, Rate: 0.1, Method: privacy.Poisson},
	}
}

// The order of releases, how they are grouped and whether alike ones come together
// make no difference; charging nothing after them makes none either.
func TestOrderAndGroupingDoNotMatter(t *testing.T) {
	for _, m := range []accountant.Method{contour, bracket, renyi} {
		list := mixture()
		want := spentOn(t, m, 1e-6, list...)
		source := rand.New(rand.NewPCG(1, 2))
		for range 4 {
			source.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			cut := 1 + source.IntN(len(list)-1)
			for how, got := range map[string]float64{
				"shuffled": spentOn(t, m, 1e-6, list...),
				"grouped":  spentOn(t, m, 1e-6, privacy.Composed{Events: list[:cut]}, privacy.Composed{Events: list[cut:]}),
			} {
				if math.Abs(got/want-1) > 1e-6 {
					t.Errorf("%s, %s at %d: %v, want %v", m, how, cut, got, want)
				}
			}
		}
		if halves := append(mixture(), mixture()...); math.Abs(spentOn(t, m, 1e-6, halves...)/spentOn(t, m, 1e-6, privacy.SelfComposed{Event: privacy.Composed{Events: mixture()}, Count: 2})-1) > 1e-6 {
			t.Errorf("%s: a run after a run is not the run twice", m)
		}
	}
}

// Releases together cost no more than their prices added up, epsilons and deltas,
// and no less than the dearest; more noise, a lower rate, a part of the data or a
// larger delta cost no more.
func TestPricesComposeAsTheyMust(t *testing.T) {
	first, second := mixture()[0], privacy.Event(gaussian(1.5))
	for _, m := range []accountant.Method{contour, bracket, renyi} {
		both := spentOn(t, m, 1e-5, first, second)
		sum, dearest := spentOn(t, m, 0.5e-5, first)+spentOn(t, m, 0.5e-5, second), spentOn(t, m, 1e-5, second)
		if !(both <= sum*(1+1e-6) && both >= dearest*(1-1e-6)) {
			t.Errorf("%s: together %v, added up %v, the dearest %v", m, both, sum, dearest)
		}
		parallel := spentOn(t, m, 1e-5, privacy.Parallel{Events: []privacy.Event{gaussian(4), second, gaussian(3)}})
		if math.Abs(parallel/dearest-1) > 1e-6 {
			t.Errorf("%s: on disjoint parts %v, the dearest %v", m, parallel, dearest)
		}
		last := math.Inf(1)
		for _, rate := range []float64{1, 0.999999, 0.5, 0.05, 1e-3, 1e-6} {
			got := spentOn(t, m, 1e-5, privacy.Sampled{Event: second, Rate: rate, Method: privacy.Poisson})
			if !(got <= last*(1+1e-6)) || rate == 0.999999 && math.Abs(got/dearest-1) > 1e-3 {
				t.Errorf("%s: at rate %v epsilon %v, before %v", m, rate, got, last)
			}
			last = got
		}
		if last > 0 { // below delta a release is free
			t.Errorf("%s: one release in a million costs %v at a delta of 1e-5", m, last)
		}
		for _, sigma := range []float64{3, 30, 1e3, 1e6} {
			if got := spentOn(t, m, 1e-5, gaussian(sigma)); got > 5/sigma {
				t.Errorf("%s: sigma %v costs %v", m, sigma, got)
			}
		}
	}
}

// Delta falls with epsilon and is convex in e^epsilon, as a sum of (p - e^epsilon
// q)+ is; epsilon and delta are inverse to each other; asking changes nothing.
func TestCurvesAreCurves(t *testing.T) {
	for _, m := range accountant.Methods() {
		events := mixture()[:4]
		slack := 1e-9
		if m == analytic {
			events = []privacy.Event{gaussian(2), gaussian(3)}
		}
		if m == bracket { // rounded up by its mesh
			slack = 1e-4
		}
		a := charged(t, m, privacy.AddRemove, 1, events...)
		var x, d []float64
		for e := 0.0; e <= 2.4; e += 0.6 {
			x, d = append(x, math.Exp(e)), append(d, must(a.DeltaAt(e)).Delta)
		}
		for i := 1; i < len(d); i++ {
			if !(d[i] <= d[i-1]*(1+slack)) || d[i] < 0 || d[0] > 1 {
				t.Errorf("%s: delta rises from %v to %v", m, d[i-1], d[i])
			}
			if i+1 < len(d) && m != renyi { // a minimum of convex curves need not be convex
				chord := d[i-1] + (d[i+1]-d[i-1])*(x[i]-x[i-1])/(x[i+1]-x[i-1])
				if d[i] > chord*(1+slack) {
					t.Errorf("%s: delta %v at e^epsilon %v is above the chord, %v", m, d[i], x[i], chord)
				}
			}
		}
		for _, delta := range []float64{1e-9, 1e-5, 1e-2} {
			first, second := must(a.Spent(delta)), must(a.Spent(delta))
			if !cmp.Equal(first, second) {
				t.Errorf("%s: asked twice: %+v and %+v", m, first, second)
			}
			if back := must(a.DeltaAt(first.Epsilon)).Delta; first.Epsilon > 0 && math.Abs(back/delta-1) > 0.02 {
				t.Errorf("%s: delta %v came back as %v", m, delta, back)
			}
		}
	}
}
