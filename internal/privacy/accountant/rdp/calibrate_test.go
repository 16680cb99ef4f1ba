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
	return []calibrator{
		{"sampled gaussian", func(b privacy.Budget, n int64, q float64, o rdp.Options) (float64, error) {
			return rdp.CalibrateSampledGaussian(context.Background(), q, n, b, o)
		}, func(s float64, n int64, q float64) (rdp.Curve, error) { return times(rdp.SampledGaussian(q, s))(n) }},
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
			find := func(steps int64) float64 {
				return must(rdp.CalibrateSampledGaussian(t.Context(), 1, steps,
					privacy.Budget{Epsilon: eps, Delta: delta}, rdp.Options{}))(t)
			}
			got := find(1)
			if got < exact || got > 1.25*exact {
				t.Errorf("epsilon %v, delta %v: sigma %v, exact %v", eps, delta, got, exact)
			}
			near(t, "sigma of 100 releases over 10", find(100), 10*got, 1e-10)
		}
	}
}

// A target that cannot be priced or reached is an error that says so; no number comes with it.
func TestCalibrationRefusals(t *testing.T) {
	ok := privacy.Budget{Epsilon: 1, Delta: 1e-5}
	bad := math.NaN()
	one := func(b privacy.Budget, o rdp.Options) (float64, error) {
		return rdp.CalibrateSampledGaussian(t.Context(), 1, 1, b, o)
	}
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
		"delta is 1": func() (float64, error) {
			return one(privacy.Budget{Epsilon: 1, Delta: 1}, rdp.Options{})
		},
		"target":             func() (float64, error) { return one(privacy.Budget{Epsilon: bad}, rdp.Options{}) },
		"unknown conversion": func() (float64, error) { return one(ok, rdp.Options{Conversion: "loose"}) },
		"orders must be":     func() (float64, error) { return one(ok, rdp.Options{Orders: []float64{1}}) },
		// Delta 0 asks for a bounded log-ratio, which normal noise has not.
		"target at noise": func() (float64, error) { return one(privacy.Budget{Epsilon: 1}, rdp.Options{}) },
	} {
		v, err := f()
		if err == nil || !strings.Contains(err.Error(), want) || v != 0 {
			t.Errorf("%s: %v, %v", want, v, err)
		}
	}
}
