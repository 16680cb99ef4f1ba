package classic

import (
	"errors"
	"fmt"
	"math"
)

// Response is k-ary randomised response: the true one of Categories values with
// probability Keep, any other with probability Other.
type Response struct {
	Epsilon    float64 // at least 0: log of Keep/Other
	Categories int64   // at least 2
}

// FromNoise is the response that answers at random, the truth included, with
// probability noise, and the truth otherwise; noise is in (0, 1].
func FromNoise(noise float64, categories int64) (Response, error) {
	if !(noise > 0 && noise <= 1) {
		return Response{}, fmt.Errorf("noise is %v, want above 0 and at most 1", noise)
	}
	r := Response{math.Log1p((1 - noise) / noise * float64(categories)), categories}
	return r, r.Validate()
}

// Validate reports the first field out of its range.
func (r Response) Validate() error {
	if err := checkEpsilon(r.Epsilon); err != nil {
		return err
	}
	if r.Categories < 2 || r.Categories > maxCount {
		return fmt.Errorf("categories are %d, want 2 to %d", r.Categories, int64(maxCount))
	}
	return nil
}

// Keep is e^epsilon/(e^epsilon + k - 1).
func (r Response) Keep() float64 { return 1 / (1 + float64(r.Categories-1)*math.Exp(-r.Epsilon)) }

// Other is 1/(e^epsilon + k - 1).
func (r Response) Other() float64 { return 1 / (math.Exp(r.Epsilon) + float64(r.Categories-1)) }

// Delta is the delta of one response at epsilon >= 0: max(0, Keep - e^epsilon
// Other).
func (r Response) Delta(epsilon float64) (float64, error) {
	if err := errors.Join(r.Validate(), checkEpsilon(epsilon)); err != nil {
		return 0, err
	}
	return math.Max(0, -math.Expm1(epsilon-r.Epsilon)*r.Keep()), nil
}

// OracleKind names a frequency oracle of Wang, Blocki, Li, Jha 2017.
type OracleKind string

// The oracles.
const (
	GRR OracleKind = "GRR" // k-ary randomised response (section 4.1 there)
	SUE OracleKind = "SUE" // symmetric unary encoding, basic RAPPOR (4.3)
	OUE OracleKind = "OUE" // optimised unary encoding (4.3)
	OLH OracleKind = "OLH" // optimised local hashing into round(e^epsilon)+1 cells (4.4)
)

// maxHashed keeps the number of cells exact as a float64.
const maxHashed = 36

// Oracle is a local protocol that estimates how frequent every one of Categories
// values is: from c of n reports that support a value it estimates (c/n-Q)/(P-Q).
type Oracle struct {
	Kind       OracleKind
	Epsilon    float64 // positive
	Categories int64   // at least 2; matters for GRR only
}

// Validate reports the first field out of its range.
func (o Oracle) Validate() error {
	if err := checkPositive("epsilon", o.Epsilon); err != nil {
		return err
	}
	switch o.Kind {
	case GRR:
		return Response{o.Epsilon, o.Categories}.Validate()
	case SUE, OUE:
		return nil
	case OLH:
		if o.Epsilon > maxHashed {
			return fmt.Errorf("epsilon is %v, want at most %v to hash into as many cells", o.Epsilon, float64(maxHashed))
		}
		return nil
	}
	return fmt.Errorf("unknown oracle %q", string(o.Kind))
}

// P is the probability that a report supports the true value.
func (o Oracle) P() float64 {
	switch o.Kind {
	case GRR:
		return Response{o.Epsilon, o.Categories}.Keep()
	case SUE:
		return 1 / (1 + math.Exp(-o.Epsilon/2))
	case OLH:
		return 1 / (1 + (o.cells()-1)*math.Exp(-o.Epsilon))
	}
	return 0.5
}

// Q is the probability that a report supports any other value.
func (o Oracle) Q() float64 {
	switch o.Kind {
	case GRR:
		return Response{o.Epsilon, o.Categories}.Other()
	case SUE:
		return 1 / (math.Exp(o.Epsilon/2) + 1)
	case OLH:
		return 1 / o.cells()
	}
	return 1 / (math.Exp(o.Epsilon) + 1)
}

// cells is what OLH hashes into.
func (o Oracle) cells() float64 { return math.RoundToEven(math.Exp(o.Epsilon)) + 1 }

// difference is P - Q, without cancellation.
func (o Oracle) difference() float64 {
	e := math.Expm1(o.Epsilon)
	switch o.Kind {
	case GRR:
		return e * o.Q()
	case SUE:
		return math.Tanh(o.Epsilon / 4)
	case OLH:
		g := o.cells()
		return (g - 1) / g * (-math.Expm1(-o.Epsilon)) * o.P()
	}
	return math.Tanh(o.Epsilon/2) / 2
}

// Variance is the variance of the estimate of the frequency f of a value from n
// reports: (f P (1-P) + (1-f) Q (1-Q))/(n (P-Q)²); f = 0 is the usual
// approximation. n is positive, f in [0, 1].
func (o Oracle) Variance(n, f float64) (float64, error) {
	if err := errors.Join(o.Validate(), checkPositive("n", n), checkProbability("f", f)); err != nil {
		return 0, err
	}
	p, q, d := o.P(), o.Q(), o.difference()
	return finite((f*p*o.miss() + (1-f)*q*(1-q)) / (n * d * d))
}

// miss is 1 - P, without cancellation.
func (o Oracle) miss() float64 {
	switch o.Kind {
	case GRR:
		return float64(o.Categories-1) * o.Q()
	case SUE:
		return o.Q()
	case OLH:
		return (o.cells() - 1) * math.Exp(-o.Epsilon) * o.P()
	}
	return 0.5
}

// DuchiVariance is the variance of the mechanism of Duchi, Jordan, Wainwright 2018
// for one number x in [-1, 1]: it answers +-(e^epsilon+1)/(e^epsilon-1).
func DuchiVariance(epsilon, x float64) (float64, error) {
	if err := errors.Join(checkPositive("epsilon", epsilon), checkUnit(x)); err != nil {
		return 0, err
	}
	c := 1 / math.Tanh(epsilon/2)
	return finite((c - x) * (c + x))
}

// PiecewiseVariance is the variance of the piecewise mechanism (Wang et al. 2019,
// lemma 1): x²/(e^(epsilon/2)-1) + (e^(epsilon/2)+3)/(3 (e^(epsilon/2)-1)²).
func PiecewiseVariance(epsilon, x float64) (float64, error) {
	if err := errors.Join(checkPositive("epsilon", epsilon), checkUnit(x)); err != nil {
		return 0, err
	}
	h := math.Expm1(epsilon / 2)
	return finite((x*x + (1+4/h)/3) / h)
}

// HybridVariance is the variance of the hybrid mechanism (Wang et al. 2019, section
// 3.3): piecewise with probability 1-e^(-epsilon/2) and Duchi's otherwise, both
// unbiased, for epsilon above 0.61; Duchi's alone up to there.
func HybridVariance(epsilon, x float64) (float64, error) {
	duchi, err := DuchiVariance(epsilon, x)
	if err != nil || epsilon <= hybridFrom {
		return duchi, err
	}
	piecewise, err := PiecewiseVariance(epsilon, x)
	share := -math.Expm1(-epsilon / 2)
	return share*piecewise + (1-share)*duchi, err
}

// hybridFrom is epsilon* of lemma 3 there: log((-5 + 2 cbrt(6353 - 405 sqrt 241) +
// 2 cbrt(6353 + 405 sqrt 241))/27), to its printed digits.
const hybridFrom = 0.61

func checkUnit(x float64) error {
	if !(x >= -1 && x <= 1) {
		return fmt.Errorf("x is %v, want -1 to 1", x)
	}
	return nil
}
