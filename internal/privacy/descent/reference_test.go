package descent

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/mechanismtest/choices"
	"privrec/internal/rng"
)

// Batches against membership drawn the plain way, and their rate of any size.
func TestBatchesAgainstFields(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64Range(1, 9000).Draw(rt, "examples")
		rate := rapid.SampledFrom([]float64{1e-9, 1e-3, 0.02, 0.05, 0.5, 1}).Draw(rt, "rate")
		s := rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("batch")
		got := newBatches(n, privacy.Poisson, rate, 0).next(s, nil)
		want := choices.Chosen(rate, s, n)
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
			run, err := Open[float64](d, dim, l, s)
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
		moved := mechanismtest.Apart(step(false), step(true)) * d.ExpectedBatch()
		if limit := d.sampled().Event.(privacy.Gaussian).Sensitivity; moved > limit*(1+1e-12) {
			rt.Fatalf("sums moved by %v, the event says %v", moved, limit)
		}
	})
}

// Every example is in as many batches as any other, and every pair of examples in
// as many as the sampler says: q² of them, or m(m-1)/(n(n-1)).
func TestExamplesAndPairs(t *testing.T) {
	const n, draws = 12, 30_000
	for _, c := range []struct {
		method privacy.Sampling
		rate   float64
		size   int64
		single float64
		pair   float64
	}{
		{privacy.Poisson, 0.25, 0, 0.25, 0.0625},
		{privacy.Poisson, 0.03, 0, 0.03, 0.0009},
		{privacy.WithoutReplacement, 0, 3, 0.25, 6.0 / 132},
		{privacy.WithoutReplacement, 0, 9, 0.75, 72.0 / 132},
	} {
		b := newBatches(n, c.method, c.rate, c.size)
		var in [n]float64
		var both [n][n]float64
		var to []int32
		for i := range uint64(draws) {
			to = b.next(rng.Seed(3).Stream("pairs", i), to)
			for _, x := range to {
				in[x]++
				for _, y := range to {
					both[x][y]++
				}
			}
		}
		within := func(what string, got, p float64) {
			if d := math.Abs(got - draws*p); d > math.Sqrt(2*draws*p*(1-p)*24)+16 { // Bernstein, below 1e-9 for all of them
				t.Errorf("%s at %g and %d: %s in %g batches, want %g", c.method, c.rate, c.size, what, got, draws*p)
			}
		}
		for x := range n {
			within("an example", in[x], c.single)
			for y := range x {
				within("a pair", both[x][y], c.pair)
			}
		}
	}
}
