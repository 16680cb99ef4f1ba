package dipsgnn

import "fmt"

// s2Claimed is the squared sensitivity that the theorem uses: one entry of one matrix.
const s2Claimed = 1

// sensitivity holds squared sensitivities: the largest squared distances that a change of the user's sequence p, a, q
// moves the releases of one prefix.
type sensitivity struct {
	edge          int64 // one unit of one count
	deleteInside  int64 // p,a,q -> p,q
	deleteEnd     int64 // the first or last item: one edge goes
	replaceInside int64 // p,p,p -> p,b,p, the worst coincidence of items
	replaceApart  int64 // the same with four different items
	replaceEnd    int64 // the first or last item
	perUser       int64 // times (l-1)²: every edge of a prefix of length l
	swap          int64 // r,x,y,s -> r,y,x,s: two neighbouring items change places
	swapTwo       int64 // the same in a prefix of two items
}

// ofMessages holds the sensitivities of (A_in Hb, A_out Hb) together, in units of C². A unit edge moves row i of A_out
// Hb and row j of A_in Hb; a deletion moves row p by Hb_q - Hb_a and row a by Hb_q, in both matrices.
//
// Two items x and y that change places between r and s move the rows r, x, y of A_out Hb by Hb_y - Hb_x, Hb_s - Hb_y
// and Hb_x - Hb_s. The squared lengths of the three differences of three vectors of length C add up to 9 C² at most,
// since that is 3 sum |v|² - |sum v|². The rows of A_in Hb move by the differences of Hb_r, Hb_x and Hb_y likewise.
// Items that are the same make it less, and so do places at an end.
var ofMessages = sensitivity{edge: 2, deleteInside: 10, deleteEnd: 2, replaceInside: 20, replaceApart: 12,
	replaceEnd: 6, perUser: 8,
	swap: 18, swapTwo: 4}

// ofGraphs holds the sensitivities of the counts A_out themselves; A_in is the same release. A deletion takes one from
// (p,a) and (a,q) and adds one to (p,q). All transitions of a user may be of one pair, and of another pair after the
// exchange.
var ofGraphs = sensitivity{edge: 1, deleteInside: 3, deleteEnd: 1, replaceInside: 6, replaceApart: 4, replaceEnd: 2,
	perUser: 2, swap: 6, swapTwo: 2}

// sensitivity returns the squared sensitivities of the run's releases.
func (a Accounting) sensitivity() sensitivity {
	if a.Edges {
		return ofGraphs
	}
	return ofMessages
}

// Multiplicity counts, for each unit, its share in the noisy releases of one pass over the samples: the sum of s² over
// the prefixes that contain the unit, with one propagation step. It takes the worst user and position of the data,
// since users are disjoint and the worst one decides.
type Multiplicity struct {
	Edge          int64 // prefixes that contain the worst edge: M itself, not times s²
	Deletion      int64
	Substitution  int64 // at the worst coincidence of items
	SubstituteOff int64 // with four different items
	User          int64 // the whole sequence for another of the same length
	Swap          int64 // two neighbouring items change places
}

// max replaces each count by the larger of the two.
func (m *Multiplicity) max(o Multiplicity) {
	m.Edge = max(m.Edge, o.Edge)
	m.Deletion = max(m.Deletion, o.Deletion)
	m.Substitution = max(m.Substitution, o.Substitution)
	m.SubstituteOff = max(m.SubstituteOff, o.SubstituteOff)
	m.User = max(m.User, o.User)
	m.Swap = max(m.Swap, o.Swap)
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

// multiplicity returns the cost of the worst units of one sequence. The edge v1 v2 is in every prefix of length 2 and
// more, and no edge is in more. The worst item to delete or replace is v2: it is inside every prefix of length 3 and
// more, and last in the one of length 2. v1 is at an end of all of them, and later items are in fewer.
func (c tallied) multiplicity(s sensitivity) Multiplicity {
	return Multiplicity{
		Edge:          c.two + c.longer,
		Deletion:      s.deleteInside*c.longer + s.deleteEnd*c.two,
		Substitution:  s.replaceInside*c.longer + s.replaceEnd*c.two,
		SubstituteOff: s.replaceApart*c.longer + s.replaceEnd*c.two,
		User:          s.perUser * c.square,
		Swap:          s.swap*c.longer + s.swapTwo*c.two,
	}
}

// CountPrefixes returns the counts of one pass of noisy aggregation over given samples: sample i is the prefix of
// length[i] of a sequence. Samples that a validation set took are counted where they are used.
func CountPrefixes(sequence, length []int32) (Multiplicity, error) {
	return ofMessages.count(sequence, length)
}

// count is CountPrefixes for any kind of release of prefixes.
func (s sensitivity) count(sequence, length []int32) (Multiplicity, error) {
	if len(sequence) != len(length) {
		return Multiplicity{}, fmt.Errorf("accounting: %d sequences and %d lengths", len(sequence), len(length))
	}
	counts := map[int32]*tallied{}
	for i, seq := range sequence {
		if length[i] < 1 || length[i] > 1<<20 {
			return Multiplicity{}, fmt.Errorf("accounting: sample %d is a prefix of length %d", i, length[i])
		}
		c := counts[seq]
		if c == nil {
			c = &tallied{}
			counts[seq] = c
		}
		c.add(int64(length[i]))
	}
	var worst Multiplicity
	for _, c := range counts {
		worst.max(c.multiplicity(s))
	}
	return worst, nil
}
