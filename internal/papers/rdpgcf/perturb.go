package rdpgcf

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/edges"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// PerturbConfig sets how a graph is released once, on which a model then trains, as in the two private baselines of
// figure 2.
type PerturbConfig struct {
	// Epsilon protects one cell of the users x items block: whether an edge is there.
	Epsilon float64 `yaml:"epsilon" limit:"(0,64]"`
	// Labels says where the positive pairs of training come from: "perturbed", the released graph, or "raw", the true
	// one, which leaves them unprotected. The paper does not say.
	Labels string `yaml:"labels" limit:"perturbed|raw"`
	// MemoryMB bounds the memory of the released graph, 8 bytes an edge. At epsilon 1
	// randomised response makes 329 million edges of Gowalla's 810,128.
	MemoryMB int `yaml:"memory_mb" limit:"1..1048576"`
}

// The ways to perturb a graph, and their labels.
const (
	EdgeRand = "EdgeRand"
	LapGraph = "LapGraph"

	LabelsPerturbed = "perturbed"
	LabelsRaw       = "raw"
)

const purposeGraph = "graph"

// bytesPerEdge is the memory of an edge in graph.Bipartite: an index in each direction.
const bytesPerEdge = 8

// limit returns the number of edges that fit the allowed memory.
func (c PerturbConfig) limit() int64 { return int64(c.MemoryMB) << 20 / bytesPerEdge }

// edgeRand and lapGraph return the mechanisms of a budget.
func (c PerturbConfig) edgeRand() edges.EdgeRand {
	return edges.EdgeRand{Purpose: purposeGraph, Epsilon: c.Epsilon, Unit: privacy.Edge, Limit: c.limit()}
}

func (c PerturbConfig) lapGraph() edges.LapGraph {
	return edges.LapGraph{Purpose: purposeGraph, Epsilon: c.Epsilon, Unit: privacy.Edge, Limit: c.limit()}
}

// Expected returns the mean number of edges of the released graph and the share of them that
// are true. method is EdgeRand or LapGraph.
func (c PerturbConfig) Expected(method string, users, items int, edges int64) (released, trueShare float64, err error) {
	cells := int64(users) * int64(items)
	switch method {
	case EdgeRand:
		released, trueShare = c.edgeRand().Expected(cells, edges)
	case LapGraph:
		released = float64(edges)
		trueShare, err = c.lapGraph().Expected(cells, edges)
	default:
		err = fmt.Errorf("perturb: unknown method %q, want %s or %s", method, EdgeRand, LapGraph)
	}
	return released, trueShare, err
}

// perturbGraph returns a noisy users x items block of a graph, and records the release in ledger l. Degrees of the
// released graph are those of its own edges. It refuses a graph that does not fit the allowed memory before it draws
// anything.
func perturbGraph(method string, c PerturbConfig, g *graph.Bipartite, l *privacy.Ledger,
	s rng.Stream) (*graph.Bipartite, error) {
	expected, _, err := c.Expected(method, g.Users, g.Items, int64(g.Edges()))
	if err != nil {
		return nil, err
	}
	if room := expected + 8*math.Sqrt(expected); room > float64(c.limit()) {
		return nil, &run.UsageError{
			Message: fmt.Sprintf("perturb.memory_mb: %s at epsilon %v is expected to release %.4g edges of %d users "+
				"and %d items, %.0f MB for both directions; the limit is %d",
				method, c.Epsilon, expected, g.Users, g.Items, expected*bytesPerEdge/(1<<20), c.MemoryMB),
			Fix: "take a larger epsilon, or allow more memory",
		}
	}
	raw := edges.Adjacency{Rows: g.Users, Cols: g.Items, Ptr: g.UserPtr, Idx: g.UserItem}
	var out edges.Adjacency
	if method == EdgeRand {
		out, err = edges.PerturbEdgeRand(c.edgeRand(), l, s, raw)
	} else {
		out, err = edges.PerturbLapGraph(c.lapGraph(), l, s, raw)
	}
	if err != nil {
		return nil, fmt.Errorf("perturb the graph: %w", err)
	}
	back := out.Transpose()
	return &graph.Bipartite{Users: g.Users, Items: g.Items, UserPtr: out.Ptr, UserItem: out.Idx, ItemPtr: back.Ptr,
		ItemUser: back.Idx}, nil
}

// pureDelta is the delta charged to a budget for releases that are private with delta 0, since accountants need one
// above 0.
const pureDelta = 1e-15

// plan returns the releases of a run: the graph, once. Its price is about a cell of users x items, an edge.
func (c PerturbConfig) plan(method string) (*privacy.Plan, error) {
	// An edge that is replaced by another changes two cells. Other runs of a budget may be priced for that, so that the
	// answers about cells are reserved twice.
	events, count := []privacy.Event{c.edgeRand().Event()}, int64(2)
	if method == LapGraph {
		var err error
		if events, err = c.lapGraph().Releases(); err != nil {
			return nil, err
		}
		count = 1
	}
	p := &privacy.Plan{Budget: privacy.Budget{Epsilon: c.Epsilon, Delta: pureDelta},
		Subject: privacy.Subject{Unit: privacy.Edge, Neighbouring: privacy.AddRemove}}
	p.Whole = count > 1 // the ledger has them once
	for _, e := range events {
		p.Releases = append(p.Releases, privacy.Entry{Purpose: purposeGraph, Count: count, Event: e})
	}
	return p, nil
}

// perturbAccount returns the account of a run on a released graph: pure epsilon for the training edges, and what else
// used edges.
func perturbAccount(method string, c PerturbConfig, t topn.TrainConfig, l *privacy.Ledger) (*Account, error) {
	a := newAccount(method, 0, 0)
	a.Claimed = &Claim{Claim: claimed(c.Epsilon, 0, method+", pure, of every cell of users x items"), Rate: 1,
		Sensitivity: 1}
	a.CoveredBy = "sum of pure epsilons"
	for _, e := range l.Entries() {
		if e.Purpose != purposeGraph {
			continue
		}
		p := Component{Name: "release of the graph", Releases: e.Count, Sensitivity: 1, Rate: 1}
		switch v := e.Event.(type) {
		case privacy.RandomizedResponse:
			p.Eps = privacy.Number(v.Epsilon * float64(e.Count))
		case privacy.Laplace:
			p.Std, p.Eps = v.Scale*math.Sqrt2, privacy.Number(v.Sensitivity/v.Scale*float64(e.Count))
		default:
			return nil, fmt.Errorf("account: an event of kind %q releases the graph", e.Event.Kind())
		}
		a.Components = append(a.Components, p)
		a.Covered += p.Eps
	}
	if want := c.Epsilon; !(math.Abs(float64(a.Covered)-want) <= 1e-9*want) {
		return nil, fmt.Errorf("the ledger's releases of the graph come to epsilon %v, the setting's is %v",
			float64(a.Covered), want)
	}
	a.Unbounded, a.Public = c.open(t)
	a.close()
	return a, nil
}

// open returns what a run on a released graph leaves open. If the list is empty, it also returns the assumptions of the
// total.
func (c PerturbConfig) open(t topn.TrainConfig) ([]experiment.Open, []privacy.Assumption) {
	open := []experiment.Open{}
	if c.Labels == LabelsRaw {
		open = append(open, experiment.NotCovered("labels", "the positive pairs of training are the true edges"))
		if t.Negatives != bpr.All {
			open = append(open, experiment.NotCovered("negatives",
				"negatives are drawn among the items that a user truly does not have"))
		}
	}
	if t.Selected() {
		open = append(open, experiment.NotCovered("selection",
			"held-out edges, which are not in the released graph, decided when training ended or which epoch was kept"))
	}
	if len(open) > 0 {
		return open, nil
	}
	return open, []privacy.Assumption{publicUnit, publicLists, publicSettings, publicReport}
}
