package rdpgcf

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"privrec/internal/graph"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// wholeSums aggregates rows over a graph in whole numbers, so that noise from cryptographic bits is
// on sums that are exact.
//
// A row x of length at most 1 becomes the whole numbers X = trunc(2^b x), whose length is at most
// 2^b. A neighbour of degree d has the weight R(d) = floor(2^a max(d, K)^-1/2), or 2^a where nothing
// is normalised. The sum of a node is that of R(d_w) X_w over its neighbours w, in steps of 2^-(a+b).
//
// How far an edge (u, i) moves the sums of one layer, for any rows that the edge did not enter:
// let p and q be the degrees of u and i without it. Item i receives R(p+1) X_u, each of the other p
// items of u receives (R(p+1) - R(p)) X_u, and the sum of no other item changes, since it has no
// factor of its own degree. Users likewise. So the square of the distance is
//
//	|X_u|² h(p) + |X_i|² h(q) <= 2^2b (h(p) + h(q)),  h(d) = R(d+1)² + d (R(d+1) - R(d))²
//
// with p below the number of items and q below the number of users, over which the maximum is taken.
// All of it is whole numbers: nothing is left out for rounding.
type wholeSums struct {
	g       *graph.Bipartite
	weights []int64 // R by degree, of all degrees that a node can have
	row     int     // b
	step    float64 // 2^-(a+b)
	joint   float64 // the distance, in units of the rows; at least its real value
	most    float64 // steps that a sum can reach
}

// Bits of a grid: enough for 2^26 steps to a deviation, within which samples need only 64-bit arithmetic.
const (
	leastBits, mostBits = 16, 40
	stepsOfDeviation    = 26
)

// newWholeSums returns sums over a graph for noise of about the deviation sigma. Their weights must not depend on the
// degree of the receiving node.
func newWholeSums(g *graph.Bipartite, norm graph.Normalizer, sigma float64) (*wholeSums, error) {
	clamp, has := strings.CutPrefix(norm.String(), "right-clamp:")
	least := 0
	switch {
	case has:
		var err error
		if least, err = strconv.Atoi(clamp); err != nil {
			return nil, err
		}
	case norm.String() != "sum":
		return nil, run.NoSecure("train rdpgcf with model.norm="+norm.String(),
			"its sums are divided by the degree of their own node too, which has no form in whole numbers here; "+
				"right-clamp:K and sum have one")
	}
	_, e := math.Frexp(sigma)
	bits := min(max(stepsOfDeviation-e, leastBits), mostBits)
	a := bits / 2
	s := &wholeSums{g: g, row: bits - a, step: math.Ldexp(1, -bits), weights: make([]int64, max(g.Users, g.Items)+1)}
	for d := range s.weights {
		s.weights[d] = 1 << a
		if least > 0 {
			s.weights[d] = inverseRoot(a, max(d, least))
		}
	}
	squares := s.shift(g.Items) + s.shift(g.Users) // at most 2^42: exact in a float64
	s.joint = math.Nextafter(math.Sqrt(float64(squares)), math.Inf(1)) * math.Ldexp(1, -a)
	if s.most = float64(max(g.Users, g.Items)) * float64(s.weights[0]) * math.Ldexp(1, s.row); s.most > 1<<51 {
		return nil, fmt.Errorf("sums over %d nodes with noise of deviation %g do not fit into 52 bits",
			len(s.weights)-1, sigma)
	}
	return s, nil
}

// shift returns the largest h(d) of degrees d below n.
func (s *wholeSums) shift(n int) (most int64) {
	for d := range n {
		more, by := s.weights[d+1], s.weights[d+1]-s.weights[d]
		most = max(most, more*more+int64(d)*by*by)
	}
	return most
}

// inverseRoot returns floor(2^a d^-1/2), a at most 20.
func inverseRoot(a, d int) int64 {
	r := int64(math.Sqrt(math.Ldexp(1, 2*a) / float64(d)))
	for r*r > 1<<(2*a)/int64(d) {
		r--
	}
	for (r+1)*(r+1) <= 1<<(2*a)/int64(d) {
		r++
	}
	return r
}

// place rounds a row to the grid: its direction, with a length of at most 1. A row close to zero becomes 0.
func (s *wholeSums) place(dst []int32, row []float64) error {
	square := 0.0
	for _, x := range row {
		square += x * x
	}
	clear(dst)
	length := math.Sqrt(square)
	if !(length > 1e-30) || math.IsInf(length, 1) {
		return finite(row)
	}
	per := math.Ldexp(1-1e-9, s.row) / length
	var whole, limit int64 = 0, 1 << (2 * s.row)
	for k, x := range row {
		dst[k] = int32(x * per) // towards zero
		whole += int64(dst[k]) * int64(dst[k])
	}
	if whole > limit {
		return fmt.Errorf("a row of squared length %d steps, want at most %d", whole, limit)
	}
	return nil
}

// finite returns an error for a row with a value that is NaN or infinite.
func finite(row []float64) error {
	for _, x := range row {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("a row with the value %v", x)
		}
	}
	return nil
}

// sum returns the sums of all nodes (users+items, cols), users first, of rows on the grid.
func (s *wholeSums) sum(rows []int32, cols int) []float64 {
	out := make([]float64, s.g.Nodes()*cols)
	tensor.Parallel(s.g.Nodes(), 64, func(_, lo, hi int) {
		total := make([]int64, cols)
		for v := lo; v < hi; v++ {
			s.into(total, rows, v)
			for k, x := range total {
				out[v*cols+k] = float64(x) * s.step // exact
			}
		}
	})
	return out
}

// into writes the sum of one node, in steps.
func (s *wholeSums) into(total []int64, rows []int32, v int) {
	clear(total)
	cols := len(total)
	add := func(w, degree int) {
		r := s.weights[degree]
		for k, x := range rows[w*cols : (w+1)*cols] {
			total[k] += r * int64(x)
		}
	}
	if v < s.g.Users {
		for _, i := range s.g.ItemsOf(v) {
			add(s.g.Users+int(i), s.g.ItemDegree(int(i)))
		}
		return
	}
	for _, u := range s.g.UsersOf(v - s.g.Users) {
		add(int(u), s.g.UserDegree(int(u)))
	}
}
