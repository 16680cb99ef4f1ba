package ease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/model/modeltest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The Scorer that it is for.
var _ eval.Scorer = (*Model)(nil)

// sample is a random graph in which every pair is an edge with probability share.
func sample(t *testing.T, users, items int, share float64, seed uint64) *graph.Bipartite {
	t.Helper()
	return modeltest.Graph(t, rng.Seed(seed).Stream("ease test"), users, items, modeltest.Even(share))
}

// reference is the published form: B by Gauss-Jordan on X'X + lambda I in float64,
// without blocks, factors or the identity of the two forms.
func reference(g *graph.Bipartite, lambda float64) [][]float64 {
	n := g.Items
	a := make([][]float64, n) // [G | I]
	for i := range a {
		a[i] = make([]float64, 2*n)
		a[i][n+i] = 1
		a[i][i] = lambda
	}
	for u := range g.Users {
		for _, i := range g.ItemsOf(u) {
			for _, j := range g.ItemsOf(u) {
				a[i][j]++
			}
		}
	}
	for c := range n {
		pivot := c
		for r := c; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[pivot][c]) {
				pivot = r
			}
		}
		a[c], a[pivot] = a[pivot], a[c]
		f := a[c][c]
		for k := range a[c] {
			a[c][k] /= f
		}
		for r := range n {
			if f := a[r][c]; r != c && f != 0 {
				for k := range a[r] {
					a[r][k] -= f * a[c][k]
				}
			}
		}
	}
	scores := make([][]float64, g.Users)
	for u := range scores {
		scores[u] = make([]float64, n)
		for _, i := range g.ItemsOf(u) {
			for j := range n {
				if int(i) != j {
					scores[u][j] -= a[i][n+j] / a[j][n+j]
				}
			}
		}
	}
	return scores
}

// TestPublishedForm compares both forms with the published one, on graphs with more
// users than items, fewer, and as many, isolated users and items among them.
func TestPublishedForm(t *testing.T) {
	for _, c := range []struct {
		users, items int
		share        float64
	}{{40, 12, 0.3}, {12, 40, 0.3}, {25, 25, 0.1}, {1, 7, 0.5}, {7, 1, 0.5}, {3, 60, 0.02}, {60, 3, 0.05}} {
		for _, lambda := range []float64{0.5, 10, 500} {
			g := sample(t, c.users, c.items, c.share, 1)
			m, err := Fit(t.Context(), g, lambda)
			if err != nil {
				t.Fatal(err)
			}
			if m.byUser != (c.users < c.items) {
				t.Errorf("%d users and %d items: by user %t", c.users, c.items, m.byUser)
			}
			got, want := modeltest.Score(t, m, modeltest.Everyone(c.users)), reference(g, lambda)
			for u := range want {
				for j, w := range want[u] {
					if v := float64(got.Data[u*got.Stride+j]); math.Abs(v-w) > 2e-5*(1+math.Abs(w)) {
						t.Fatalf("%d x %d, lambda %v: score of user %d and item %d is %v, want %v", c.users, c.items, lambda, u, j, v, w)
					}
				}
			}
			m.Close()
		}
	}
}

// TestFormsAgree crosses block borders: 700 users and 640 items in one form, and in
// the other with two rows and columns of each kind exchanged.
func TestFormsAgree(t *testing.T) {
	n := 700
	if !single {
		n = 300
	}
	narrow, wide := sample(t, n, n-60, 0.02, 2), sample(t, n, n-60, 0.02, 2)
	// More items without users leave all other scores as they are.
	var edges []graph.Edge
	for e := range wide.Edges() {
		edges = append(edges, wide.Edge(e))
	}
	wide, err := graph.NewBipartite(n, n+60, edges)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Fit(t.Context(), narrow, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Fit(t.Context(), wide, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.byUser || !b.byUser {
		t.Fatalf("by user: %t and %t", a.byUser, b.byUser)
	}
	users := modeltest.Everyone(n)
	x, y := modeltest.Score(t, a, users), modeltest.Score(t, b, users)
	for u := range n {
		for j := range b.Items() {
			want := tensor.Float(0) // an item without users
			if j < a.Items() {
				want = x.Data[u*x.Stride+j]
			}
			if got := y.Data[u*y.Stride+j]; math.Abs(float64(got-want)) > 5e-5 {
				t.Fatalf("user %d, item %d: %v by items, %v by users", u, j, want, got)
			}
		}
	}
}

// TestInverse multiplies back, at sizes around the width of a block and of a group.
func TestInverse(t *testing.T) {
	sizes := []int{1, 2, 255, 256, 257}
	if single { // products of float64 are plain Go
		sizes = append(sizes, 511, 513, 1281)
	}
	for _, n := range sizes {
		s := rng.Seed(3).Stream("inverse", uint64(n))
		full := tensor.New(n, n)
		for i := range n {
			full.Data[i*n+i] = 4
			for range min(n-1, 6) {
				if j := s.IntN(n); j != i {
					v := tensor.Float(s.Float64() - 0.5)
					full.Data[i*n+j] += v
					full.Data[j*n+i] += v
					full.Data[i*n+i] += 1 // stays dominant
					full.Data[j*n+j] += 1
				}
			}
		}
		a := tensor.New(n, n)
		copy(a.Data, full.Data)
		for i := range n {
			for j := i + 1; j < n; j++ {
				a.Data[i*n+j] = tensor.Float(math.NaN()) // must not be read
			}
		}
		if err := Invert(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		product := tensor.New(n, n)
		tensor.Gemm(false, false, 1, full, a, 0, product)
		for i := range n {
			for j := range n {
				want := 0.0
				if i == j {
					want = 1
				}
				if got := float64(product.Data[i*n+j]); !(math.Abs(got-want) < 1e-5) {
					t.Fatalf("n = %d: product at (%d, %d) is %v", n, i, j, got)
				}
				if a.Data[i*n+j] != a.Data[j*n+i] {
					t.Fatalf("n = %d: not symmetric at (%d, %d)", n, i, j)
				}
			}
		}
	}
}

// single says that tensor.Float is float32.
var single = any(tensor.Float(0)) == any(float32(0))

func TestWorkersGiveSameBytes(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	for _, size := range [][2]int{{150, 130}, {130, 150}} {
		g := sample(t, size[0], size[1], 0.05, 4)
		var want []tensor.Float
		for _, workers := range []int{1, 2, 5} {
			tensor.SetWorkers(workers)
			m, err := Fit(t.Context(), g, 7)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(modeltest.Score(t, m, modeltest.Everyone(g.Users)).Data)
			m.Close()
			if want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				t.Errorf("%v: %d workers give other bytes", size, workers)
			}
		}
	}
}

// TestChunks: a user's scores do not depend on who else is in the chunk, nor on the
// chunks before.
func TestChunks(t *testing.T) {
	for _, size := range [][2]int{{60, 50}, {50, 60}} {
		g := sample(t, size[0], size[1], 0.1, 5)
		m, err := Fit(t.Context(), g, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		all := modeltest.Score(t, m, modeltest.Everyone(g.Users))
		for _, users := range [][]int32{{3}, {9, 3, 3, 41}, modeltest.Everyone(30), {}} {
			some := modeltest.Score(t, m, users)
			for b, u := range users {
				for j := range m.Items() {
					if x, y := some.Data[b*some.Stride+j], all.Data[int(u)*all.Stride+j]; math.Abs(float64(x-y)) > 1e-6 {
						t.Fatalf("user %d, item %d: %v alone, %v among all", u, j, x, y)
					}
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	g := sample(t, 20, 30, 0.2, 6)
	for _, lambda := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Fit(t.Context(), g, lambda); err == nil || !strings.Contains(err.Error(), "lambda") {
			t.Errorf("lambda %v: %v", lambda, err)
		}
	}
	empty, err := graph.NewBipartite(0, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(t.Context(), empty, 1); err == nil {
		t.Error("no users were accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, g, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled fit gives %v", err)
	}
	// Two users of the same items make X X' singular; no precision holds a tiny lambda.
	twins, err := graph.NewBipartite(2, 3, []graph.Edge{{User: 0, Item: 0}, {User: 1, Item: 0}, {User: 0, Item: 1}, {User: 1, Item: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(t.Context(), twins, 1e-30); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("lambda 1e-30 on a singular matrix gives %v", err)
	}
	m, err := Fit(t.Context(), g, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, u := range []int32{-1, 20} {
		if err := m.Score(nil, []int32{0, u}, tensor.New(2, 30)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(u)) {
			t.Errorf("user %d: %v", u, err)
		}
	}
}

// TestLimits: as lambda grows B tends to the co-occurrences over lambda.
func TestLimits(t *testing.T) {
	const lambda = 1e4
	for _, size := range [][2]int{{30, 20}, {20, 30}} {
		g := sample(t, size[0], size[1], 0.2, 7)
		m, err := Fit(t.Context(), g, lambda)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if got, want := Memory(g), int64(20*20*sizeOfFloat()); got != want {
			t.Errorf("memory is %d, want %d", got, want)
		}
		scores := modeltest.Score(t, m, modeltest.Everyone(g.Users))
		for u := range g.Users {
			for j := range g.Items {
				want := 0.0
				for _, i := range g.ItemsOf(u) {
					if int(i) == j {
						continue
					}
					for _, v := range g.UsersOf(j) {
						if g.Has(v, i) {
							want++
						}
					}
				}
				want /= lambda
				if got := float64(scores.Data[u*scores.Stride+j]); math.Abs(got-want) > 0.02*want+1e-6 {
					t.Fatalf("user %d, item %d: %v, want %v", u, j, got, want)
				}
			}
		}
	}
}

func sizeOfFloat() int {
	if single {
		return 4
	}
	return 8
}
