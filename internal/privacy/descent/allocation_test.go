package descent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

var allocatedSGD = DPSGD{Purpose: "gradient", Clip: 0.75, NoiseMultiplier: 1.5, Examples: 1000,
	Sampling: privacy.Allocation, Steps: 20, Unit: privacy.Sample}

// epochOf returns the step of every example in the next epoch.
func epochOf(t *testing.T, b *batches, s rng.Stream) []int32 {
	t.Helper()
	in := slices.Repeat([]int32{-1}, int(b.n))
	var to []int32
	for k := range int32(b.epoch.steps) {
		to = b.next(s, to)
		if !slices.IsSorted(to) {
			t.Fatalf("a batch is %v", to)
		}
		for _, i := range to {
			if in[i] >= 0 {
				t.Fatalf("example %d is in steps %d and %d", i, in[i], k)
			}
			in[i] = k
		}
	}
	if slices.Min(in) < 0 || b.broken != nil {
		t.Fatalf("the steps of examples are %v: %v", in, b.broken)
	}
	return in
}

// Every allocation of few examples has the same probability, and so has every pair of steps of one example in two
// epochs in a row, seeded and secret: chi-square, false alarm 1e-9 each.
func TestAllocationLaw(t *testing.T) {
	const n, steps, epochs = 4, 3, 20_000
	for name, b := range map[string]*batches{"seeded": newAllocated(n, steps), "secret": newSecretAllocated(n, steps)} {
		counts, pairs, last := make([]int, 81), make([]int, 9), int32(0)
		for e := range uint64(epochs) {
			in, at := epochOf(t, b, rng.Seed(4).Stream("epochs", e)), int32(0)
			for _, k := range in {
				at = steps*at + k
			}
			counts[at]++
			if e%2 == 1 {
				pairs[steps*last+in[0]]++
			}
			last = in[0]
		}
		mechanismtest.CheckCounts(t, name+": allocations", counts, func(int) float64 { return 1.0 / 81 })
		mechanismtest.CheckCounts(t, name+": epochs in a row", pairs, func(int) float64 { return 1.0 / 9 })
		if err := b.check("law", 22.5); err != nil { // 6 exp(-22.5) < 1.1e-9
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Without the last example every other example keeps its step, in every epoch.
func TestAllocationOfNeighbours(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, steps := rapid.Int64Range(2, 300).Draw(rt, "examples"), rapid.Int64Range(1, 40).Draw(rt, "steps")
		s := rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("neighbours")
		all, less := newAllocated(n, steps), newAllocated(n-1, steps)
		for e := range uint64(3) {
			a, b := epochOf(t, all, s.Sub(e)), epochOf(t, less, s.Sub(e))
			if !slices.Equal(a[:n-1], b) {
				rt.Fatalf("epoch %d: steps are %v, without the last example %v", e, a, b)
			}
		}
	})
}

// Correct batches pass their check at every number of steps and epochs, at the false alarm of a run.
func TestAllocationPassesItsCheck(t *testing.T) {
	for _, c := range []struct{ n, steps, epochs int64 }{
		{1, 1, 5}, {1, 7, 30}, {50, 1, 9}, {40, 40, 60}, {3000, 10, 120}, {200, 1000, 4},
	} {
		b := newAllocated(c.n, c.steps)
		var to []int32
		for k := range uint64(c.epochs * c.steps) {
			to = b.next(rng.Seed(5).Stream("check", k/uint64(c.steps)), to)
			if err := errors.Join(b.fault("p"), b.check("p", 24)); err != nil { // 7 exp(-24) < 2.7e-10
				t.Fatalf("%+v, step %d: %v", c, k, err)
			}
		}
	}
}

// An epoch is in the ledger before its first batch is drawn, once, and whole if the run ends within it.
func TestAllocationLedger(t *testing.T) {
	want := privacy.AllocatedGaussian{Sigma: 1.125, Sensitivity: 0.75, Times: 1, Steps: 20,
		Unit: privacy.Sample, Neighbouring: privacy.AddRemove}
	s, l := openSGD[float32](t, allocatedSGD, 30)
	for step, count := range map[int]int64{0: 0, 1: 1, 20: 1, 21: 2, 40: 2, 41: 3} {
		if got := allocatedSGD.Count(int64(step)); got != count {
			t.Errorf("%d steps are %d epochs, want %d", step, got, count)
		}
	}
	g, mean := make([]float32, 30), make([]float32, 30)
	for step := range uint64(45) {
		batch, err := s.Begin(0, step)
		if err != nil {
			t.Fatal(err)
		}
		if n := mechanismtest.CountOf(l); n != allocatedSGD.Count(int64(step)+1) {
			t.Fatalf("step %d: the ledger has %d epochs before a row has noise", step, n)
		}
		for k, i := range batch {
			if err := s.Add(k, gradient(g, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Finish(mean); err != nil {
			t.Fatal(err)
		}
	}
	if e := l.Entries(); s.Check() != nil || len(e) != 1 || e[0].Event != privacy.Event(want) ||
		e[0].Count != 3 || e[0].Purpose != "gradient" || e[0].PerUnit != 0 {
		t.Errorf("%v, want 3 of %v", e, want)
	}
	if got := allocatedSGD.ExpectedBatch(); got != 50 {
		t.Errorf("sums are divided by %v", got)
	}
	d := allocatedSGD
	if d.Stated = 1100; d.ExpectedBatch() != 55 {
		t.Errorf("sums are divided by %v of the stated number", d.ExpectedBatch())
	}
}

// A run that goes on within an epoch draws the same batches, and pays for the epoch no second time.
func TestAllocationResumesWithinAnEpoch(t *testing.T) {
	const steps = 45
	whole, _ := openSGD[float32](t, allocatedSGD, 12)
	want, _, err := descend(whole, 0, steps)
	if err != nil {
		t.Fatal(err)
	}
	for from := range steps {
		first, _ := openSGD[float32](t, allocatedSGD, 12)
		a, _, err := descend(first, 0, from)
		if err != nil {
			t.Fatal(err)
		}
		var st State
		if err := json.Unmarshal(mechanismtest.Must(json.Marshal(first.State())), &st); err != nil {
			t.Fatal(err)
		}
		second, l := openSGD[float32](t, allocatedSGD, 12)
		if err := second.Restore(st); err != nil {
			t.Fatal(err)
		}
		b, _, err := descend(second, from, steps-from)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(append(a, b...), want) {
			t.Errorf("resumed at %d the bytes differ", from)
		}
		if n := mechanismtest.CountOf(l); n != 3-allocatedSGD.Count(int64(from)) {
			t.Errorf("resumed at %d, %d epochs are paid", from, n)
		}
		x, y := second.own.batches.seen, whole.own.batches.seen
		if x != y {
			t.Errorf("resumed at %d the counts are %v, want %v", from, x, y)
		}
	}
}

func TestAllocationRestoreRefuses(t *testing.T) {
	s, _ := openSGD[float32](t, allocatedSGD, 12)
	if _, _, err := descend(s, 0, 25); err != nil {
		t.Fatal(err)
	}
	good := s.State()
	for name, change := range map[string]func(*State){
		"epochs of 21 steps": func(st *State) { st.Steps++ },
		"other batches":      func(st *State) { st.Epoch = []uint64{0, 21} },
		"of an epoch with":   func(st *State) { st.Batches.Examples++ },
		"contradicts":        func(st *State) { st.Noise.Paid-- },
		"itself":             func(st *State) { st.Batches.Batches, st.Noise.Paid = 40, 0 },
		"a last batch":       func(st *State) { st.First = []int32{3} },
	} {
		st := good
		change(&st)
		fresh, _ := openSGD[float32](t, allocatedSGD, 12)
		if err := fresh.Restore(st); err == nil || !strings.Contains(err.Error(), name) ||
			fresh.State().Batches != (batchTally{}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	poisson, _ := openSGD[float32](t, poissonSGD, 12)
	if poisson.Restore(good) == nil {
		t.Error("epochs were restored as Poisson batches")
	}
}

// Every fault that random allocation is checked for ends the run, with its name.
func TestAllocationPlantedFaults(t *testing.T) {
	allocated := (*batches).allocated
	for name, f := range map[string]struct {
		steps int
		draw  func(b *batches, s rng.Stream, to []int32) []int32
	}{
		"batches of an epoch that an example is in": {2, func(b *batches, s rng.Stream, to []int32) []int32 {
			// Poisson batches
			return append(allocated(b, s, to), b.epoch.order[0])
		}},
		"number of examples of an epoch": {20, func(b *batches, s rng.Stream, to []int32) []int32 {
			// an example is left out
			return slices.DeleteFunc(allocated(b, s, to), func(i int32) bool { return i == 7 })
		}},
		"squared deviations": {80 * 20, func(b *batches, s rng.Stream, to []int32) []int32 {
			// passes over a shuffled order
			if b.step() == 0 {
				order := s.Perm(int(b.n))
				at := make([]int, b.n)
				for k, i := range order {
					at[i] = k
				}
				b.epoch.assign(func(i int) int { return at[i] / 50 })
			}
			return b.epoch.batch(b.step(), to)
		}},
		"two epochs in a row": {80, func(b *batches, _ rng.Stream, to []int32) []int32 { // one allocation for ever
			return allocated(b, rng.Seed(1).Stream("once"), to)
		}},
		"largest deviation": {20, func(b *batches, _ rng.Stream, to []int32) []int32 { // all in one step
			b.epoch.assign(func(int) int { return 0 })
			return b.epoch.batch(b.step(), to)
		}},
	} {
		s, _ := openSGD[float32](t, allocatedSGD, 3)
		s.own.batches.draw = f.draw
		_, _, err := descend(s, 0, f.steps)
		var ce *mechanism.CheckError
		if !errors.As(err, &ce) || !strings.Contains(ce.What, name) || ce.Purpose != "gradient" || !ce.Final() {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Begin(9, 9); err == nil {
			t.Errorf("%s: the run goes on", name)
		}
	}
}

// With many steps one epoch is enough to find batches of a fixed size.
func TestFixedSizesInOneEpoch(t *testing.T) {
	const n, steps = 5000, 1000
	b := newAllocated(n, steps)
	b.seen = batchTally{Batches: steps, Examples: n}
	var ce *mechanism.CheckError
	if err := b.check("p", 24); !errors.As(err, &ce) || !strings.Contains(ce.What, "squared") {
		t.Error(err)
	}
}

func TestAllocationRefuses(t *testing.T) {
	for name, change := range map[string]func(d *DPSGD){
		"epoch has 0 steps":              func(d *DPSGD) { d.Steps = 0 },
		"epoch has -1":                   func(d *DPSGD) { d.Steps = -1 },
		"no rate":                        func(d *DPSGD) { d.Rate = 0.05 },
		"no batch":                       func(d *DPSGD) { d.Batch = 50 },
		"unknown sampling":               func(d *DPSGD) { d.Sampling = "allocations" },
		"allocation alone":               func(d *DPSGD) { d.Sampling, d.Rate = privacy.Poisson, 0.05 },
		"stated number of examples is -": func(d *DPSGD) { d.Stated = -1 },
	} {
		d := allocatedSGD
		change(&d)
		l := mechanismtest.Ledger(t)
		if _, err := Open[float32](d, 5, l, rng.Stream{}); err == nil || !strings.Contains(err.Error(), name) ||
			mechanismtest.CountOf(l) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The bytes of an epoch do not depend on how many workers add its gradients and noise.
func TestAllocationWorkers(t *testing.T) {
	const rows, cols = 40, 33
	var want []float32
	for _, workers := range []int{1, 2, 5} {
		parallel := func(n, _ int, body func(chunk, lo, hi int)) {
			per, done := (n+workers-1)/workers, make(chan struct{})
			for w := range workers {
				go func() {
					body(w, min(n, w*per), min(n, (w+1)*per))
					done <- struct{}{}
				}()
			}
			for range workers {
				<-done
			}
		}
		s := mechanismtest.Must(OpenRows[float32](allocatedSGD, rows, cols, mechanismtest.Ledger(t),
			rng.Seed(8).Stream("rows")))
		var got []float32
		for step := range uint64(25) {
			batch := mechanismtest.Must(s.Begin(0, step))
			var ends []int
			var ids []int32
			var values []float32
			for k, i := range batch {
				ids, ends = append(ids, i%rows), append(ends, k+1)
				values = append(values, gradient(make([]float32, cols), i)...)
			}
			sum := make([]float32, rows*cols)
			if err := errors.Join(s.AddAll(parallel, ends, ids, values),
				s.Finish(parallel, func(at int, part []float32) { copy(sum[at:], part) })); err != nil {
				t.Fatal(err)
			}
			got = append(got, sum...)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers give other bytes", workers)
		}
	}
}

var allocatedSecret = DPSGD{Purpose: "gradients", Clip: 0.5, NoiseMultiplier: 1.3, Examples: 40,
	Sampling: privacy.Allocation, Steps: 4, Unit: privacy.User}

// The event of secure noise is an epoch of normal noise whose deviation is below that of the discrete noise, by
// the variance of its rounding: 8 squared steps.
func TestSecretAllocationEvent(t *testing.T) {
	for _, dim := range []int{1, 10, 1 << 20} {
		e := mechanismtest.Must(SecretEvent(allocatedSecret, dim)).(privacy.AllocatedGaussian)
		poisson := allocatedSecret
		poisson.Sampling, poisson.Steps, poisson.Rate = privacy.Poisson, 0, 0.25
		discrete := mechanismtest.Must(SecretEvent(poisson, dim)).(privacy.Sampled).Event.(privacy.DiscreteGaussian)
		if e.Steps != 4 || e.Times != 1 || e.Unit != privacy.User || e.Neighbouring != privacy.AddRemove ||
			e.Sensitivity != discrete.Sensitivity || !(e.Sigma*e.Sigma <= discrete.Sigma*discrete.Sigma-8) ||
			e.Sigma < discrete.Sigma*(1-1e-5) {
			t.Errorf("%d values: %+v in place of %+v", dim, e, discrete)
		}
	}
	d := allocatedSecret
	d.Sampling, d.Steps, d.Batch = privacy.WithoutReplacement, 0, 10
	if _, err := SecretEvent(d, 10); err == nil || !strings.Contains(err.Error(), string(privacy.Allocation)) {
		t.Error(err)
	}
}

// A run with secure noise is stopped within an epoch. The next attempt passes over the rest of it, whatever the
// checkpoint knows, and draws the next epoch whole: the ledger never has more epochs than were planned, and no step of
// an epoch is drawn by two attempts.
func TestLostEpochsStayReleases(t *testing.T) {
	const planned, steps = 4, 15 // the last epoch has 3 of its 4 steps
	for _, c := range []struct{ kept, drawn int64 }{
		{0, 0}, {0, 2}, {2, 2}, {2, 3}, {2, 6}, {4, 4}, {4, 5}, {3, 9}, {13, 14},
	} {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		l := mechanismtest.Must(privacy.CreateLedger(path, privacy.Secure, nil))
		s := mechanismtest.Must(OpenSecret[float32](allocatedSecret, 10, l, tensor.Parallel))
		mean := make([]float32, 10)
		at, kept := mechanismtest.Must(l.State()), s.State()
		for n := range c.drawn {
			step(t, s, uint64(n), mean, 0.1)
			if n+1 == c.kept {
				at, kept = mechanismtest.Must(l.State()), s.State()
			}
		}
		// A step that was only begun counts too: its noise may have been drawn. The process then ends without a word.
		if _, err := s.Begin(0, uint64(c.drawn)); err != nil {
			t.Fatal(err)
		}
		paid := allocatedSecret.Count(c.drawn + 1)
		again := mechanismtest.Must(privacy.ResumeLedger(path, at, nil))
		if err := again.Limit(privacy.Plan{Releases: []privacy.Entry{{Purpose: allocatedSecret.Purpose, Count: planned,
			Event: mechanismtest.Must(SecretEvent(allocatedSecret, 10))}}}); err != nil {
			t.Fatal(err)
		}
		r := mechanismtest.Must(OpenSecret[float32](allocatedSecret, 10, again, tensor.Parallel))
		if err := r.Restore(kept); err != nil {
			t.Fatal(err)
		}
		if n := mechanismtest.CountOf(again); n != paid {
			t.Fatalf("%+v: the ledger has %d epochs, begun were %d", c, n, paid)
		}
		made := 0
		for n := c.kept; n < steps; n++ {
			if skipped := r.Skip(); skipped != (n < 4*paid) {
				t.Fatalf("%+v: step %d is passed over: %v", c, n, skipped)
			} else if !skipped {
				step(t, r, uint64(n), mean, 0.1)
				made++
			}
		}
		if err := errors.Join(r.Check(), again.Close()); err != nil {
			t.Fatal(err)
		}
		if n := mechanismtest.CountOf(mechanismtest.Must(privacy.Reading{}.File(path))); n != planned ||
			made != int(max(0, steps-4*paid)) {
			t.Errorf("%+v: the ledger has %d epochs, planned were %d; %d steps were made", c, n, planned, made)
		}
	}
}

func FuzzAllocatedState(f *testing.F) {
	d := allocatedSGD
	d.Examples, d.Steps = 60, 4
	open := func() *Steps[float32] {
		return mechanismtest.Must(Open[float32](d, 20, mechanismtest.Must(privacy.NewLedger(privacy.Research)),
			rng.Seed(2).Stream("fuzz")))
	}
	run := open()
	for step := range 6 {
		f.Add(mechanismtest.Must(json.Marshal(run.State())))
		if _, _, err := descend(run, step, 1); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var st State
		if json.Unmarshal(b, &st) != nil {
			return
		}
		run := open()
		if run.Restore(st) != nil {
			if run.State().Batches != (batchTally{}) {
				t.Fatal("a refused state left its mark")
			}
			return
		}
		want, got := mechanismtest.Must(json.Marshal(st)), mechanismtest.Must(json.Marshal(run.State()))
		if string(got) != string(want) {
			t.Fatalf("%s restored as %s", want, got)
		}
		if _, err := run.Begin(math.MaxUint64 - 1); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkAllocation(b *testing.B) {
	for _, n := range []int64{60_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := newAllocated(n, n/256)
			for i := range uint64(b.N) {
				e.allocate(rng.Seed(1).Stream("epoch", i))
			}
		})
	}
}
