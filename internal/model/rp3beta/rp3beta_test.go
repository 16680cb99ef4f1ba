package rp3beta

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"privrec/internal/eval"
	"privrec/internal/eval/evaltest"
	"privrec/internal/graph"
	"privrec/internal/model/modeltest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The Scorer that it is for.
var _ eval.Sparse = (*Model)(nil)

func sample(t *testing.T, users, items int, share float64, seed uint64) *graph.Bipartite {
	t.Helper()
	return modeltest.Graph(t, rng.Seed(seed).Stream("rp3beta test"), users, items, modeltest.Popular(share, items))
}

// reference scores by the walk of the package comment over dense matrices, from the user on,
// and divides by the factor of the user's own step. Rows are cut and normalised on the way.
func reference(g *graph.Bipartite, o Options) [][]float64 {
	x := make([][]float64, g.Users)
	ofUser, ofItem := make([]float64, g.Users), make([]float64, g.Items)
	for u := range x {
		x[u] = make([]float64, g.Items)
		for _, i := range g.ItemsOf(u) {
			x[u][i] = 1
			ofUser[u]++
			ofItem[i]++
		}
	}
	step := func(one, all float64) float64 { return math.Pow(one/all, o.Alpha) }
	w := make([][]float64, g.Items)
	for i := range w {
		w[i] = make([]float64, g.Items)
		for j := range w[i] {
			for v := range x {
				if i != j && x[v][i]*x[v][j] > 0 {
					w[i][j] += step(x[v][i], ofItem[i]) * step(x[v][j], ofUser[v]) / math.Pow(ofItem[j], o.Beta)
				}
			}
		}
		order := make([]int, g.Items)
		for j := range order {
			order[j] = j
		}
		sort.SliceStable(order, func(a, b int) bool { return w[i][order[a]] > w[i][order[b]] })
		for _, j := range order[min(len(order), o.Neighbours):] {
			w[i][j] = 0
		}
		sum := 0.0
		for _, v := range w[i] {
			sum += v
		}
		for j := range w[i] {
			if o.Normalise && sum > 0 {
				w[i][j] /= sum
			}
		}
	}
	for j := range g.Items {
		order := make([]int, g.Items)
		for i := range order {
			order[i] = i
		}
		sort.SliceStable(order, func(a, b int) bool { return w[order[a]][j] > w[order[b]][j] })
		for _, i := range order[min(len(order), o.Neighbours):] {
			if o.Columns {
				w[i][j] = 0
			}
		}
	}
	scores := make([][]float64, g.Users)
	for u := range scores {
		scores[u] = make([]float64, g.Items)
		for i := range x[u] {
			for j := range w[i] {
				if x[u][i] > 0 {
					scores[u][j] += step(x[u][i], ofUser[u]) * w[i][j] / step(1, ofUser[u])
				}
			}
		}
	}
	return scores
}

func TestFormula(t *testing.T) {
	for _, alpha := range []float64{0, 0.56, 1.4} {
		for bits := range 8 {
			// Weights that are equal by the formula can differ in rounding, so rows are cut where
			// beta and alpha leave no ties, or not at all.
			beta := []float64{0, 0.3}[bits&1]
			o := Options{Alpha: alpha, Beta: beta, Neighbours: 100, Normalise: bits&2 != 0, Columns: bits&4 != 0}
			if alpha == 0.56 && bits&1 != 0 {
				o.Neighbours = 4
			}
			g := sample(t, 30, 25, 0.15, uint64(bits))
			m, err := Fit(t.Context(), g, o)
			if err != nil {
				t.Fatal(err)
			}
			got, want := modeltest.Score(t, m, modeltest.Everyone(g.Users)), reference(g, o)
			for u := range want {
				for j, w := range want[u] {
					if v := float64(got.Data[u*got.Stride+j]); math.Abs(v-w) > 1e-6*(1+math.Abs(w)) {
						t.Fatalf("%+v: score of user %d and item %d is %v, want %v", o, u, j, v, w)
					}
				}
			}
		}
	}
}

func TestWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	g := sample(t, 90, 200, 0.1, 4)
	var want []tensor.Float
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		m, err := Fit(t.Context(), g, Options{Alpha: 1.4, Beta: 0.3, Neighbours: 5, Normalise: true})
		if err != nil {
			t.Fatal(err)
		}
		got := modeltest.Score(t, m, modeltest.Everyone(g.Users)).Data
		if want == nil {
			want = slices.Clone(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: other scores", workers)
		}
	}
}

func TestRefuses(t *testing.T) {
	g := sample(t, 10, 10, 0.3, 1)
	good := Options{Alpha: 1, Beta: 0.5, Neighbours: 2}
	for want, change := range map[string]func(o *Options){
		"neighbours is": func(o *Options) { o.Neighbours = 0 },
		"alpha is -1":   func(o *Options) { o.Alpha = -1 },
		"alpha is +Inf": func(o *Options) { o.Alpha = math.Inf(1) },
		"beta is NaN":   func(o *Options) { o.Beta = math.NaN() },
		"weights of":    func(o *Options) { o.Beta = 1000 },
	} {
		o := good
		change(&o)
		if _, err := Fit(t.Context(), g, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Fit(t.Context(), &graph.Bipartite{}, good); err == nil {
		t.Error("no users")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Fit(ctx, g, good); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	m, err := Fit(t.Context(), g, good)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []int32{-1, 10} {
		if err := m.Score(nil, []int32{u}, tensor.New(1, 10)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(u)) {
			t.Errorf("user %d: %v", u, err)
		}
	}
}

// Lists by the items that a user's walks reach are those by all scores.
func TestSparse(t *testing.T) {
	g := modeltest.Graph(t, rng.Seed(5).Stream("sparse"), 60, 200, modeltest.Even(0.02))
	m, err := Fit(t.Context(), g, Options{Alpha: 0.6, Beta: 0.2, Neighbours: 9, Normalise: true})
	if err != nil {
		t.Fatal(err)
	}
	evaltest.Sparse(t, m, g.Users, g.ItemsOf)
}
