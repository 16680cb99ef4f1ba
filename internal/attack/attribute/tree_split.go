package attribute

import "math/bits"

// gain holds the quality of a split. With L_c and R_c the users of class c on its sides, and L and R all users there,
// it is
//
//	sum_c L_c^2 / L + sum_c R_c^2 / R = num / den
//
// The Gini impurity of the sides, weighted by their users, is one less this divided by the users of the node, so larger
// is better. Whole numbers make ties exact.
type gain struct{ num, den uint64 }

// above reports whether g > h. Numbers of up to two million users do not overflow.
func (g gain) above(h gain) bool {
	a1, a0 := bits.Mul64(g.num, h.den)
	b1, b0 := bits.Mul64(h.num, g.den)
	return a1 > b1 || a1 == b1 && a0 > b0
}

// split sends users whose value in the column is at most the threshold to the left.
type split struct {
	column    int32
	threshold float64
	gain      gain
}

// search finds the best split of a node by one column. It moves users from the rest of the node to a side, the
// highest values first.
type search struct {
	count []int64 // users of the node by class
	n, sq int64   // their number, and the sum of the squares of count

	side              []int64 // users of the side by class
	m, sideSq, restSq int64   // their number; sums of squares of the side and of the rest
	last              float64 // lowest value of the side
	negative          []int64 // users with a negative value by class

	best  split
	found bool
}

func (s *search) init(classes int) {
	s.count, s.side, s.negative = make([]int64, classes), make([]int64, classes), make([]int64, classes)
}

// start empties the node and returns its counts, to be filled.
func (s *search) start() []int64 {
	clear(s.count)
	return s.count
}

// total sums up the filled counts.
func (s *search) total() {
	s.n, s.sq = 0, 0
	for _, c := range s.count {
		s.n += c
		s.sq += c * c
	}
}

func (s *search) pure() bool { return s.sq == s.n*s.n }

// column returns the best split by a column, with the lowest threshold of equally good ones, or false if all users have
// one value. idx and val are the users with a value that is not zero, by value; inside is their weight in the node.
func (s *search) column(idx []int32, val []float64, inside []int64, class []int32) (split, bool) {
	if s.m > 0 {
		clear(s.side)
	}
	s.m, s.sideSq, s.restSq, s.found = 0, 0, s.sq, false
	zero := 0
	for zero < len(val) && val[zero] < 0 {
		zero++
	}
	for k := len(val) - 1; k >= zero; k-- {
		if w := inside[idx[k]]; w > 0 {
			s.move(val[k], class[idx[k]], w)
		}
	}
	if zero == 0 {
		if s.m > 0 && s.m < s.n {
			s.offer(0)
		}
		return s.best, s.found
	}
	clear(s.negative)
	for _, u := range idx[:zero] {
		s.negative[class[u]] += inside[u]
	}
	for c, n := range s.count {
		// Users of one value move one class after the other. move offers a split only where the value changes.
		if w := n - s.side[c] - s.negative[c]; w > 0 {
			s.move(0, int32(c), w)
		}
	}
	for k := zero - 1; k >= 0; k-- {
		if w := inside[idx[k]]; w > 0 {
			s.move(val[k], class[idx[k]], w)
		}
	}
	return s.best, s.found
}

// move takes w users of a class with a value into the side. The side has no lower value.
func (s *search) move(value float64, class int32, w int64) {
	if s.m > 0 && value != s.last {
		s.offer(value)
	}
	s.last = value
	a := s.side[class]
	b := s.count[class] - a
	s.sideSq += w * (2*a + w)
	s.restSq += w * (w - 2*b)
	s.side[class] = a + w
	s.m += w
}

// offer considers the split between the side and the rest, whose highest value is given. Thresholds come in
// descending order, so a later one wins a tie.
func (s *search) offer(value float64) {
	rest := s.n - s.m
	g := gain{uint64(s.sideSq*rest + s.restSq*s.m), uint64(s.m * rest)}
	if s.found && s.best.gain.above(g) {
		return
	}
	threshold := value/2 + s.last/2
	if threshold >= s.last { // no number lies between two neighbours
		threshold = value
	}
	s.best, s.found = split{threshold: threshold, gain: g}, true
}
