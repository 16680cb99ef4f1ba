package itemknn

import (
	"context"
	"math"
	"strings"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/model/nearest"
	"privrec/internal/tensor"
)

// counted puts the similarities that Fit counts into a row.
func counted(g *graph.Bipartite, o Options) func(j int, dst []float64) {
	return func(j int, dst []float64) {
		for i := range dst {
			dst[i] = 0
			for _, u := range g.UsersOf(j) {
				if g.Has(u, int32(i)) {
					dst[i]++
				}
			}
			size := 1.0
			if o.Similarity == nearest.Cosine {
				size = math.Sqrt(float64(g.ItemDegree(i)) * float64(g.ItemDegree(j)))
			}
			dst[i] /= size + o.Shrink
		}
	}
}

// The similarities and means that Fit counts, given, make its model bit for bit.
func TestGivenEqualsCounted(t *testing.T) {
	g := sample(t, 60, 25, 0.2, 4)
	for _, o := range []Options{
		{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 5, Shrink: 2, Normalise: true}, MeanBias: true},
		{Options: nearest.Options{Similarity: nearest.Dot, Neighbours: 3}},
	} {
		given := Given{Similar: counted(g, o), Neighbours: o.Neighbours, Normalise: o.Normalise}
		if o.MeanBias {
			for i := range g.Items {
				given.Mean = append(given.Mean, float64(g.ItemDegree(i))/float64(g.Users))
			}
		}
		a, err := Fit(t.Context(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := FitGiven(t.Context(), g, given)
		if err != nil {
			t.Fatal(err)
		}
		users := []int32{0, 7, 59}
		want, got := tensor.New(len(users), g.Items), tensor.New(len(users), g.Items)
		if err := a.Score(nil, users, want); err != nil {
			t.Fatal(err)
		}
		if err := b.Score(nil, users, got); err != nil {
			t.Fatal(err)
		}
		for k := range want.Data {
			if got.Data[k] != want.Data[k] {
				t.Fatalf("%+v: score %d is %v of given and %v of counted similarities", o, k, got.Data[k], want.Data[k])
			}
		}
	}
}

// What is not above 0 is no neighbour, however many are asked for.
func TestGivenWithoutNeighbours(t *testing.T) {
	g := sample(t, 20, 6, 0.4, 1)
	m, err := FitGiven(t.Context(), g, Given{Neighbours: 5, Similar: func(_ int, dst []float64) {
		for i := range dst {
			dst[i] = -float64(i)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.idx) != 0 {
		t.Errorf("%d neighbours without a similarity above 0", len(m.idx))
	}
}

func TestGivenRefuses(t *testing.T) {
	g := sample(t, 20, 6, 0.4, 1)
	ended, stop := context.WithCancel(t.Context())
	stop()
	one := func(_ int, dst []float64) {
		for i := range dst {
			dst[i] = 1
		}
	}
	for _, c := range []struct {
		ctx   context.Context
		given Given
		want  string
	}{
		{t.Context(), Given{Similar: one}, "neighbours is 0"},
		{t.Context(), Given{Similar: one, Neighbours: 1, Mean: make([]float64, 5)}, "5 means for 6 items"},
		{t.Context(), Given{Neighbours: 1, Similar: func(j int, dst []float64) { one(j, dst); dst[2] = math.NaN() }}, "item 0 is no finite number"},
		{t.Context(), Given{Neighbours: 1, Similar: func(j int, dst []float64) {
			one(j, dst)
			if j == 4 {
				dst[2] = math.Inf(-1)
			}
		}}, "item 4 is no finite number"},
		{ended, Given{Similar: one, Neighbours: 1}, "context canceled"},
	} {
		if _, err := FitGiven(c.ctx, g, c.given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error about %s", err, c.want)
		}
	}
}
