package reference

import (
	"math"
	"math/big"
	"testing"
)

// The hockey-stick divergence of k randomised responses whose ratio is a whole
// number, in rationals, straight from its definition: the sum over outcomes of
// max(0, P - e^epsilon Q), at e^epsilon a rational too.
func TestKFoldAgainstRationals(t *testing.T) {
	for _, ratio := range []int64{2, 3, 17} {
		for _, k := range []int64{1, 2, 5, 20} {
			for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 2), big.NewRat(2, 1), big.NewRat(100, 7),
				big.NewRat(ratio*ratio, 1)} {
				var want big.Rat
				for n := range k + 1 { // n answers for the truth
					p, q := outcome(ratio, k, n), outcome(ratio, k, k-n)
					p.Sub(p, q.Mul(q, e))
					if p.Sign() > 0 {
						want.Add(&want, p.Mul(p, new(big.Rat).SetInt(new(big.Int).Binomial(k, n))))
					}
				}
				exact, _ := want.Float64()
				ef, _ := e.Float64()
				got := KFoldDelta([]Guarantee{{math.Log(float64(ratio)), 0, k}}, math.Log(ef))
				if math.Abs(got-exact) > 1e-12*exact+1e-15 {
					t.Errorf("ratio %d, %d times, e^epsilon %v: %v, want %v", ratio, k, e, got, exact)
				}
			}
		}
	}
}

// outcome is the probability of one outcome with n true answers of k.
func outcome(ratio, k, n int64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(ratio), big.NewInt(n), nil),
		new(big.Int).Exp(big.NewInt(ratio+1), big.NewInt(k), nil))
}
