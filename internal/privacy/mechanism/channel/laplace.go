package channel

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Laplace describes independent Laplace noise of the given scale on every value (Dwork, McSherry, Nissim, Smith,
// "Calibrating noise to sensitivity in private data analysis", TCC 2006, proposition 1). OpenLaplace opens it.
type Laplace struct {
	Purpose      string               // names the release in the ledger
	Scale        float64              // mean absolute value of the noise, positive
	Sensitivity  float64              // l1 distance between neighbours' values in one release
	Unit         privacy.Unit         // what neighbours differ in
	Neighbouring privacy.Neighbouring // how they differ
	Share        mechanism.Share      // of the run's false-alarm probability
}

// LaplaceScale returns the scale Sensitivity/Epsilon at which one release is
// Epsilon-private, rounded up.
func LaplaceScale(epsilon, sensitivity float64) (float64, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) || !(sensitivity > 0) || math.IsInf(sensitivity, 1) {
		return 0, fmt.Errorf("laplace: epsilon %v and sensitivity %v, want positive and finite", epsilon, sensitivity)
	}
	b := sensitivity / epsilon
	if math.FMA(b, epsilon, -sensitivity) < 0 { // the quotient was rounded down
		b = math.Nextafter(b, math.Inf(1))
	}
	if !(b > 0) || math.IsInf(b, 1) {
		return 0, fmt.Errorf("laplace: scale %v for epsilon %v and sensitivity %v is outside the range of a double", b,
			epsilon, sensitivity)
	}
	return b, nil
}

// Event returns one release as an accountant sees it.
func (m Laplace) Event() privacy.Laplace {
	return privacy.Laplace{Scale: m.Scale, Sensitivity: m.Sensitivity, Unit: m.Unit, Neighbouring: m.Neighbouring}
}

// Variance returns the variance of the noise of one value, 2 Scale².
func (m Laplace) Variance() float64 { return 2 * m.Scale * m.Scale }

// Tail returns the probability that the noise of one value exceeds t >= 0 on either side,
// exp(-t/Scale).
func (m Laplace) Tail(t float64) float64 { return math.Exp(-max(0, t) / m.Scale) }

// OpenLaplace opens a channel of Laplace noise. It has the same releases, keys and checks as one from Open, and is for
// research only.
func OpenLaplace[T mechanism.Float](m Laplace, l *privacy.Ledger, s rng.Stream) (*Channel[T], error) {
	if m.Purpose == "" {
		return nil, errors.New("laplace mechanism: no purpose")
	}
	c, err := New(Noise[T]{Purpose: m.Purpose, Share: m.Share, Law: laplaceLaw(m.Event(), m.Scale),
		Add: addLaplace[T], Absolute: true},
		l, s)
	if err != nil {
		return nil, err
	}
	if !representable[T](m.Scale) {
		return nil, fmt.Errorf("%s: scale %g is outside the range of the data's type", m.Purpose, m.Scale)
	}
	return c, nil
}

// addLaplace adds Laplace noise to dst, as the research sampler. It draws a sign and the logarithm of a uniform number
// of 63 bits, so its noise is at most 44.4 scales; 6e-20 of the law's mass lies beyond that.
func addLaplace[T mechanism.Float](s rng.Stream, dst []T, scale T) {
	if len(dst) < laplaceLeast {
		for i, x := range dst {
			dst[i] = x + scale*T(laplaceOf(s.Uint64()))
		}
		return
	}
	var words [laplaceWords]uint64
	for len(dst) > 0 {
		n := min(len(dst), len(words))
		s.Uint64s(words[:n])
		for i, w := range words[:n] {
			dst[i] += scale * T(laplaceOf(w))
		}
		dst = dst[n:]
	}
}

// laplaceWords is the number of words drawn together, and laplaceLeast the length from which they are.
const (
	laplaceWords = 64
	laplaceLeast = 16
)

// laplaceOf returns Laplace noise of scale 1. The sign, a bit of the word, is set without a
// branch, which would be mispredicted every other time.
func laplaceOf(w uint64) float64 {
	e := -math.Log((float64(w>>1) + 0.5) * 0x1p-63)
	return math.Float64frombits(math.Float64bits(e) ^ w<<63)
}

// sizes returns the tally of after-before and its absolute value, in units of the scale.
func sizes[T mechanism.Float](before, after []T, perScale float64) (t Tally) {
	for i, y := range after {
		d := float64(y-before[i]) * perScale
		t.Sum += d
		t.Sq += math.Abs(d)
		if d == 0 {
			t.Zeros++
		}
	}
	t.N = int64(len(after))
	return t
}

// Gaussian describes independent normal noise of standard deviation Sigma on every value. Open opens it.
type Gaussian struct {
	Purpose      string               // names the release in the ledger: aggregate
	Sigma        float64              // standard deviation of the noise, positive
	Sensitivity  float64              // l2 distance between neighbours' values in one release
	Unit         privacy.Unit         // what neighbours differ in
	Neighbouring privacy.Neighbouring // how they differ
	Share        mechanism.Share      // of the run's false-alarm probability
}

// Event returns one release as an accountant sees it.
func (g Gaussian) Event() privacy.Gaussian {
	return privacy.Gaussian{Sigma: g.Sigma, Sensitivity: g.Sensitivity, Unit: g.Unit, Neighbouring: g.Neighbouring}
}

// Law returns the law of the noise.
func (g Gaussian) Law() Law {
	return Law{g.Event(), g.Sigma,
		func(t *Tally, purpose string, x float64) error { return t.check(purpose, g.Sigma, x) }, 5}
}

// Open opens a channel that draws from stream s and records in ledger l.
func Open[T mechanism.Float](g Gaussian, l *privacy.Ledger, s rng.Stream) (*Channel[T], error) {
	if g.Purpose == "" {
		return nil, errors.New("gaussian mechanism: no purpose")
	}
	c, err := New(Noise[T]{Purpose: g.Purpose, Share: g.Share, Law: g.Law(), Add: addNormals[T]}, l, s)
	if err != nil {
		return nil, err
	}
	if !representable[T](g.Sigma) {
		return nil, fmt.Errorf("%s: sigma %g is outside the range of the data's type", g.Purpose, g.Sigma)
	}
	return c, nil
}

// OpenSampled opens a channel like Open, whose releases are of a sample and recorded as event e.
func OpenSampled[T mechanism.Float](g Gaussian, e privacy.Sampled, l *privacy.Ledger,
	s rng.Stream) (*Channel[T], error) {
	c, err := Open[T](g, l, s)
	if err == nil {
		c.law.Event = e
	}
	return c, err
}

// OpenAllocated opens a channel like Open, whose releases are the steps of epochs: e.Steps of them in a row are
// recorded as one event e, before the first one.
func OpenAllocated[T mechanism.Float](g Gaussian, e privacy.AllocatedGaussian, l *privacy.Ledger,
	s rng.Stream) (*Channel[T], error) {
	c, err := Open[T](g, l, s)
	if err == nil {
		c.law.Event, c.together = e, e.Steps
	}
	return c, err
}
