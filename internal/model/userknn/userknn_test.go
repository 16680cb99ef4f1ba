package userknn

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
	"privrec/internal/graph"
	"privrec/internal/model/modeltest"
	"privrec/internal/model/nearest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The Scorer that it is for.
var _ eval.Scorer = (*Model)(nil)

func sample(t *testing.T, users, items int, share float64, seed uint64) *graph.Bipartite {
	t.Helper()
	return modeltest.Graph(t, rng.Seed(seed).Stream("userknn test"), users, items, modeltest.Popular(share, items))
}

// reference scores by the formula of the package comment, over dense matrices.
func reference(g *graph.Bipartite, o nearest.Options, whose Whose) [][]float64 {
	x := make([][]float64, g.Users)
	for u := range x {
		x[u] = make([]float64, g.Items)
		for _, i := range g.ItemsOf(u) {
			x[u][i] = 1
		}
	}
	scores := make([][]float64, g.Users)
	for u := range scores {
		scores[u] = make([]float64, g.Items)
	}
	for u := range scores {
		type other struct {
			user int
			sim  float64
		}
		var all []other
		for v := range x {
			c, ofU, ofV := 0.0, 0.0, 0.0
			for i := range x[v] {
				c, ofU, ofV = c+x[u][i]*x[v][i], ofU+x[u][i], ofV+x[v][i]
			}
			if v == u || c == 0 {
				continue
			}
			sim := c / (1 + o.Shrink)
			if o.Similarity == nearest.Cosine {
				sim = c / (math.Sqrt(ofU*ofV) + o.Shrink)
			}
			all = append(all, other{v, sim})
		}
		sort.SliceStable(all, func(a, b int) bool { return all[a].sim > all[b].sim })
		all = all[:min(len(all), o.Neighbours)]
		sum := 1.0
		if o.Normalise {
			sum = 0
			for _, n := range all {
				sum += n.sim
			}
		}
		for _, n := range all {
			to, from := u, n.user
			if whose == ToUser {
				to, from = n.user, u
			}
			for j := range scores[to] {
				scores[to][j] += n.sim / sum * x[from][j]
			}
		}
	}
	return scores
}

func TestFormula(t *testing.T) {
	for _, similarity := range []nearest.Similarity{nearest.Cosine, nearest.Dot} {
		for bits := range 8 {
			whose := []Whose{OfUser, ToUser}[bits>>2]
			o := nearest.Options{Similarity: similarity, Neighbours: []int{3, 100}[bits&1], Normalise: bits&2 != 0, Shrink: float64(bits % 3)}
			g := sample(t, 30, 25, 0.15, uint64(bits))
			m, err := FitTo(t.Context(), g, o, whose)
			if err != nil {
				t.Fatal(err)
			}
			got, want := modeltest.Score(t, m, modeltest.Everyone(g.Users)), reference(g, o, whose)
			for u := range want {
				for j, w := range want[u] {
					if v := float64(got.Data[u*got.Stride+j]); math.Abs(v-w) > 1e-6*(1+math.Abs(w)) {
						t.Fatalf("%+v, %s: score of user %d and item %d is %v, want %v", o, whose, u, j, v, w)
					}
				}
			}
		}
	}
}

func TestWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	g := sample(t, 200, 90, 0.1, 4)
	var want []tensor.Float
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		m, err := Fit(t.Context(), g, nearest.Options{Similarity: nearest.Cosine, Neighbours: 5})
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
	good := nearest.Options{Similarity: nearest.Cosine, Neighbours: 2}
	for want, change := range map[string]func(o *nearest.Options){
		"similarity is": func(o *nearest.Options) { o.Similarity = "jaccard" },
		"neighbours is": func(o *nearest.Options) { o.Neighbours = 0 },
		"shrink is -1":  func(o *nearest.Options) { o.Shrink = -1 },
		"shrink is NaN": func(o *nearest.Options) { o.Shrink = math.NaN() },
	} {
		o := good
		change(&o)
		if _, err := Fit(t.Context(), g, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := FitTo(t.Context(), g, good, "both"); err == nil || !strings.Contains(err.Error(), `"both"`) {
		t.Errorf("neighbours of both: %v", err)
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
