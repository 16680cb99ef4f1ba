package edges

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/mechanismtest/choices"
	"privrec/internal/rng"
)

// cellSet is a matrix the plain way.
func cellSet(a Adjacency) map[int64]bool {
	set := map[int64]bool{}
	for i := range a.Rows {
		for _, j := range a.Row(i) {
			set[int64(i)*int64(a.Cols)+int64(j)] = true
		}
	}
	return set
}

// Flips of a matrix are those of its cells taken one by one, for any shape,
// ones and rates.
func TestFlipsAgainstCells(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows, cols := rapid.IntRange(1, 40).Draw(rt, "rows"), rapid.IntRange(1, 200).Draw(rt, "cols")
		s := rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("flips")
		fill := s.Sub(5)
		a := scattered(&fill, rows, cols, rapid.Float64Range(0, 1).Draw(rt, "fill"))
		f := flips{purpose: "g", unit: privacy.Edge, newField: mechanism.NewField,
			drop: rapid.SampledFrom([]float64{0, 0.01, 0.2, 0.9, 1}).Draw(rt, "drop"), add: rapid.SampledFrom([]float64{0, 0.001, 0.02, 0.3, 1}).Draw(rt, "add")}
		out, _ := f.sample(s, a, 0)
		if err := out.Validate(); err != nil {
			rt.Fatal(err)
		}
		lost, added := choices.Chosen(f.drop, s.Sub(dropStream), a.Edges()), choices.Chosen(f.add, s.Sub(addStream), a.Cells())
		want := map[int64]bool{}
		edge, in := int64(0), cellSet(a)
		for c := range a.Cells() {
			if in[c] {
				if !lost[edge] {
					want[c] = true
				}
				edge++
			} else if added[c] {
				want[c] = true
			}
		}
		got := cellSet(out)
		if len(got) != len(want) {
			rt.Fatalf("%d ones, want %d", len(got), len(want))
		}
		for c := range want {
			if !got[c] {
				rt.Fatalf("cell %d is missing", c)
			}
		}
	})
}

// Merging ranks among the zeros with kept ones is what a walk over all cells gives.
func TestMergeAgainstCells(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("merge")
		a := scattered(&s, rapid.IntRange(1, 12).Draw(rt, "rows"), rapid.IntRange(1, 12).Draw(rt, "cols"), rapid.Float64Range(0, 1).Draw(rt, "fill"))
		zeros := a.Cells() - a.Edges()
		kept := distinct(s.Sub(1), rapid.Int64Range(0, a.Edges()).Draw(rt, "kept"), max(1, a.Edges()))
		places := distinct(s.Sub(2), rapid.Int64Range(0, zeros).Draw(rt, "zeros"), max(1, zeros))
		out := lapRun{a: a}.merge(slices.Clone(kept), places, 0)
		if err := out.Validate(); err != nil {
			rt.Fatal(err)
		}
		in, got := cellSet(a), cellSet(out)
		edge, rank := int64(0), int64(0)
		for c := range a.Cells() {
			want := false
			if in[c] {
				want = slices.Contains(kept, edge)
				edge++
			} else {
				want = slices.Contains(places, rank)
				rank++
			}
			if got[c] != want {
				rt.Fatalf("cell %d of %v with ones %v and zeros %v kept: %v", c, a, kept, places, got[c])
			}
		}
	})
}

// For any matrix and epsilon: a valid matrix of its shape, the same from the
// same seed, and two or one releases.
func TestPerturbedGraphsAreValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rng.Seed(rapid.Uint64().Draw(rt, "seed"))
		fill := seed.Stream("fill")
		a := scattered(&fill, rapid.IntRange(0, 30).Draw(rt, "rows"), rapid.IntRange(0, 30).Draw(rt, "cols"), rapid.Float64Range(0, 1).Draw(rt, "fill"))
		eps := math.Exp(rapid.Float64Range(-4, 4).Draw(rt, "epsilon"))
		for name, perturb := range map[string]func(l *privacy.Ledger) (Adjacency, error){
			"edgerand": func(l *privacy.Ledger) (Adjacency, error) {
				return PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: eps, Unit: privacy.Edge}, l, seed.Stream("g"), a)
			},
			"lapgraph": func(l *privacy.Ledger) (Adjacency, error) {
				return PerturbLapGraph(LapGraph{Purpose: "g", Epsilon: eps, Unit: privacy.Edge}, l, seed.Stream("g"), a)
			},
		} {
			var results []Adjacency
			for range 2 {
				l, err := privacy.NewLedger(privacy.Research)
				if err != nil {
					rt.Fatal(err)
				}
				out, err := perturb(l)
				if err != nil {
					rt.Fatalf("%s: %v", name, err)
				}
				if err := out.Validate(); err != nil || out.Rows != a.Rows || out.Cols != a.Cols {
					rt.Fatalf("%s: %v (%v)", name, out, err)
				}
				want := int64(1)
				if name == "lapgraph" {
					want = 2
				}
				if a.Cells() == 0 {
					want = 0
				}
				if n := mechanismtest.CountOf(l); n != want {
					rt.Fatalf("%s: %d releases, want %d", name, n, want)
				}
				results = append(results, out)
			}
			if !slices.Equal(results[0].Idx, results[1].Idx) {
				rt.Fatalf("%s: two results from one seed", name)
			}
		}
	})
}
