package synthetic

import (
	"context"
	"math"

	"privrec/internal/tensor"
)

// sight is what an attacker sees: synthetic users, and the items of the users who are attacked.
type sight struct {
	items int               // of the matrix, that synthetic users can have
	place map[int32]int32   // of an item, among them
	rows  [][]int32         // of attacked users, by place
	drawn [][]int32         // of synthetic users, by place
	pair  []float64         // synthetic users with two items, both triangles and the diagonal
	count map[int32]float64 // attacked users of an item of the catalogue
}

// newSight returns what an attacker sees of synthetic users and of attacked users' rows. items are those of the matrix.
func newSight(drawn [][]int32, items []int32, rows [][]int32) *sight {
	s := &sight{items: len(items), place: map[int32]int32{}, count: map[int32]float64{},
		pair: make([]float64, len(items)*len(items))}
	for k, i := range items {
		s.place[i] = int32(k)
	}
	for _, row := range rows {
		for _, i := range row {
			s.count[i]++
		}
	}
	s.rows, s.drawn = s.placed(rows), s.placed(drawn)
	for _, row := range s.drawn {
		for _, a := range row {
			for _, b := range row {
				s.pair[int(a)*s.items+int(b)]++
			}
		}
	}
	return s
}

// placed returns rows by the places of items. Items outside the matrix are left out.
func (s *sight) placed(rows [][]int32) [][]int32 {
	out := make([][]int32, len(rows))
	for u, row := range rows {
		for _, i := range row {
			if p, ok := s.place[i]; ok {
				out[u] = append(out[u], p)
			}
		}
	}
	return out
}

// pairs returns for each attacked user the mean, over pairs of their items, of the log of how many synthetic users have
// both, over the number that the two items' popularity makes of it; 0 for users without a pair.
func (s *sight) pairs() []float64 {
	out, n := make([]float64, len(s.rows)), math.Max(1, float64(len(s.drawn)))
	single := func(i int32) float64 { return s.pair[int(i)*s.items+int(i)] }
	for u, row := range s.rows {
		for x, a := range row {
			for _, b := range row[:x] {
				out[u] += math.Log((s.pair[int(a)*s.items+int(b)] + 1) / (single(a)*single(b)/n + 1))
			}
		}
		out[u] /= math.Max(1, float64(len(row)*(len(row)-1)/2))
	}
	return out
}

// beyond returns for each attacked user the sum, over pairs of their items, of how far synthetic pairs exceed those of
// all attacked users, over the user's number of items. A user's term counts in the release by about that number.
func (s *sight) beyond() []float64 {
	known := make([]float64, len(s.pair))
	ofDrawn, ofRows := 0.0, 0.0
	for _, row := range s.rows {
		for x, a := range row {
			for _, b := range row[:x] {
				v := 1 / float64(len(row))
				known[int(a)*s.items+int(b)] += v
				known[int(b)*s.items+int(a)] += v
				ofRows += 2 * v
			}
		}
	}
	for i := range s.items {
		for j := range s.items {
			if i != j {
				ofDrawn += s.pair[i*s.items+j]
			}
		}
	}
	scale := ofRows / math.Max(1, ofDrawn)
	out := make([]float64, len(s.rows))
	for u, row := range s.rows {
		for x, a := range row {
			for _, b := range row[:x] {
				at := int(a)*s.items + int(b)
				out[u] += (scale*s.pair[at] - known[at]) / float64(len(row))
			}
		}
	}
	return out
}

// closest returns for each attacked user the largest cosine of their items with those of a synthetic user, among the
// items of the matrix.
func (s *sight) closest(ctx context.Context) ([]float64, error) {
	users := make([][]int32, s.items) // synthetic, of an item
	for u, row := range s.drawn {
		for _, i := range row {
			users[i] = append(users[i], int32(u))
		}
	}
	out := make([]float64, len(s.rows))
	tensor.Parallel(len(s.rows), 16, func(_, lo, hi int) {
		common := make([]int32, len(s.drawn))
		for u := lo; u < hi && ctx.Err() == nil; u++ {
			clear(common)
			for _, i := range s.rows[u] {
				for _, v := range users[i] {
					common[v]++
				}
			}
			for v, n := range common {
				if n > 0 {
					c := float64(n) / math.Sqrt(float64(len(s.rows[u])*len(s.drawn[v])))
					out[u] = math.Max(out[u], c)
				}
			}
		}
	})
	return out, ctx.Err()
}
