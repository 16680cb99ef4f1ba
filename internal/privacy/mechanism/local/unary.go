package local

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// UnaryEncoding describes optimised unary encoding of a category (Wang, Blocki, Li, Jha, "Locally differentially
// private protocols for frequency estimation", USENIX Security 2017, section 4.3; algorithm 2 of the DIPSGNN paper). It
// sends every bit of the one-hot vector independently, a 1 as 1 with probability P = 1/2, a 0 as 1 with probability Q =
// 1/(e^eps+1). A vector of zeros, for a missing value, is allowed: it differs from any other input in only one bit.
type UnaryEncoding struct {
	Purpose string
	Epsilon float64 // of one category
	Unit    privacy.Unit
	Share   mechanism.Share // of the run's false-alarm probability
}

// P returns the probability that a 1 is sent as 1.
func (m UnaryEncoding) P() float64 { return 0.5 }

// Q returns the probability that a 0 is sent as 1.
func (m UnaryEncoding) Q() float64 { return 1 / (math.Exp(m.Epsilon) + 1) }

// Probability returns the probability of output bits y at input bits x.
func (m UnaryEncoding) Probability(y, x []bool) float64 {
	t := 1.0
	for i := range x {
		one := m.Q()
		if x[i] {
			one = m.P()
		}
		if y[i] {
			t *= one
		} else {
			t *= 1 - one
		}
	}
	return t
}

// FrequencyVariance returns the variance of the unbiased estimate (c/n - Q)/(P - Q) of a share f from n vectors, when c
// of them send the bit.
func (m UnaryEncoding) FrequencyVariance(n, f float64) float64 {
	p, q := m.P(), m.Q()
	return (f*p*(1-p) + (1-f)*q*(1-q)) / (n * (p - q) * (p - q))
}

func (m UnaryEncoding) sample(s *rng.Stream, bit bool) bool {
	if bit {
		return s.Float64() < m.P()
	}
	return s.Float64() < m.Q()
}

// unaryCheck checks the bits of one mechanism.
type unaryCheck struct{ kept, flipped mechanism.Proportion }

func (m UnaryEncoding) newCheck() *unaryCheck {
	return &unaryCheck{mechanism.Proportion{What: "number of ones kept", P: m.P()},
		mechanism.Proportion{What: "number of zeros flipped", P: m.Q()}}
}

func (c *unaryCheck) see(in, out bool) {
	if in {
		c.kept.Count(out)
	} else {
		c.flipped.Count(out)
	}
}

// perturbUnary replaces one vector in place.
func perturbUnary[T mechanism.Float](m UnaryEncoding, s *rng.Stream, v []T, c *unaryCheck) {
	for i, x := range v {
		bit := m.sample(s, x == 1)
		c.see(x == 1, bit)
		v[i] = 0
		if bit {
			v[i] = 1
		}
	}
}

func oneHot[T mechanism.Float](purpose string, row int, v []T) error {
	ones := 0
	for _, x := range v {
		if x == 1 {
			ones++
		} else if x != 0 {
			return fmt.Errorf("%s: row %d holds %v, want a one-hot vector", purpose, row, x)
		}
	}
	if ones > 1 {
		return fmt.Errorf("%s: row %d holds %d ones, want at most one", purpose, row, ones)
	}
	return nil
}
