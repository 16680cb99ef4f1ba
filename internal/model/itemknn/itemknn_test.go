package itemknn

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
	"privrec/internal/model/nearest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The Scorer that it is for.
var _ eval.Sparse = (*Model)(nil)

func sample(t *testing.T, users, items int, share float64, seed uint64) *graph.Bipartite {
	t.Helper()
	return modeltest.Graph(t, rng.Seed(seed).Stream("itemknn test"), users, items, modeltest.Popular(share, items))
}

// reference scores by the formula of the package comment, over dense matrices.
func reference(g *graph.Bipartite, o Options) [][]float64 {
	x := make([][]float64, g.Users)
	mean := make([]float64, g.Items)
	for u := range x {
		x[u] = make([]float64, g.Items)
		for _, i := range g.ItemsOf(u) {
			x[u][i] = 1
			if o.MeanBias {
				mean[i] += 1 / float64(g.Users)
			}
		}
	}
	scores := make([][]float64, g.Users)
	for u := range scores {
		scores[u] = slices.Clone(mean)
	}
	for j := range g.Items {
		type other struct {
			item int
			sim  float64
		}
		var all []other
		for i := range g.Items {
			c := 0.0
			for u := range x {
				c += x[u][i] * x[u][j]
			}
			if i == j || c == 0 {
				continue
			}
			sim := c / (1 + o.Shrink)
			if o.Similarity == nearest.Cosine {
				sim = c / (math.Sqrt(float64(g.ItemDegree(i)*g.ItemDegree(j))) + o.Shrink)
			}
			all = append(all, other{i, sim})
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
		for u := range x {
			for _, n := range all {
				scores[u][j] += n.sim / sum * (x[u][n.item] - mean[n.item])
			}
		}
	}
	return scores
}

func TestFormula(t *testing.T) {
	for _, similarity := range []nearest.Similarity{nearest.Cosine, nearest.Dot} {
		for bits := range 8 {
			near := nearest.Options{Similarity: similarity, Neighbours: []int{3, 100}[bits&1], Normalise: bits&2 != 0, Shrink: float64(bits % 3)}
			o := Options{Options: near, MeanBias: bits&4 != 0}
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

// TestByHand: items 0 and 1 share two users, 1 and 2 one, 3 has no user.
func TestByHand(t *testing.T) {
	g, err := graph.NewBipartite(3, 4, []graph.Edge{{User: 0, Item: 0}, {User: 0, Item: 1}, {User: 1, Item: 0}, {User: 1, Item: 1}, {User: 2, Item: 1}, {User: 2, Item: 2}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(t.Context(), g, Options{Options: nearest.Options{Similarity: nearest.Dot, Neighbours: 1}})
	if err != nil {
		t.Fatal(err)
	}
	// The one neighbour of 0 is 1, of 1 is 0, of 2 is 1.
	want := []tensor.Float{2, 2, 1, 0, 2, 2, 1, 0, 2, 0, 1, 0}
	if got := modeltest.Score(t, m, modeltest.Everyone(3)).Data; !slices.Equal(got, want) {
		t.Errorf("scores are %v, want %v", got, want)
	}
	if m, err = Fit(t.Context(), g, Options{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 2, Normalise: true}, MeanBias: true}); err != nil {
		t.Fatal(err)
	}
	// Item 1: neighbours 0 (2/sqrt 6) and 2 (1/sqrt 3); means 2/3, 1, 1/3, 0.
	a, b := 2/math.Sqrt(6), 1/math.Sqrt(3)
	if got, want := float64(modeltest.Score(t, m, []int32{2}).Data[1]), 1+a/(a+b)*(0-2.0/3)+b/(a+b)*(1-1.0/3); math.Abs(got-want) > 1e-6 {
		t.Errorf("score of user 2 and item 1 is %v, want %v", got, want)
	}
}

func TestWorkersAndChunks(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	g := sample(t, 90, 200, 0.1, 4)
	o := Options{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 5, Normalise: true}, MeanBias: true}
	var want []tensor.Float
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		m, err := Fit(t.Context(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		got := modeltest.Score(t, m, modeltest.Everyone(g.Users))
		if want == nil {
			want = got.Data
		} else if !slices.Equal(got.Data, want) {
			t.Errorf("%d workers give other bytes", workers)
		}
		some := modeltest.Score(t, m, []int32{7, 2, 7})
		for b, u := range []int{7, 2, 7} {
			if !slices.Equal(tensor.Row(some, b), tensor.Row(got, u)) {
				t.Errorf("user %d gets other scores in another chunk", u)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	g := sample(t, 10, 10, 0.3, 5)
	good := Options{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 3}}
	for field, change := range map[string]func(o *Options){
		"similarity": func(o *Options) { o.Similarity = "jaccard" },
		"neighbours": func(o *Options) { o.Neighbours = 0 },
		"shrink":     func(o *Options) { o.Shrink = -1 },
		"shrink is ": func(o *Options) { o.Shrink = math.NaN() },
		"finite":     func(o *Options) { o.Shrink = math.Inf(1) },
	} {
		o := good
		change(&o)
		if _, err := Fit(t.Context(), g, o); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	empty, err := graph.NewBipartite(3, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(t.Context(), empty, good); err == nil {
		t.Error("no items were accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, g, good); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled fit gives %v", err)
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

// Lists by the items that a user's items are neighbours of are those by all scores, with and without the items' means.
func TestSparse(t *testing.T) {
	g := modeltest.Graph(t, rng.Seed(5).Stream("sparse"), 60, 200, modeltest.Even(0.02))
	for _, bias := range []bool{false, true} {
		m, err := Fit(t.Context(), g, Options{MeanBias: bias,
			Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 9, Normalise: bias}})
		if err != nil {
			t.Fatal(err)
		}
		evaltest.Sparse(t, m, g.Users, g.ItemsOf)
	}
}
