package descent

import (
	"math"
	"math/bits"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// batches draws the batches of one run and checks them.
type batches struct {
	n      int64            // examples
	method privacy.Sampling // how they are chosen
	rate   float64          // Poisson; allocation: of an example in a step
	size   int64            // without replacement
	field  *mechanism.Field // Poisson
	taken  []uint64         // without replacement: a bit an example, all 0 between draws
	epoch  *epoch           // allocation
	draw   func(b *batches, s rng.Stream, to []int32) []int32

	seen   batchTally
	other  []int32               // first batch of a pair
	first  bool                  // other is waiting for the second
	broken *mechanism.CheckError // an epoch does not have every example once
}

func newBatches(n int64, method privacy.Sampling, rate float64, size int64) *batches {
	b := &batches{n: n, method: method, rate: rate, size: size}
	if method == privacy.Poisson {
		b.field, b.draw = mechanism.NewField(rate), (*batches).poisson
	} else {
		b.taken, b.draw = make([]uint64, (n+63)/64), (*batches).fixed
	}
	return b
}

// poisson appends the examples of a Poisson batch to to: every example with probability rate, independently.
func (b *batches) poisson(s rng.Stream, to []int32) []int32 {
	for block := int64(0); block*b.field.Size < b.n; block++ {
		from := len(to)
		to = b.field.Draw(b.field, s.Sub(uint64(block)), to)
		base := block * b.field.Size
		for i := from; i < len(to); i++ {
			if base+int64(to[i]) >= b.n {
				return to[:i]
			}
			to[i] += int32(base)
		}
	}
	return to
}

// fixed appends a uniform subset of the given size to to, in ascending order (Floyd's algorithm: Bentley, "A sample of
// brilliance", CACM 1987).
func (b *batches) fixed(s rng.Stream, to []int32) []int32 {
	for j := b.n - b.size; j < b.n; j++ {
		t := int64(s.IntN(int(j + 1)))
		if b.taken[t/64]>>(t%64)&1 == 1 {
			t = j
		}
		b.taken[t/64] |= 1 << (t % 64)
	}
	for i, w := range b.taken {
		for ; w != 0; w &= w - 1 {
			to = append(to, int32(64*i+bits.TrailingZeros64(w)))
		}
		b.taken[i] = 0
	}
	return to
}

// next appends the next batch to to and counts it.
func (b *batches) next(s rng.Stream, to []int32) []int32 {
	to = b.draw(b, s, to[:0])
	b.seen.Batches++
	b.seen.Examples += int64(len(to))
	d := float64(len(to)) - b.expected()
	b.seen.SumSq += mechanism.Exact(d * d)
	b.seen.Widest = mechanism.Exact(max(float64(b.seen.Widest), math.Abs(d)))
	if b.epoch != nil {
		at := (b.seen.Batches - 1) % b.epoch.steps
		if b.broken == nil {
			b.broken = b.epoch.once(at, to)
		}
		if at != 0 { // the first batches of two epochs in a row are a pair
			return to
		}
	}
	if b.first = !b.first; b.first {
		b.other = append(b.other[:0], to...)
		return to
	}
	b.seen.Paired += int64(len(b.other))
	b.seen.Common += mechanism.Common(b.other, to)
	return to
}

// possible reports whether a list can be a batch: examples in ascending order.
func (b *batches) possible(list []int32) bool {
	for i, e := range list {
		if e < 0 || int64(e) >= b.n || i > 0 && e <= list[i-1] {
			return false
		}
	}
	return true
}

// expected returns the mean size of a batch.
func (b *batches) expected() float64 {
	if b.method == privacy.WithoutReplacement {
		return float64(b.size)
	}
	return float64(b.n) * b.rate
}

// batchTally counts the batches that a run drew.
type batchTally struct {
	Batches  int64           `json:"batches"`
	Examples int64           `json:"examples"` // in all of them
	SumSq    mechanism.Exact `json:"sum_sq"`   // of the distances of their sizes from the mean
	Widest   mechanism.Exact `json:"widest"`   // of these distances
	Paired   int64           `json:"paired"`   // examples of the first of two batches, for every pair
	Common   int64           `json:"common"`   // how many of them are in the second one too
}

// batchTails is the number of one-sided events of a check.
const batchTails = 7

// check returns an error if the batches do not fit their law. With n examples, rate q, t batches of sizes S, v = n q
// (1-q), it passes correct batches with probability at least 1 - 7 exp(-x):
//
//	sum S is Binomial(t n, q)                                   (Bernstein)
//	sum (S - n q)² / v >= t - sqrt(2 t (3 + 1/v) x)             (below the mean of non-negative variables; E[.²] <= 3 + 1/v)
//	|S - n q| <= sqrt(2 v y) + 2y/3 for all, y = x + ln t       (Bernstein)
//	examples in both of two neighbouring batches: Binomial given the first (Bernstein; without replacement they
//	deviate no more, Hoeffding 1963, theorem 4)
//
// A batch of fixed size in place of a Poisson one fails the second. One batch used again and again, or passes over a
// shuffled order, fail the last. Without replacement all sizes are equal, so there is no law to compare them with.
func (b *batches) check(purpose string, x float64) error {
	if b.epoch != nil {
		return b.checkEpochs(purpose, x)
	}
	t := &b.seen
	fail := func(what string, got, low, high float64, hint string) error {
		return &mechanism.CheckError{Purpose: purpose, What: what, Got: got, Low: low, High: high, N: t.Batches,
			Hint: hint}
	}
	q, k := b.rate, float64(t.Batches)
	if b.method == privacy.Poisson {
		v := float64(b.n) * q * (1 - q)
		total := mechanism.Proportion{What: "number of examples in batches", N: t.Batches * b.n, Got: t.Examples, P: q}
		if err := total.Check(purpose, x); err != nil {
			return err
		}
		if low := k - math.Sqrt(2*k*(3+1/v)*x); v > 0 && !(float64(t.SumSq)/v >= low) {
			return fail("sum of squared deviations of batch sizes", float64(t.SumSq), low*v, math.Inf(1),
				"batches of a fixed size are not Poisson batches")
		}
		y := x + math.Log(max(1, k))
		if high := math.Sqrt(2*v*y) + 2*y/3; !(float64(t.Widest) <= high) {
			return fail("largest deviation of a batch size", float64(t.Widest), 0, high, "")
		}
	} else {
		q = float64(b.size) / float64(b.n)
		if t.Widest != 0 {
			return fail("largest deviation of a batch size", float64(t.Widest), 0, 0,
				"batches without replacement have one size")
		}
	}
	both := mechanism.Proportion{What: "number of examples in two batches in a row", N: t.Paired, Got: t.Common, P: q}
	return both.Check(purpose, x)
}
