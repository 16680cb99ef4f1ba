package terms

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// times returns the composition of n copies of the list.
func (l List) times(n int64) (List, error) {
	out := List{WithoutNoise: l.WithoutNoise}
	for _, t := range l.Terms {
		if t.Count > math.MaxInt64/n {
			return List{}, fmt.Errorf("%s: %d times %d releases overflow", t.Leaf.Kind(), n, t.Count)
		}
		t.Count *= n
		out.Terms = append(out.Terms, t)
	}
	for _, b := range l.Parallels {
		if b.Count > math.MaxInt64/n {
			return List{}, fmt.Errorf("parallel: %d times %d compositions overflow", n, b.Count)
		}
		out.Parallels = append(out.Parallels, Branches{b.Of, b.Count * n, b.Pairs})
	}
	return out, nil
}

// plus returns the composition of two lists. Equal terms become one with the sum of their counts.
func (l List) plus(m List) (List, error) {
	out := List{Terms: append([]Term(nil), l.Terms...), Parallels: append(append([]Branches(nil), l.Parallels...),
		m.Parallels...), WithoutNoise: merge(l.WithoutNoise, m.WithoutNoise)}
next:
	for _, t := range m.Terms {
		for i, have := range out.Terms {
			n := have.Count
			have.Count = t.Count
			if have != t {
				continue
			}
			if n > math.MaxInt64-t.Count {
				return List{}, fmt.Errorf("%s: %d and %d releases overflow", t.Leaf.Kind(), n, t.Count)
			}
			out.Terms[i].Count = n + t.Count
			continue next
		}
		out.Terms = append(out.Terms, t)
	}
	return out, nil
}

// Add returns the composition of two lists, as Flatten composes within one event.
func (l List) Add(m List) (List, error) { return l.plus(m) }

// Worst returns the terms of the worst case, with one branch of every parallel composition: the one that dominates all
// others, which have the same kinds of releases with more noise or fewer of them. With Pairs it takes two branches that
// each dominate all but the other. Worst fails with ErrForm if no branch is known to dominate. Rényi DP compares
// branches at each point of a curve, and needs no Worst.
func (l List) Worst() ([]Term, error) {
	out := List{Terms: l.Terms}
	for _, b := range l.Parallels {
		worst, err := b.worst()
		if err != nil {
			return nil, err
		}
		times, err := List{Terms: worst}.times(b.Count)
		if err != nil {
			return nil, err
		}
		if out, err = out.plus(times); err != nil {
			return nil, err
		}
	}
	return out.Terms, nil
}

// worst returns the terms of the branch, or the pair of branches, that dominates all others.
func (b Branches) worst() ([]Term, error) {
	branches := make([][]Term, len(b.Of))
	for i, branch := range b.Of {
		ts, err := branch.Worst()
		if err != nil {
			return nil, err
		}
		branches[i] = ts
	}
	if len(branches) == 0 {
		return nil, nil
	}
	worst, rest := leader(branches)
	out := List{Terms: worst}
	over := [][]Term{worst}
	if b.Pairs && len(rest) > 0 {
		// If two branches dominate all but each other, one has taken the lead last, and the other leads the rest.
		second, others := leader(rest)
		sum, err := out.plus(List{Terms: second})
		if err != nil {
			return nil, err
		}
		out, over, rest = sum, append(over, second), others
	}
	for _, ts := range rest {
		for _, lead := range over {
			if !dominates(lead, ts) {
				return nil, fmt.Errorf("parallel composition without a branch known to be the worst: %w", ErrForm)
			}
		}
	}
	return out.Terms, nil
}

// leader returns the branch that dominates all others, if there is one, and the others.
func leader(branches [][]Term) (lead []Term, rest [][]Term) {
	at := 0
	for i, ts := range branches {
		// A branch that dominates all others takes the lead here and keeps it.
		if lead := branches[at]; dominates(ts, lead) || !dominates(lead, ts) {
			at = i
		}
	}
	rest = append(rest, branches[:at]...)
	return branches[at], append(rest, branches[at+1:]...)
}

// dominates reports whether a costs at least as much as b under every measure: each term of b is covered by a term of
// a, and each term of a covers at most one.
func dominates(a, b []Term) bool {
	used := make([]bool, len(a))
next:
	for _, t := range b {
		for i, s := range a {
			if !used[i] && covers(s, t) {
				used[i] = true
				continue next
			}
		}
		return false
	}
	return true
}

// covers reports whether s is t with more releases, a higher rate or less noise for the same
// distance. Then t is s after more processing.
func covers(s, t Term) bool {
	if s.Method != t.Method && s.Rate != 1 || s.Relation != t.Relation || s.Group != t.Group || s.Rate < t.Rate ||
		s.Count < t.Count {
		return false
	}
	exchanged := s.Relation == privacy.Replace && s.Rate < 1
	if s.Count, s.Rate, s.Method = t.Count, t.Rate, t.Method; s == t {
		return true
	}
	x := privacy.LawOf(s.Leaf)
	return x != nil && x.Covers(privacy.LawOf(t.Leaf), exchanged)
}

// merge appends the new elements of more to have, in order.
func merge(have, more []privacy.Unprotected) []privacy.Unprotected {
next:
	for _, m := range more {
		for _, h := range have {
			if h == m {
				continue next
			}
		}
		have = append(have[:len(have):len(have)], m)
	}
	return have
}
