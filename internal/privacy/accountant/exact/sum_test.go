package exact

import (
	"context"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

func integerNoise(leaf privacy.Event, count int64) []terms.Term {
	return []terms.Term{{Leaf: leaf, Rate: 1, Relation: privacy.AddRemove, Count: count}}
}

func steps(sigma, shift float64) privacy.Event {
	return privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: shift, Dimension: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
}

func stepsLaplace(scale, shift float64) privacy.Event {
	return privacy.DiscreteLaplace{Scale: scale, Sensitivity: shift, Unit: privacy.User, Neighbouring: privacy.AddRemove}
}

// One release of integer noise is exact to 1e-12 of its delta, far out too:
// sums over the outcomes in 60 digits.
func TestSumsOfOneRelease(t *testing.T) {
	for i, c := range []struct {
		leaf       privacy.Event
		eps, delta float64
	}{
		{steps(7.0710678118654755, 1), 1.3, 5.8685405758058713987e-22},
		{steps(7.0710678118654755, 1), 4, 1.134781990979582414e-177},
		{steps(50, 1), 0.3, 5.6582494982812516664e-54},
		{steps(50, 3), 1.3, 1.1160499012057513742e-106},
		{steps(3, 2), 0, 0.25877516936480861399},
		{steps(1.3038404810405297, 3), 0.3, 0.72035822839402773156},
		{steps(100, 30), 0.02, 0.11060493655418703825},
		{steps(0.22360679774997896, 1), 2, 0.99961917202146192231},
		{stepsLaplace(333.3333333333333, 1), 0.0027, 0.00015020246833448148266},
		{stepsLaplace(333.3333333333333, 5), 0.0135, 0.00075056193697316348477},
		{stepsLaplace(20, 1), 0.045, 0.0025560914286611421649},
		{stepsLaplace(0.3333333333333333, 2), 0.1, 0.94996460256621670934},
		{stepsLaplace(0.125, 1), 7.9, 0.095130669179762937607},
		{stepsLaplace(2, 7), 0.2, 0.81286745469770563177},
	} {
		v, err := Delta(context.Background(), integerNoise(c.leaf, 1), c.eps)
		if err != nil {
			t.Fatal(err)
		}
		if v.Delta < c.delta || v.Delta > c.delta*(1+2e-12) {
			t.Errorf("%d: %+v at %v: %v, want %v or a little more, relative error %.2g", i, c.leaf, c.eps, v.Delta, c.delta, v.Delta/c.delta-1)
		}
		if lo := v.Delta - v.Error; lo > c.delta {
			t.Errorf("%d: %+v at %v: the interval ends at %v, above %v", i, c.leaf, c.eps, lo, c.delta)
		}
		if v.Method != Closed {
			t.Errorf("%d: method %q", i, v.Method)
		}
	}
}

// The sums agree with the integral of the same law, which they take the place of.
func TestSumsAgainstIntegral(t *testing.T) {
	for _, leaf := range []privacy.Event{steps(0.4, 1), steps(1, 2), steps(2.5, 9), steps(40, 3), steps(300, 100), stepsLaplace(0.2, 1), stepsLaplace(3, 8), stepsLaplace(150, 40)} {
		p, err := newPlan(integerNoise(leaf, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{0, 0.01, 0.1, 0.26, 0.9, 2.5} {
			v, err := p.delta(Remove, eps)
			if err != nil {
				t.Fatal(err)
			}
			w, err := p.integrate(Remove).delta(eps)
			if err != nil {
				continue // not every law has an integral at every epsilon
			}
			if v.Delta < w.Delta-w.Error || w.Delta < v.Delta-v.Error {
				t.Errorf("%+v at %v: sum %v (%.2g), integral %v (%.2g)", leaf, eps, v.Delta, v.Error, w.Delta, w.Error)
			}
		}
	}
}

// Beyond the largest loss nothing is left; two releases and wide noise are not
// summed.
func TestSumsEnd(t *testing.T) {
	if v, err := Delta(context.Background(), integerNoise(stepsLaplace(2, 3), 1), 1.5); err != nil || v.Delta != 0 {
		t.Errorf("beyond the largest loss: %+v, %v", v, err)
	}
	for _, ts := range [][]terms.Term{integerNoise(steps(3, 1), 2), integerNoise(steps(2*mostSummed, 1), 1), integerNoise(stepsLaplace(3, 2*mostSummed), 1)} {
		p, err := newPlan(ts)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := p.sum(0.1); ok {
			t.Errorf("%+v is summed", ts)
		}
	}
	// The sum goes on smoothly where it stops being used.
	for _, eps := range []float64{0, 1e-3, 3e-3} {
		in, err := Delta(context.Background(), integerNoise(steps(mostSummed, 1), 1), eps)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Delta(context.Background(), integerNoise(steps(mostSummed*(1+1e-9), 1), 1), eps)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(in.Delta-out.Delta) > 1e-7*in.Delta {
			t.Errorf("at %v: %v at the limit, %v beyond", eps, in.Delta, out.Delta)
		}
	}
}
