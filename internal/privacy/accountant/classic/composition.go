package classic

import (
	"errors"
	"fmt"
	"math"
)

// ErrUnreachable is returned if no finite epsilon has the given delta: all terms together fail with a larger
// probability.
var ErrUnreachable = errors.New("no finite epsilon has this delta")

// Basic returns the guarantee of count adaptive mechanisms that are (epsilon, delta)-DP each: the sums, with delta at
// most 1. epsilon is at least 0, delta in [0, 1], count at least 1. Source: Dwork and Roth 2014, theorem 3.16 for
// mechanisms fixed beforehand, appendix B for adaptive ones.
func Basic(epsilon, delta float64, count int64) (sumEpsilon, sumDelta float64, err error) {
	if err := errors.Join(checkEpsilon(epsilon), checkProbability("delta", delta), checkCount(count)); err != nil {
		return 0, 0, err
	}
	sum, err := finite(epsilon * float64(count))
	return sum, math.Min(1, delta*float64(count)), err
}

// Advanced returns the epsilon of count adaptive mechanisms that are (epsilon, delta)-DP each, at
// count delta + slack (Dwork and Roth 2014, theorem 3.20):
//
//	epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1)
//
// It applies the formula as it stands, also where Basic is smaller. slack is in (0, 1).
func Advanced(epsilon float64, count int64, slack float64) (float64, error) {
	return advanced(epsilon, count, slack, math.Expm1(epsilon))
}

// AdvancedTight returns the epsilon of Advanced with the mean loss (e^epsilon-1)/(e^epsilon+1), at the delta
// 1-(1-delta)^k (1-slack). It is the third form of Kairouz, Oh, Viswanath 2015, theorem 3.5, with equal terms.
func AdvancedTight(epsilon float64, count int64, slack float64) (float64, error) {
	return advanced(epsilon, count, slack, math.Tanh(epsilon/2))
}

func advanced(epsilon float64, count int64, slack, drift float64) (float64, error) {
	if err := errors.Join(checkEpsilon(epsilon), checkCount(count), checkSlack(slack)); err != nil {
		return 0, err
	}
	k := float64(count)
	return finite(epsilon * (math.Sqrt(-2*k*math.Log(slack)) + k*drift))
}

// Term stands for count mechanisms that are (Epsilon, Delta)-DP each.
type Term struct {
	Epsilon float64 // at least 0
	Delta   float64 // in [0, 1]; 0 is pure
	Count   int64   // at least 1
}

func (p Term) validate() error {
	return errors.Join(checkEpsilon(p.Epsilon), checkProbability("delta", p.Delta), checkCount(p.Count))
}

// AdvancedAny returns the epsilon of different adaptive terms at the delta 1 - (1-slack) prod (1-delta_i)^k_i (Kairouz,
// Oh, Viswanath 2015, theorem 3.5). It is the smallest of the sum and of both forms with the mean losses
// (e^epsilon-1)/(e^epsilon+1).
func AdvancedAny(terms []Term, slack float64) (epsilon, delta float64, err error) {
	if err := errors.Join(checkTerms(terms), checkSlack(slack)); err != nil {
		return 0, 0, err
	}
	var sum, mean, square float64
	for _, p := range terms {
		k := float64(p.Count)
		sum += k * p.Epsilon
		mean += k * p.Epsilon * math.Tanh(p.Epsilon/2)
		square += k * p.Epsilon * p.Epsilon
	}
	second := mean + math.Sqrt(2*square*math.Log(math.E+math.Sqrt(square)/slack))
	third := mean + math.Sqrt(-2*square*math.Log(slack))
	if epsilon, err = finite(math.Min(sum, math.Min(second, third))); err != nil {
		return 0, 0, err
	}
	broken := failure(terms)
	return epsilon, broken + (1-broken)*slack, nil
}

// failure returns 1 - prod (1-delta_i)^k_i, without cancellation.
func failure(terms []Term) float64 {
	log := 0.0
	for _, p := range terms {
		log += float64(p.Count) * math.Log1p(-p.Delta)
	}
	return -math.Expm1(log)
}

func checkTerms(terms []Term) error {
	if len(terms) == 0 {
		return errors.New("no terms")
	}
	for i, p := range terms {
		if err := p.validate(); err != nil {
			return fmt.Errorf("term %d: %w", i, err)
		}
	}
	return nil
}

func checkEpsilon(v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("epsilon is %v, want at least 0 and finite", v)
	}
	return nil
}

func checkProbability(name string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s is %v, want 0 to 1", name, v)
	}
	return nil
}

func checkSlack(v float64) error {
	if !(v > 0 && v < 1) {
		return fmt.Errorf("slack is %v, want between 0 and 1", v)
	}
	return nil
}

func checkCount(n int64) error {
	if n < 1 || n > maxCount {
		return fmt.Errorf("count is %d, want 1 to %d", n, int64(maxCount))
	}
	return nil
}

// maxCount is the largest count; up to it every count is exact as a float64.
const maxCount = 1 << 53

// finite returns v, or an error if it overflowed.
func finite(v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errors.New("epsilon overflows")
	}
	return v, nil
}

// AmplifyPoisson returns the guarantee of an (epsilon, delta)-DP mechanism on a Poisson sample,
// which has each unit with probability rate, under the add-remove relation: log(1 + rate
// (e^epsilon-1)) and rate delta (Li, Qardaji, Su, "On sampling, anonymization, and differential
// privacy", ASIACCS 2012; Balle, Barthe, Gaboardi, "Privacy amplification by subsampling: tight
// analyses via couplings and divergences", NeurIPS 2018, on Poisson sampling). rate is in [0, 1].
func AmplifyPoisson(rate, epsilon, delta float64) (float64, float64, error) {
	if err := errors.Join(checkProbability("rate", rate), checkEpsilon(epsilon),
		checkProbability("delta", delta)); err != nil {
		return 0, 0, err
	}
	if rate == 0 {
		return 0, 0, nil
	}
	if rate == 1 {
		return epsilon, delta, nil
	}
	if epsilon > 50 { // e^epsilon may overflow: log(rate e^epsilon (1 + (1-rate)/rate e^-epsilon))
		return math.Max(0, epsilon+math.Log(rate)+math.Log1p((1-rate)/rate*math.Exp(-epsilon))), rate * delta, nil
	}
	return math.Log1p(rate * math.Expm1(epsilon)), rate * delta, nil
}

// AmplifyWithoutReplacement returns the guarantee of an (epsilon, delta)-DP mechanism on a uniform sample without
// replacement, under the replace relation. The formulas are those of AmplifyPoisson at rate sample/units. The guarantee
// of the mechanism must be under replace too (Balle, Barthe, Gaboardi, theorem 9).
func AmplifyWithoutReplacement(sample, units int64, epsilon, delta float64) (float64, float64, error) {
	if units < 1 || sample < 0 || sample > units {
		return 0, 0, fmt.Errorf("%d of %d units, want 0 to all", sample, units)
	}
	return AmplifyPoisson(float64(sample)/float64(units), epsilon, delta)
}

// PureToZCDP returns the smallest rho such that every epsilon-DP mechanism is rho-zCDP: epsilon
// (e^epsilon-1)/(e^epsilon+1), the Kullback-Leibler divergence of randomized response with two
// answers. It cannot be less, since rho is at least the divergence of order 1. The tests show that
// no other order needs more (a tight conversion is known: Harrison and Manurangsi, "Exact zCDP
// characterizations for fundamental differentially private mechanisms", 2025, start from one). Bun
// and Steinke, "Concentrated differential privacy", TCC 2016, proposition 1.4, has the larger
// epsilon²/2.
func PureToZCDP(epsilon float64) (float64, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	return epsilon * math.Tanh(epsilon/2), nil
}
