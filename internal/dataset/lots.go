package dataset

import (
	"cmp"
	"math"
	"slices"

	"privrec/internal/rng"
)

// Lots draws random numbers about users and rows, by one rule for every recipe, for withheld and held-out rows, and for
// measured users. A draw about a user depends on the seed and the user's id. A draw about a row also depends on the
// item's id and on the row's number among the user's rows of that item. So data that lack one user have the same draws
// for all others, and a release that moves by one user's part under one split moves by it under every split.
type Lots struct {
	stream rng.Stream
	equals map[string]uint64 // rows of the user with an item, so far
	out    []uint64
}

// NewLots returns draws of one kind, named by the stream.
func NewLots(s rng.Stream) *Lots { return &Lots{stream: s, equals: map[string]uint64{}} }

// User returns the number in [0, 1) drawn about a user.
func (l *Lots) User(id string) float64 {
	s := l.stream.Of(id)
	return s.Float64()
}

// Rows returns a uniform 64-bit number for each row of a user. item(k) is the id of the item of row k. The numbers are
// valid until the next call.
func (l *Lots) Rows(user string, rows int, item func(k int) string) []uint64 {
	clear(l.equals)
	of := l.stream.Of(user)
	l.out = slices.Grow(l.out[:0], rows)[:rows]
	for k := range l.out {
		id := item(k)
		n := l.equals[id]
		l.equals[id] = n + 1
		s := of.Of(id).Sub(n)
		l.out[k] = s.Uint64()
	}
	return l.out
}

// least returns the indices of the n smallest numbers, ascending.
func least(numbers []uint64, n int) []int {
	order := make([]int, len(numbers))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b)) })
	some := order[:n]
	slices.Sort(some)
	return some
}

// below reports whether a number is in the lower part of the range, of size chance in [0, 1].
func below(number uint64, chance float64) bool { return float64(number>>11)*0x1p-53 < chance }

// share returns how many rows a share of a user's m rows is: share*m, rounded down or up so that it is right on
// average. The rounding is drawn about the user.
func (l *Lots) share(user string, share float64, m int) int {
	n := floorShare(share, m)
	if left := share*float64(m) - float64(n); l.User(user) < math.Min(left, 1) {
		n++
	}
	return min(n, m)
}

// Some returns n of some users, given as indices into ids, ascending: those with the smallest numbers. It returns all
// if there are no more than n, or n is 0.
func (l *Lots) Some(ids []string, users []int32, n int) []int32 {
	if n == 0 || n >= len(users) {
		return slices.Sorted(slices.Values(users))
	}
	numbers := make([]uint64, len(users))
	for k, u := range users {
		s := l.stream.Of(ids[u])
		numbers[k] = s.Uint64()
	}
	some := make([]int32, 0, n)
	for _, k := range least(numbers, n) {
		some = append(some, users[k])
	}
	return slices.Sorted(slices.Values(some))
}
