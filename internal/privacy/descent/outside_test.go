package descent

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

const sgdDim = 7

func sgd(sampling privacy.Sampling) DPSGD {
	d := DPSGD{Purpose: "sgd", Clip: 1, NoiseMultiplier: 1e-9, Examples: 90, Sampling: sampling, Unit: privacy.Sample}
	switch sampling {
	case privacy.Poisson:
		d.Rate = 0.1
	case privacy.WithoutReplacement:
		d.Batch = 9
	case privacy.Allocation:
		d.Steps = 10
	}
	return d
}

var (
	drawnAnew = []privacy.Sampling{privacy.Poisson, privacy.WithoutReplacement} // for every step
	samplings = append(slices.Clone(drawnAnew), privacy.Allocation)
)

// slope is the gradient of an example: of all lengths, from 0 to beyond the clip.
func slope(example int32) []float64 {
	g := make([]float64, sgdDim)
	for i := range g {
		g[i] = float64(example%10) / 12 * math.Cos(float64(example)+2*float64(i))
	}
	return g
}

// clipped is slope cut to norm 1, written out.
func clipped(example int32) []float64 {
	g := slope(example)
	n := 0.0
	for _, x := range g {
		n += x * x
	}
	for i := range g {
		g[i] /= max(1, math.Sqrt(n))
	}
	return g
}

// stride is one step: the batch and what came out.
func stride(t testing.TB, s *Steps[float64], key ...uint64) (batch []int32, mean []float64) {
	t.Helper()
	batch, err := s.Begin(key...)
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range batch {
		if err := s.Add(k, slope(i)); err != nil {
			t.Fatal(err)
		}
	}
	mean = make([]float64, sgdDim)
	if err := s.Finish(mean); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(batch), mean
}

func openSteps(t testing.TB, d DPSGD, seed rng.Seed) *Steps[float64] {
	t.Helper()
	s, err := Open[float64](d, sgdDim, mechanismtest.Ledger(t), seed.Stream("sgd"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// With hardly any noise a step is the sum of the clipped gradients of the batch over
// the expected size: dividing by the realised size, leaving out the clip or the last
// example, each of which is a known mistake, gives something else.
func TestStepIsTheClippedSumOverTheExpectedBatch(t *testing.T) {
	for _, sampling := range samplings {
		d := sgd(sampling)
		if d.ExpectedBatch() != 9 || d.Sigma() != 1e-9 {
			t.Errorf("%s: batches of %g, sigma %g", sampling, d.ExpectedBatch(), d.Sigma())
		}
		s := openSteps(t, d, 1)
		caught := map[string]int{}
		for step := range uint64(40) {
			batch, mean := stride(t, s, 0, step)
			sums := map[string][]float64{"": make([]float64, sgdDim), "no clip": make([]float64, sgdDim), "last one left out": make([]float64, sgdDim)}
			for k, i := range batch {
				for j, x := range clipped(i) {
					sums[""][j] += x
					sums["no clip"][j] += slope(i)[j]
					if k < len(batch)-1 {
						sums["last one left out"][j] += x
					}
				}
			}
			sums["realised size"] = make([]float64, sgdDim)
			for j, x := range sums[""] {
				sums["realised size"][j] = x * 9 / float64(max(1, len(batch)))
			}
			for name, sum := range sums {
				off := 0.0
				for j, x := range sum {
					off = max(off, math.Abs(mean[j]-x/9))
				}
				if name == "" && off > 1e-8 {
					t.Errorf("%s, step %d: %g off", sampling, step, off)
				} else if name != "" && off > 1e-3 {
					caught[name]++
				}
			}
		}
		for _, name := range []string{"no clip", "last one left out", "realised size"} {
			if fixed := sampling == privacy.WithoutReplacement && name == "realised size"; (caught[name] < 10) != fixed {
				t.Errorf("%s: %q shows in %d of 40 steps", sampling, name, caught[name])
			}
		}
	}
}

// Saved and restored after any step, through JSON, a run goes on to the same bytes
// and the same state; the state of one step is not that of another.
func TestStepsResumeAtEveryPoint(t *testing.T) {
	const steps = 9
	for _, sampling := range samplings {
		d := sgd(sampling)
		d.NoiseMultiplier = 0.8
		whole := openSteps(t, d, 2)
		var means [][]float64
		var states []string
		save := func(s *Steps[float64]) string {
			b, err := json.Marshal(s.State())
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		states = append(states, save(whole))
		for step := range uint64(steps) {
			_, mean := stride(t, whole, step/4, step%4)
			means, states = append(means, mean), append(states, save(whole))
		}
		for from := range steps {
			var st State
			if err := json.Unmarshal([]byte(states[from]), &st); err != nil {
				t.Fatal(err)
			}
			s := openSteps(t, d, 2)
			if err := s.Restore(st); err != nil {
				t.Fatal(err)
			}
			if got := save(s); got != states[from] {
				t.Fatalf("%s: restored at %d the state is\n%s\nwant\n%s", sampling, from, got, states[from])
			}
			for step := uint64(from); step < steps; step++ {
				if _, mean := stride(t, s, step/4, step%4); !slices.Equal(mean, means[step]) {
					t.Fatalf("%s: step %d after a restore at %d gives other bytes", sampling, step, from)
				}
			}
			// What pairs of batches had in common starts anew; everything else goes on.
			var a, b State
			if err := errors.Join(json.Unmarshal([]byte(save(s)), &a), json.Unmarshal([]byte(states[steps]), &b)); err != nil {
				t.Fatal(err)
			}
			b.Batches.Paired, b.Batches.Common = a.Batches.Paired, a.Batches.Common
			x, y := mechanismtest.Must(json.Marshal(a)), mechanismtest.Must(json.Marshal(b))
			if string(x) != string(y) {
				t.Errorf("%s: restored at %d the run ends as\n%s\nwant\n%s", sampling, from, x, y)
			}
		}
		if n := len(slices.Compact(slices.Sorted(slices.Values(states)))); n != steps+1 {
			t.Errorf("%s: %d different states", sampling, n)
		}
		other := openSteps(t, d, 3) // another seed
		var st State
		if err := json.Unmarshal([]byte(states[3]), &st); err != nil {
			t.Fatal(err)
		}
		if err := other.Restore(st); err == nil {
			t.Errorf("%s: the state of another seed was restored", sampling)
		}
	}
}

// Batches are of examples of the data set, ascending and each once; who is in does
// not depend on the gradients, the clip or the noise, only on seed and key.
func TestBatchesDependOnSeedAndKeyAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sgd(rapid.SampledFrom(drawnAnew).Draw(t, "sampling"))
		d.Examples = rapid.Int64Range(1, 200).Draw(t, "examples")
		if d.Rate = rapid.Float64Range(1e-3, 1).Draw(t, "rate"); d.Sampling == privacy.WithoutReplacement {
			d.Rate, d.Batch = 0, rapid.Int64Range(1, d.Examples).Draw(t, "batch")
		}
		seed := rng.Seed(rapid.Uint64().Draw(t, "seed"))
		key := []uint64{rapid.Uint64Range(0, 5).Draw(t, "pass"), rapid.Uint64().Draw(t, "step")}
		first := func(d DPSGD, dim int, before ...uint64) []int32 {
			s, err := Open[float64](d, dim, mechanismtest.Must(privacy.NewLedger(privacy.Research)), seed.Stream("sgd"))
			if err != nil {
				t.Fatal(err)
			}
			if len(before) > 0 {
				batch, err := s.Begin(before...)
				if err != nil {
					t.Fatal(err)
				}
				for k := range batch {
					if err := s.Add(k, make([]float64, dim)); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Finish(make([]float64, dim)); err != nil {
					t.Fatal(err)
				}
			}
			batch, err := s.Begin(key...)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Clone(batch)
		}
		a := first(d, sgdDim)
		for k, i := range a {
			if i < 0 || int64(i) >= d.Examples || k > 0 && i <= a[k-1] {
				t.Fatalf("batch %v of %d examples", a, d.Examples)
			}
		}
		if d.Sampling == privacy.WithoutReplacement && int64(len(a)) != d.Batch || d.Rate == 1 && int64(len(a)) != d.Examples {
			t.Fatalf("a batch of %d, want %d at rate %g", len(a), d.Batch, d.Rate)
		}
		d.Clip, d.NoiseMultiplier, d.Share = 7, 3, 0.1
		if b := first(d, 2, 0); !slices.Equal(a, b) {
			t.Fatalf("the batch is %v, and %v of other gradients after another step", a, b)
		}
	})
}

// The event of a step follows its description: sigma and sensitivity scale with the
// clip together, so that a clip of another unit costs the same; exchange doubles
// what one example more or less moves; a full batch is the plain mechanism.
func TestStepEventsScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sgd(rapid.SampledFrom(drawnAnew).Draw(t, "sampling"))
		d.NoiseMultiplier = math.Exp2(float64(rapid.IntRange(-8, 8).Draw(t, "multiplier")))
		e := d.sampled()
		g := e.Event.(privacy.Gaussian)
		unit := math.Exp2(float64(rapid.IntRange(-20, 20).Draw(t, "unit")))
		scaled := d
		scaled.Clip *= unit
		h := scaled.sampled().Event.(privacy.Gaussian)
		if h.Sigma != g.Sigma*unit || h.Sensitivity != g.Sensitivity*unit || scaled.sampled().Rate != e.Rate {
			t.Fatalf("in units of %g: %v and %v", unit, g, h)
		}
		want, near := 1.0, privacy.AddRemove
		if d.Sampling == privacy.WithoutReplacement {
			want, near = 2, privacy.Replace
		}
		if g.Sensitivity != want || g.Neighbouring != near || g.Sigma != d.NoiseMultiplier || e.Method != d.Sampling || e.Rate < 0.1 || e.Rate > 0.1+1e-16 {
			t.Fatalf("%s: %v at %v", d.Sampling, g, e.Rate)
		}
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		if d.Batch = 90; d.Sampling == privacy.WithoutReplacement && d.sampled().Rate != 1 {
			t.Fatalf("the whole data set at rate %v", d.sampled().Rate)
		}
	})
}

// Steps that were begun are to be finished before a check, and a run that has made
// none passes: there is nothing to look at.
func TestChecksBetweenSteps(t *testing.T) {
	for _, sampling := range samplings {
		d := sgd(sampling)
		d.NoiseMultiplier = 1
		s := openSteps(t, d, 6)
		if err := s.Check(); err != nil {
			t.Errorf("%s: nothing done, and %v", sampling, err)
		}
		batch := mechanismtest.Must(s.Begin(0))
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "not finished") {
			t.Errorf("%s: checked within a step: %v", sampling, err)
		}
		for k, i := range batch {
			if err := s.Add(k, slope(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(s.Finish(make([]float64, sgdDim)), s.Check(), s.Check()); err != nil {
			t.Errorf("%s: %v", sampling, err)
		}
		_, repeated := s.Begin(0) // the same key
		if repeated == nil || s.Check() != repeated || s.Add(0, slope(0)) != repeated || s.Finish(nil) != repeated {
			t.Errorf("%s: the run goes on after %v", sampling, repeated)
		}
		if st := s.State(); st.Failed != repeated.Error() {
			t.Errorf("%s: the state says %q", sampling, st.Failed)
		}
	}
}
