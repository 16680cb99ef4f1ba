package mechanism

import (
	"math"
	"math/big"
	"math/bits"
	"runtime"
	"sync"

	"privrec/internal/rng"
)

// coin holds a probability p in [0, 1] as its binary digits, for choices with exactly the probability that the float64
// stands for.
type coin struct {
	sure   bool   // p = 1
	zeros  int    // digits 0 after the point
	digits uint64 // the digits after those, the first in the highest bit; 0: p = 0
}

func newCoin(p float64) coin {
	if p >= 1 {
		return coin{sure: true}
	}
	if p <= 0 {
		return coin{}
	}
	f, e := math.Frexp(p) // p = f 2^e, f in [1/2, 1)
	return coin{zeros: -e, digits: uint64(f*0x1p53) << 11}
}

// lanes returns 64 independent choices, one per bit. Bit i is 1 if the number whose binary digits are bit i of each
// drawn word is below p. It compares digits until every lane is decided, after about seven words.
func (c coin) lanes(s *rng.Stream) (yes uint64) {
	if c.sure {
		return math.MaxUint64
	}
	open := uint64(math.MaxUint64)
	if c.digits == 0 {
		return 0
	}
	for range c.zeros {
		if open &^= s.Uint64(); open == 0 {
			return 0
		}
	}
	for d := c.digits; d != 0 && open != 0; d <<= 1 {
		w := s.Uint64()
		if d>>63 == 1 {
			yes |= open &^ w
			open &= w
		} else {
			open &^= w
		}
	}
	return yes // an undecided lane equals p in every digit, so it is not below p
}

// Field chooses each cell 0, 1, 2, ... of a long line independently with probability p. Block b
// depends only on the stream's child b, so blocks may be drawn by any goroutine, in any order.
//
// Where p is small, a Field first draws the number of chosen cells of a block, by inversion of
// its binomial law on a grid of 2^-128, then the cells, as uniform integers without repeats.
// The law of a block is exact up to 2^-120 in total variation. Where p is large it tosses a
// coin for every cell, 64 at a time, and the law is exact.
type Field struct {
	Size int64 // cells of a block, a power of two
	// Draw appends the chosen cells of the block with stream s, counted from the block's first,
	// in ascending order.
	Draw func(f *Field, s rng.Stream, to []int32) []int32

	coin  coin
	upTo  [][2]uint64 // P(number <= i) of a block in units of 2^-128, high and low; nil: toss
	never bool        // p = 0
}

const (
	tossAbove  = 1.0 / 32 // above it, tossing is faster than counting
	tossBlock  = 4096
	countBlock = 1 << 30
)

// NewField returns the field of a probability from 0 to 1, both included.
func NewField(p float64) *Field {
	f := &Field{coin: newCoin(p), Size: tossBlock, Draw: (*Field).toss, never: p <= 0}
	if p >= tossAbove || f.never {
		return f
	}
	for f.Size = 64; float64(f.Size)*p < 4 && f.Size < countBlock; {
		f.Size *= 2
	}
	f.upTo, f.Draw = binomialTable(f.Size, p), (*Field).count
	return f
}

// binomialTable returns the cumulative law of Binomial(n, p) on the grid of 2^-128, up to its first entry of 1. n is a
// power of two.
func binomialTable(n int64, p float64) (upTo [][2]uint64) {
	const precision = 640
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }
	q := number(1)
	q.Sub(q, number(p))
	odds := number(p)
	odds.Quo(odds, q)
	term := new(big.Float).Copy(q) // q^n
	for range bits.TrailingZeros64(uint64(n)) {
		term.Mul(term, term)
	}
	sum := new(big.Float).Copy(term)
	grid := new(big.Float).SetMantExp(number(1), 128)
	whole := new(big.Int).Lsh(big.NewInt(1), 128)
	for i := int64(0); ; i++ {
		k, _ := new(big.Float).Mul(sum, grid).Int(nil)
		if k.Cmp(whole) >= 0 || i == n || term.MantExp(nil) < -140 && float64(i) > float64(n)*p {
			return append(upTo, [2]uint64{math.MaxUint64, math.MaxUint64})
		}
		lo := new(big.Int).And(k, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		upTo = append(upTo, [2]uint64{new(big.Int).Rsh(k, 64).Uint64(), lo})
		term.Mul(term, odds)
		term.Mul(term, number(float64(n-i)))
		term.Quo(term, number(float64(i+1)))
		sum.Add(sum, term)
	}
}

// toss appends the chosen cells of a block, counted from its first.
func (f *Field) toss(s rng.Stream, to []int32) []int32 {
	for at := int32(0); at < int32(f.Size); at += 64 {
		for w := f.coin.lanes(&s); w != 0; w &= w - 1 {
			to = append(to, at+int32(bits.TrailingZeros64(w)))
		}
	}
	return to
}

// count appends the chosen cells of a block for a small p.
func (f *Field) count(s rng.Stream, to []int32) []int32 {
	u := [2]uint64{s.Uint64(), 0}
	second := false
	n := 0
	for ; n < len(f.upTo)-1; n++ {
		if t := f.upTo[n]; u[0] < t[0] {
			break
		} else if u[0] == t[0] { // in 1 of 2^60 cases
			if !second {
				u[1], second = s.Uint64(), true
			}
			if u[1] < t[1] {
				break
			}
		}
	}
	first := len(to)
	for range n {
		for !insert(&to, first, int32(s.Uint64()&uint64(f.Size-1))) {
		}
	}
	return to
}

// insert inserts v into the ascending values from index first on. It returns false if v is there already.
func insert(to *[]int32, first int, v int32) bool {
	list := *to
	i := len(list)
	for i > first && list[i-1] > v {
		i--
	}
	if i > first && list[i-1] == v {
		return false
	}
	list = append(list, 0)
	copy(list[i+1:], list[i:])
	list[i] = v
	*to = list
	return true
}

// Each calls see with the chosen cells below limit, in ascending order, a chunk at a time. It returns how often
// neighbouring blocks chose the same place, out of all places: the noise of one block must not repeat in the next.
// Several goroutines draw; see is called in the caller's goroutine.
func (f *Field) Each(s rng.Stream, limit int64, see func(cells []int64)) (twins Proportion) {
	p := f.probability()
	twins = Proportion{What: "number of places chosen in neighbouring blocks alike", P: p * p}
	if f.never || limit == 0 {
		return twins
	}
	blocks := (limit-1)/f.Size + 1
	per := int64(math.Max(2, math.Min(float64(blocks+1), 0x1p18/(p*float64(f.Size))))) &^ 1 // pairs stay together
	workers := int64(runtime.GOMAXPROCS(0))
	parts := make([]chunk, workers)
	for b := int64(0); b < blocks; b += per * workers {
		var wg sync.WaitGroup
		for w := range workers {
			from := b + w*per
			parts[w].cells, parts[w].alike = parts[w].cells[:0], 0
			if from < blocks {
				wg.Add(1)
				go func() {
					defer wg.Done()
					parts[w].fill(f, s, from, min(from+per, blocks), limit)
				}()
			}
		}
		wg.Wait()
		for w := range parts {
			twins.Got += parts[w].alike
			if len(parts[w].cells) > 0 {
				see(parts[w].cells)
			}
		}
	}
	twins.N = blocks / 2 * f.Size
	return twins
}

// probability returns p.
func (f *Field) probability() float64 {
	if f.coin.sure {
		return 1
	}
	return math.Ldexp(float64(f.coin.digits>>11), -53-f.coin.zeros)
}

// chunk holds the cells that one goroutine draws.
type chunk struct {
	cells     []int64
	even, odd []int32
	alike     int64
}

// fill draws the blocks from..to; from is even.
func (c *chunk) fill(f *Field, s rng.Stream, from, to, limit int64) {
	for b := from; b < to; b++ {
		places := &c.even
		if b&1 == 1 {
			places = &c.odd
		}
		*places = f.Draw(f, s.Sub(uint64(b)), (*places)[:0])
		for _, p := range *places {
			if cell := b*f.Size + int64(p); cell < limit {
				c.cells = append(c.cells, cell)
			}
		}
		if b&1 == 0 {
			continue
		}
		c.alike += Common(c.even, c.odd)
	}
}

// Common returns the number of values that two ascending lists share.
func Common(x, y []int32) (n int64) {
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			n++
			x, y = x[1:], y[1:]
		}
	}
	return n
}
