package ials

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"privrec/internal/graph"
	"privrec/internal/model/modeltest"
	"privrec/internal/progress"
	"privrec/internal/progress/progresstest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

var usual = Options{Dim: 5, Rounds: 4, Unobserved: 0.3, Lambda: 0.02, Exponent: 1, Std: 0.1}

// sample is a random graph in which every pair is an edge with probability share.
func sample(t *testing.T, users, items int, share float64, seed uint64) *graph.Bipartite {
	t.Helper()
	return modeltest.Graph(t, rng.Seed(seed).Stream("ials test"), users, items, modeltest.Even(share))
}

// solution solves a x = b by Gauss with pivots, in float64.
func solution(a [][]float64, b []float64) []float64 {
	for k := range a {
		p := k
		for i := k; i < len(a); i++ {
			if math.Abs(a[i][k]) > math.Abs(a[p][k]) {
				p = i
			}
		}
		a[k], a[p], b[k], b[p] = a[p], a[k], b[p], b[k]
		for i := range a {
			if f := a[i][k] / a[k][k]; i != k && f != 0 {
				for j := k; j < len(a); j++ {
					a[i][j] -= f * a[k][j]
				}
				b[i] -= f * b[k]
			}
		}
	}
	for k := range b {
		b[k] /= a[k][k]
	}
	return b
}

// plain fits by loops in float64 from the same first vectors.
func plain(g *graph.Bipartite, o Options, s rng.Stream) (users, items [][]float64) {
	first := s.Sub(0)
	items, users = make([][]float64, g.Items), make([][]float64, g.Users)
	for i := range items {
		for range o.Dim {
			items[i] = append(items[i], float64(tensor.Float(o.Std/math.Sqrt(float64(o.Dim))*first.NormFloat64())))
		}
	}
	solve := func(x, other [][]float64, of func(int) []int32) {
		for k := range x {
			a, b := make([][]float64, o.Dim), make([]float64, o.Dim)
			for r := range a {
				a[r] = make([]float64, o.Dim)
				a[r][r] = o.Lambda * math.Pow(float64(len(of(k)))+o.Unobserved*float64(len(other)), o.Exponent)
			}
			add := func(h []float64, by float64) {
				for r := range a {
					for c := range a {
						a[r][c] += by * h[r] * h[c]
					}
				}
			}
			for _, h := range other {
				add(h, o.Unobserved)
			}
			for _, j := range of(k) {
				add(other[j], 1)
				for r := range b {
					b[r] += other[j][r]
				}
			}
			x[k] = solution(a, b)
		}
	}
	for range o.Rounds {
		solve(users, items, g.ItemsOf)
		solve(items, users, g.UsersOf)
	}
	solve(users, items, g.ItemsOf)
	return users, items
}

func fit(t *testing.T, g *graph.Bipartite, o Options) *Model {
	t.Helper()
	m, err := Fit(t.Context(), g, o, rng.Seed(7).Stream("ials"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// The scores are those of the plain loop: in single precision to 1e-3 of the largest, in double
// to 1e-9, over shapes with users or items that have nothing.
func TestFitEqualsTheLoop(t *testing.T) {
	tolerance := 1e-3
	if unsafe.Sizeof(tensor.Float(0)) == 8 {
		tolerance = 1e-9
	}
	for _, c := range []struct {
		users, items int
		share        float64
		o            Options
	}{
		{40, 12, 0.3, usual}, {12, 40, 0.3, usual}, {30, 30, 0.02, usual}, {1, 7, 0.5, usual},
		{60, 50, 0.2, Options{Dim: 1, Rounds: 1, Unobserved: 0, Lambda: 1, Exponent: 0, Std: 1}},
		{60, 50, 0.2, Options{Dim: 16, Rounds: 8, Unobserved: 0.1, Lambda: 0.003, Exponent: 1, Std: 0.1}},
		{90, 80, 0.2, Options{Dim: 70, Rounds: 3, Unobserved: 1, Lambda: 0.01, Exponent: 0.5, Std: 0.1}},
	} {
		g := sample(t, c.users, c.items, c.share, 1)
		m := fit(t, g, c.o)
		users, items := plain(g, c.o, rng.Seed(7).Stream("ials"))
		worst, largest := 0.0, 0.0
		for u := range users {
			for i := range items {
				want := 0.0
				for k := range users[u] {
					want += users[u][k] * items[i][k]
				}
				got := float64(tensor.Dot(tensor.Row(m.Users, u), tensor.Row(m.Items, i)))
				worst, largest = max(worst, math.Abs(got-want)), max(largest, math.Abs(want))
			}
		}
		if !(worst <= tolerance*largest) {
			t.Errorf("%d x %d, %+v: scores differ by %g, of at most %g", c.users, c.items, c.o, worst, largest)
		}
	}
}

// objective computes what is minimised, by a loop over all pairs.
func objective(g *graph.Bipartite, o Options, m *Model) (sum float64) {
	norm := func(x []tensor.Float) float64 { return tensor.SumSq(x) }
	for u := range g.Users {
		w := tensor.Row(m.Users, u)
		for i := range g.Items {
			y := float64(tensor.Dot(w, tensor.Row(m.Items, i)))
			sum += o.Unobserved * y * y
			if g.Has(int32(u), int32(i)) {
				sum += (y - 1) * (y - 1)
			}
		}
		sum += o.Lambda * math.Pow(float64(g.UserDegree(u))+o.Unobserved*float64(g.Items), o.Exponent) * norm(w)
	}
	for i := range g.Items {
		sum += o.Lambda * math.Pow(float64(g.ItemDegree(i))+o.Unobserved*float64(g.Users), o.Exponent) * norm(tensor.Row(m.Items, i))
	}
	return sum
}

// Every round lowers the objective, and a small step off the end does not.
func TestRoundsLowerTheObjective(t *testing.T) {
	g, o := sample(t, 50, 40, 0.2, 2), usual
	before := math.Inf(1)
	for o.Rounds = 1; o.Rounds <= 64; o.Rounds *= 2 {
		now := objective(g, o, fit(t, g, o))
		if !(now <= before*(1+1e-5)) {
			t.Errorf("%d rounds: %v after %v", o.Rounds, now, before)
		}
		before = now
	}
	m := fit(t, g, o)
	for _, x := range []*tensor.Matrix{&m.Users, &m.Items} {
		for k := range 10 {
			at := k*7%x.Rows*x.Stride + k%x.Cols
			was := x.Data[at]
			for _, by := range []tensor.Float{-0.05, 0.05} {
				if x.Data[at] = was + by; objective(g, o, m) <= before {
					t.Errorf("a step of %v at %d lowers the objective", by, at)
				}
			}
			x.Data[at] = was
		}
	}
}

func TestWorkersDoNotChangeTheModel(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	g := sample(t, 90, 70, 0.2, 3)
	o := usual
	o.Dim = 70
	tensor.SetWorkers(1)
	one := fit(t, g, o)
	tensor.SetWorkers(3)
	three := fit(t, g, o)
	if !slices.Equal(one.Users.Data, three.Users.Data) || !slices.Equal(one.Items.Data, three.Items.Data) {
		t.Error("the number of workers changes the vectors")
	}
}

func TestBadOptions(t *testing.T) {
	g := sample(t, 6, 5, 0.5, 4)
	for _, c := range []struct {
		set  func(o *Options)
		want string
	}{
		{func(o *Options) { o.Dim = 0 }, "width"}, {func(o *Options) { o.Rounds = 0 }, "rounds"},
		{func(o *Options) { o.Unobserved = -1 }, "all pairs"}, {func(o *Options) { o.Lambda = 0 }, "lambda"},
		{func(o *Options) { o.Exponent = math.NaN() }, "exponent"}, {func(o *Options) { o.Std = math.Inf(1) }, "deviation"},
		{func(o *Options) { o.Lambda, o.Std = 1e-30, 1e10 }, "not positive definite"},
	} {
		o := usual
		c.set(&o)
		if _, err := Fit(t.Context(), g, o, rng.Seed(1).Stream("x")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", o, err, c.want)
		}
	}
	empty, err := graph.NewBipartite(0, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(t.Context(), empty, usual, rng.Seed(1).Stream("x")); err == nil {
		t.Error("no users are no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, g, usual, rng.Seed(1).Stream("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFitReports(t *testing.T) {
	var r progresstest.Recorder
	m, err := Fit(progress.With(t.Context(), &r), sample(t, 9, 8, 0.4, 5), usual, rng.Seed(1).Stream("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r.Whole(t, "alternate between users and items", 2*usual.Rounds+1)
}

// BenchmarkRound makes one round of the shape of MovieLens 1M.
func BenchmarkRound(b *testing.B) {
	s := rng.Seed(1).Stream("bench")
	var edges []graph.Edge
	for u := range 6040 {
		for i := range 3700 {
			if s.Float64() < 0.036 {
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
			}
		}
	}
	g, err := graph.NewBipartite(6040, 3700, edges)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m, err := Fit(b.Context(), g, Options{Dim: 64, Rounds: 1, Unobserved: 0.3, Lambda: 0.003, Exponent: 1, Std: 0.1}, rng.Seed(1).Stream("ials"))
		if err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}
