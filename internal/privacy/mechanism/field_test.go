package mechanism

import (
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

var probabilities = []float64{0, 0x1p-1074, 1e-300, 1e-30, 1e-9, 1.0 / 3000, 0.01, 1.0 / 33, 1.0 / 32, 0.1, 1.0 / 3, 0.5, 0.75, 1 - 0x1p-53, 1}

// A lane is 1 exactly if the number that its bits of the words spell is below p:
// against the comparison in rationals.
func TestLanesCompareExactly(t *testing.T) {
	for _, p := range probabilities {
		c := newCoin(p)
		if f := (&Field{coin: c}); f.probability() != p {
			t.Errorf("p = %g is kept as %g", p, f.probability())
		}
		for i := range uint64(40) {
			s := rng.Seed(5).Stream("lanes", i)
			words := s
			got := c.lanes(&s)
			k := int(s.Pos())
			want := new(big.Rat)
			want.SetFloat64(p)
			drawn := make([]uint64, k)
			for j := range drawn {
				drawn[j] = words.Uint64()
			}
			for lane := range 64 {
				u := new(big.Int)
				for _, w := range drawn {
					u.Lsh(u, 1).Or(u, big.NewInt(int64(w>>lane&1)))
				}
				low := new(big.Rat).SetFrac(u, new(big.Int).Lsh(big.NewInt(1), uint(k)))
				high := new(big.Rat).SetFrac(u.Add(u, big.NewInt(1)), new(big.Int).Lsh(big.NewInt(1), uint(k)))
				yes := got>>lane&1 == 1
				// With any digits that follow, the number is in [low, high).
				if yes && high.Cmp(want) > 0 || !yes && low.Cmp(want) < 0 {
					t.Fatalf("p = %g, lane %d: %v after %d words, the number is in [%v, %v)", p, lane, yes, k, low, high)
				}
			}
		}
	}
}

// The table of a block's count is the binomial law rounded down to 2^-128.
func TestBinomialTable(t *testing.T) {
	for _, c := range []struct {
		n int64
		p float64
	}{{64, 1.0 / 33}, {64, 0.031}, {256, 0x1p-6}, {1024, 0x1p-70}} {
		table := binomialTable(c.n, c.p)
		p := new(big.Rat)
		p.SetFloat64(c.p)
		q := new(big.Rat).Sub(big.NewRat(1, 1), p)
		pow := func(x *big.Rat, n int64) *big.Rat {
			e := big.NewInt(n)
			return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
		}
		grid := new(big.Int).Lsh(big.NewInt(1), 128)
		sum := new(big.Rat)
		for i, got := range table[:len(table)-1] {
			term := new(big.Rat).SetInt(new(big.Int).Binomial(c.n, int64(i)))
			sum.Add(sum, term.Mul(term, pow(p, int64(i))).Mul(term, pow(q, c.n-int64(i))))
			want := new(big.Int).Quo(new(big.Int).Mul(sum.Num(), grid), sum.Denom())
			have := new(big.Int).SetUint64(got[0])
			have.Lsh(have, 64).Add(have, new(big.Int).SetUint64(got[1]))
			if have.Cmp(want) != 0 {
				t.Fatalf("n = %d, p = %g: P(number <= %d) is %v, want %v", c.n, c.p, i, have, want)
			}
		}
		if left := new(big.Rat).Sub(big.NewRat(1, 1), sum); left.Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 120))) > 0 {
			t.Errorf("n = %d, p = %g: the table ends with %v left", c.n, c.p, left)
		}
	}
}

// Blocks of every kind: how many cells are chosen, which, and pairs of them.
func TestFieldLaw(t *testing.T) {
	for _, p := range []float64{1e-4, 1.0 / 90, 1.0 / 33, 1.0 / 32, 0.3} {
		f := NewField(p)
		if (f.upTo != nil) != (p < tossAbove) {
			t.Errorf("p = %g: wrong kind", p)
		}
		const bins = 64
		counts, pairs := make([]float64, bins), make([]float64, bins)
		var to []int32
		n, sq, blocks := 0.0, 0.0, 4000
		for b := range blocks {
			to = f.Draw(f, rng.Seed(7).Stream("field", uint64(b)), to[:0])
			if !slices.IsSorted(to) || len(slices.Compact(slices.Clone(to))) != len(to) {
				t.Fatalf("p = %g: block %v", p, to)
			}
			d := float64(len(to)) - p*float64(f.Size)
			n, sq = n+float64(len(to)), sq+d*d
			for i, v := range to {
				counts[int64(v)*bins/f.Size]++
				if i > 0 {
					pairs[(int64(v)-int64(to[i-1]))*bins/f.Size]++
				}
			}
		}
		uniform := slices.Repeat([]float64{1.0 / bins}, bins)
		mechanismtest.GoodFit(t, "places", counts, uniform)
		cells := float64(blocks) * float64(f.Size)
		v := float64(f.Size) * p * (1 - p)
		if z := (n - cells*p) / math.Sqrt(cells*p*(1-p)); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("p = %g: %g chosen of %g, %.1f standard deviations off", p, n, cells, z)
		}
		// (count - mean)² has variance at most 2v² + v.
		if z := (sq - float64(blocks)*v) / math.Sqrt(float64(blocks)*(2*v*v+v)); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("p = %g: counts have variance %g, want %g", p, sq/float64(blocks), v)
		}
		// The gap to the next is geometric.
		law := make([]float64, bins)
		for g := int64(1); g < f.Size; g++ {
			law[g*bins/f.Size] += math.Exp(float64(g-1)*math.Log1p(-p)) * float64(f.Size-g) // starts that leave room
		}
		total := 0.0
		for _, x := range law {
			total += x
		}
		for i := range law {
			law[i] /= total
		}
		if p < 0.1 {
			mechanismtest.GoodFit(t, "gaps", pairs, law)
		}
	}
}

// Cells come in order, once, below the limit, and do not depend on how many draw.
func TestEachIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, p := range []float64{0, 1e-6, 0.004, 0.2, 1} {
		for _, limit := range []int64{0, 1, 63, 4096, 4097, 1_000_003} {
			var want []int64
			var twins Proportion
			for i, workers := range []int{1, 2, 7} {
				runtime.GOMAXPROCS(workers)
				var got []int64
				tw := NewField(p).Each(rng.Seed(3).Stream("each"), limit, func(cells []int64) { got = append(got, cells...) })
				if i == 0 {
					want, twins = got, tw
				}
				if !slices.Equal(got, want) || tw != twins {
					t.Fatalf("p = %g, limit %d: %d cells with %d workers, %d with one", p, limit, len(got), workers, len(want))
				}
			}
			if !slices.IsSorted(want) || len(slices.Compact(slices.Clone(want))) != len(want) || len(want) > 0 && want[len(want)-1] >= limit {
				t.Fatalf("p = %g, limit %d: not ascending below the limit", p, limit)
			}
			if n := float64(limit); math.Abs(float64(len(want))-n*p) > mechanismtest.Sigmas*math.Sqrt(n*p*(1-p))+21 {
				t.Errorf("p = %g: %d of %d cells", p, len(want), limit)
			}
			if err := twins.Check("p", 21); err != nil {
				t.Error(err)
			}
		}
	}
}

// Where the first word does not decide the count, the second does.
func TestCountBreaksTies(t *testing.T) {
	s := rng.Seed(1).Stream("tie")
	words := s
	first, second := words.Uint64(), words.Uint64()
	f := NewField(1e-3)
	for _, c := range []struct {
		upTo [][2]uint64
		want int
	}{
		{[][2]uint64{{first, second}, {math.MaxUint64, 0}, {math.MaxUint64, math.MaxUint64}}, 1}, // not below the bound
		{[][2]uint64{{first, second + 1}, {math.MaxUint64, 0}, {math.MaxUint64, math.MaxUint64}}, 0},
		{[][2]uint64{{first, 0}, {first, second + 1}, {math.MaxUint64, math.MaxUint64}}, 1},
		{[][2]uint64{{first, 0}, {first, second}, {math.MaxUint64, math.MaxUint64}}, 2},
		{[][2]uint64{{first + 1, 0}, {math.MaxUint64, 0}}, 0},
	} {
		f.upTo = c.upTo
		if got := f.count(s, nil); len(got) != c.want {
			t.Errorf("%v: %d chosen, want %d", c.upTo, len(got), c.want)
		}
	}
}
