package channel_test

import (
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// scaled are the mechanisms that add noise of a stated scale in floating point, put to
// work on data of type T: the channel of each, and one release through it.
func scaled[T mechanism.Float](scale float64, l *privacy.Ledger, s rng.Stream) map[string]func() (c *channel.Channel[T], release func() error, err error) {
	const unit, how = privacy.Edge, privacy.AddRemove
	row := func() []T { return make([]T, 3) }
	return map[string]func() (*channel.Channel[T], func() error, error){
		"Gaussian": func() (*channel.Channel[T], func() error, error) {
			c, err := channel.Open[T](channel.Gaussian{Purpose: "x", Sigma: scale, Sensitivity: 1, Unit: unit, Neighbouring: how}, l, s)
			return c, func() error { return c.Perturb(row(), 3, 1) }, err
		},
		"Laplace": func() (*channel.Channel[T], func() error, error) {
			c, err := channel.OpenLaplace[T](channel.Laplace{Purpose: "x", Scale: scale, Sensitivity: 1, Unit: unit, Neighbouring: how}, l, s)
			return c, func() error { return c.Perturb(row(), 3, 1) }, err
		},
		"Gaussian of a sample": func() (*channel.Channel[T], func() error, error) {
			e := privacy.Gaussian{Sigma: scale, Sensitivity: 1, Unit: unit, Neighbouring: how}
			c, err := channel.OpenSampled[T](channel.Gaussian{Purpose: "x", Sigma: scale, Sensitivity: 1, Unit: unit, Neighbouring: how},
				privacy.Sampled{Event: e, Rate: 0.5, Method: privacy.Poisson}, l, s)
			return c, func() error { return c.Perturb(row(), 3, 1) }, err
		},
		"Functional": func() (*channel.Channel[T], func() error, error) {
			x, err := channel.OpenFunctional[T](channel.Functional{Purpose: "x", Epsilon: 1 / scale, Sensitivity: 1, Unit: unit, Neighbouring: how}, l, s)
			if err != nil {
				return nil, nil, err
			}
			return x.Channel(), func() error { return x.PerturbCoefficients(nil, row()) }, nil
		},
	}
}

// recordedScale is the scale of noise in an event.
func recordedScale(e privacy.Event) float64 {
	switch e := e.(type) {
	case privacy.Gaussian:
		return e.Sigma
	case privacy.Laplace:
		return e.Scale
	case privacy.Sampled:
		return recordedScale(e.Event)
	}
	return math.NaN()
}

// TestNoiseIsNeverBelowItsEvent looks at the scale that the sampler of every mechanism is
// given, beside the one in the ledger: never below it, above it by less than a step of
// the data's type, and the same where the type has it.
func TestNoiseIsNeverBelowItsEvent(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testScales[float32](t, 0x1p-23) })
	t.Run("float64", func(t *testing.T) { testScales[float64](t, 0) })
}

func testScales[T mechanism.Float](t *testing.T, step float64) {
	scales := []float64{0.1, 0.2374, 1.0 / 3, 0.5, 1, 1.5, 2.3979, 1 + 0x1p-24, 1 + 0x1p-52, 1 - 0x1p-53, 1e-12, 1e12}
	s := rng.Seed(3).Stream("scales")
	for range 300 {
		scales = append(scales, math.Ldexp(1+s.Float64(), s.IntN(81)-40))
	}
	above := 0
	for i, scale := range scales {
		l := mechanismtest.Ledger(t)
		for name, open := range scaled[T](scale, l, s.Sub(uint64(i))) {
			c, release, err := open()
			if err != nil {
				t.Fatalf("%s, scale %v: %v", name, scale, err)
			}
			used, add := math.NaN(), channel.Sampler(c)
			channel.Plant(c, func(s rng.Stream, dst []T, scale T) {
				used = float64(scale)
				add(s, dst, scale)
			})
			if err := release(); err != nil {
				t.Fatalf("%s, scale %v: %v", name, scale, err)
			}
			want := recordedScale(c.Event())
			if !(used >= want && used <= want*(1+step)) || float64(T(want)) == want && used != want {
				t.Errorf("%s draws noise of scale %v, and records %v", name, used, want)
			}
			if used > want {
				above++
			}
		}
		for _, e := range l.Entries() {
			if !(recordedScale(e.Event) > 0) {
				t.Errorf("scale %v: recorded %v", scale, e)
			}
		}
	}
	if (above > 0) != (step > 0) {
		t.Errorf("%d scales were rounded up", above)
	}
}
