package dataset

import (
	"fmt"

	"privrec/internal/rng"
)

// Samples holds a table of prefixes with their next items. Sample i of sequences seqs is the prefix
// seqs[User[i]][:Length[i]] and the target seqs[User[i]][Length[i]]; the prefixes themselves are never copied.
type Samples struct {
	User   []int32 // index of the sequence
	Length []int32 // of the prefix, 1 or more
}

// Prefixes returns every prefix that has a next item: lengths 1..m-1 for a sequence v1..vm, sequences in order, short
// prefixes first.
func Prefixes(seqs [][]int32) Samples {
	n := 0
	for _, s := range seqs {
		n += max(0, len(s)-1)
	}
	t := Samples{User: make([]int32, 0, n), Length: make([]int32, 0, n)}
	for u, s := range seqs {
		for l := 1; l < len(s); l++ {
			t.User = append(t.User, int32(u))
			t.Length = append(t.Length, int32(l))
		}
	}
	return t
}

// Windows returns sequences cut into consecutive windows of size rows that share no row. The last window of a sequence
// may be shorter, but has at least two rows. of holds the sequence of every window.
func Windows(seqs [][]int32, size int) (windows [][]int32, of []int32) {
	for u, s := range seqs {
		for from := 0; from+1 < len(s); from += size {
			windows = append(windows, s[from:min(from+size, len(s)):min(from+size, len(s))])
			of = append(of, int32(u))
		}
	}
	return windows, of
}

// Whole returns for every sequence of at least two items the prefix of all but its last item.
func Whole(seqs [][]int32) Samples {
	var t Samples
	for u, s := range seqs {
		if len(s) > 1 {
			t.User, t.Length = append(t.User, int32(u)), append(t.Length, int32(len(s)-1))
		}
	}
	return t
}

// Len returns the number of samples.
func (t Samples) Len() int { return len(t.User) }

// At returns the prefix and target of sample i; prefix is a view of seqs.
func (t Samples) At(seqs [][]int32, i int) (prefix []int32, target int32) {
	seq, l := seqs[t.User[i]], t.Length[i]
	return seq[:l:l], seq[l]
}

// Targets returns the target of every sample.
func (t Samples) Targets(seqs [][]int32) []int32 {
	out := make([]int32, t.Len())
	for i := range out {
		_, out[i] = t.At(seqs, i)
	}
	return out
}

// pick returns the samples whose value in held equals want, in the same order.
func (t Samples) pick(held []bool, want bool) Samples {
	var out Samples
	for i, h := range held {
		if h == want {
			out.User = append(out.User, t.User[i])
			out.Length = append(out.Length, t.Length[i])
		}
	}
	return out
}

// Where returns the samples for which keep is true, in the same order.
func (t Samples) Where(keep func(user, length int32) bool) Samples {
	kept := make([]bool, t.Len())
	for i := range kept {
		kept[i] = keep(t.User[i], t.Length[i])
	}
	return t.pick(kept, true)
}

// Owners gives the ids of the user and of the target item of sample i.
type Owners struct{ User, Item func(i int) string }

// HoldOutSamples returns the samples with a share of every user's moved to valid, rounded at random so that it is right
// on average. They are drawn by user and target item, as Lots draws about rows. Prefixes of one user can then be in
// both parts, as in the papers, which makes validation results look better. Both parts keep the order of the table, in
// which the samples of a user stand together.
func (t Samples) HoldOutSamples(share float64, of Owners, s rng.Stream) (train, valid Samples, err error) {
	if err := checkShare(share); err != nil {
		return train, valid, err
	}
	held, lots := make([]bool, t.Len()), NewLots(s)
	for from, end := 0, 0; from < t.Len(); from = end {
		user := of.User(from)
		for end = from + 1; end < t.Len() && of.User(end) == user; end++ {
		}
		n := lots.share(user, share, end-from)
		for _, k := range least(lots.Rows(user, end-from, func(k int) string { return of.Item(from + k) }), n) {
			held[from+k] = true
		}
	}
	return t.pick(held, false), t.pick(held, true), nil
}

// HoldOutUsers returns the samples with all those of some users moved to valid: each user with a chance equal to the
// share, drawn by their id.
func (t Samples) HoldOutUsers(share float64, of Owners, s rng.Stream) (train, valid Samples, err error) {
	if err := checkShare(share); err != nil {
		return train, valid, err
	}
	held, lots := make([]bool, t.Len()), NewLots(s)
	for i := range held {
		held[i] = lots.User(of.User(i)) < share
	}
	return t.pick(held, false), t.pick(held, true), nil
}

func checkShare(share float64) error {
	if !(share >= 0 && share < 1) {
		return fmt.Errorf("dataset: validation share must be in [0,1), got %v", share)
	}
	return nil
}
