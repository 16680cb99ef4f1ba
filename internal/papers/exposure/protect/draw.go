package protect

import (
	"fmt"
	"math/bits"

	"privrec/internal/rng"
)

// dice makes the random choices of one slate.
type dice struct{ rng.Source }

// below draws a uniform integer in [0, n), n >= 1, without bias (Lemire, "Fast random
// integer generation in an interval", TOMACS 2019).
func (d dice) below(n uint64) uint64 {
	hi, lo := bits.Mul64(d.Uint64(), n)
	if lo < n {
		for reject := -n % n; lo < reject; {
			hi, lo = bits.Mul64(d.Uint64(), n)
		}
	}
	return hi
}

// unit draws uniformly from [0, 1), a multiple of 2^-53.
func (d dice) unit() float64 { return float64(d.Uint64()>>11) * 0x1p-53 }

// alias draws items with probabilities that are exactly proportional to whole numbers,
// in constant time (Walker 1977, Vose 1991).
type alias struct {
	items  []int32
	counts []uint64
	total  uint64
	upTo   []uint64 // of total: below it the own item is drawn, else the other
	other  []int32
}

// newAlias returns the table of the items with a count above 0.
func newAlias(counts []uint64) (*alias, error) {
	a := &alias{}
	for item, c := range counts {
		if c > 0 {
			a.items, a.counts = append(a.items, int32(item)), append(a.counts, c)
			var over uint64
			if a.total, over = bits.Add64(a.total, c, 0); over > 0 {
				return nil, fmt.Errorf("counts of items add up to more than 2^64")
			}
		}
	}
	n := uint64(len(a.items))
	if hi, _ := bits.Mul64(a.total, n); hi > 0 {
		return nil, fmt.Errorf("counts of %d items add up to %d: too many for exact draws", n, a.total)
	}
	a.upTo, a.other = make([]uint64, n), make([]int32, n)
	var small, large []int32
	for i, c := range a.counts {
		a.upTo[i], a.other[i] = c*n, int32(i)
		if c*n < a.total {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 { // with whole numbers nothing is left of either but full columns
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		if a.upTo[l] -= a.total - a.upTo[s]; a.upTo[l] < a.total {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return a, nil
}

func (a *alias) empty() bool { return len(a.items) == 0 }

func (a *alias) draw(d dice) int32 {
	i := d.below(uint64(len(a.items)))
	if d.below(a.total) >= a.upTo[i] {
		i = uint64(a.other[i])
	}
	return a.items[i]
}

func (a *alias) each(f func(item int32, weight uint64)) {
	for i, item := range a.items {
		f(item, a.counts[i])
	}
}

// evenly draws every item with equal probability.
type evenly []int32

func (e evenly) empty() bool { return len(e) == 0 }

func (e evenly) draw(d dice) int32 { return e[d.below(uint64(len(e)))] }

func (e evenly) each(f func(item int32, weight uint64)) {
	for _, item := range e {
		f(item, 1)
	}
}

// span draws the items below a number with equal probability.
type span int32

func (s span) empty() bool { return s == 0 }

func (s span) draw(d dice) int32 { return int32(d.below(uint64(s))) }

func (s span) each(f func(item int32, weight uint64)) {
	for item := range s {
		f(int32(item), 1)
	}
}

// others draws from the items shown to the users of a batch, as often as they were shown, except to one user.
type others struct {
	items []int32 // of all users of the batch
	skip  [2]int  // from, to: the victim's; empty where they may be drawn too
}

func (o others) empty() bool { return len(o.items) == o.skip[1]-o.skip[0] }

func (o others) draw(d dice) int32 {
	i := int(d.below(uint64(len(o.items) - (o.skip[1] - o.skip[0]))))
	if i >= o.skip[0] {
		i += o.skip[1] - o.skip[0]
	}
	return o.items[i]
}

func (o others) each(f func(item int32, weight uint64)) {
	for i, item := range o.items {
		if i < o.skip[0] || i >= o.skip[1] {
			f(item, 1)
		}
	}
}

// urn is a source of replacements, drawn with replacement. each lists its content, an item perhaps in parts.
type urn interface {
	empty() bool
	draw(d dice) int32
	each(f func(item int32, weight uint64))
}

// rejections is the number of rejections in a row after which the remaining items are listed; the distribution is the
// same.
const rejections = 200

// errUrn reports an urn with too few items outside a slate.
type errUrn struct{ slate, want, got int }

// Error says how many items the urn has.
func (e *errUrn) Error() string {
	return fmt.Sprintf("a slate of %d items takes %d new ones, and there are only %d others to draw from", e.slate,
		e.want, e.got)
}

// distinct draws items without replacement, none of them marked already, each with its weight among the remaining ones.
// It marks drawn items.
type distinct struct {
	marks []uint32 // by item: the mark of the slate that has it
	mark  uint32
}

// start forgets all items and marks those of a slate.
func (x *distinct) start(slate []int32) {
	x.mark++
	if x.mark == 0 { // 2^32 slates: marks start over
		clear(x.marks)
		x.mark = 1
	}
	for _, item := range slate {
		x.marks[item] = x.mark
	}
}

func (x *distinct) draw(u urn, d dice) (item int32, ok bool) {
	if u.empty() {
		return 0, false
	}
	for range rejections {
		if item = u.draw(d); x.marks[item] != x.mark {
			x.marks[item] = x.mark
			return item, true
		}
	}
	left := uint64(0)
	u.each(func(i int32, w uint64) {
		if x.marks[i] != x.mark {
			left += w
		}
	})
	if left == 0 {
		return 0, false
	}
	at, found := d.below(left), false
	u.each(func(i int32, w uint64) {
		if found || x.marks[i] == x.mark {
			return
		}
		if at < w {
			item, found = i, true
			return
		}
		at -= w
	})
	x.marks[item] = x.mark
	return item, true
}
