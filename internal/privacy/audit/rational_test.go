package audit_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"privrec/internal/privacy/audit"
)

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

// masses are the probabilities of 0 to n right guesses, each right with odds x.
func masses(n int64, x *big.Rat) []*big.Rat {
	all := new(big.Rat).Add(x, rat(1, 1))
	p := rat(1, 1)
	for range n {
		p.Quo(p, all)
	}
	list := make([]*big.Rat, n+1)
	for k := range list {
		list[k] = new(big.Rat).Mul(p, new(big.Rat).SetInt(new(big.Int).Binomial(n, int64(k))))
		p.Mul(p, x)
	}
	return list
}

// theorem is theorem 5.2 of Steinke, Nasr and Jagielski with e^epsilon = x, as it is
// printed or with one of the mistakes that copies of it have.
func theorem(c audit.Count, x, delta *big.Rat, mistake string) *big.Rat {
	odds := x
	if mistake == "probability for odds" { // 1/(1+e^epsilon) guesses are right
		odds = new(big.Rat).Inv(x)
	}
	mass := masses(c.Guesses, odds)
	beta, alpha := new(big.Rat), new(big.Rat)
	for k, p := range mass {
		if int64(k) > c.Correct || int64(k) == c.Correct && mistake != "more than v" {
			beta.Add(beta, p)
		}
	}
	for i := int64(1); i <= c.Correct; i++ {
		share := new(big.Rat)
		for k := c.Correct - i; k < c.Correct; k++ {
			share.Add(share, mass[k])
		}
		if mistake != "no division by i" {
			share.Quo(share, rat(i, 1))
		}
		if share.Cmp(alpha) > 0 {
			alpha = share
		}
	}
	factor := 2 * c.Canaries
	switch mistake {
	case "guesses for canaries":
		factor = 2 * c.Guesses
	case "no factor 2":
		factor = c.Canaries
	case "no delta":
		factor = 0
	}
	p := alpha.Mul(alpha, delta)
	p.Add(beta, p.Mul(p, rat(factor, 1)))
	if p.Cmp(rat(1, 1)) > 0 {
		return rat(1, 1)
	}
	return p
}

// The p-value of every count of few canaries, in rationals; and every mistake is one
// that these counts show.
func TestPValueIsTheTheorem(t *testing.T) {
	seen := map[string]float64{"probability for odds": 0, "more than v": 0, "no division by i": 0, "guesses for canaries": 0, "no factor 2": 0, "no delta": 0}
	for _, x := range []*big.Rat{rat(1, 1), rat(3, 2), rat(7, 1), rat(200, 1)} {
		for _, delta := range []*big.Rat{new(big.Rat), rat(1, 1<<30), rat(1, 256), rat(1, 8), rat(15, 16)} {
			e, _ := x.Float64()
			d, _ := delta.Float64()
			for m := int64(1); m <= 12; m += 1 + m/4 {
				for r := range m + 1 {
					for v := range r + 1 {
						c := audit.Count{Canaries: m, Guesses: r, Correct: v}
						got, err := audit.OneRunPValue(c, math.Log(e), d)
						want, _ := theorem(c, x, delta, "").Float64()
						if err != nil || math.Abs(got-want) > 1e-12*want {
							t.Fatalf("%+v, e^epsilon %v, delta %v: %v, want %v, %v", c, x, delta, got, want, err)
						}
						for mistake := range seen {
							wrong, _ := theorem(c, x, delta, mistake).Float64()
							seen[mistake] = math.Max(seen[mistake], math.Abs(wrong-want)/want)
						}
					}
				}
			}
		}
	}
	for mistake, off := range seen {
		if off < 0.01 {
			t.Errorf("%s: the counts do not show it", mistake)
		}
	}
}

// The bound is the crossing of the rational p-value with the level, from below.
func TestEpsilonIsTheCrossing(t *testing.T) {
	for _, c := range []audit.Count{{Canaries: 40, Guesses: 40, Correct: 33}, {Canaries: 40, Guesses: 20, Correct: 20}, {Canaries: 300, Guesses: 30, Correct: 29}, {Canaries: 12, Guesses: 1, Correct: 1}} {
		for _, delta := range []*big.Rat{new(big.Rat), rat(1, 1<<20), rat(1, 1<<12)} {
			for _, level := range []float64{0.6, 0.05, 1e-3} {
				d, _ := delta.Float64()
				e, err := audit.OneRunEpsilon(c, d, level)
				if err != nil {
					t.Fatal(err)
				}
				at := func(e float64) float64 {
					p, _ := theorem(c, new(big.Rat).SetFloat64(math.Exp(e)), delta, "").Float64()
					return p
				}
				if e > 0 && at(e*(1-1e-9)) > level || at(e*(1+1e-9)+1e-12) <= level*(1-1e-9) {
					t.Errorf("%+v, delta %v, level %v: bound %v, p-values %v below and %v above", c, delta, level, e, at(e*(1-1e-9)), at(e*(1+1e-9)))
				}
			}
		}
	}
}

// recursion is algorithm 3 of Mahloujifar, Melis and Chaudhuri for in-or-out guesses,
// over arrays as it is printed, at 300 bits and for the curve of (epsilon, delta)-DP
// with e^epsilon = x; or with a mistake. It returns the two sides of its comparison.
func recursion(c audit.Count, x, delta, level *big.Rat, mistake string) (left, right *big.Float) {
	f := func(r *big.Rat) *big.Float { return new(big.Float).SetPrec(300).SetRat(r) }
	op := func(do func(z, a, b *big.Float) *big.Float, a, b *big.Float) *big.Float {
		return do(new(big.Float).SetPrec(300), a, b)
	}
	add, sub, mul, quo := (*big.Float).Add, (*big.Float).Sub, (*big.Float).Mul, (*big.Float).Quo
	one, ex, dl := f(rat(1, 1)), f(x), f(delta)
	curve := func(r *big.Float) *big.Float {
		y := f(new(big.Rat))
		for _, line := range []*big.Float{op(quo, op(sub, r, dl), ex), op(sub, op(sub, one, dl), op(mul, ex, op(sub, one, r)))} {
			if line.Cmp(y) > 0 {
				y = line
			}
		}
		return y
	}
	v, n := c.Correct, c.Guesses
	r, h := make([]*big.Float, v+1), make([]*big.Float, v+1)
	r[v] = f(new(big.Rat).Mul(level, rat(v, c.Canaries)))
	h[v] = f(new(big.Rat).Mul(level, rat(n-v, c.Canaries)))
	for i := v - 1; i >= 0; i-- {
		h[i] = h[i+1]
		if y := curve(r[i+1]); y.Cmp(h[i]) > 0 {
			h[i] = y
		}
		by := rat(i, n-i)
		if mistake == "i+1" {
			by = rat(i+1, n-i)
		}
		r[i] = op(add, r[i+1], op(mul, f(by), op(sub, h[i], h[i+1])))
		if r[i].Cmp(one) > 0 {
			r[i] = one
		}
	}
	if mistake == "all canaries" {
		return op(add, r[0], h[0]), one
	}
	return op(add, r[0], h[0]), f(rat(n, c.Canaries))
}

// The decision of OneRunRejects is the recursion's, over a net of levels from 2^-40
// to almost 1; each mistake would decide otherwise somewhere.
func TestRejectsIsTheRecursion(t *testing.T) {
	differ := map[string]int{"i+1": 0, "all canaries": 0}
	decisions := map[bool]int{}
	for _, x := range []*big.Rat{rat(1, 1), rat(5, 4), rat(3, 1), rat(20, 1)} {
		for _, delta := range []*big.Rat{new(big.Rat), rat(1, 1<<16), rat(1, 64)} {
			e, _ := x.Float64()
			d, _ := delta.Float64()
			curve := audit.ApproximateCurve(math.Log(e), d)
			for _, c := range []audit.Count{{Canaries: 1, Guesses: 1, Correct: 1}, {Canaries: 30, Guesses: 30, Correct: 24}, {Canaries: 60, Guesses: 20, Correct: 19}, {Canaries: 500, Guesses: 40, Correct: 37}, {Canaries: 9, Guesses: 9, Correct: 0}} {
				for k := range 40 {
					level := new(big.Rat).SetFloat64(math.Exp2(-40.3 + 1.03*float64(k)))
					if level.Cmp(rat(1, 1)) >= 0 {
						continue
					}
					left, right := recursion(c, x, delta, level, "")
					if gap, _ := new(big.Float).Quo(left, right).Float64(); math.Abs(gap-1) < 1e-9 {
						continue // too near for float64
					}
					want := left.Cmp(right) > 0
					l, _ := level.Float64()
					got, err := audit.OneRunRejects(c, curve, l)
					if err != nil || got != want {
						t.Errorf("%+v, e^epsilon %v, delta %v, level %v: rejects %v, want %v, %v", c, x, delta, l, got, want, err)
					}
					decisions[want]++
					for mistake := range differ {
						if left, right := recursion(c, x, delta, level, mistake); (left.Cmp(right) > 0) != want {
							differ[mistake]++
						}
					}
				}
			}
		}
	}
	if s := fmt.Sprint(decisions); decisions[true] < 100 || decisions[false] < 100 || differ["i+1"] == 0 || differ["all canaries"] == 0 {
		t.Errorf("decisions %s, seen mistakes %v", s, differ)
	}
}
