package definition

import "slices"

// Input holds the data to be measured: lists, the truth and, if known, the recommender's training rows. Users and items
// are numbers. It is not changed.
type Input struct {
	Users  []User
	Items  []string // ids by number, every item of the lists, the truth and the training rows
	Ranked bool     // entries have ranks
	Scored bool     // entries have scores
	Train  *Train   // nil: not known
}

// User is a user of the lists or of the truth.
type User struct {
	List  []Entry  // in the order of the file; empty: the user has no list
	Truth []Target // in the order of the file; empty: the user is not in the truth
}

// Entry is one recommended item. Rank and Score are 0 if the input has none.
type Entry struct {
	Item  int32
	Rank  int64 // the smallest is the best
	Score float64
}

// Target is one item of the truth.
type Target struct {
	Item int32
	Gain float64 // relevant from 1 on
}

// Train counts the training rows of a recommender.
type Train struct {
	Users int     // with a row
	Items int     // with a row
	Rows  []int64 // by item: rows
	By    []int64 // by item: users with a row of it
}

// NewTrain returns the counts of rows of users and items, both numbered from 0. all is the length of Input.Items.
func NewTrain(users, items []int32, all int) *Train {
	t := &Train{Rows: make([]int64, all), By: make([]int64, all)}
	pairs := make([]int64, len(users))
	for r, u := range users {
		pairs[r] = int64(u)<<32 | int64(items[r])
		t.Rows[items[r]]++
	}
	slices.Sort(pairs)
	last := int64(-1)
	for r, p := range slices.Compact(pairs) {
		if r == 0 || p>>32 != last {
			t.Users++
			last = p >> 32
		}
		t.By[p&(1<<32-1)]++
	}
	for _, n := range t.By {
		if n > 0 {
			t.Items++
		}
	}
	return t
}

// sample holds one user in the form that a definition sees.
type sample struct {
	list     []int32   // items, best first
	gain     []float64 // by position: 0 where the item is not relevant
	relevant int       // items of the truth that are relevant
	ideal    []float64 // their gains, largest first
	listed   bool      // the user has a list
	judged   bool      // the user is in the truth
}

// hits returns how many of the first k positions hold a relevant item.
func (s *sample) hits(k int) float64 {
	n := 0.0
	for _, g := range s.gain[:min(k, len(s.gain))] {
		if g > 0 {
			n++
		}
	}
	return n
}

// first returns the position, from 1, of the first relevant item among the first k; 0: none.
func (s *sample) first(k int) int {
	for i, g := range s.gain[:min(k, len(s.gain))] {
		if g > 0 {
			return i + 1
		}
	}
	return 0
}

// precisions returns the sum of the precision at every hit among the first k positions, sum_{i<=k} h_i P(i), where
// P(i) is the share of hits among the first i.
func (s *sample) precisions(k int) float64 {
	sum, hits := 0.0, 0.0
	for i, g := range s.gain[:min(k, len(s.gain))] {
		if g > 0 {
			hits++
			sum += hits / float64(i+1)
		}
	}
	return sum
}

// discounted returns sum_{i<=k} weight(i) * value_i.
func discounted(values []float64, k int, weight func(position int) float64) float64 {
	sum := 0.0
	for i, v := range values[:min(k, len(values))] {
		if v > 0 {
			sum += v * weight(i+1)
		}
	}
	return sum
}

// share returns a/b, and 0 for b = 0.
func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
