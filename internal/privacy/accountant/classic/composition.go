package classic

import (
	"errors"
	"fmt"
	"math"
)

// ErrUnreachable says that no finite epsilon has a delta: the terms fail altogether with a larger
// probability.
var ErrUnreachable = errors.New("no finite epsilon has this delta")

// Basic returns the guarantee of count adaptive mechanisms that are (epsilon, delta)-DP each: the
// sums, with delta at most 1 (Dwork and Roth 2014, theorem 3.16, for mechanisms fixed beforehand;
// its appendix B for adaptive ones). epsilon is at least 0, delta in [0, 1], count at least 1.
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

// AdvancedTight returns the same with the mean loss (e^epsilon-1)/(e^epsilon+1), at the delta
// 1-(1-delta)^k (1-slack). It is the third form of Kairouz, Oh, Viswanath 2015, theorem 3.5, with
// equal terms.
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

// Term is count mechanisms that are (Epsilon, Delta)-DP each.
type Term struct {
	Epsilon float64 // at least 0
	Delta   float64 // in [0, 1]; 0 is pure
	Count   int64   // at least 1
}

func (p Term) validate() error {
	return errors.Join(checkEpsilon(p.Epsilon), checkProbability("delta", p.Delta), checkCount(p.Count))
}

// AdvancedAny returns the epsilon of unlike adaptive terms at the delta 1 - (1-slack) prod
// (1-delta_i)^k_i (Kairouz, Oh, Viswanath 2015, theorem 3.5). It is the smallest of the sum and of
// both forms with the mean losses (e^epsilon-1)/(e^epsilon+1).
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

// maxCount keeps every count exact as a float64.
const maxCount = 1 << 53

// finite turns an overflow into an error.
func finite(v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errors.New("epsilon overflows")
	}
	return v, nil
}
