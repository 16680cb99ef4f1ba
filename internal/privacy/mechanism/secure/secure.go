package secure

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
)

// DiscreteGaussian describes the release of values on a grid of a power of two with discrete normal noise (Canonne,
// Kamath, Steinke, NeurIPS 2020, section 3). It clamps values to Bound, rounds them to the grid, and adds noise of
// whole steps from an exact sampler. The possible outputs do not depend on the data, neither in steps nor in digits of
// the data's type. A value that is not finite is an error.
//
// OpenGaussian opens it with cryptographic bits.
type DiscreteGaussian struct {
	Purpose string  // names the release in the ledger
	Sigma   float64 // at least this much noise, in the data's unit; see Event
	// Sensitivity is the l2 distance between neighbours' values in one release, as they are computed: it must include
	// rounding errors of floating-point sums.
	Sensitivity float64
	// Dimension is the number of values of one release in which neighbours may differ: rounding
	// may move each of them apart by a step.
	Dimension int64
	// Bound is the largest absolute value; larger values are clamped to it before noise is added. It must not depend on
	// the data.
	Bound        float64
	Grid         float64 // a power of two; 0: as fine as the data's type allows
	Whole        bool    // values are multiples of Grid (counts): they are not rounded, and other values are an error
	Unit         privacy.Unit
	Neighbouring privacy.Neighbouring
	Share        mechanism.Share // of the run's false-alarm probability
	// Rate states that the values come from a Poisson sample, drawn by the caller with this probability for every unit.
	// That sample must have been drawn from cryptographic bits too. The event is then a sampled one. 1: a sample with
	// all units. 0: no sample.
	Rate float64
	// Steps states that the values come from the steps of epochs of random allocation, so many in an epoch, drawn by
	// the caller: every unit is in one of them. That must have been drawn from cryptographic bits too. The event is
	// then an epoch of normal noise that is at most as private, recorded before the first step. 0: no allocation.
	Steps int64
}

// OpenGaussian opens a discrete Gaussian mechanism for data that are published: a channel as
// from channel.Open, used in the same way, with noise from cryptographic bits. There is no
// seed, and keys only distinguish the releases. No noise can be drawn twice, so no checkpoint
// can be restored. The ledger must be marked secure.
//
// The ledger records a DiscreteGaussian event in steps of the grid, which Channel.Event
// returns. Its sensitivity is Sensitivity/Grid + sqrt(Dimension), with rounding. Its ratio of
// sigma to sensitivity is at least that of Sigma to Sensitivity.
//
// The time that a sample takes depends on the noise: an attacker who can measure it learns
// something.
func OpenGaussian[T mechanism.Float](m DiscreteGaussian, l *privacy.Ledger) (*channel.Channel[T], error) {
	return openGaussian[T](m, l, rng.Stream{}, true)
}

func openGaussian[T mechanism.Float](m DiscreteGaussian, l *privacy.Ledger, s rng.Stream,
	secret bool) (*channel.Channel[T], error) {
	grid, e, err := m.plan(digits[T]())
	if err == nil {
		err = errors.Join(m.Share.Validate(), mechanism.Marked(l, secret))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", named(m.Purpose, "discrete Gaussian mechanism"), err)
	}
	g, err := NewGaussianSampler(grid.noise)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Purpose, err)
	}
	law := gridLaw(m.recorded(e), e.Sigma, grid.Step)
	return openLattice[T](m.Purpose, m.Share, law, m.Steps, grid, false, l, s, secret, g.Sample)
}

// recorded returns the event that is recorded of a release whose own is e: of the release, or of an epoch of them.
func (m DiscreteGaussian) recorded(e privacy.DiscreteGaussian) privacy.Event {
	switch {
	case m.Steps > 0:
		g, _ := e.Continuous() // plan has asked
		return privacy.AllocatedGaussian{Sigma: g.Sigma, Sensitivity: g.Sensitivity, Times: 1, Steps: m.Steps,
			Unit: g.Unit, Neighbouring: g.Neighbouring}
	case m.Rate == 0:
		return e
	}
	return privacy.Sampled{Event: e, Rate: m.Rate, Method: privacy.Poisson}
}

func named(purpose, kind string) string {
	if purpose == "" {
		return kind
	}
	return purpose
}

// Event returns the event that a release of float64 values records.
func (m DiscreteGaussian) Event() (privacy.Event, error) {
	_, e, err := m.plan(digits[float64]())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", named(m.Purpose, "discrete Gaussian mechanism"), err)
	}
	return m.recorded(e), nil
}

// plan returns the mechanism's grid and event.
func (m DiscreteGaussian) plan(digits int) (*lattice, privacy.DiscreteGaussian, error) {
	none := privacy.DiscreteGaussian{}
	asked := privacy.DiscreteGaussian{Sigma: m.Sigma, Sensitivity: m.Sensitivity, Dimension: m.Dimension, Unit: m.Unit,
		Neighbouring: m.Neighbouring}
	if m.Purpose == "" {
		return nil, none, errors.New("no purpose")
	}
	// In the data's unit a sensitivity may be any number; in steps it is checked below.
	if err := (privacy.Gaussian{Sigma: m.Sigma, Sensitivity: m.Sensitivity, Unit: m.Unit,
		Neighbouring: m.Neighbouring}).Validate(); err != nil {
		return nil, none, err
	}
	if m.Dimension < 1 {
		return nil, none, fmt.Errorf("dimension is %d, want at least 1", m.Dimension)
	}
	if !(m.Rate >= 0 && m.Rate <= 1) {
		return nil, none, fmt.Errorf("rate is %v, want a probability, or 0 for no sample", m.Rate)
	}
	if m.Steps < 0 || m.Steps > 0 && m.Rate != 0 {
		return nil, none, fmt.Errorf("epochs of %d steps at rate %v, want no rate where units are allocated to steps",
			m.Steps, m.Rate)
	}
	root := math.Sqrt(float64(m.Dimension))
	if root*root < float64(m.Dimension) {
		root = up(root)
	}
	l, err := plan(digits, request{m.Sigma, m.Sensitivity, root, gaussianReach, m.Bound, m.Grid, m.Whole})
	if err != nil {
		return nil, none, err
	}
	asked.Sigma, asked.Sensitivity = l.Scale, l.sensitivity
	if _, ok := asked.Continuous(); m.Steps > 0 && !ok {
		return nil, none, fmt.Errorf("noise of %.3g steps over %d values has no normal noise that is known to be at "+
			"most as private: random allocation wants 64 steps", asked.Sigma, m.Dimension)
	}
	return l, asked, asked.Validate()
}

// openLattice opens a channel of noise on a grid. together is the number of releases that the law's event covers.
func openLattice[T mechanism.Float](purpose string, share mechanism.Share, of channel.Law, together int64,
	grid *lattice, absolute bool,
	l *privacy.Ledger, s rng.Stream, secret bool, sample func(rng.Source) int64) (*channel.Channel[T], error) {
	bits := newBitPool(secret)
	return channel.New(channel.Noise[T]{Purpose: purpose, Share: share, Law: of, Absolute: absolute, Grid: &grid.Grid,
		Secret: secret, Together: together, Add: func(s rng.Stream, dst []T, _ T) {
			b := bits.get(s)
			for i, x := range dst {
				k := int64(grid.Round(float64(x))) + sample(b.src)
				dst[i] = T(float64(max(-grid.Limit, min(grid.Limit, k))) * grid.Step)
			}
			bits.put(b)
		}}, l, s)
}

// bitPool hands out sources of bits, each to one goroutine at a time.
type bitPool struct {
	pool   sync.Pool
	secret bool
}

type bitSource struct {
	src    rng.Source
	stream rng.Stream // src, unless secret
}

// newBitPool returns a pool of cryptographic sources, or of keyed ones.
func newBitPool(secret bool) *bitPool {
	p := &bitPool{secret: secret}
	p.pool.New = func() any {
		b := &bitSource{}
		if b.src = &b.stream; secret {
			b.src = &rng.Secret{}
		}
		return b
	}
	return p
}

func (p *bitPool) get(s rng.Stream) *bitSource {
	b, _ := p.pool.Get().(*bitSource)
	b.stream = s
	return b
}

func (p *bitPool) put(b *bitSource) { p.pool.Put(b) }
