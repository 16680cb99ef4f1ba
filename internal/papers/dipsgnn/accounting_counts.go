package dipsgnn

import "fmt"

// The squared joint sensitivity of (A_in Hb, A_out Hb) in units of C², for one
// prefix: what a change of the user's sequence p, a, q moves at most. The theorem
// takes 1: one entry of one matrix.
const (
	s2Claimed        = 1
	s2Edge           = 2  // one unit of one count: row i of A_out Hb, row j of A_in Hb
	s2DeleteInside   = 10 // p,a,q -> p,q: row p moves by Hb_q - Hb_a, row a by Hb_q, in both matrices
	s2DeleteEnd      = 2  // the first or last item: one edge goes
	s2ReplaceInside  = 20 // p,p,p -> p,b,p, the worst coincidence of items
	s2ReplaceApart   = 12 // the same with four different items
	s2ReplaceEnd     = 6  // the first or last item
	s2ReplacePerUser = 8  // times (l-1)²: every edge of a prefix of length l
)

// Multiplicity counts how much of the noisy releases of one pass over the samples a unit takes
// part in. It is the sum of s² over the prefixes that contain the unit, with one propagation
// step. It takes the worst user and position of the data: users are disjoint, so the worst one
// decides.
type Multiplicity struct {
	Edge          int64 // prefixes that contain the worst edge: M itself, not times s²
	Deletion      int64
	Substitution  int64 // at the worst coincidence of items
	SubstituteOff int64 // with four different items
	User          int64 // the whole sequence for another of the same length
}

// max takes the worst of each.
func (m *Multiplicity) max(o Multiplicity) {
	m.Edge = max(m.Edge, o.Edge)
	m.Deletion = max(m.Deletion, o.Deletion)
	m.Substitution = max(m.Substitution, o.Substitution)
	m.SubstituteOff = max(m.SubstituteOff, o.SubstituteOff)
	m.User = max(m.User, o.User)
}

// tallied counts the prefixes of one sequence.
type tallied struct {
	two    int64 // prefixes of length 2
	longer int64 // of length 3 and more
	square int64 // sum of (length-1)²
}

func (c *tallied) add(length int64) {
	switch {
	case length == 2:
		c.two++
	case length > 2:
		c.longer++
	}
	c.square += (length - 1) * (length - 1)
}

// multiplicity returns what the worst units of one sequence cost. The edge v1 v2 is in every
// prefix of length 2 and more, and no edge is in more. The worst item to delete or replace is
// v2: it is inside of every prefix of length 3 and more, and last of the one of length 2. v1
// is at an end of all of them, and later items are in fewer.
func (c tallied) multiplicity() Multiplicity {
	return Multiplicity{
		Edge:          c.two + c.longer,
		Deletion:      s2DeleteInside*c.longer + s2DeleteEnd*c.two,
		Substitution:  s2ReplaceInside*c.longer + s2ReplaceEnd*c.two,
		SubstituteOff: s2ReplaceApart*c.longer + s2ReplaceEnd*c.two,
		User:          s2ReplacePerUser * c.square,
	}
}

// CountPrefixes counts a pass over given samples: sample i is the prefix of length[i] of a
// sequence. Samples that a validation set took are then counted where they are used.
func CountPrefixes(sequence, length []int32) (Multiplicity, error) {
	if len(sequence) != len(length) {
		return Multiplicity{}, fmt.Errorf("accounting: %d sequences and %d lengths", len(sequence), len(length))
	}
	counts := map[int32]*tallied{}
	for i, s := range sequence {
		if length[i] < 1 || length[i] > 1<<20 {
			return Multiplicity{}, fmt.Errorf("accounting: sample %d is a prefix of length %d", i, length[i])
		}
		c := counts[s]
		if c == nil {
			c = &tallied{}
			counts[s] = c
		}
		c.add(int64(length[i]))
	}
	var worst Multiplicity
	for _, c := range counts {
		worst.max(c.multiplicity())
	}
	return worst, nil
}
