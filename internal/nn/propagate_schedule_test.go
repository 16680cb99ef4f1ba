package nn_test

import (
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// anyOrder lists the rows of g in a random order.
func anyOrder(g *graph.Bipartite, seed rng.Seed) *graph.Near {
	draw := seed.Stream("order")
	list := func(n int, row func(int) []int32) graph.Rows {
		r := graph.Rows{At: make([]int32, n), Ptr: make([]int64, 1)}
		for k := range r.At {
			j := draw.IntN(k + 1)
			r.At[k], r.At[j] = r.At[j], int32(k)
		}
		for _, v := range r.At {
			r.Idx = append(r.Idx, row(int(v))...)
			r.Ptr = append(r.Ptr, int64(len(r.Idx)))
		}
		return r
	}
	return &graph.Near{Users: list(g.Users, g.ItemsOf), Items: list(g.Items, g.UsersOf)}
}

// everything is what all methods of a propagation give.
func (s *setup) everything(t testing.TB) (parts [][]tensor.Float) {
	t.Helper()
	parts = s.outcome(t)
	users, items := s.users.Value, s.items.Value
	for _, f := range []func(a, b, c, d tensor.Matrix) error{s.p.All, s.p.Product} {
		zu, zi := tensor.New(users.Rows, users.Cols), tensor.New(items.Rows, items.Cols)
		if err := f(users, items, zu, zi); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, zu.Data, zi.Data)
	}
	return parts
}

// The order in which rows are computed changes no bit, for any number of workers.
func TestOrderChangesNothing(t *testing.T) {
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	cases(t, func(t *testing.T, layers, cols int, normalize, noisy bool) {
		for _, frontier := range []bool{false, true} {
			s := larger(t, layers, cols, normalize, noisy, frontier)
			want := s.everything(t)
			if err := s.p.Arrange(anyOrder(s.p.Graph, 7)); err != nil {
				t.Fatal(err)
			}
			for _, workers := range []int{1, 2, 5} {
				tensor.SetWorkers(workers)
				for k, got := range s.everything(t) {
					if !slices.Equal(got, want[k]) {
						t.Fatalf("frontier %v, part %d differs with %d workers", frontier, k, workers)
					}
				}
			}
		}
	})
}

// Noise comes once for each row, and with the same rank, in any order.
func TestNoiseInAnyOrder(t *testing.T) {
	for _, frontier := range []bool{false, true} {
		s := newSetup(t, "sym", 3, true, false, frontier)
		s.outcome(t)
		if err := s.p.Arrange(anyOrder(s.p.Graph, 8)); err != nil {
			t.Fatal(err)
		}
		p := &protocol{t: t}
		s.p.Noise = p
		if _, _, err := s.p.Rows(autograd.NewTape(), s.users, s.items, s.batchU, s.batchI); err != nil {
			t.Fatal(err)
		}
		if p.open || len(p.layers) != 3 {
			t.Errorf("frontier %v: layers %v", frontier, p.layers)
		}
	}
}

// A propagation that looks for a better order goes on as before, whatever it finds.
func TestPropagationSettles(t *testing.T) {
	defer nn.SetNearCache(0)()
	for _, noisy := range []bool{false, true} {
		s := larger(t, 2, 16, true, noisy, true)
		want := s.everything(t)
		for range nn.Settled/3 + 1 {
			for k, got := range s.everything(t) {
				if !slices.Equal(got, want[k]) {
					t.Fatalf("noise %v, part %d differs", noisy, k)
				}
			}
		}
	}
}

// Pieces are long for few cores and short for many.
func TestPieces(t *testing.T) {
	for _, c := range []struct{ entries, workers, want int }{
		{0, 1, 4096}, {1000, 64, 4096}, {1_620_256, 1, 32768}, {1_620_256, 2, 32768}, {1_620_256, 8, 12658}, {1_620_256, 64, 4096},
	} {
		if got := nn.PieceOf(c.entries, c.workers); got != c.want {
			t.Errorf("%d entries, %d workers: pieces of %d, want %d", c.entries, c.workers, got, c.want)
		}
	}
}

// Pieces hold every row once, in order, and are as long as they may be.
func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		ptr  []int64
		want [][2]int
	}{
		"no rows":      {[]int64{0}, nil},
		"entries":      {[]int64{0, 6, 12, 17, 20}, [][2]int{{0, 2}, {2, 4}}},
		"a longer row": {[]int64{0, 1, 50, 51}, [][2]int{{0, 1}, {1, 2}, {2, 3}}},
		"short rows":   {[]int64{0, 0, 0, 0, 1, 1}, [][2]int{{0, 2}, {2, 4}, {4, 5}}},
	} {
		if got := nn.Cut(c.ptr, 16); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
