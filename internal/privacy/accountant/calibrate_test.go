package accountant

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
)

// goal is an epsilon for releases that see every unit.
func goal(epsilon float64) Goal { return Goal{Epsilon: epsilon, Delta: 1e-5, Exposed: 1} }

// The solver against inverses that are known in closed form.
func TestCalibrateFindsTheInverse(t *testing.T) {
	for name, c := range map[string]struct {
		spent   func(x float64) float64
		inverse func(eps float64) float64
	}{
		"reciprocal": {func(x float64) float64 { return 1 / x }, func(e float64) float64 { return 1 / e }},
		"closed":     {func(x float64) float64 { return Closed(1/(x*x), 1e-5) }, func(e float64) float64 { return 1 / ClosedMu(e, 1e-5) }},
		"steep":      {func(x float64) float64 { return math.Exp(1/x) - 1 }, func(e float64) float64 { return 1 / math.Log1p(e) }},
		"fails at low noise": {func(x float64) float64 {
			if x < 1e-3 {
				return math.NaN()
			}
			return 1 / x
		}, func(e float64) float64 { return 1 / e }},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				target := math.Exp(rapid.Float64Range(-6, 6).Draw(rt, "log target"))
				start := math.Exp(rapid.Float64Range(-5, 9).Draw(rt, "log start"))
				got, err := Calibrate(goal(target), start, func(x float64) (float64, error) {
					if v := c.spent(x); !math.IsNaN(v) {
						return v, nil
					}
					return 0, errors.New("too little noise")
				})
				if err != nil {
					rt.Fatal(err)
				}
				if got.Epsilon > target || c.spent(got.Noise) != got.Epsilon {
					rt.Errorf("epsilon %v at %v (again: %v) overshoots %v", got.Epsilon, got.Noise, c.spent(got.Noise), target)
				}
				if want := c.inverse(target); math.Abs(got.Noise/want-1) > 2e-11 {
					rt.Errorf("noise %v, want %v", got.Noise, want)
				}
				if got.Calls > 80 {
					rt.Errorf("%d calls", got.Calls)
				}
			})
		})
	}
}

// A step down in epsilon, where no noise gives the target itself, is met on its
// safe side.
func TestCalibrateStep(t *testing.T) {
	got, err := Calibrate(goal(1), 1, func(x float64) (float64, error) {
		if x < 3 {
			return 2, nil
		}
		return 0.5, nil
	})
	if err != nil || got.Epsilon != 0.5 || !(got.Noise >= 3 && got.Noise < 3*(1+2e-11)) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCalibrateErrors(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		target, start float64
		spent         func(float64) (float64, error)
		want          string
		is            error
	}{
		"zero epsilon":     {0, 1, nil, "epsilon is 0", nil},
		"nan epsilon":      {math.NaN(), 1, nil, "epsilon is NaN", nil},
		"infinite epsilon": {math.Inf(1), 1, nil, "epsilon is +Inf", nil},
		"start":            {1, 0, nil, "starts at 0", nil},
		"never enough":     {1, 1, func(float64) (float64, error) { return 2, nil }, "no noise between", nil},
		"always enough":    {1, 1, func(float64) (float64, error) { return 0.5, nil }, "even the least noise meets it", nil},
		"always fails":     {1, 1, func(float64) (float64, error) { return 0, boom }, "no noise between", boom},
		"nan":              {1, 1, func(float64) (float64, error) { return math.NaN(), nil }, "came out as NaN", nil},
		"negative":         {1, 1, func(float64) (float64, error) { return -1, nil }, "came out as -1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Calibrate(goal(c.target), c.start, c.spent)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestCalibrateRefusesWhereDeltaPays asks for a guarantee that holds without noise: an
// accountant that fails at too little noise would call that the least.
func TestCalibrateRefusesWhereDeltaPays(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		steps int64
		delta float64
	}{{1e-5, 1, 1e-5}, {1e-5, 1, 0.1}, {1e-5, 100, 1e-3}, {0.5, 3, 0.875}} {
		spent := func(s float64) (float64, error) {
			a, err := New(Contour, privacy.Record, privacy.AddRemove)
			if err != nil {
				return 0, err
			}
			if err := a.Charge(poisson(noise(s), c.rate), c.steps); err != nil {
				return 0, err
			}
			r, err := a.Spent(c.delta)
			return r.Epsilon, err
		}
		got, err := Calibrate(Goal{Epsilon: 1, Delta: c.delta, Exposed: Exposed(c.rate, c.steps)}, 1, spent)
		if !errors.Is(err, ErrDelta) {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	// A caller that says nothing is sampled does not get an answer either.
	got, err := Calibrate(goal(1), 1, func(s float64) (float64, error) {
		if s < 1e-8 {
			return 0, errors.New("too little noise")
		}
		return 0, nil
	})
	if err == nil || !strings.Contains(err.Error(), "not the least") {
		t.Errorf("%+v, %v", got, err)
	}
}

// What the method is for: few calls of an accountant.
func TestCalibrateIsQuick(t *testing.T) {
	for _, target := range []float64{0.1, 1, 3, 10} {
		got, err := Calibrate(goal(target), 2, func(s float64) (float64, error) { return Exact(1/s, 1e-5) })
		if err != nil {
			t.Fatal(err)
		}
		if got.Calls > 16 {
			t.Errorf("epsilon %v: %d calls", target, got.Calls)
		}
		t.Logf("epsilon %v: sigma %v in %d calls", target, got.Noise, got.Calls)
	}
}
