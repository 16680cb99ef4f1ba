package mechanism

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// Thresholds against rational arithmetic: never above, and below by less than
// one step of 2^-128 where e^eps is known from both sides.
func TestThresholds(t *testing.T) {
	for _, eps := range []float64{1e-15, 0.5, 1, math.Ln2, 10, 50, 88, 200, 700, 1024, 1e308} {
		low := ExpBelow(eps)
		x, _ := low.Rat(nil)
		for _, n := range []uint64{1, 2, 1000, 236_049, 1 << 31} {
			o := NewOdds(eps, n)[0]
			step := big.NewRat(1, 1)
			exactly := func(x *big.Rat) *big.Rat {
				sum := new(big.Rat).Add(x, new(big.Rat).SetInt(new(big.Int).SetUint64(n)))
				return sum.Mul(mechanismtest.Two128(), sum.Quo(x, sum))
			}
			got := mechanismtest.Threshold(o.Hi, o.Lo)
			if got.Cmp(exactly(x)) > 0 {
				t.Errorf("eps %g, %d others: threshold %s above the odds", eps, n, got.RatString())
			}
			if d := new(big.Rat).Sub(exactly(mechanismtest.Above(x)), got); d.Cmp(step) > 0 {
				t.Errorf("eps %g, %d others: threshold off by %s", eps, n, d.FloatString(3))
			}
			f, _ := new(big.Rat).Quo(got, mechanismtest.Two128()).Float64()
			if math.Abs(f-o.P) > 1e-14*o.P {
				t.Errorf("eps %g, %d others: %g, in float64 %g", eps, n, f, o.P)
			}
		}
	}
	// Odds of sets: the set and the others share what the threshold leaves, so that one value of the
	// set has at most e^eps times one of the others, and hardly less.
	for _, eps := range []float64{0x1p-28, 0.5, 2.5, 60} {
		x, _ := ExpBelow(eps).Rat(nil)
		for _, kept := range []uint64{1, 7, 1 << 50} {
			for _, others := range []uint64{1, 12, 1<<51 + 1} {
				o := NewSetOdds(eps, kept, others)
				in := mechanismtest.Threshold(o.Hi, o.Lo)
				out := new(big.Rat).Sub(mechanismtest.Two128(), in)
				in.Quo(in, new(big.Rat).SetInt(new(big.Int).SetUint64(kept)))
				ratio := in.Quo(in, out.Quo(out, new(big.Rat).SetInt(new(big.Int).SetUint64(others))))
				if ratio.Cmp(x) > 0 {
					t.Errorf("eps %g, %d against %d: ratio above e^eps", eps, kept, others)
				}
				if f, _ := ratio.Quo(ratio, x).Float64(); f < 1-1e-9 && !(eps == 60 && kept > others) {
					t.Errorf("eps %g, %d against %d: a share %g of e^eps", eps, kept, others, f)
				}
			}
		}
	}
	// e to sixty digits, and e^a e^b = e^(a+b).
	e, _ := new(big.Rat).SetString("2.71828182845904523536028747135266249775724709369995957496696763")
	got, _ := ExpBelow(1).Rat(nil)
	if d := new(big.Rat).Sub(e, got); new(big.Rat).Abs(d).Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(59), nil))) > 0 {
		t.Errorf("e is %s", got.FloatString(65))
	}
	for _, c := range [][2]float64{{0.25, 3}, {40, 60.5}, {0x1p-40, 5}, {500, 524}} {
		a, b, ab := ExpBelow(c[0]), ExpBelow(c[1]), ExpBelow(c[0]+c[1])
		q := new(big.Float).SetPrec(bigPrecision).Mul(a, b)
		q.Sub(q.Quo(q, ab), new(big.Float).SetInt64(1))
		if q.Sign() != 0 && q.MantExp(nil) > -197 {
			t.Errorf("e^%g e^%g is off by 2^%d", c[0], c[1], q.MantExp(nil))
		}
	}
}

// Odds of 128 bits against their probability by counting, on a scale where
// the lower half decides: false alarm 1e-9.
func TestOddsDecideInTheLowerHalf(t *testing.T) {
	o := Odds{Hi: 0, Lo: 1 << 63} // 2^-65
	s := &counted{words: []uint64{0, 1<<63 - 1, 0, 1 << 63, 1, 0, math.MaxUint64}}
	d := Draws{secret: s}
	for i, want := range []bool{true, false, false, false} {
		if got := d.Keep(&o); got != want {
			t.Errorf("draw %d: %v, want %v", i, got, want)
		}
	}
	if s.at != 7 {
		t.Errorf("%d words used, want 7: the lower half is drawn where it decides", s.at)
	}
	const n = 200_000
	for _, p := range []float64{0.5, 0.001, 0.999} {
		o := Odds{Hi: uint64(p * 0x1p64)}
		d := Keyed(rng.Seed(5).Stream("odds")).Draws()
		d.Row(0)
		kept := 0.0
		for range n {
			if d.Keep(&o) {
				kept++
			}
		}
		if z := (kept - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("%g kept of %d at %g", kept, n, p)
		}
	}
}

type counted struct {
	words []uint64
	at    int
}

func (c *counted) Uint64() uint64 {
	c.at++
	return c.words[c.at-1]
}

// Integers below n are exact: the words that would favour some of them are drawn
// again, and each of the others belongs to one of them.
func TestBelowDrawsAgain(t *testing.T) {
	// 2^64 = 3 (2^64-1)/3 + 1: of the words, one too many, is the one whose low
	// product is below 1.
	s := &counted{words: []uint64{0, 5}}
	d := Draws{secret: s}
	if got := d.Below(3); s.at != 2 || got != 0 {
		t.Errorf("%d after %d words", got, s.at)
	}
	for _, c := range []struct{ word, n, want uint64 }{
		{math.MaxUint64, 3, 2}, {1 << 63, 2, 1}, {1<<63 - 1, 2, 0}, {math.MaxUint64, 1, 0}, {1 << 32, 1 << 32, 1}, {math.MaxUint64, 1 << 31, 1<<31 - 1},
	} {
		d := Draws{secret: &counted{words: []uint64{c.word}}}
		if got := d.Below(c.n); got != c.want {
			t.Errorf("word %#x below %d: %d, want %d", c.word, c.n, got, c.want)
		}
	}
	const n = 70_000
	d = Keyed(rng.Seed(5).Stream("below")).Draws()
	d.Row(1)
	counts := [7]float64{}
	for range n {
		counts[d.Below(7)]++
	}
	for v, c := range counts {
		if z := (c - n/7.) / math.Sqrt(n*6/49.); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("%d came %g times", v, c)
		}
	}
}

// Odds by properties: keep and replace sum to 1, epsilon and fewer others favour
// keeping, and the threshold says the same as the float64.
func TestOddsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := rapid.Float64Range(0, 60).Draw(t, "eps")
		n := rapid.Uint64Range(1, 1<<31).Draw(t, "others")
		list := NewOdds(eps, n, n+1)
		more := NewOdds(eps+0.5, n)[0]
		for i, o := range list {
			if p := KeepProbability(eps, float64(o.Others)); o.P != p && !o.Flat || math.Abs(p+ReplaceProbability(eps, float64(o.Others))-1) > 1e-15 {
				t.Fatalf("eps %g, %d others: p %g, %g", eps, o.Others, o.P, p)
			}
			f, _ := new(big.Rat).Quo(mechanismtest.Threshold(o.Hi, o.Lo), mechanismtest.Two128()).Float64()
			if !o.Flat && math.Abs(f/o.P-1) > 1e-13 {
				t.Fatalf("odds %d: threshold %g, p %g", i, f, o.P)
			}
			if o.Flat != (eps < FlatBelow) {
				t.Fatalf("eps %g: flat %v", eps, o.Flat)
			}
		}
		if !list[0].Flat && (mechanismtest.Threshold(list[0].Hi, list[0].Lo).Cmp(mechanismtest.Threshold(list[1].Hi, list[1].Lo)) < 0 || mechanismtest.Threshold(more.Hi, more.Lo).Cmp(mechanismtest.Threshold(list[0].Hi, list[0].Lo)) <= 0) {
			t.Fatalf("eps %g, %d others: thresholds are not in order", eps, n)
		}
	})
}
