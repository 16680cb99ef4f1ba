package edges

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

var edges = EdgeRand{Purpose: "graph", Epsilon: 2, Unit: privacy.Edge}

// grid is a matrix with so many ones in every row.
func grid(rows, cols, ones int) Adjacency {
	b := newBuilder(rows, cols, int64(rows*ones))
	for i := range rows {
		step := cols / ones
		for k := range ones {
			b.add(int64(i)*int64(cols) + int64(k*step+i%step))
		}
	}
	return b.finish()
}

// The law of whole outputs, against enumeration: every one of the 64 matrices of 2
// x 3 cells, for both mechanisms, tossed and counted.
func TestEdgeLaws(t *testing.T) {
	a := matrix("110", "001")
	const draws = 5000
	for name, c := range map[string]struct {
		drop, add float64
		perturb   func(l *privacy.Ledger, s rng.Stream) (Adjacency, error)
	}{
		"randomized response": {1 / (math.E + 1), 1 / (math.E + 1), func(l *privacy.Ledger, s rng.Stream) (Adjacency, error) {
			return PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: 1, Unit: privacy.Edge}, l, s, a)
		}},
		"few flips": {1 / (math.Exp(4) + 1), 1 / (math.Exp(4) + 1), func(l *privacy.Ledger, s rng.Stream) (Adjacency, error) {
			return PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: 4, Unit: privacy.Edge}, l, s, a)
		}},
	} {
		counts, law := make([]float64, 64), make([]float64, 64)
		for i := range uint64(draws) {
			out, err := c.perturb(mechanismtest.Ledger(t), rng.Seed(6).Stream("edges", i))
			if err != nil {
				t.Fatal(err)
			}
			if err := out.Validate(); err != nil || out.Rows != 2 || out.Cols != 3 {
				t.Fatal(out, err)
			}
			counts[cellsOf(out)]++
		}
		for y := range law {
			law[y] = 1
			for cell := range 6 {
				p := c.add
				if cellsOf(a)>>cell&1 == 1 {
					p = 1 - c.drop
				}
				if y>>cell&1 == 0 {
					p = 1 - p
				}
				law[y] *= p
			}
		}
		mechanismtest.GoodFit(t, name, counts, law)
	}
}

// The output's size and share of true edges: the table of closed forms for the
// public splits of three data sets.
func TestExpectedGraphs(t *testing.T) {
	for _, c := range []struct {
		name               string
		rows, cols, edges  int64
		epsilon            float64
		ones, share, byLap float64
	}{
		{"ml-1m", 6040, 3706, 800_167, 1, 6.4e6, 0.092, 0.091}, {"ml-1m", 6040, 3706, 800_167, 3, 1.79e6, 0.427, 0.419},
		{"ml-1m", 6040, 3706, 800_167, 5, 0.94e6, 0.846, 0.781}, {"ml-1m", 6040, 3706, 800_167, 10, 0.801e6, 0.999, 0.982},
		{"gowalla", 29858, 40981, 810_128, 1, 329e6, 0.0018, 0.002}, {"gowalla", 29858, 40981, 810_128, 3, 58.8e6, 0.013, 0.013},
		{"gowalla", 29858, 40981, 810_128, 5, 8.99e6, 0.089, 0.086}, {"gowalla", 29858, 40981, 810_128, 10, 0.866e6, 0.936, 0.862},
		{"yelp2018", 31668, 38048, 1_237_259, 1, 325e6, 0.0028, 0.003}, {"yelp2018", 31668, 38048, 1_237_259, 3, 58.3e6, 0.020, 0.020},
		{"yelp2018", 31668, 38048, 1_237_259, 5, 9.28e6, 0.132, 0.127}, {"yelp2018", 31668, 38048, 1_237_259, 10, 1.29e6, 0.958, 0.890},
	} {
		ones, share := EdgeRand{Epsilon: c.epsilon}.Expected(c.rows*c.cols, c.edges)
		lap, err := LapGraph{Epsilon: c.epsilon, Unit: privacy.Edge}.Expected(c.rows*c.cols, c.edges)
		if err != nil || math.Abs(ones/c.ones-1) > 0.006 || math.Abs(share-c.share) > 0.0006 || math.Abs(lap-c.byLap) > 0.0006 {
			t.Errorf("%s at %g: %.4g ones, %.4f of them true, %.4f with LapGraph (%v), want %.4g, %.4f, %.4f", c.name, c.epsilon, ones, share, lap, err, c.ones, c.share, c.byLap)
		}
	}
	if ones, share := (EdgeRand{Epsilon: 1}).Expected(0, 0); ones != 0 || share != 0 {
		t.Error(ones, share)
	}
}

// One release is on record, before anything is drawn, with what it is; the bytes
// depend on seed and matrix, not on the number of processors.
func TestEdgeRandIsRecordedAndKeyed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	a := grid(300, 700, 20)
	for _, c := range []struct {
		event   privacy.Event
		perturb func(*privacy.Ledger, rng.Stream, Adjacency) (Adjacency, error)
	}{
		{privacy.RandomizedResponse{Epsilon: 2, Categories: 2, Unit: privacy.Edge}, func(l *privacy.Ledger, s rng.Stream, a Adjacency) (Adjacency, error) {
			return PerturbEdgeRand(edges, l, s, a)
		}},
		{privacy.RandomizedResponse{Epsilon: 6, Categories: 2, Unit: privacy.Interaction}, func(l *privacy.Ledger, s rng.Stream, a Adjacency) (Adjacency, error) {
			return PerturbEdgeRand(EdgeRand{Purpose: "graph", Epsilon: 6, Unit: privacy.Interaction}, l, s, a)
		}},
		{nil, func(l *privacy.Ledger, s rng.Stream, a Adjacency) (Adjacency, error) {
			return PerturbLapGraph(LapGraph{Purpose: "graph", Epsilon: 3, Unit: privacy.Edge}, l, s, a)
		}},
	} {
		var want Adjacency
		for i, workers := range []int{1, 4, 1} {
			runtime.GOMAXPROCS(workers)
			l := mechanismtest.Ledger(t)
			got, err := c.perturb(l, rng.Seed(uint64(2+i/2)).Stream("g"), a)
			if err != nil || got.Validate() != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want = got
			} else if same := slices.Equal(got.Idx, want.Idx) && slices.Equal(got.Ptr, want.Ptr); same != (i == 1) {
				t.Errorf("%v: run %d is the same: %v", c.event, i, same)
			}
			if e := l.Entries(); c.event != nil && (len(e) != 1 || e[0].Event != c.event || e[0].Count != 1 || e[0].Purpose != "graph") {
				t.Errorf("recorded %v, want %v", e, c.event)
			}
			before := slices.Clone(a.Idx)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := c.perturb(l, rng.Seed(1).Stream("g"), a); err == nil || got.Ptr != nil || !slices.Equal(before, a.Idx) {
				t.Error("a graph that is on no record")
			}
		}
		l := mechanismtest.Ledger(t)
		for _, empty := range []Adjacency{{Rows: 3, Ptr: []int64{0, 0, 0, 0}}, {Cols: 3, Ptr: []int64{0}}} {
			if got, err := c.perturb(l, rng.Stream{}, empty); err != nil || got.Validate() != nil || got.Rows != empty.Rows || mechanismtest.CountOf(l) != 0 {
				t.Errorf("an empty matrix: %v %v", got, err)
			}
		}
		if _, err := c.perturb(l, rng.Stream{}, Adjacency{Rows: 1}); err == nil || mechanismtest.CountOf(l) != 0 {
			t.Error("a broken matrix")
		}
		// Without a one there is noise all the same.
		if got, err := c.perturb(l, rng.Seed(5).Stream("g"), Adjacency{Rows: 2000, Cols: 1000, Ptr: make([]int64, 2001)}); err != nil || got.Validate() != nil || mechanismtest.CountOf(l) == 0 {
			t.Errorf("a matrix of zeros: %v", err)
		}
	}
}

// The ratio of the law is what is charged, and never more.
func TestFlipIsRoundedUp(t *testing.T) {
	for eps := 0.001; eps <= MaxEdgeEpsilon; eps *= 1.07 {
		p := EdgeRand{Epsilon: eps}.Flip()
		ratio := math.Log1p(-p) - math.Log(p)
		if ratio > eps || ratio < eps-1e-14-1e-15*eps { // 2^-50 more than the exact probability
			t.Errorf("epsilon %g: log-ratio %.17g", eps, ratio)
		}
	}
}

// Faults of sampling are found in what came out.
func TestEdgeRandPlantedFaults(t *testing.T) {
	a := grid(400, 1500, 30)
	scaled := func(by float64) func(float64) *mechanism.Field {
		return func(p float64) *mechanism.Field { return mechanism.NewField(by * p) }
	}
	for name, c := range map[string]struct {
		epsilon  float64
		newField func(p float64) *mechanism.Field
	}{
		"ones lost":            {2, scaled(1.2)},
		"ones lost ":           {2, scaled(0)}, // nothing is flipped
		" ones lost":           {2, func(p float64) *mechanism.Field { return mechanism.NewField(p / 2) }},
		"neighbouring blocks":  {2, constant},
		"neighbouring blocks ": {6, constant},
	} {
		m := EdgeRand{Purpose: "g", Epsilon: c.epsilon, Unit: privacy.Edge}
		l := mechanismtest.Ledger(t)
		_, err := flips{purpose: "g", unit: privacy.Edge, drop: m.Flip(), add: m.Flip(), newField: c.newField}.perturb(m.Event(), l, rng.Seed(3).Stream("g"), a)
		var ce *mechanism.CheckError
		if !errors.As(err, &ce) || mechanismtest.CountOf(l) != 1 {
			t.Errorf("%s: %v", name, err)
		} else if name := strings.TrimSpace(name); !strings.Contains(ce.What, name) && !(name == "neighbouring blocks" && ce.What != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Only the zeros at the wrong rate.
	f := flips{purpose: "g", unit: privacy.Edge, drop: 0.1, add: 0.1, newField: mechanism.NewField}
	n := 0
	f.newField = func(p float64) *mechanism.Field {
		if n++; n == 2 {
			return mechanism.NewField(0.11)
		}
		return mechanism.NewField(p)
	}
	var ce *mechanism.CheckError
	if _, err := f.perturb(edges.Event(), mechanismtest.Ledger(t), rng.Seed(3).Stream("g"), a); !errors.As(err, &ce) || !strings.Contains(ce.What, "zeros") {
		t.Errorf("%v", err)
	}
	// One block for all of them, but as many flips as there should be.
	alike := mechanism.NewField(0.1)
	alike.Draw = func(f *mechanism.Field, _ rng.Stream, to []int32) []int32 {
		for i := int32(0); i < int32(f.Size); i += 10 {
			to = append(to, i)
		}
		return to
	}
	twins := alike.Each(rng.Stream{}, 1<<20, func([]int64) {})
	if err := twins.Check("g", 21); err == nil {
		t.Error("blocks that are all alike pass")
	}
}

// constant draws the same block again and again.
func constant(p float64) *mechanism.Field {
	f := mechanism.NewField(p)
	draw := f.Draw
	f.Draw = func(f *mechanism.Field, _ rng.Stream, to []int32) []int32 {
		return draw(f, rng.Seed(1).Stream("once"), to)
	}
	return f
}

func TestAdjacencyMechanismsRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	a := grid(50, 40, 3)
	secure, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string, call func(l *privacy.Ledger) (Adjacency, error)) {
		t.Helper()
		l := mechanismtest.Ledger(t)
		if got, err := call(l); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) || mechanismtest.CountOf(l) != 0 || got.Ptr != nil {
			t.Errorf("%s: %v, %d on record", name, err, mechanismtest.CountOf(l))
		}
		for _, l := range []*privacy.Ledger{nil, secure} {
			if _, err := call(l); err == nil {
				t.Errorf("%s: no ledger for research noise", name)
			}
		}
	}
	for name, m := range map[string]EdgeRand{
		"purpose": {"", 1, privacy.Edge, 0, 0}, "epsilon": {"g", 0, privacy.Edge, 0, 0}, "epsilon is": {"g", nan, privacy.Edge, 0, 0},
		"at most 64": {"g", 65, privacy.Edge, 0, 0}, "at most 64 ": {"g", inf, privacy.Edge, 0, 0}, "unit": {"g", 1, privacy.User, 0, 0},
		"share": {"g", 1, privacy.Edge, 0, 2}, "the limit is 100": {"g", 1, privacy.Edge, 100, 0}, "the limit is -1": {"g", 1, privacy.Edge, -1, 0},
	} {
		try(name, func(l *privacy.Ledger) (Adjacency, error) { return PerturbEdgeRand(m, l, rng.Stream{}, a) })
	}
	for name, m := range map[string]LapGraph{
		"purpose": {"", 1, 0, privacy.Edge, 0, 0}, "epsilon": {"g", -1, 0, privacy.Edge, 0, 0}, "epsilon NaN": {"g", nan, 0, privacy.Edge, 0, 0},
		"count share": {"g", 1, 1, privacy.Edge, 0, 0}, "count share is": {"g", 1, nan, privacy.Edge, 0, 0}, "unit": {"g", 1, 0, privacy.User, 0, 0},
		"outside the range": {"g", 1e-320, 0, privacy.Edge, 0, 0}, "outside the range ": {"g", 1e-309, 0.99999999, privacy.Edge, 0, 0},
		"share of": {"g", 1, 0, privacy.Edge, 0, -1},
	} {
		try(name, func(l *privacy.Ledger) (Adjacency, error) { return PerturbLapGraph(m, l, rng.Stream{}, a) })
	}
	big := Adjacency{Rows: 1 << 20, Cols: 1 << 20, Ptr: make([]int64, 1<<20+1)}
	try("0 is 2^31", func(l *privacy.Ledger) (Adjacency, error) { return PerturbEdgeRand(edges, l, rng.Stream{}, big) })
}

func BenchmarkEdgeRand(b *testing.B) {
	a := grid(30_000, 40_000, 27)
	for _, eps := range []float64{1, 3, 5, 10} {
		b.Run(fmt.Sprint(eps), func(b *testing.B) {
			for range b.N {
				l, _ := privacy.NewLedger(privacy.Research)
				out, err := PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: eps, Unit: privacy.Edge}, l, rng.Seed(1).Stream("g"), a)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(out.Edges()), "ones")
			}
		})
	}
}

// A refusal is no failed check.
func TestRefusalIsNoFailedCheck(t *testing.T) {
	_, err := PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: 1, Unit: edges.Unit}, nil, rng.Stream{}, Adjacency{Ptr: []int64{0}})
	if e := (*mechanism.CheckError)(nil); err == nil || errors.As(err, &e) {
		t.Errorf("a refusal is a failed check: %v", err)
	}
}
