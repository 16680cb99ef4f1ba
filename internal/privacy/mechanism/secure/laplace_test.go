package secure

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
)

// Discrete Laplace noise on a grid: its law is that of the proposals of the discrete normal sampler, and its channel
// shows that nothing in this package rests on one law.

// DiscreteLaplace describes the release of DiscreteGaussian with discrete Laplace noise instead (Ghosh, Roughgarden,
// Sundararajan, STOC 2009).
type DiscreteLaplace struct {
	Purpose      string
	Scale        float64 // at least this much noise, in the data's unit
	Sensitivity  float64 // l1 distance between neighbours' values in one release
	Dimension    int64   // number of values of one release in which neighbours may differ
	Bound        float64 // bound that values are clamped to before noise is added
	Grid         float64 // a power of two; 0: as fine as the data's type allows
	Whole        bool    // values are multiples of Grid
	Unit         privacy.Unit
	Neighbouring privacy.Neighbouring
	Share        mechanism.Share
}

// OpenLaplace opens a discrete Laplace mechanism for data that are published, like OpenGaussian. The sensitivity of its
// event is Sensitivity/Grid + Dimension.
func OpenLaplace[T mechanism.Float](m DiscreteLaplace, l *privacy.Ledger) (*channel.Channel[T], error) {
	return openLaplace[T](m, l, rng.Stream{}, true)
}

// OpenKeyedLaplace opens the channel of OpenLaplace with keyed bits, for research.
func OpenKeyedLaplace[T mechanism.Float](m DiscreteLaplace, l *privacy.Ledger,
	s rng.Stream) (*channel.Channel[T], error) {
	return openLaplace[T](m, l, s, false)
}

func openLaplace[T mechanism.Float](m DiscreteLaplace, l *privacy.Ledger, s rng.Stream,
	secret bool) (*channel.Channel[T], error) {
	grid, e, err := m.plan(digits[T]())
	if err == nil {
		err = errors.Join(m.Share.Validate(), mechanism.Marked(l, secret))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", named(m.Purpose, "discrete Laplace mechanism"), err)
	}
	d, err := NewLaplaceSampler(grid.noise)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Purpose, err)
	}
	return openLattice[T](m.Purpose, m.Share, gridLaplace(e, grid.Step), 0, grid, true, l, s, secret, d.Sample)
}

func (m DiscreteLaplace) plan(digits int) (*lattice, privacy.DiscreteLaplace, error) {
	none := privacy.DiscreteLaplace{}
	asked := privacy.DiscreteLaplace{Scale: m.Scale, Sensitivity: m.Sensitivity, Unit: m.Unit,
		Neighbouring: m.Neighbouring}
	switch {
	case m.Purpose == "":
		return nil, none, errors.New("no purpose")
	case m.Dimension < 1:
		return nil, none, fmt.Errorf("dimension is %d, want at least 1", m.Dimension)
	}
	// As for DiscreteGaussian.
	if err := (privacy.Laplace{Scale: m.Scale, Sensitivity: m.Sensitivity, Unit: m.Unit,
		Neighbouring: m.Neighbouring}).Validate(); err != nil {
		return nil, none, err
	}
	l, err := plan(digits, request{m.Scale, m.Sensitivity, float64(m.Dimension), laplaceReach, m.Bound, m.Grid,
		m.Whole})
	if err != nil {
		return nil, none, err
	}
	asked.Scale, asked.Sensitivity = l.Scale, l.sensitivity
	return l, asked, asked.Validate()
}

// LaplaceSampler draws from the discrete Laplace law P(k) ~ exp(-|k|/scale) by integer arithmetic only (Canonne,
// Kamath, Steinke 2020, algorithm 2).
type LaplaceSampler struct{ scale Ratio }

// NewLaplaceSampler returns a sampler for a scale of at most 2^50 with both parts in [1, 2^53].
func NewLaplaceSampler(scale Ratio) (LaplaceSampler, error) {
	if err := inSteps(scale); err != nil {
		return LaplaceSampler{}, fmt.Errorf("discrete Laplace scale: %w", err)
	}
	return LaplaceSampler{scale}, nil
}

// Sample returns one integer from the law. Its time depends on the result.
func (l LaplaceSampler) Sample(src rng.Source) int64 {
	for {
		x, negative, ok := geometric(src, l.scale.Num)
		if !ok {
			continue
		}
		if l.scale.Den > 1 {
			q, _ := bits.Div64(x.hi, x.lo, l.scale.Den) // the quotient fits: geometric bounds x
			x.lo = q
		} else if x.hi != 0 {
			continue
		}
		if k, ok := signed(x.lo, negative); ok {
			return k
		}
	}
}

// DiscreteLaplaceLaw is the distribution P(k) ~ exp(-|k|/Scale) on the integers.
// Scale must be positive and finite.
type DiscreteLaplaceLaw struct{ Scale float64 }

// PMF returns the probability of k, tanh(1/(2 Scale)) exp(-|k|/Scale).
func (l DiscreteLaplaceLaw) PMF(k int64) float64 {
	return math.Tanh(0.5/l.Scale) * math.Exp(-math.Abs(float64(k))/l.Scale)
}

// Variance returns the variance, 1/(2 sinh²(1/(2 Scale))).
func (l DiscreteLaplaceLaw) Variance() float64 {
	s := math.Sinh(0.5 / l.Scale)
	return 0.5 / (s * s)
}

// LogSizes returns log E exp(t |K|/Scale) for t < 1.
func (l DiscreteLaplaceLaw) LogSizes(t float64) float64 {
	// P(0) (1 + 2 r/(1-r)) with r = exp(-(1-t)/Scale).
	return math.Log(math.Tanh(0.5/l.Scale) / math.Tanh(0.5*(1-t)/l.Scale))
}

// LogSum returns log E exp(t K/Scale) for |t| < 1.
func (l DiscreteLaplaceLaw) LogSum(t float64) float64 {
	// The difference of two geometric numbers.
	s, up, down := math.Sinh(0.5/l.Scale), math.Sinh(0.5*(1-t)/l.Scale), math.Sinh(0.5*(1+t)/l.Scale)
	return 2*math.Log(s) - math.Log(up) - math.Log(down)
}

// gridLaplace returns the law of discrete Laplace noise. Its sizes are absolute values.
func gridLaplace(e privacy.DiscreteLaplace, step float64) channel.Law {
	d, scale := DiscreteLaplaceLaw{e.Scale}, e.Scale*step
	return channel.Law{Event: e, Scale: scale, Tails: 6, Check: func(t *channel.Tally, purpose string, x float64) error {
		return channel.Moments{Sum: d.LogSum, Size: d.LogSizes, SumLimit: 1, SizeLimit: 1, Unchanged: d.PMF(0),
			Root: 1}.Check(t, purpose, scale, x)
	}}
}
