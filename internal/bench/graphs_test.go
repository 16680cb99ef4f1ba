package bench

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"privrec/internal/graph"
	"privrec/internal/model/bprmf"
	"privrec/internal/nn"
)

// small is a problem of a few microseconds.
func small() Sizes { return Sizes{Users: 60, Items: 80, Edges: 300, Dim: 8, Layers: 2, Batch: 16} }

func TestStep(t *testing.T) {
	for model, kinds := range map[string][]string{
		"lightgcn": {"step", "full", "product", "step_bfloat16", "product_bfloat16"}, "rdpgcf": {"step", "full"}, "ngcf": {"step"}, "bprmf": {"step", "rank"},
	} {
		got, err := Step(model)(context.Background(), Options{Time: time.Microsecond, Sizes: small()})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, times := range []string{"1x", "2x", "4x"} {
			for _, k := range kinds {
				want = append(want, model+"_"+k+"_"+times)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d results, want %d", model, len(got), len(want))
		}
		for i, r := range got {
			edges := map[string]string{"1x": "edges=300 ", "2x": "edges=600 ", "4x": "edges=1200 "}[want[i][len(want[i])-2:]]
			if r.Name != want[i] || !strings.Contains(r.Shape, edges) || !(r.MinS > 0 && r.MedianS >= r.MinS) {
				t.Errorf("%+v, want %s with %s", r, want[i], edges)
			}
			if counted := strings.Contains(r.Name, "product"); counted != (r.GFLOPS > 0) {
				t.Errorf("%s: %v GFLOP/s", r.Name, r.GFLOPS)
			}
		}
	}
}

// graph.py computes the same loss with PyTorch.
func TestNGCFCheck(t *testing.T) {
	loss, err := ngcfCheck()
	if err != nil || math.Abs(loss-0.611381) > 1e-6 {
		t.Errorf("loss %v (%v), want that of scripts/bench/graph.py, 0.611381", loss, err)
	}
}

// A graph comes from a file as it is; a line that is no pair is named.
func TestStepOnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.tsv")
	for text, want := range map[string]string{
		"0\t2\n1\t0\n0\t1\n": "users=2 items=3 edges=3 ",
		"0\t2\n1 0\n":        "graph.tsv:2: ",
		"0\t-1\n":            "graph.tsv:1: ",
		"":                   "no pairs",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := small()
		s.Batch = 4
		got, err := Step("lightgcn")(context.Background(), Options{Time: time.Microsecond, Sizes: s, Graph: path, Only: "step_1x"})
		switch {
		case strings.HasPrefix(want, "users") && err != nil:
			t.Errorf("%q: %v", text, err)
		case strings.HasPrefix(want, "users") && (len(got) != 1 || !strings.HasPrefix(got[0].Shape, want)):
			t.Errorf("%q: %+v, want one on %s", text, got, want)
		case !strings.HasPrefix(want, "users") && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: error %v, want one with %s", text, err, want)
		}
	}
	if _, err := Step("lightgcn")(context.Background(), Options{Graph: path + "x"}); err == nil {
		t.Error("a file that is not there was read")
	}
}

// What is measured moves the tables, and fails on a graph without edges.
func TestStepTrains(t *testing.T) {
	s := small()
	g, err := powerLaw(s, graphSeed)
	if err != nil {
		t.Fatal(err)
	}
	m := bprmf.New(g.Users, g.Items, s.Dim, nn.Normal(graphSeed, 0.1))
	st, err := newStep(g, s.Batch, m)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(m.User.Value.Data)
	if err := st.run(); err != nil || slices.Equal(before, m.User.Value.Data) {
		t.Errorf("a step left the users as they were: %v", err)
	}
	empty, err := graph.NewBipartite(2, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range Steps() {
		if _, _, err := newTraining(model, empty, s, true, false); err == nil {
			t.Errorf("%s: a graph without edges has a step", model)
		}
	}
	if _, err := Step("nothing")(context.Background(), Options{Sizes: small()}); err == nil {
		t.Error("a model that does not exist")
	}
}

func TestSizesCheck(t *testing.T) {
	for field, change := range map[string]func(s *Sizes){
		"users": func(s *Sizes) { s.Users = 0 }, "items": func(s *Sizes) { s.Items = 1 }, "edges": func(s *Sizes) { s.Edges = 79 },
		"dim": func(s *Sizes) { s.Dim = -1 }, "layers": func(s *Sizes) { s.Layers = 0 }, "batch": func(s *Sizes) { s.Batch = 0 },
	} {
		s := small()
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "--"+field+" is ") {
			t.Errorf("%s: %v", field, err)
		}
	}
	s := small()
	s.Edges = 601
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "half") {
		t.Errorf("too dense: %v", err)
	}
	for _, s := range []Sizes{small(), Gowalla()} {
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

// With Gowalla's sizes the degrees are about Gowalla's (largest 811 and 1,415,
// medians 16 and 12).
func TestPowerLaw(t *testing.T) {
	s := Gowalla()
	g, err := powerLaw(s, graphSeed)
	if err != nil {
		t.Fatal(err)
	}
	if g.Users != s.Users || g.Items != s.Items || g.Edges() != s.Edges {
		t.Fatalf("%d users, %d items, %d edges", g.Users, g.Items, g.Edges())
	}
	degrees := func(n int, of func(int) int) (largest, median int) {
		d := make([]int, n)
		for k := range d {
			d[k] = of(k)
		}
		slices.Sort(d)
		return d[n-1], d[n/2]
	}
	for side, f := range map[string]struct {
		n                 int
		of                func(int) int
		lowTop, highTop   int
		lowHalf, highHalf int
	}{
		"users": {g.Users, g.UserDegree, 400, 1200, 12, 30}, "items": {g.Items, g.ItemDegree, 700, 2000, 8, 20},
	} {
		top, half := degrees(f.n, f.of)
		if top < f.lowTop || top > f.highTop || half < f.lowHalf || half > f.highHalf {
			t.Errorf("%s: largest degree %d, median %d", side, top, half)
		}
	}
	again, err := powerLaw(s, graphSeed)
	if err != nil || !slices.Equal(again.UserItem, g.UserItem) {
		t.Error("another graph from the same seed")
	}
}

func BenchmarkStep(b *testing.B) {
	s := Gowalla()
	g, err := powerLaw(s, graphSeed)
	if err != nil {
		b.Fatal(err)
	}
	for _, model := range Steps() {
		b.Run(model, func(b *testing.B) {
			call, done, err := newTraining(model, g, s, true, false)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
			for _, f := range done {
				f()
			}
		})
	}
}
