package itemknn

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/graph/gram"
	"privrec/internal/model/nearest"
)

// gramOf returns the Gram matrix of a graph.
func gramOf(t *testing.T, g *graph.Bipartite) *gram.Reader {
	t.Helper()
	var b bytes.Buffer
	if err := gram.Write(t.Context(), &b, g); err != nil {
		t.Fatal(err)
	}
	r, err := gram.NewReader("x.gram", &b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The model of a Gram matrix is that of the rows, to the bit, for every option.
func TestFitGram(t *testing.T) {
	g := sample(t, 90, 40, 0.3, 3)
	for _, o := range []Options{
		{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 7, Normalise: true}, MeanBias: true},
		{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 100, Shrink: 2.5}},
		{Options: nearest.Options{Similarity: nearest.Dot, Neighbours: 5, Shrink: 1}, MeanBias: true},
	} {
		want, err := Fit(t.Context(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FitGram(t.Context(), g, o, gramOf(t, g))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.base, want.base) || !slices.Equal(got.ptr, want.ptr) || !slices.Equal(got.idx, want.idx) || !slices.Equal(got.val, want.val) {
			t.Errorf("%+v: another model", o)
		}
	}
}

// A matrix of other rows is refused: of another number of them, and with the items in another order.
func TestFitGramOfOtherRows(t *testing.T) {
	g := sample(t, 30, 12, 0.4, 4)
	o := Options{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 3}}
	turned := make([]graph.Edge, 0, g.Edges())
	for u := range g.Users {
		for _, i := range g.ItemsOf(u) {
			turned = append(turned, graph.Edge{User: int32(u), Item: int32(g.Items-1) - i})
		}
	}
	other, err := graph.NewBipartite(g.Users, g.Items, turned)
	if err != nil {
		t.Fatal(err)
	}
	for want, x := range map[string]*graph.Bipartite{"another order": other, "the data have": sample(t, 31, 12, 0.4, 4)} {
		if _, err := FitGram(t.Context(), g, o, gramOf(t, x)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
