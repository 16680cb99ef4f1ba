package edges_test

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/edges"
	"privrec/internal/rng"
)

// ring is a matrix in which row i has the columns i, i+1, ..., i+ones-1, wrapped.
func ring(n, ones int) edges.Adjacency {
	a := edges.Adjacency{Rows: n, Cols: n, Ptr: []int64{0}}
	for i := range n {
		var row []int32
		for k := range ones {
			row = append(row, int32((i+k)%n))
		}
		slices.Sort(row)
		a.Idx = append(a.Idx, row...)
		a.Ptr = append(a.Ptr, a.Edges())
	}
	return a
}

// shared is the number of ones that two matrices have in common.
func shared(a, b edges.Adjacency) (n int) {
	for i := range a.Rows {
		for _, j := range a.Row(i) {
			if slices.Contains(b.Row(i), j) {
				n++
			}
		}
	}
	return n
}

// The two releases of LapGraph share the budget as stated: the reciprocals of their
// scales add up to at most epsilon, by no more than rounding, for any share;
// counting the cells alone, or the whole budget for both, would be something else.
func TestLapGraphSplitsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := edges.LapGraph{Purpose: "graph", Epsilon: math.Exp(rapid.Float64Range(-3, 5).Draw(t, "log eps")), Unit: privacy.Interaction}
		share := 0.01
		if rapid.Bool().Draw(t, "stated") {
			m.CountShare = rapid.Float64Range(0.001, 0.999).Draw(t, "share")
			share = m.CountShare
		}
		l := research()
		if _, err := edges.PerturbLapGraph(m, l, rng.Seed(2).Stream("split"), threeUsers()); err != nil {
			t.Fatal(err)
		}
		var spent []float64
		for _, e := range l.Entries() {
			x := e.Event.(privacy.Laplace)
			if x.Sensitivity != 1 || x.Unit != privacy.Interaction || x.Neighbouring != privacy.AddRemove {
				t.Fatalf("recorded %v", e)
			}
			for range e.Count { // equal halves are one entry of two releases
				spent = append(spent, 1/x.Scale)
			}
		}
		slices.Sort(spent)
		want := []float64{share * m.Epsilon, (1 - share) * m.Epsilon}
		slices.Sort(want)
		if len(spent) != 2 || math.Abs(spent[0]/want[0]-1) > 1e-12 || math.Abs(spent[1]/want[1]-1) > 1e-12 || spent[0]+spent[1] > m.Epsilon*(1+1e-15) {
			t.Fatalf("budgets %v of %g, want %v", spent, m.Epsilon, want)
		}
	})
}

// The number of ones that come out is the true one plus rounded Laplace noise of the
// count's share: mean and mean absolute deviation within 6.2 standard errors of the
// law, false alarm 1e-9. That noise halved or doubled, or added to the cells'
// number, is not.
func TestLapGraphCounts(t *testing.T) {
	const runs = 1500
	a := ring(30, 6)
	m := edges.LapGraph{Purpose: "graph", Epsilon: 2, CountShare: 0.1, Unit: privacy.Edge}
	const b = 5. // 1/(0.1 2)
	sum, size := 0.0, 0.0
	for i := range uint64(runs) {
		out, err := edges.PerturbLapGraph(m, research(), rng.Seed(3).Stream("count", i), a)
		if err != nil {
			t.Fatal(err)
		}
		d := float64(out.Edges() - a.Edges())
		sum += d
		size += math.Abs(d)
	}
	// Rounded noise: P(k) from the tails at k ± 1/2.
	mean, square := 0.0, 0.0
	for k := 1.0; k < 400; k++ {
		p := math.Exp(-(k-0.5)/b) - math.Exp(-(k+0.5)/b) // either side
		mean += k * p
		square += k * k * p
	}
	if z := sum / math.Sqrt(square*runs); math.Abs(z) > 6.2 {
		t.Errorf("counts are %g off on average, %.1f standard errors", sum/runs, z)
	}
	deviation := math.Sqrt((square - mean*mean) / runs)
	for factor, right := range map[float64]bool{1: true, 0.5: false, 2: false, 0.1 / 0.9: false} {
		if z := (size/runs - factor*mean) / deviation; (math.Abs(z) < 6.2) != right {
			t.Errorf("counts are %g off in size, %.1f standard errors from %g times the law's", size/runs, z, factor)
		}
	}
}

// How many of the ones that come out are true is what Expected says, the more the
// larger the budget: within 6.2 binomial standard errors, for graphs of all
// densities, and any number of processors.
func TestTrueShares(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, ones := range []int{1, 10, 60} {
		a := ring(120, ones)
		last := 0.0
		for _, eps := range []float64{1, 3, 6} {
			m := edges.LapGraph{Purpose: "graph", Epsilon: eps, Unit: privacy.Edge, CountShare: 0.2}
			want, err := m.Expected(a.Cells(), a.Edges())
			if err != nil {
				t.Fatal(err)
			}
			var first edges.Adjacency
			for i, workers := range []int{1, 3} {
				runtime.GOMAXPROCS(workers)
				out, err := edges.PerturbLapGraph(m, research(), rng.Seed(5).Stream("share"), a)
				if err != nil || out.Validate() != nil {
					t.Fatal(err, out.Validate())
				}
				if i == 0 {
					first = out
				} else if !slices.Equal(first.Idx, out.Idx) || !slices.Equal(first.Ptr, out.Ptr) {
					t.Error("bytes depend on the number of processors")
				}
			}
			got, n := float64(shared(a, first)), float64(first.Edges())
			// The count is off by a few, which moves the share by as many of n.
			if room := 6.2*math.Sqrt(want*(1-want)/n) + 30/(0.2*eps)/n; math.Abs(got/n-want) > room {
				t.Errorf("%d ones a row, eps %g: a share %g is true, want %g ± %g", ones, eps, got/n, want, room)
			}
			if want <= last {
				t.Errorf("eps %g: a share %g, with less budget %g", eps, want, last)
			}
			last = want
			// Randomised response of the same budget keeps what it says too.
			e := edges.EdgeRand{Purpose: "graph", Epsilon: eps, Unit: privacy.Edge}
			out, err := edges.PerturbEdgeRand(e, research(), rng.Seed(5).Stream("share"), a)
			if err != nil {
				t.Fatal(err)
			}
			all, true1 := e.Expected(a.Cells(), a.Edges())
			if z := (float64(out.Edges()) - all) / math.Sqrt(float64(a.Cells())*e.Flip()*(1-e.Flip())); math.Abs(z) > 6.2 {
				t.Errorf("eps %g: %d ones, want %g", eps, out.Edges(), all)
			}
			if z := (float64(shared(a, out)) - all*true1) / math.Sqrt(float64(a.Edges())*e.Flip()*(1-e.Flip())+1); math.Abs(z) > 6.2 {
				t.Errorf("eps %g: %d true ones, want %g", eps, shared(a, out), all*true1)
			}
		}
	}
}

// Limits, empty answers and impossible ones say what they are about.
func TestLapGraphSays(t *testing.T) {
	m := edges.LapGraph{Purpose: "graph", Epsilon: 50, Unit: privacy.Edge, CountShare: 0.5, Limit: 2}
	l := research()
	if _, err := edges.PerturbLapGraph(m, l, rng.Seed(1).Stream("limit"), ring(9, 3)); err == nil || !strings.Contains(err.Error(), "the limit is 2") {
		t.Errorf("a limit of 2 ones: %v", err)
	} else if e := l.Entries(); len(e) != 1 || e[0].Count != 1 { // the count was released all the same
		t.Errorf("recorded %v", e)
	}
	for _, c := range [][2]int64{{4, 5}, {0, 0}, {9, 0}, {9, -1}} {
		if _, err := (edges.LapGraph{Purpose: "graph", Epsilon: 1, Unit: privacy.Edge}).Expected(c[0], c[1]); err == nil || !strings.HasPrefix(err.Error(), "graph: ") {
			t.Errorf("%d ones in %d cells: %v", c[1], c[0], err)
		}
	}
	for _, eps := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := (edges.LapGraph{Purpose: "graph", Epsilon: eps, Unit: privacy.Edge}).Expected(9, 3); err == nil {
			t.Errorf("an expectation at epsilon %v", eps)
		}
	}
	for _, unit := range []privacy.Unit{privacy.User, privacy.Sample, privacy.Feature} {
		bad := edges.LapGraph{Purpose: "graph", Epsilon: 1, Unit: unit}
		if _, err := edges.PerturbLapGraph(bad, research(), rng.Seed(1).Stream("x"), threeUsers()); err == nil || !strings.Contains(err.Error(), "one cell is perturbed") {
			t.Errorf("unit %s: %v", unit, err)
		}
		rr := edges.EdgeRand{Purpose: "graph", Epsilon: 1, Unit: unit}
		if _, err := edges.PerturbEdgeRand(rr, research(), rng.Seed(1).Stream("x"), threeUsers()); err == nil || !strings.Contains(err.Error(), "one cell is perturbed") {
			t.Errorf("unit %s: %v", unit, err)
		}
	}
}
