package local

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Piecewise describes the piecewise mechanism for one number in [-1, 1] (Wang et al., "Collecting and analyzing
// multidimensional data with local differential privacy", ICDE 2019, algorithm 2; algorithm 1 of the DIPSGNN paper).
// The output is in [-C, C], unbiased, and uniform inside and outside a centre interval [l, r] around the input.
type Piecewise struct {
	Purpose string
	Epsilon float64 // of one number
	Unit    privacy.Unit
	Share   mechanism.Share // of the run's false-alarm probability
}

// C returns the bound of the output: (e^(eps/2)+1)/(e^(eps/2)-1).
func (m Piecewise) C() float64 { return 1 / math.Tanh(m.Epsilon/4) }

// width returns r - l = C - 1, without cancellation.
func (m Piecewise) width() float64 { return 2 / math.Expm1(m.Epsilon/2) }

// Centre returns the probability of the centre interval, e^(eps/2)/(e^(eps/2)+1).
func (m Piecewise) Centre() float64 { return 1 / (1 + math.Exp(-m.Epsilon/2)) }

// Bounds returns the centre interval of input x: l = (C+1)/2 x - (C-1)/2, r = l + C - 1.
func (m Piecewise) Bounds(x float64) (l, r float64) {
	l = (m.C()+1)/2*x - m.width()/2
	return l, l + m.width()
}

// Density returns the density of output y at input x.
func (m Piecewise) Density(y, x float64) float64 {
	c := m.C()
	l, r := m.Bounds(x)
	switch {
	case y < -c || y > c:
		return 0
	case y >= l && y <= r:
		return m.Centre() / m.width()
	}
	return 1 / (1 + math.Exp(m.Epsilon/2)) / (c + 1) // 1 - Centre, without cancellation
}

// Variance returns the variance of the output at input x (lemma 1 of Wang et al.), largest at
// 1: with e = e^(eps/2)-1 it is x²/e + (e+4)/(3 e²).
func (m Piecewise) Variance(x float64) float64 {
	e := math.Expm1(m.Epsilon / 2)
	return (x*x + (1+4/e)/3) / e // (e+4)/(3 e²) overflows long before it is 0
}

// sample returns an output at input x.
func (m Piecewise) sample(s *rng.Stream, x float64) float64 {
	l, r := m.Bounds(x)
	centre := s.Float64() < m.Centre()
	u := s.Float64()
	if centre {
		return l + u*(r-l)
	}
	c := m.C()
	left := l + c
	if u *= c + 1; u < left { // sides by their lengths, together 2C - (C-1)
		return -c + u
	}
	return min(c, r+u-left)
}

// piecewiseCheck checks the outputs of one mechanism.
type piecewiseCheck struct {
	m      Piecewise
	centre mechanism.Proportion
	bias   mechanism.Bounded
}

func (m Piecewise) newCheck() *piecewiseCheck {
	return &piecewiseCheck{m, mechanism.Proportion{What: "number of outputs in the centre", P: m.Centre()},
		mechanism.Bounded{What: "sum of deviations", Width: 2 * m.C()}}
}

// see counts an output by its value, not by the branch that was meant to make it.
func (c *piecewiseCheck) see(x, y float64) {
	l, r := c.m.Bounds(x)
	c.centre.Count(y >= l && y <= r)
	c.bias.Add(y - x)
}

func inRange(purpose string, i int, x float64) error {
	if !(x >= -1 && x <= 1) {
		return fmt.Errorf("%s: value %d is %v, want within [-1, 1]", purpose, i, x)
	}
	return nil
}

// admit validates what all local mechanisms take.
func admit(purpose string, e privacy.Event, share mechanism.Share, l *privacy.Ledger) error {
	if purpose == "" {
		return fmt.Errorf("local mechanism: no purpose")
	}
	if err := errors.Join(e.Validate(), share.Validate()); err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	return mechanism.Research(purpose, l)
}
