package rdp_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// calibrator is a mechanism whose noise is found and then priced again: a new one
// is a line in the table of TestCalibrationNeverOvershoots.
type calibrator struct {
	name  string
	find  func(target privacy.Budget, steps int64, q float64, o rdp.Options) (float64, error)
	curve func(noise float64, steps int64, q float64) (rdp.Curve, error)
}

func calibrators() []calibrator {
	times := func(c rdp.Curve, err error) func(n int64) (rdp.Curve, error) {
		return func(n int64) (rdp.Curve, error) { return rdp.Times(c, n), err }
	}
	without := func(noise float64, steps int64, q float64) (rdp.Curve, error) {
		w, err := rdp.WithoutReplacementGaussian(q, noise)
		if err != nil {
			return nil, err
		}
		g, err := rdp.Gaussian(noise, 1)
		return rdp.Times(rdp.Min(w, g), steps), err
	}
	return []calibrator{
		{"gaussian", func(b privacy.Budget, n int64, _ float64, o rdp.Options) (float64, error) {
			return rdp.CalibrateGaussian(context.Background(), 0.5, n, b, o)
		}, func(s float64, n int64, _ float64) (rdp.Curve, error) { return times(rdp.Gaussian(s, 0.5))(n) }},
		{"sampled gaussian", func(b privacy.Budget, n int64, q float64, o rdp.Options) (float64, error) {
			return rdp.CalibrateSampledGaussian(context.Background(), q, n, b, o)
		}, func(s float64, n int64, q float64) (rdp.Curve, error) { return times(rdp.SampledGaussian(q, s))(n) }},
		{"laplace", func(b privacy.Budget, n int64, _ float64, o rdp.Options) (float64, error) {
			return rdp.CalibrateLaplace(context.Background(), 3, n, b, o)
		}, func(s float64, n int64, _ float64) (rdp.Curve, error) { return times(rdp.Laplace(s, 3))(n) }},
		{"without replacement", func(b privacy.Budget, n int64, q float64, o rdp.Options) (float64, error) {
			o.Orders, o.Fixed = []float64{1.5, 2, 3, 5, 8, 16, 32}, true
			return rdp.Calibrate(context.Background(), func(s float64) (rdp.Curve, error) { return without(s, n, q) }, b, 1, o)
		}, without},
	}
}

// accounted(calibrate(context.Background(), target)) <= target, and a little less noise is not enough.
func TestCalibrationNeverOvershoots(t *testing.T) {
	for _, c := range calibrators() {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := privacy.Budget{
					Epsilon: math.Pow(10, rapid.Float64Range(-2.5, 2).Draw(t, "log epsilon")),
					Delta:   math.Pow(10, rapid.Float64Range(-12, -2).Draw(t, "log delta")),
				}
				steps := int64(math.Pow(10, rapid.Float64Range(0, 6).Draw(t, "log steps")))
				q := math.Pow(10, rapid.Float64Range(-5, 0).Draw(t, "log rate"))
				o := rdp.Options{Conversion: rapid.SampledFrom([]rdp.Conversion{"", rdp.Tight, rdp.Classic}).Draw(t, "conversion")}
				if rapid.Bool().Draw(t, "fixed") {
					o.Orders, o.Fixed = rdp.DPAccounting(), true
				}
				noise, err := c.find(b, steps, q, o)
				if c.name == "without replacement" {
					o.Orders, o.Fixed = []float64{1.5, 2, 3, 5, 8, 16, 32}, true
				}
				// On a fixed grid the last order bounds what any noise reaches.
				if errors.Is(err, rdp.ErrUnreachable) && o.Fixed {
					if p, err := rdp.Epsilon(context.Background(), rdp.ZCDP(0), b.Delta, o); o.Conversion == rdp.Classic && err == nil && p.Epsilon == 0 {
						t.Fatalf("%+v, %d steps: unreachable, but nothing stands in the way", b, steps)
					}
					return
				}
				if pays := terms.CheckDelta(b.Delta, terms.Exposed(q, steps)) != nil; c.name == "sampled gaussian" && pays != errors.Is(err, terms.ErrDelta) {
					t.Fatalf("%+v, %d steps, rate %v: %v", b, steps, q, err)
				} else if errors.Is(err, terms.ErrDelta) {
					return
				}
				if err != nil {
					t.Fatalf("%+v, %d steps, rate %v: %v", b, steps, q, err)
				}
				price := func(noise float64) float64 {
					curve, err := c.curve(noise, steps, q)
					if err != nil {
						t.Fatal(err)
					}
					p, err := rdp.Epsilon(context.Background(), curve, b.Delta, o)
					if errors.Is(err, rdp.ErrNoOrder) {
						return math.Inf(1)
					}
					if err != nil {
						t.Fatal(err)
					}
					return p.Epsilon
				}
				if got := price(noise); got > b.Epsilon {
					t.Fatalf("%+v, %d steps, rate %v: noise %v costs %v", b, steps, q, noise, got)
				}
				if got := price(noise * (1 - 1e-9)); got <= b.Epsilon {
					t.Fatalf("%+v, %d steps, rate %v: less noise than %v is enough: %v", b, steps, q, noise, got)
				}
			})
		})
	}
}

// Against the exact calibration of the Gaussian mechanism: above it, by no more
// than Rényi DP is known to lose.
func TestCalibrationAgainstExact(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 5, 20} {
		for _, delta := range []float64{1e-3, 1e-5, 1e-9} {
			exact := must(accountant.SigmaFor(1, eps, delta))(t)
			got := must(rdp.CalibrateGaussian(context.Background(), 1, 1, privacy.Budget{Epsilon: eps, Delta: delta}, rdp.Options{}))(t)
			if got < exact || got > 1.25*exact {
				t.Errorf("epsilon %v, delta %v: sigma %v, exact %v", eps, delta, got, exact)
			}
			many := must(rdp.CalibrateGaussian(context.Background(), 1, 100, privacy.Budget{Epsilon: eps, Delta: delta}, rdp.Options{}))(t)
			near(t, "sigma of 100 releases over 10", many, 10*got, 1e-10)
			one := must(rdp.CalibrateSampledGaussian(context.Background(), 1, 100, privacy.Budget{Epsilon: eps, Delta: delta}, rdp.Options{}))(t)
			near(t, "sigma at rate 1", one, many, 1e-10)
		}
	}
	// One pure release: the scale is D/epsilon, and less where delta helps.
	near(t, "pure laplace scale", must(rdp.CalibrateLaplace(context.Background(), 2, 5, privacy.Budget{Epsilon: 4}, rdp.Options{}))(t), 2.5, 1e-11)
	if b := must(rdp.CalibrateLaplace(context.Background(), 2, 1000, privacy.Budget{Epsilon: 4, Delta: 1e-6}, rdp.Options{}))(t); b > 300 {
		t.Errorf("scale %v of 1000 releases, 500 without delta", b)
	}
}

// A family that cannot be priced, or never gets cheap enough, is an error that
// says so; no number comes with it.
func TestCalibrationRefusals(t *testing.T) {
	ok := privacy.Budget{Epsilon: 1, Delta: 1e-5}
	broken := errors.New("broken family")
	bad := math.NaN()
	for want, f := range map[string]func() (float64, error){
		"sampling rate": func() (float64, error) {
			return rdp.CalibrateSampledGaussian(context.Background(), 0, 1, ok, rdp.Options{})
		},
		"is NaN": func() (float64, error) {
			return rdp.CalibrateSampledGaussian(context.Background(), bad, 1, ok, rdp.Options{})
		},
		"steps is 0": func() (float64, error) {
			return rdp.CalibrateSampledGaussian(context.Background(), 0.1, 0, ok, rdp.Options{})
		},
		"steps is -3": func() (float64, error) { return rdp.CalibrateGaussian(context.Background(), 1, -3, ok, rdp.Options{}) },
		"sensitivity is": func() (float64, error) {
			return rdp.CalibrateGaussian(context.Background(), math.Inf(1), 1, ok, rdp.Options{})
		},
		"sensitivity": func() (float64, error) { return rdp.CalibrateLaplace(context.Background(), -1, 1, ok, rdp.Options{}) },
		"target": func() (float64, error) {
			return rdp.CalibrateLaplace(context.Background(), 1, 1, privacy.Budget{Epsilon: bad}, rdp.Options{})
		},
		"delta is 1": func() (float64, error) {
			return rdp.CalibrateGaussian(context.Background(), 1, 1, privacy.Budget{Epsilon: 1, Delta: 1}, rdp.Options{})
		},
		"starting point": func() (float64, error) {
			return rdp.Calibrate(context.Background(), func(float64) (rdp.Curve, error) { return rdp.Sum(), nil }, ok, bad, rdp.Options{})
		},
		"no family": func() (float64, error) { return rdp.Calibrate(context.Background(), nil, ok, 1, rdp.Options{}) },
		"broken family": func() (float64, error) {
			return rdp.Calibrate(context.Background(), func(float64) (rdp.Curve, error) { return nil, broken }, ok, 1, rdp.Options{})
		},
		"no noise reaches": func() (float64, error) {
			return rdp.Calibrate(context.Background(), func(float64) (rdp.Curve, error) { return rdp.ZCDP(1), nil }, ok, 1, rdp.Options{})
		},
		"unknown conversion": func() (float64, error) {
			return rdp.CalibrateGaussian(context.Background(), 1, 1, ok, rdp.Options{Conversion: "loose"})
		},
		"orders must be": func() (float64, error) {
			return rdp.CalibrateGaussian(context.Background(), 1, 1, ok, rdp.Options{Orders: []float64{1}})
		},
		// Delta 0 asks for a bounded log-ratio, which normal noise has not.
		"target at noise": func() (float64, error) {
			return rdp.CalibrateGaussian(context.Background(), 1, 1, privacy.Budget{Epsilon: 1}, rdp.Options{})
		},
	} {
		v, err := f()
		if err == nil || !strings.Contains(err.Error(), want) || v != 0 {
			t.Errorf("%s: %v, %v", want, v, err)
		}
	}
}

// What no amount of noise takes away is no target: the floor of the uncapped
// theorem, which the capped one does not have.
func TestCalibrationToTheFloor(t *testing.T) {
	find := func(capped bool) (float64, error) {
		return rdp.Calibrate(context.Background(), func(s float64) (rdp.Curve, error) {
			g, err := rdp.Gaussian(s, 1)
			if err != nil {
				return nil, err
			}
			c, err := rdp.WithoutReplacement{Rate: 0.00126, Base: g, EpsInf: math.Inf(1), Capped: capped}.Curve()
			return rdp.Times(c, 712000), err
		}, privacy.Budget{Epsilon: 0.5, Delta: 1e-5}, 10, rdp.Options{Orders: rdp.Whole(64), Fixed: true, Conversion: rdp.Classic})
	}
	if s, err := find(false); !errors.Is(err, rdp.ErrUnreachable) {
		t.Errorf("uncapped: %v, %v", s, err)
	}
	if s, err := find(true); err != nil || s < 1000 {
		t.Errorf("capped: %v, %v", s, err)
	}
}
