package synthetic

import (
	"math"
	"testing"
)

// TestSight compares the scores of the attacks with sums by hand: items 2, 4 and 6 are in the matrix.
func TestSight(t *testing.T) {
	drawn := [][]int32{{4, 2}, {2, 4, 6}, {6}, {}}
	rows := [][]int32{{1, 2, 4}, {4, 6}, {3}}
	s := newSight(drawn, []int32{2, 4, 6}, rows)
	closest, err := s.closest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// synthetic users: 2 and 4 twice together, 4 and 6 once; 2, 4 and 6 are there twice each, of 4
	pairs := []float64{math.Log((2. + 1) / (1 + 1)), math.Log((1. + 1) / (1 + 1)), 0}
	// attacked users: each pair once, over two items. 8 synthetic pairs in both triangles, 2 of attacked users
	scale := 2.0 / 8
	beyond := []float64{(scale*2 - 0.5) / 2, (scale*1 - 0.5) / 2, 0}
	for u, want := range []float64{1, 2 / math.Sqrt(6), 0} {
		if got := closest[u]; math.Abs(got-want) > 1e-12 {
			t.Errorf("closest of user %d: %v, want %v", u, got, want)
		}
		if got := s.pairs()[u]; math.Abs(got-pairs[u]) > 1e-12 {
			t.Errorf("pairs of user %d: %v, want %v", u, got, pairs[u])
		}
		if got := s.beyond()[u]; math.Abs(got-beyond[u]) > 1e-12 {
			t.Errorf("beyond of user %d: %v, want %v", u, got, beyond[u])
		}
	}
	if s.count[4] != 2 || s.count[3] != 1 {
		t.Errorf("attacked users of items: %v", s.count)
	}
}

// No attack finds more than the guarantee leaves, and without epsilon it finds what a coin does.
func TestMostTrue(t *testing.T) {
	for _, c := range []struct{ e, delta, falses, want float64 }{
		{0, 0, 0.01, 0.01}, {1, 0, 0.01, math.E * 0.01}, {8, 0, 0.01, 1 - math.Exp(-8)*0.99}, {1, 0.001, 0, 0.001},
		{50, 0, 0.5, 1},
	} {
		if got := mostTrue(c.e, c.delta, c.falses); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
