package descent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

var (
	poissonSGD = DPSGD{Purpose: "gradient", Clip: 0.75, NoiseMultiplier: 1.5, Examples: 1000, Sampling: privacy.Poisson, Rate: 0.05, Unit: privacy.Sample}
	fixedSGD   = DPSGD{Purpose: "gradient", Clip: 0.75, NoiseMultiplier: 1.5, Examples: 1000, Sampling: privacy.WithoutReplacement, Batch: 50, Unit: privacy.Sample}
)

func openSGD[T mechanism.Float](t testing.TB, d DPSGD, dim int) (*Steps[T], *privacy.Ledger) {
	t.Helper()
	l := mechanismtest.Ledger(t)
	s, err := Open[T](d, dim, l, rng.Seed(8).Stream("sgd"))
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

// gradient is that of an example: of norm below and above the bound.
func gradient[T mechanism.Float](dst []T, example int32) []T {
	for i := range dst {
		dst[i] = T(0.3 * math.Sin(float64(example)*0.7+float64(i)))
	}
	return dst
}

// descend makes steps and returns the means and the first failure.
func descend[T mechanism.Float](s *Steps[T], from, steps int) (means []T, sizes []int, err error) {
	g, mean := make([]T, s.rows*s.cols), make([]T, s.rows*s.cols)
	for step := range steps {
		batch, err := s.Begin(0, uint64(from+step))
		if err != nil {
			return means, sizes, err
		}
		for k, i := range batch {
			if err := s.Add(k, gradient(g, i)); err != nil {
				return means, sizes, err
			}
		}
		if err := s.Finish(mean); err != nil {
			return means, sizes, err
		}
		means, sizes = append(means, mean...), append(sizes, len(batch))
	}
	return means, sizes, s.Check()
}

// The event says what was done: sampler, rate, relation, and the sensitivity that
// the relation gives.
func TestDPSGDEvents(t *testing.T) {
	for _, c := range []struct {
		d    DPSGD
		want privacy.Sampled
	}{
		{poissonSGD, privacy.Sampled{Event: privacy.Gaussian{Sigma: 1.125, Sensitivity: 0.75, Unit: privacy.Sample, Neighbouring: privacy.AddRemove}, Rate: 0.05, Method: privacy.Poisson}},
		{fixedSGD, privacy.Sampled{Event: privacy.Gaussian{Sigma: 1.125, Sensitivity: 1.5, Norm: 0.75, Unit: privacy.Sample, Neighbouring: privacy.Replace}, Rate: 0.05, Method: privacy.WithoutReplacement}},
	} {
		s, l := openSGD[float32](t, c.d, 300)
		if _, _, err := descend(s, 0, 40); err != nil {
			t.Fatal(err)
		}
		e := l.Entries()
		if len(e) != 1 || e[0].Event != privacy.Event(c.want) || e[0].Count != 40 || e[0].Purpose != "gradient" || e[0].PerUnit != 0 {
			t.Errorf("%v, want 40 of %v", e, c.want)
		}
	}
	// A rate that rounds down would be a promise too much.
	for n := int64(1); n < 3000; n += 7 {
		for b := int64(1); b <= n; b += 1 + n/13 {
			d := fixedSGD
			d.Examples, d.Batch = n, b
			r := d.sampled().Rate
			if math.FMA(r, float64(n), -float64(b)) < 0 || r > 1 || r > float64(b)/float64(n)*(1+1e-15) {
				t.Fatalf("rate %v of %d in %d", r, b, n)
			}
		}
	}
}

// The sum that noise is added to moves, between neighbours, by no more than the
// event says: by search over random and adversarial gradients. And it is attained.
func TestDPSGDSensitivity(t *testing.T) {
	s := rng.Seed(5).Stream("search")
	const dim = 6
	for _, d := range []DPSGD{poissonSGD, fixedSGD} {
		want := d.sampled().Event.(privacy.Gaussian).Sensitivity
		worst := 0.0
		for trial := range 4000 {
			a, b := make([]float64, dim), make([]float64, dim)
			for i := range a {
				a[i] = s.NormFloat64() * math.Exp2(float64(s.IntN(9)-4))
				b[i] = -a[i]
				if trial%2 == 0 {
					b[i] = s.NormFloat64()
				}
			}
			if d.Sampling == privacy.Poisson {
				clear(b) // the example is not there
			}
			for _, v := range [][]float64{a, b} {
				if _, err := channel.Clip(v, d.Clip); err != nil {
					t.Fatal(err)
				}
			}
			moved := 0.0
			for i := range a {
				moved += (a[i] - b[i]) * (a[i] - b[i])
			}
			worst = max(worst, math.Sqrt(moved))
		}
		if worst > want || worst < want*(1-1e-9) {
			t.Errorf("%s: neighbours' sums differ by %v at most, the event says %v", d.Sampling, worst, want)
		}
	}
}

// Noise has the scale of the event, the mean is unbiased for the sum over all
// examples at the sampling rate, and the denominator is the expected size.
func TestDPSGDMean(t *testing.T) {
	for _, d := range []DPSGD{poissonSGD, fixedSGD} {
		const dim, steps = 64, 1500
		s, _ := openSGD[float64](t, d, dim)
		means, sizes, err := descend(s, 0, steps)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(sizes); d.Sampling == privacy.WithoutReplacement && (slices.Min(sizes) != 50 || slices.Max(sizes) != 50) ||
			d.Sampling == privacy.Poisson && (slices.Min(sizes) > 40 || slices.Max(sizes) < 60) {
			t.Errorf("%d batches of %d to %d", n, slices.Min(sizes), slices.Max(sizes))
		}
		full, g, sq := make([]float64, dim), make([]float64, dim), make([]float64, dim)
		for i := range int32(d.Examples) {
			if _, err := channel.Clip(gradient(g, i), d.Clip); err != nil {
				t.Fatal(err)
			}
			for k, x := range g {
				full[k] += x
				sq[k] += x * x
			}
		}
		for k := range dim {
			sum := 0.0
			for step := range steps {
				sum += means[step*dim+k]
			}
			// Of one mean: noise, and the choice of the examples (at most that of Poisson batches).
			deviation := math.Sqrt(d.Sigma()*d.Sigma()+0.05*sq[k]) / 50 / math.Sqrt(steps)
			if got, want := sum/steps, full[k]/1000; math.Abs(got-want) > mechanismtest.Sigmas*deviation {
				t.Errorf("%s: coordinate %d has mean %g, want %g ± %g", d.Sampling, k, got, want, mechanismtest.Sigmas*deviation)
			}
		}
		noise := s.State().Noise
		n := float64(noise.Values)
		if scale := math.Sqrt(float64(noise.SumSq) / n); math.Abs(scale-1) > mechanismtest.Sigmas/math.Sqrt(2*n) || n != steps*noiseCols {
			t.Errorf("%s: noise of %g times the scale over %g values", d.Sampling, scale, n)
		}
	}
}

// An empty batch is noise alone: the step is recorded and divided like any other.
func TestEmptyBatch(t *testing.T) {
	d := poissonSGD
	d.Rate = 1e-9
	s, l := openSGD[float64](t, d, 300)
	batch, err := s.Begin(0, 0)
	if err != nil || len(batch) != 0 {
		t.Fatal(batch, err)
	}
	mean := make([]float64, 300)
	if err := s.Finish(mean); err != nil {
		t.Fatal(err)
	}
	sq := 0.0
	for _, x := range mean {
		sq += x * x
	}
	// Noise of sigma over the expected size, 1e-6: chi-square of 300 within 6.11 standard deviations and the skew's share.
	if r := math.Sqrt(sq/300) / (d.Sigma() / 1e-6); math.Abs(r-1) > 0.35 || mechanismtest.CountOf(l) != 1 {
		t.Errorf("noise of %g times the scale, %d releases", r, mechanismtest.CountOf(l))
	}
}

// Bytes depend on seed and key: not on what ran before, nor on a checkpoint
// between, and other keys and seeds give other batches and noise.
func TestDPSGDIsKeyedAndResumes(t *testing.T) {
	for _, d := range []DPSGD{poissonSGD, fixedSGD} {
		whole, _ := openSGD[float32](t, d, 70)
		want, sizes, err := descend(whole, 0, 12)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := openSGD[float32](t, d, 70)
		a, _, err := descend(first, 0, 7)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(first.State())
		if err != nil {
			t.Fatal(err)
		}
		var st State
		if err := json.Unmarshal(b, &st); err != nil {
			t.Fatal(err)
		}
		second, _ := openSGD[float32](t, d, 70)
		if err := second.Restore(st); err != nil {
			t.Fatal(err)
		}
		c, _, err := descend(second, 7, 5)
		if err != nil {
			t.Fatal(err)
		}
		if got := append(a, c...); !slices.Equal(got, want) {
			t.Errorf("%s: resumed run differs", d.Sampling)
		}
		if second.own.batches.seen != whole.own.batches.seen {
			t.Errorf("%s: checks forgot %v, want %v", d.Sampling, second.own.batches.seen, whole.own.batches.seen)
		}
		if _, err := second.Begin(0, 11); err == nil {
			t.Errorf("%s: a key was used twice", d.Sampling)
		}
		if d.Sampling == privacy.Poisson && len(slices.Compact(slices.Sorted(slices.Values(sizes)))) < 3 {
			t.Errorf("batches of %v", sizes)
		}
	}
}

func TestDPSGDRestoreRefuses(t *testing.T) {
	s, _ := openSGD[float32](t, poissonSGD, 70)
	if _, _, err := descend(s, 0, 4); err != nil {
		t.Fatal(err)
	}
	good := s.State()
	for name, change := range map[string]func(*State){
		"run that failed": func(st *State) { st.Failed = "x" },
		"examples at":     func(st *State) { st.Rate = 0.06 },
		"1001 examples":   func(st *State) { st.Examples++ },
		"contradicts":     func(st *State) { st.Batches.Common = st.Batches.Paired + 1 },
		"itself":          func(st *State) { st.Checked = st.Batches.Batches + 1 },
		"sigma":           func(st *State) { st.Noise.Sigma *= 2 },
		"middle":          func(st *State) { st.Noise.Open = 1 },
		"last batch":      func(st *State) { st.Batches.Batches, st.First = 5, []int32{2, 2} },
		"that is none":    func(st *State) { st.First = []int32{2} },
	} {
		st := good
		change(&st)
		fresh, _ := openSGD[float32](t, poissonSGD, 70)
		if err := fresh.Restore(st); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Restore(good); err == nil {
		t.Error("a run was restored that was begun already")
	}
	failed, _ := openSGD[float32](t, poissonSGD, 70)
	if failed.Add(0, nil) == nil || failed.Restore(good) == nil || failed.State().Failed == "" {
		t.Error("a run that failed was restored")
	}
}

// faulty opens the noise of poissonSGD with another sampler.
func faulty(add func(r rng.Stream, dst []float32, sigma float32)) *channel.Channel[float32] {
	l := mechanismtest.Must(privacy.NewLedger(privacy.Research))
	g := channel.Gaussian{Purpose: poissonSGD.Purpose, Sigma: poissonSGD.Sigma(), Sensitivity: poissonSGD.Clip, Unit: poissonSGD.Unit,
		Neighbouring: privacy.AddRemove}
	return mechanismtest.Must(channel.New(channel.Noise[float32]{Purpose: g.Purpose, Law: g.Law(), Add: add}, l, rng.Seed(8).Stream("faulty")))
}

// addNormals adds normal noise of a standard deviation.
func addNormals(r rng.Stream, dst []float32, sigma float32) {
	for i := range dst {
		dst[i] += sigma * float32(r.NormFloat64())
	}
}

// Every fault that this mechanism watches for ends the run, with its name.
func TestDPSGDPlantedFaults(t *testing.T) {
	for name, f := range map[string]struct {
		d     DPSGD
		steps int
		plant func(s *Steps[float32])
	}{
		"scale": {poissonSGD, 50, func(s *Steps[float32]) { // variance for deviation
			s.own.noise = faulty(func(r rng.Stream, dst []float32, sigma float32) { addNormals(r, dst, sigma*sigma) })
		}},
		"mean": {poissonSGD, 50, func(s *Steps[float32]) { // drawn once per run
			s.own.noise = faulty(func(_ rng.Stream, dst []float32, sigma float32) {
				for i := range dst {
					dst[i] += sigma * 1.2 * float32(1-2*(i/200))
				}
			})
		}},
		"norm of a gradient": {poissonSGD, 1, func(s *Steps[float32]) {
			s.own.clip = func([]float32, float64) (bool, error) { return false, nil }
		}},
		"norm of a gradient ": {poissonSGD, 1, func(s *Steps[float32]) { // clipped to twice the bound
			s.own.clip = func(v []float32, c float64) (bool, error) { return channel.Clip(v, 2*c) }
		}},
		"squared deviations": {poissonSGD, 300, func(s *Steps[float32]) { // fixed batches passed as Poisson ones
			fixed := newBatches(s.d.Examples, privacy.WithoutReplacement, 0, 50)
			s.own.batches.draw = func(_ *batches, r rng.Stream, to []int32) []int32 { return fixed.fixed(r, to) }
		}},
		"in two batches in a row": {poissonSGD, 20, func(s *Steps[float32]) { // one batch for ever
			s.own.batches.draw = func(b *batches, _ rng.Stream, to []int32) []int32 { return b.poisson(rng.Seed(1).Stream("once"), to) }
		}},
		"in two batches in a row ": {fixedSGD, 300, func(s *Steps[float32]) { // passes over a shuffled order
			s.own.batches.draw = func(b *batches, _ rng.Stream, to []int32) []int32 {
				order := rng.Seed(2).Stream("pass", uint64(b.seen.Batches/20))
				at := b.seen.Batches % 20 * 50
				to = append(to, order.Perm(1000)[at:at+50]...)
				slices.Sort(to)
				return to
			}
		}},
		"number of examples in batches": {poissonSGD, 100, func(s *Steps[float32]) { // another rate
			s.own.batches.field = mechanism.NewField(0.06)
		}},
		"number of examples": {poissonSGD, 40, func(s *Steps[float32]) { // all or nothing
			s.own.batches.draw = func(b *batches, r rng.Stream, to []int32) []int32 {
				if r.Float64() < b.rate {
					for i := range int32(b.n) {
						to = append(to, i)
					}
				}
				return to
			}
		}},
		"largest deviation ": {fixedSGD, 3, func(s *Steps[float32]) { // Poisson batches passed as fixed ones
			poisson := newBatches(s.d.Examples, privacy.Poisson, 0.05, 0)
			s.own.batches.draw = func(_ *batches, r rng.Stream, to []int32) []int32 { return poisson.poisson(r, to) }
		}},
	} {
		s, _ := openSGD[float32](t, f.d, 300)
		f.plant(s)
		_, _, err := descend(s, 0, f.steps)
		var ce *mechanism.CheckError
		if !errors.As(err, &ce) || !strings.Contains(ce.What, strings.TrimSpace(name)) || !ce.Final() {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Check() == nil || s.Finish(nil) == nil {
			t.Errorf("%s: the run goes on", name)
		}
		if _, err := s.Begin(9, 9); err == nil {
			t.Errorf("%s: the run goes on", name)
		}
	}
}

func TestDPSGDRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, change := range map[string]func(d *DPSGD){
		"purpose":  func(d *DPSGD) { d.Purpose = "" },
		"examples": func(d *DPSGD) { d.Examples = 0 }, "examples ": func(d *DPSGD) { d.Examples = 1 << 31 },
		"unknown sampling": func(d *DPSGD) { d.Sampling = "shuffle" },
		"rate":             func(d *DPSGD) { d.Rate = 1.1 }, "rate ": func(d *DPSGD) { d.Rate = nan }, " rate": func(d *DPSGD) { d.Rate = 0 },
		"batch":  func(d *DPSGD) { d.Batch = 10 },
		"batch ": func(d *DPSGD) { d.Sampling, d.Rate, d.Batch = privacy.WithoutReplacement, 0, 1001 },
		" batch": func(d *DPSGD) { d.Sampling, d.Batch = privacy.WithoutReplacement, 10 },
		"clip":   func(d *DPSGD) { d.Clip = 0 }, "clip ": func(d *DPSGD) { d.Clip = 1e308 }, " clip": func(d *DPSGD) { d.Clip = nan },
		"noise multiplier": func(d *DPSGD) { d.NoiseMultiplier = -1 }, "noise multiplier ": func(d *DPSGD) { d.NoiseMultiplier = inf },
		"unit": func(d *DPSGD) { d.Unit = "x" }, "share": func(d *DPSGD) { d.Share = 2 },
		"range": func(d *DPSGD) { d.Clip = 1e-60 }, "sigma": func(d *DPSGD) { d.NoiseMultiplier, d.Clip = 1e300, 1e300 },
	} {
		d := poissonSGD
		change(&d)
		l := mechanismtest.Ledger(t)
		if _, err := Open[float32](d, 5, l, rng.Stream{}); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) || mechanismtest.CountOf(l) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open[float32](poissonSGD, 0, mechanismtest.Ledger(t), rng.Stream{}); err == nil {
		t.Error("gradients of no values")
	}
	secure, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*privacy.Ledger{nil, secure} {
		if _, err := Open[float32](poissonSGD, 5, l, rng.Stream{}); err == nil {
			t.Error("no ledger for research noise")
		}
	}
}

// A gradient that is not finite counts as 0, in every way to add it: no error tells of its example.
func TestNotFiniteCountsAsZero(t *testing.T) {
	const dim = 6
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		var dense, rows, all [2][]float32
		for i, first := range [][]float32{{1, bad, 0, 0, 0, 0}, make([]float32, dim)} {
			s, _ := openSGD[float32](t, poissonSGD, dim)
			batch, err := s.Begin(1)
			for k, e := range batch {
				g := gradient(make([]float32, dim), e)
				if k == 0 {
					copy(g, first)
				}
				err = errors.Join(err, s.Add(k, g))
			}
			dense[i] = make([]float32, dim)
			if err = errors.Join(err, s.Finish(dense[i])); err != nil {
				t.Fatal(bad, err)
			}
			for at, to := range []*[2][]float32{&rows, &all} {
				s, err := OpenRows[float32](poissonSGD, 3, 2, mechanismtest.Ledger(t), rng.Seed(8).Stream("rows"))
				if err != nil {
					t.Fatal(err)
				}
				batch, err := s.Begin(1)
				var ends []int
				var ids []int32
				var values []float32
				for k, e := range batch {
					g := gradient(make([]float32, dim), e)
					if k == 0 {
						copy(g, first)
					}
					ids, values, ends = append(ids, 0, 1, 2), append(values, g...), append(ends, 3*(k+1))
					if at == 0 {
						err = errors.Join(err, s.Add(k, []int32{0, 1, 2}, g))
					}
				}
				if at == 1 {
					err = errors.Join(err, s.AddAll(inOrder, ends, ids, values))
				}
				to[i] = make([]float32, dim)
				if err = errors.Join(err, s.Finish(inOrder, func(at int, sum []float32) { copy(to[i][at:], sum) })); err != nil {
					t.Fatal(bad, err)
				}
			}
		}
		for name, got := range map[string][2][]float32{"dense": dense, "rows": rows, "all rows": all} {
			if !slices.Equal(got[0], got[1]) {
				t.Errorf("%s, %v: %v, with 0 %v", name, bad, got[0], got[1])
			}
		}
	}
}

// Misuse of a step ends the run, and a closed ledger lets none begin.
func TestDPSGDMisuse(t *testing.T) {
	const dim = 5
	g := make([]float32, dim)
	begin := func(t *testing.T) (*Steps[float32], *privacy.Ledger, []int32) {
		s, l := openSGD[float32](t, poissonSGD, dim)
		b, err := s.Begin(1)
		if err != nil || len(b) < 2 {
			t.Fatal(b, err)
		}
		return s, l, b
	}
	for name, misuse := range map[string]func(s *Steps[float32], n int) error{
		"before the last":    func(s *Steps[float32], _ int) error { _, err := s.Begin(2); return err },
		"want them in order": func(s *Steps[float32], _ int) error { return s.Add(1, g) },
		"gradient of 4":      func(s *Steps[float32], _ int) error { return s.Add(0, g[:4]) },
		"after 0 of":         func(s *Steps[float32], _ int) error { return s.Finish(g) },
		"mean of 4": func(s *Steps[float32], n int) error {
			for k := range n {
				if err := s.Add(k, g); err != nil {
					return err
				}
			}
			return s.Finish(g[:4])
		},
	} {
		s, l, b := begin(t)
		if err := misuse(s, len(b)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Add(0, g); err == nil || s.Check() == nil || mechanismtest.CountOf(l) != 1 {
			t.Errorf("%s: the run goes on", name)
		}
	}
	s, _, _ := begin(t)
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "not finished") {
		t.Errorf("a step that was not finished passed: %v", err)
	}
	s, l := openSGD[float32](t, poissonSGD, dim)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := s.Begin(0); err == nil || b != nil {
		t.Error("a step that is on no record")
	}
}

// The law of the samplers on few examples: every subset, with its probability.
// Chi-square with 31 or 9 degrees of freedom stays below n + 2 sqrt(n x) + 2x at x = 21.
func TestBatchLaws(t *testing.T) {
	s := rng.Seed(6).Stream("law")
	for _, c := range []struct {
		method privacy.Sampling
		rate   float64
		size   int64
	}{{privacy.Poisson, 0.3, 0}, {privacy.Poisson, 1.0 / 64, 0}, {privacy.Poisson, 1, 0}, {privacy.WithoutReplacement, 0, 2}, {privacy.WithoutReplacement, 0, 5}} {
		const n, draws = 5, 20_000
		b := newBatches(n, c.method, c.rate, c.size)
		seen := map[int]float64{}
		var to []int32
		for i := range uint64(draws) {
			to = b.next(s.Sub(i), to)
			set := 0
			for _, e := range to {
				set |= 1 << e
			}
			if !slices.IsSorted(to) || set >= 1<<n {
				t.Fatalf("batch %v", to)
			}
			seen[set]++
		}
		if err := b.check("law", 22); err != nil {
			t.Error(err)
		}
		chi, cells := 0.0, 0.0
		for set := range 1 << n {
			k := 0.0
			for e := range n {
				k += float64(set >> e & 1)
			}
			p := math.Pow(c.rate, k) * math.Pow(1-c.rate, n-k)
			if c.method == privacy.WithoutReplacement {
				p = 0
				if k == float64(c.size) {
					p = map[int64]float64{2: 0.1, 5: 1}[c.size]
				}
			}
			if p == 0 && seen[set] > 0 {
				t.Errorf("%v: set %b, which cannot be", c, set)
			}
			if e := p * draws; e > 10 {
				chi += (seen[set] - e) * (seen[set] - e) / e
				cells++
			}
		}
		if limit := cells + 2*math.Sqrt(cells*21) + 42; chi > limit {
			t.Errorf("%v: chi-square %g over %g sets, want at most %g", c, chi, cells, limit)
		}
	}
}

// One batch far off, among many that make up for it.
func TestOneWideBatch(t *testing.T) {
	b := newBatches(1000, privacy.Poisson, 0.05, 0)
	b.seen = batchTally{Batches: 100, Examples: 5000, SumSq: 4750, Widest: 60}
	if err := b.check("p", 22); err != nil { // |S - 50| <= sqrt(2 47.5 26.6) + 17.7
		t.Error(err)
	}
	b.seen.Widest = 69
	var ce *mechanism.CheckError
	if err := b.check("p", 22); !errors.As(err, &ce) || !strings.Contains(ce.What, "largest") {
		t.Errorf("%v", err)
	}
}

func BenchmarkDPSGDStep(b *testing.B) {
	for _, n := range []int64{60_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := poissonSGD
			d.Examples, d.Rate = n, 256/float64(n)
			s, _ := openSGD[float32](b, d, 166_400)
			mean := make([]float32, 166_400)
			for i := range b.N {
				batch, err := s.Begin(0, uint64(i))
				if err != nil {
					b.Fatal(err)
				}
				for k := range batch {
					mean[k] = 1
					if err := s.Add(k, mean); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Finish(mean); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
