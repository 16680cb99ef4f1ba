package rdpgcf

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// TestContentOfSpecification is the table of section 3: what the perturbed graphs of
// the three data sets hold. Numbers are printed with two or three digits; half of the
// last one bounds the error. (Gowalla's share at epsilon 5 is 8.95 %, printed as 8.9.)
func TestContentOfSpecification(t *testing.T) {
	for i, want := range [][4]struct{ edges, edgesBy, share, shareBy, lap, lapBy float64 }{
		{{6.4e6, 5e4, 9.2, 0.05, 9.1, 0.05}, {1.79e6, 5e3, 42.7, 0.05, 41.9, 0.05}, {0.94e6, 5e3, 84.6, 0.05, 78.1, 0.05}, {0.801e6, 500, 99.9, 0.05, 98.2, 0.05}},
		{{329e6, 5e5, 0.18, 0.005, 0.2, 0.05}, {58.8e6, 5e4, 1.3, 0.05, 1.3, 0.05}, {8.99e6, 5e3, 8.9, 0.06, 8.6, 0.05}, {0.866e6, 500, 93.6, 0.05, 86.2, 0.05}},
		{{325e6, 5e5, 0.28, 0.005, 0.3, 0.05}, {58.3e6, 5e4, 2.0, 0.05, 2.0, 0.05}, {9.28e6, 5e3, 13.2, 0.05, 12.7, 0.05}, {1.29e6, 5e3, 95.8, 0.05, 89.0, 0.05}},
	} {
		set := specSets[i]
		for e, epsilon := range []float64{1, 3, 5, 10} {
			c, w := PerturbConfig{Epsilon: epsilon, MemoryMB: 1}, want[e]
			what := fmt.Sprintf("%s at epsilon %v", set.name, epsilon)
			edges, share, err := c.Expected(EdgeRand, set.users, set.items, set.edges)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(edges-w.edges) > 1.01*w.edgesBy || math.Abs(100*share-w.share) > 1.01*w.shareBy {
				t.Errorf("%s: EdgeRand gives %.4g edges, %.3g %% of them true, want %.4g and %.3g", what, edges, 100*share, w.edges, w.share)
			}
			kept, share, err := c.Expected(LapGraph, set.users, set.items, set.edges)
			if err != nil {
				t.Fatal(err)
			}
			if kept != float64(set.edges) || math.Abs(100*share-w.lap) > 1.01*w.lapBy {
				t.Errorf("%s: LapGraph keeps %.3g %% true edges of %v, want %.3g of %d", what, 100*share, kept, w.lap, set.edges)
			}
		}
	}
	if _, _, err := (PerturbConfig{Epsilon: 1}).Expected("Flip", 1, 1, 1); err == nil {
		t.Error("an unknown method has an expectation")
	}
}

// TestPerturbedGraphs draws both graphs and compares them with what is expected. Bands
// of 7 standard deviations fail a right sampler less than once in 1e11.
func TestPerturbedGraphs(t *testing.T) {
	g := ringGraph(t, 400, 300, 0, 1, 7, 40)
	for _, method := range []string{EdgeRand, LapGraph} {
		for _, epsilon := range []float64{1, 4, 8} {
			c := PerturbConfig{Epsilon: epsilon, Labels: LabelsPerturbed, MemoryMB: 64}
			l := researchLedger(t)
			p, err := perturbGraph(method, c, g, l, rng.Seed(3).Stream(method))
			if err != nil {
				t.Fatal(err)
			}
			// The released graph is one of its own: both directions agree, degrees are its own.
			var edges []graph.Edge
			for e := range p.Edges() {
				edges = append(edges, p.Edge(e))
			}
			same, err := graph.NewBipartite(p.Users, p.Items, edges)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(same.ItemUser, p.ItemUser) || !slices.Equal(same.ItemPtr, p.ItemPtr) || !slices.Equal(same.UserPtr, p.UserPtr) {
				t.Errorf("%s at %v: the two directions of the graph differ", method, epsilon)
			}
			if (same.Near() == nil) != (p.Near() == nil) {
				t.Errorf("%s at %v: an order of the rows is found for one of two equal graphs", method, epsilon)
			}
			kept := 0
			for _, e := range edges {
				if g.Has(e.User, e.Item) {
					kept++
				}
			}
			want, share, err := c.Expected(method, g.Users, g.Items, int64(g.Edges()))
			if err != nil {
				t.Fatal(err)
			}
			// LapGraph's number has Laplace noise of scale 100/epsilon: 26 scales are passed
			// once in 1e11. Which cells are kept varies less than were each drawn alone.
			room := 7 * math.Sqrt(want)
			if method == LapGraph {
				room = 2600 / epsilon
			}
			if got := float64(p.Edges()); math.Abs(got-want) > room {
				t.Errorf("%s at %v: %v edges, want %v within %v", method, epsilon, got, want, room)
			}
			if got := float64(kept); math.Abs(got-share*want) > room+7*math.Sqrt(want) {
				t.Errorf("%s at %v: %v true edges, want %v", method, epsilon, got, share*want)
			}
			a, err := perturbAccount(method, c, topn.TrainConfig{Select: topn.SelectLast, Negatives: "unseen"}, l)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "epsilon of "+method, float64(a.Total), epsilon, 1e-12)
		}
	}
}

func TestPerturbedGraphsRepeat(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	g := ringGraph(t, 200, 150, 0, 3, 9)
	for _, method := range []string{EdgeRand, LapGraph} {
		var want []int32
		for _, workers := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(workers)
			p, err := perturbGraph(method, PerturbConfig{Epsilon: 3, MemoryMB: 8}, g, researchLedger(t), rng.Seed(1).Stream("graph"))
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = p.UserItem
			} else if !slices.Equal(want, p.UserItem) {
				t.Errorf("%s: %d processors give another graph", method, workers)
			}
		}
	}
}

// TestPerturbedGraphRefused: what does not fit is refused before anything is recorded,
// with the size and the limit.
func TestPerturbedGraphRefused(t *testing.T) {
	g := ringGraph(t, 3000, 2000, 0, 1)
	l := researchLedger(t)
	_, err := perturbGraph(EdgeRand, PerturbConfig{Epsilon: 1, MemoryMB: 10}, g, l, rng.Seed(1).Stream("graph"))
	var usage *run.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "12 MB") || !strings.Contains(err.Error(), "limit is 10") {
		t.Errorf("6 million cells at epsilon 1: %v", err)
	}
	if n := len(l.Entries()); n != 0 {
		t.Errorf("the ledger has %d entries of a graph that was refused", n)
	}
	// Gowalla at epsilon 1: 329 million edges do not fit the 2 GB allowed by 2,048 MB.
	gowalla := &graph.Bipartite{Users: 29858, Items: 40981, UserItem: make([]int32, 810128)}
	if _, err = perturbGraph(EdgeRand, PerturbConfig{Epsilon: 1, MemoryMB: 2048}, gowalla, l, rng.Seed(1).Stream("graph")); err == nil || !strings.Contains(err.Error(), "3.295e+08 edges") {
		t.Errorf("Gowalla at epsilon 1: %v", err)
	}
	if _, err := perturbGraph("Flip", PerturbConfig{Epsilon: 1, MemoryMB: 10}, g, l, rng.Seed(1).Stream("graph")); err == nil {
		t.Error("an unknown method was accepted")
	}
}

func TestPerturbAccountsOpen(t *testing.T) {
	g := ringGraph(t, 40, 30, 0, 1)
	for _, c := range []struct {
		labels string
		train  topn.TrainConfig
		want   string
	}{
		{LabelsPerturbed, topn.TrainConfig{Select: topn.SelectLast, Negatives: "unseen"}, ""},
		{LabelsPerturbed, topn.TrainConfig{Select: topn.SelectLast, Patience: 3, Negatives: "unseen"}, "selection"},
		{LabelsPerturbed, topn.TrainConfig{Select: topn.SelectValidation, Negatives: "all"}, "selection"},
		{LabelsRaw, topn.TrainConfig{Select: topn.SelectLast, Negatives: "unseen"}, "labels negatives"},
		{LabelsRaw, topn.TrainConfig{Select: topn.SelectLast, Negatives: "all"}, "labels"},
	} {
		l := researchLedger(t)
		p := PerturbConfig{Epsilon: 2, Labels: c.labels, MemoryMB: 8}
		if _, err := perturbGraph(EdgeRand, p, g, l, rng.Seed(1).Stream("graph")); err != nil {
			t.Fatal(err)
		}
		a, err := perturbAccount(EdgeRand, p, c.train, l)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range a.Unbounded {
			got = append(got, o.What)
		}
		if s := strings.Join(got, " "); s != c.want || math.IsInf(float64(a.Total), 1) != (c.want != "") {
			t.Errorf("%s, %+v: open is %q, total %v, want %q", c.labels, c.train, s, a.Total, c.want)
		}
		if !strings.Contains(strings.Join(a.Lines(), "\n"), "total: eps="+short(a.Total)) {
			t.Errorf("lines are %q", a.Lines())
		}
	}
	// A graph that was released twice, or not at all, is not what the setting says.
	l := researchLedger(t)
	p := PerturbConfig{Epsilon: 2, Labels: LabelsPerturbed, MemoryMB: 8}
	if _, err := perturbAccount(EdgeRand, p, topn.TrainConfig{}, l); err == nil {
		t.Error("a graph that was never released was accounted for")
	}
	for k := range 2 {
		if _, err := perturbGraph(EdgeRand, p, g, l, rng.Seed(k).Stream("graph")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := perturbAccount(EdgeRand, p, topn.TrainConfig{}, l); err == nil || !strings.Contains(err.Error(), "epsilon 4") {
		t.Errorf("two releases: %v", err)
	}
	if err := l.Record(purposeGraph, privacy.PureLDP{Epsilon: 1, Unit: privacy.Edge}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := perturbAccount(EdgeRand, p, topn.TrainConfig{}, l); err == nil || !strings.Contains(err.Error(), "pure-ldp") {
		t.Errorf("an event of another kind: %v", err)
	}
}

// Under a schedule a graph that noise made dense takes larger steps, and no more of them than a clear one.
func TestStepsOverDenseGraphs(t *testing.T) {
	steps := func(epsilon string) int {
		dir := filepath.Join(t.TempDir(), "run")
		start(t, task(t, "edgerand"), dir, "perturb.epsilon="+epsilon, "train.batch=1", "train.schedule=large",
			"train.epochs=1")
		return outcome(t, dir).Epochs[0].Steps
	}
	if clear, dense := steps("30"), steps("0.5"); dense < 70 || dense > 75 || clear > 75 {
		t.Errorf("an epoch takes %d steps without noise to speak of, and %d over a dense graph, want at most 75",
			clear, dense)
	}
}
