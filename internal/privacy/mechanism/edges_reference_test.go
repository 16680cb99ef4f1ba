package mechanism

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
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

// chosen is what a field chooses below a limit, block by block.
func chosen(p float64, s rng.Stream, limit int64) map[int64]bool {
	f, set := newField(p), map[int64]bool{}
	for b := int64(0); b*f.size < limit; b++ {
		for _, place := range f.draw(f, s.Sub(uint64(b)), nil) {
			if c := b*f.size + int64(place); c < limit {
				set[c] = true
			}
		}
	}
	return set
}

// Flips of a matrix are those of its cells taken one by one: whatever its shape,
// its ones and the rates.
func TestFlipsAgainstCells(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows, cols := rapid.IntRange(1, 40).Draw(rt, "rows"), rapid.IntRange(1, 200).Draw(rt, "cols")
		s := rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("flips")
		fill := s.Sub(5)
		a := scattered(&fill, rows, cols, rapid.Float64Range(0, 1).Draw(rt, "fill"))
		f := flips{purpose: "g", unit: privacy.Edge, newField: newField,
			drop: rapid.SampledFrom([]float64{0, 0.01, 0.2, 0.9, 1}).Draw(rt, "drop"), add: rapid.SampledFrom([]float64{0, 0.001, 0.02, 0.3, 1}).Draw(rt, "add")}
		out, _ := f.sample(s, a, 0)
		if err := out.Validate(); err != nil {
			rt.Fatal(err)
		}
		lost, added := chosen(f.drop, s.Sub(dropStream), a.Edges()), chosen(f.add, s.Sub(addStream), a.Cells())
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

// Whatever the matrix and epsilon: a valid matrix of its shape, the same from the
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
			"gaussian": func(l *privacy.Ledger) (Adjacency, error) {
				return PerturbGaussianEdgeRand(GaussianEdgeRand{Purpose: "g", Sigma: 1 / eps, Unit: privacy.Edge}, l, seed.Stream("g"), a)
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
				if n := countOf(l); n != want {
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

// Batches against membership drawn the plain way, and their rate of any size.
func TestBatchesAgainstFields(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64Range(1, 9000).Draw(rt, "examples")
		rate := rapid.SampledFrom([]float64{1e-9, 1e-3, 0.02, 0.05, 0.5, 1}).Draw(rt, "rate")
		s := rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("batch")
		got := newBatches(n, privacy.Poisson, rate, 0).next(s, nil)
		want := chosen(rate, s, n)
		if len(got) != len(want) || !slices.IsSorted(got) {
			rt.Fatalf("%d examples, want %d", len(got), len(want))
		}
		for _, e := range got {
			if !want[int64(e)] {
				rt.Fatalf("example %d", e)
			}
		}
		size := rapid.Int64Range(1, n).Draw(rt, "size")
		b := newBatches(n, privacy.WithoutReplacement, 0, size)
		for range 2 {
			got = b.next(s, got)
			if int64(len(got)) != size || !slices.IsSorted(got) || len(slices.Compact(got)) != int(size) || got[0] < 0 || int64(got[size-1]) >= n {
				rt.Fatalf("%d of %d: %v", size, n, got)
			}
		}
		if slices.Max(b.taken) != 0 {
			rt.Fatal("examples stay taken")
		}
	})
}

// Sums of two neighbouring data sets under the same noise and batch differ by no
// more than the event says, through the very steps of training.
func TestStepsOfNeighbours(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SampledFrom([]DPSGD{poissonSGD, fixedSGD}).Draw(rt, "sampler")
		d.Clip = math.Exp(rapid.Float64Range(-10, 10).Draw(rt, "log clip"))
		const dim = 9
		size := math.Exp(rapid.Float64Range(-12, 12).Draw(rt, "log size"))
		s := rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("neighbours")
		step := func(changed bool) (mean []float64) {
			l, err := privacy.NewLedger(privacy.Research)
			if err != nil {
				rt.Fatal(err)
			}
			run, err := OpenDPSGD[float64](d, dim, l, s)
			if err != nil {
				rt.Fatal(err)
			}
			batch, err := run.Begin(3)
			if err != nil {
				rt.Fatal(err)
			}
			for k, e := range batch {
				g := gradient(make([]float64, dim), e)
				for i := range g {
					g[i] *= size * d.Clip
					if changed && k == 0 {
						g[i] = -g[i]
						if d.Sampling == privacy.Poisson { // not there: nothing is added
							g[i] = 0
						}
					}
				}
				if err := run.Add(k, g); err != nil {
					rt.Fatal(err)
				}
			}
			mean = make([]float64, dim)
			if err := run.Finish(mean); err != nil {
				rt.Fatal(err)
			}
			return mean
		}
		moved := apart(step(false), step(true)) * d.ExpectedBatch()
		if limit := d.Event().Event.(privacy.Gaussian).Sensitivity; moved > limit*(1+1e-12) {
			rt.Fatalf("sums moved by %v, the event says %v", moved, limit)
		}
	})
}

// Objectives and aggregations go through checkpoints like any channel.
func TestChannelsOfMechanismsResume(t *testing.T) {
	a := matrix("1101", "0110")
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	whole, _ := openGAP[float64](t, gap)
	split, _ := openGAP[float64](t, gap)
	want, got := make([]float64, 4), make([]float64, 4)
	for step := range uint64(3) {
		if err := whole.Aggregate(want, x, 2, a, 0, 0, step); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(split.Channel().State())
		if err != nil {
			t.Fatal(err)
		}
		var st ChannelState
		if err := json.Unmarshal(b, &st); err != nil {
			t.Fatal(err)
		}
		split, _ = openGAP[float64](t, gap)
		if err := split.Channel().Restore(st); err != nil {
			t.Fatal(err)
		}
		if step > 0 {
			if err := split.Channel().Check(); err != nil {
				t.Fatal(err)
			}
		}
		if err := split.Aggregate(got, x, 2, a, 0, 0, step); err != nil || !slices.Equal(got, want) {
			t.Fatalf("step %d: %v, want %v (%v)", step, got, want, err)
		}
	}
	o, _ := openFM[float64](t, fm)
	p := NewPolynomial[float64](6)
	if err := o.Perturb(p, 0, 0); err != nil {
		t.Fatal(err)
	}
	again, _ := openFM[float64](t, fm)
	if err := again.Channel().Restore(o.Channel().State()); err != nil {
		t.Fatal(err)
	}
	if err := again.Perturb(p, 0, 0); err == nil {
		t.Error("a key was used twice over a checkpoint")
	}
}
