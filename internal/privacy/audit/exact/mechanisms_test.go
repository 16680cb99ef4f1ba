package exact_test

import (
	"math/big"
	"math/bits"
	"testing"

	"privrec/internal/privacy/audit/exact"
)

// find verifies a mechanism on the pairs of a few integers.
func find(t *testing.T, m exact.Mechanism[int, int], claim *big.Rat, inputs ...int) exact.Finding[int, int] {
	t.Helper()
	f, err := exact.Verify(m, []exact.Class[int]{{Name: "any", Pairs: exact.Pairs(inputs), Claim: claim}}, exact.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f[0]
}

func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

// answer is randomised response over k values with odds x to k-1.
func answer(in, k int, x *big.Rat, c *exact.Choices) int {
	if c.Choose(x, rat(int64(k-1), 1)) == 0 {
		return in
	}
	return (in + 1 + c.Below(k-1)) % k
}

// geometric adds two-sided geometric noise of ratio 1/x on 0..n: what falls outside is
// moved to the nearer end, or, wrongly, given back to the inside.
func geometric(n int, x *big.Rat, renormalise bool) exact.Mechanism[int, int] {
	return func(in int, c *exact.Choices) int {
		weights := make([]*big.Rat, n+1)
		inside := quo(add(x, rat(-1, 1)), x) // 1 - 1/x
		for o := range weights {
			weights[o] = new(big.Rat).Inv(exact.Power(x, max(o-in, in-o)))
			if o != 0 && o != n && !renormalise {
				weights[o].Mul(weights[o], inside)
			}
		}
		return c.Choose(weights...)
	}
}

// Mechanisms with a ratio that is known on paper, and what a mistake makes of it.
func TestKnownRatios(t *testing.T) {
	x, one := rat(3, 1), rat(1, 1)
	q := rat(1, 10)
	sampled := func(share *big.Rat) exact.Mechanism[int, int] { // the record, 1 or 0, takes part with a probability
		return func(in int, c *exact.Choices) int {
			if c.Choose(share, add(one, new(big.Rat).Neg(share))) == 1 {
				in = 0
			}
			return answer(in, 2, x, c)
		}
	}
	for name, c := range map[string]struct {
		m      exact.Mechanism[int, int]
		inputs []int
		want   *big.Rat
	}{
		"unary encoding": {func(in int, c *exact.Choices) int { // two bits change, each with odds x
			out := 0
			for bit := range 3 {
				out |= answer(in>>bit&1, 2, x, c) << bit
			}
			return out
		}, []int{1, 2, 4}, mul(x, x)},
		"optimised unary encoding": {func(in int, c *exact.Choices) int { // 1/2 and 1/(1+x)
			out := 0
			for bit := range 3 {
				if in>>bit&1 == 1 {
					out |= c.Below(2) << bit
				} else {
					out |= c.Choose(x, one) << bit
				}
			}
			return out
		}, []int{1, 2, 4}, x},
		"response twice":                 {func(in int, c *exact.Choices) int { return 5*answer(in, 5, x, c) + answer(in, 5, x, c) }, []int{0, 2, 4}, mul(x, x)},
		"response twice, one noise":      {func(in int, c *exact.Choices) int { a := answer(in, 5, x, c); return 6 * a }, []int{0, 2, 4}, x},
		"geometric, neighbours":          {geometric(6, x, false), []int{2, 3}, x},
		"geometric, three apart":         {geometric(6, x, false), []int{0, 3}, exact.Power(x, 3)},
		"geometric at an end":            {geometric(6, x, false), []int{0, 1}, x},
		"geometric, given back":          {geometric(2, x, true), []int{0, 1}, mul(x, quo(add(rat(1, 1), rat(2, 3)), rat(13, 9)))}, // x Z(1)/Z(0)
		"sampled with 1/10":              {sampled(q), []int{0, 1}, add(one, mul(q, add(x, rat(-1, 1))))},
		"sampled with 1":                 {sampled(one), []int{0, 1}, x},
		"sampled with 0":                 {sampled(rat(0, 1)), []int{0, 1}, one},
		"one of three, replaced":         {func(in int, c *exact.Choices) int { return answer([]int{in, 0, 1}[c.Below(3)], 2, x, c) }, []int{0, 1}, quo(add(add(x, x), one), add(add(one, one), x))},
		"seen in one case of a thousand": {func(in int, c *exact.Choices) int { return c.Choose(rat(999, 1), rat(1, 1)) * (1 + in) }, []int{0, 1}, nil},
	} {
		claim := c.want
		if claim == nil {
			claim = exact.Power(rat(10, 1), 100)
		}
		f := find(t, c.m, claim, c.inputs...)
		if (f.Worst == nil) != (c.want == nil) || c.want != nil && !f.Tight() {
			t.Errorf("%s: %v", name, f)
		}
	}
	if f := find(t, geometric(2, x, true), x, 0, 1); f.Holds() {
		t.Errorf("noise given back: %v", f)
	}
}

// Amplification by sampling is of the probability and not of epsilon: the ratio is
// 1 + q(x-1) from 0 and less to it, and q epsilon would be too small a claim.
func TestSamplingAmplifies(t *testing.T) {
	one := rat(1, 1)
	for _, x := range []*big.Rat{rat(4, 1), rat(9, 1)} {
		m := func(in int, c *exact.Choices) int { // takes part with 1/2
			return answer(in*c.Below(2), 2, x, c)
		}
		f := find(t, m, mul(rat(1, 2), add(one, x)), 0, 1)
		if !f.Tight() || f.A != 1 || f.B != 0 || f.Output != 1 {
			t.Errorf("%v", f)
		}
		root := rat(2, 1) // e^(epsilon/2)
		if x.Cmp(rat(9, 1)) == 0 {
			root = rat(3, 1)
		}
		if g := find(t, m, root, 0, 1); g.Holds() {
			t.Errorf("half of epsilon is claimed and found: %v", g)
		}
	}
}

// exponential chooses among n outputs with weight y^u, u the bit of the output in the
// input; utilities of neighbours differ by at most 1 each.
func exponential(n int, y *big.Rat) exact.Mechanism[int, int] {
	return func(in int, c *exact.Choices) int {
		weights := make([]*big.Rat, n)
		for o := range weights {
			weights[o] = exact.Power(y, in>>o&1)
		}
		return c.Choose(weights...)
	}
}

// flip is permute-and-flip (McKenna and Sheldon 2020, algorithm 1): outputs in random
// order, each taken with probability y^(u - best).
func flip(n int, y *big.Rat) exact.Mechanism[int, int] {
	return func(in int, c *exact.Choices) int {
		best := min(in, 1)
		left := make([]int, n)
		for o := range left {
			left[o] = o
		}
		for {
			k := c.Below(len(left))
			o := left[k]
			missing := add(exact.Power(y, best), new(big.Rat).Neg(exact.Power(y, in>>o&1)))
			if missing.Sign() == 0 || c.Choose(exact.Power(y, in>>o&1), missing) == 0 {
				return o
			}
			left = append(left[:k], left[k+1:]...)
		}
	}
}

// Both selections keep y² where any utility may change, the exponential one meets
// y (1 + (n-1) y)/(y + n-1), with utilities that only rise y; permute-and-flip never
// has the larger expected error (their theorem 2).
func TestSelections(t *testing.T) {
	y := rat(2, 1)
	for n := 2; n <= 4; n++ {
		var all []int
		for in := range 1 << n {
			all = append(all, in)
		}
		rest := rat(int64(n-1), 1)
		paper := quo(mul(y, add(rat(1, 1), mul(rest, y))), add(y, rest))
		if f := find(t, exponential(n, y), paper, all...); !f.Tight() || f.Worst.Cmp(mul(y, y)) >= 0 {
			t.Errorf("exponential among %d: %v", n, f)
		}
		if f := find(t, flip(n, y), mul(y, y), all...); !f.Holds() {
			t.Errorf("permute-and-flip among %d: %v", n, f)
		}
		for _, a := range all {
			for _, b := range all {
				if a&b == a && a != b { // from a to b utilities rise only
					if f := find(t, exponential(n, y), y, a, b); !f.Holds() {
						t.Errorf("exponential among %d, rising: %v", n, f)
					}
				}
			}
			if exp, pf := failures(t, exponential(n, y), a), failures(t, flip(n, y), a); a != 0 && (pf.Cmp(exp) > 0 || bits.OnesCount(uint(a)) < n && pf.Cmp(exp) == 0) {
				t.Errorf("utilities %b of %d: permute-and-flip errs with %v, exponential with %v", a, n, pf, exp)
			}
		}
	}
}

// failures is the probability of an output of utility 0.
func failures(t *testing.T, m exact.Mechanism[int, int], in int) *big.Rat {
	t.Helper()
	law, err := exact.Enumerate(func(c *exact.Choices) int { return in >> m(in, c) & 1 }, exact.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if p := law[0]; p != nil {
		return p
	}
	return new(big.Rat)
}

// The number of ones among n responses that look alike: the law is that of
// sums, found here by convolution, and it tells less than the responses.
func TestShuffledResponses(t *testing.T) {
	x := rat(3, 1)
	for n := 1; n <= 6; n++ {
		ones := func(in int, c *exact.Choices) int { // the others hold 0
			sum := 0
			for user := range n {
				v := 0
				if user == 0 {
					v = in
				}
				sum += answer(v, 2, x, c)
			}
			return sum
		}
		laws := [2][]*big.Rat{}
		for in := range laws {
			law := []*big.Rat{rat(1, 1)}
			for user := range n {
				p := rat(1, 4)
				if user == 0 && in == 1 {
					p = rat(3, 4)
				}
				next := make([]*big.Rat, len(law)+1)
				for k := range next {
					next[k] = new(big.Rat)
					if k < len(law) {
						next[k].Add(next[k], mul(law[k], add(rat(1, 1), new(big.Rat).Neg(p))))
					}
					if k > 0 {
						next[k].Add(next[k], mul(law[k-1], p))
					}
				}
				law = next
			}
			laws[in] = law
			got, err := exact.Enumerate(func(c *exact.Choices) int { return ones(in, c) }, exact.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for k, p := range law {
				if got[k].Cmp(p) != 0 {
					t.Errorf("%d responses, %d ones from %d: %v, want %v", n, k, in, got[k], p)
				}
			}
		}
		worst := new(big.Rat)
		for k := range laws[0] {
			for _, r := range []*big.Rat{quo(laws[0][k], laws[1][k]), quo(laws[1][k], laws[0][k])} {
				if r.Cmp(worst) > 0 {
					worst = r
				}
			}
		}
		if f := find(t, ones, x, 0, 1); f.Worst.Cmp(worst) != 0 || !f.Holds() {
			t.Errorf("%d responses: %v, want %v", n, f, worst)
		}
	}
}

// A group of k neighbours in a row has at most the k-th power, and a mechanism on the
// integers modulo n has no ends: its worst ratio is the same from everywhere.
func TestGroupsOfNeighbours(t *testing.T) {
	x := rat(3, 2)
	for k := 1; k <= 4; k++ {
		for from := 0; from+k <= 4; from++ {
			if f := find(t, geometric(4, x, false), exact.Power(x, k), from, from+k); !f.Tight() {
				t.Errorf("%d apart from %d: %v", k, from, f)
			}
		}
	}
	ring := func(in int, c *exact.Choices) int {
		weights := make([]*big.Rat, 7)
		for o := range weights {
			d := (o - in + 7) % 7
			weights[o] = new(big.Rat).Inv(exact.Power(x, min(d, 7-d)))
		}
		return c.Choose(weights...)
	}
	for in := range 7 {
		if f := find(t, ring, x, in, (in+1)%7); !f.Tight() {
			t.Errorf("on a ring, from %d: %v", in, f)
		}
		if f := find(t, ring, exact.Power(x, 3), in, (in+3)%7); !f.Tight() {
			t.Errorf("across the ring, from %d: %v", in, f)
		}
	}
}
