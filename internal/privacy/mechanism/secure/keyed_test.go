package secure

import (
	"errors"
	"fmt"
	"math"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
)

// OpenKeyedGaussian opens the channel of OpenGaussian with keyed bits, for research: anyone with the seed can undo the
// noise. It fails on a ledger marked secure.
func OpenKeyedGaussian[T mechanism.Float](m DiscreteGaussian, l *privacy.Ledger,
	s rng.Stream) (*channel.Channel[T], error) {
	return openGaussian[T](m, l, s, false)
}

// RatioOf returns the number x exactly. x must be positive, at most 2^53, and a multiple of a
// power of two not below 2^-53.
func RatioOf(x float64) (Ratio, error) {
	if !(x > 0 && x <= maxTerm) {
		return Ratio{}, fmt.Errorf("ratio is %v, want positive and at most 2^53", x)
	}
	den := uint64(1)
	for x != math.Trunc(x) {
		if x, den = 2*x, 2*den; den > maxTerm || x > maxTerm {
			return Ratio{}, fmt.Errorf("ratio %v has too many binary digits after the point", x/float64(den))
		}
	}
	return Ratio{uint64(x), den}, nil
}

// BernoulliExp returns true with probability exp(-Num/Den), exactly, by integer arithmetic on uniform words (Canonne,
// Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, algorithm 1). Num may be 0, Den not.
// The number of words that it draws depends on the result.
func BernoulliExp(src rng.Source, x Ratio) (bool, error) {
	if x.Den == 0 {
		return false, errors.New("ratio has denominator 0")
	}
	for range x.Num / x.Den { // exp(-1) for every whole part; a failure ends it
		if !bernoulliExp1(src) {
			return false, nil
		}
	}
	return bernoulliExp(src, x.Num%x.Den, x.Den), nil
}

// Variance returns the variance, which is below Sigma². For large Sigma the difference is too small for a float64.
func (l DiscreteGaussianLaw) Variance() float64 {
	mass, second := l.theta()
	return l.Sigma * l.Sigma * second / mass
}
