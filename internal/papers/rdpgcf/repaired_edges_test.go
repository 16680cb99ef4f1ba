package rdpgcf

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// TestStatedEdges: with a stated number of edges nothing about a run follows from how many there
// are: not the split of the budget, nor the length of a step, nor what is taken as public.
func TestStatedEdges(t *testing.T) {
	g := blocks(t, 2, 30, 20, 0.5)
	var fewer []graph.Edge
	for e := range g.Edges() - 1 {
		fewer = append(fewer, g.Edge(e))
	}
	less, err := graph.NewBipartite(g.Users, g.Items, fewer)
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []float64{0, 0.3} {
		c := smallRepaired(MapPairs)
		c.Privacy.Repaired.LabelShare = share
		if share > 0 {
			c.Privacy.Repaired.GraphShare = 0
		}
		splits := func() (a, b Split) {
			for i, g := range []*graph.Bipartite{g, less} {
				s, err := c.Split(c.labelEdges(g))
				if err != nil {
					t.Fatal(err)
				}
				*[]*Split{&a, &b}[i] = s
			}
			return a, b
		}
		if a, b := splits(); a == b {
			t.Error("without a stated number the split follows from the data: this test would see nothing")
		}
		c.Privacy.Repaired.Edges = 500
		a, b := splits()
		if a != b || a.Rate != 128/math.Floor(500*max(share, 1-math.Ceil(share))) {
			t.Errorf("share %v: an edge less changes %+v to %+v", share, a, b)
		}
		account, err := a.account(c)
		if err != nil {
			t.Fatal(err)
		}
		if text := account.PublicText(); strings.Contains(text, "number of training edges") || !strings.Contains(text, "settings") {
			t.Errorf("taken as public: %s", text)
		}
	}

	// Of all edges at once, next to no noise: the mean is the sum over the stated number.
	mean := func(stated int64) []tensor.Float {
		c := smallRepaired(MapPairs)
		c.Privacy.Repaired.Edges = stated
		r, err := newRepairedRun(c, Split{Sigma: 1, Joint: math.Sqrt2, Layers: 2, Multiplier: 1e-9, Rate: 1, Steps: 4}, g, g, researchLedger(t), testStreams)
		if err != nil {
			t.Fatal(err)
		}
		defer r.rows.close()
		m, err := r.newTraining()
		if err != nil {
			t.Fatal(err)
		}
		if err := m.advance(); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(m.mean)
	}
	own, twice := mean(int64(g.Edges())), mean(2*int64(g.Edges()))
	if !slices.Equal(own, mean(0)) {
		t.Error("the number in the data, stated, gives another step")
	}
	for i := range own {
		if math.Abs(float64(twice[i])-float64(own[i])/2) > 1e-6 {
			t.Errorf("value %d: %v of twice the number, %v of the number", i, twice[i], own[i])
		}
	}
}

// TestRepairedPlan: what a run will account for is known before it, and is what it then writes.
func TestRepairedPlan(t *testing.T) {
	for _, more := range [][]string{nil, {"run.hold_out.rows=0.3"}, {"privacy.repaired.edges=900"}} {
		sets, dir := append(repairedSets(), more...), t.TempDir()
		start(t, task(t, "rdpgcf"), dir, sets...)
		got := readJSON[Account](t, dir, "privacy.json")
		planned, err := task(t, "rdpgcf").PlannedAccount(t.Context(), run.Options{Config: suite.Config["rdpgcf"], Sets: append(slices.Clone(suite.Sets["rdpgcf"]), sets...)})
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(planned)
		if err != nil {
			t.Fatal(err)
		}
		got.Repeatable = "" // which the run adds
		have, err := json.Marshal(&got)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want, have) {
			t.Errorf("planned\n%s\nwritten\n%s", want, have)
		}
		stated := slices.Contains(more, "privacy.repaired.edges=900")
		if stated && strings.Contains(got.PublicText(), "number of training edges") {
			t.Errorf("taken as public: %s", got.PublicText())
		}
	}
}

// TestRepairedSpends: a run of the repaired method reserves its epsilon in a budget for an edge, keeps it
// once it is done, and a second run that would overdraw the budget stops before it releases anything. With
// edges apart a run cannot say what it releases at most, and is refused too.
func TestRepairedSpends(t *testing.T) {
	file := filepath.Join(t.TempDir(), "budget.jsonl")
	if err := budget.Create(file, budget.Terms{Epsilon: 8, Delta: 1e-4, Unit: privacy.Edge, Neighbouring: privacy.AddRemove, Data: "standin", Rule: budget.Sum}); err != nil {
		t.Fatal(err)
	}
	spend := func(more ...string) error {
		return try(t.Context(), task(t, "rdpgcf"), filepath.Join(t.TempDir(), "run"), append(append(repairedSets(), "privacy.parent="+file), more...), run.Options{})
	}
	if err := spend("privacy.repaired.graph_share=0", "privacy.repaired.label_share=0.3"); err == nil || !strings.Contains(err.Error(), "beforehand") {
		t.Errorf("edges apart: %v", err)
	}
	if err := spend(); err != nil {
		t.Fatal(err)
	}
	b, err := budget.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.Reservations); n != 1 || b.Reservations[0].Reserved.Epsilon != 5 {
		t.Errorf("%d reservations: %+v", n, b.Reservations)
	}
	if err := spend("run.seed=2"); err == nil || !strings.Contains(err.Error(), "budget") {
		t.Errorf("a second run of epsilon 5 from 8: %v", err)
	}
}
