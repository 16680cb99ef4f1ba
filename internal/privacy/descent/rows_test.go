package descent

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

func openRows[T mechanism.Float](t testing.TB, d DPSGD, rows, cols int) (*RowSteps[T], *privacy.Ledger) {
	t.Helper()
	l := mechanismtest.Ledger(t)
	s, err := OpenRows[T](d, rows, cols, l, rng.Seed(8).Stream("sgd"))
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

// inOrder and backwards are two ways to scattered work over one goroutine, and scattered one over several.
func inOrder(n, _ int, body func(chunk, lo, hi int)) { body(0, 0, n) }

func backwards(n, _ int, body func(chunk, lo, hi int)) {
	for i := n - 1; i >= 0; i-- {
		body(i, i, i+1)
	}
}

func scattered(n, _ int, body func(chunk, lo, hi int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { body(i, i, i+1) })
	}
	all.Wait()
}

// rowGradient is that of an example: of no row to all but one, in no order, of norm below and above the bound.
func rowGradient[T mechanism.Float](rows, cols int, example int32) (touched []int32, values []T) {
	r := rng.Seed(example).Stream("gradient")
	for _, k := range r.Perm(rows)[:r.IntN(min(rows, 9))] {
		touched = append(touched, int32(k))
	}
	values = make([]T, len(touched)*cols)
	for i := range values {
		values[i] = T(r.NormFloat64() * math.Exp2(float64(example%5)-5))
	}
	return touched, values
}

// rowStep makes a step, without the gradient of the example that is left out, and returns the noisy sum.
func rowStep[T mechanism.Float](s *RowSteps[T], parallel Parallel, without int32, key ...uint64) ([]T, error) {
	batch, err := s.Begin(key...)
	if err != nil {
		return nil, err
	}
	var ends []int
	var allRows []int32
	var allValues []T
	for k, e := range batch {
		rows, values := rowGradient[T](s.rows, s.cols, e)
		if e == without {
			rows, values = nil, nil
		}
		if key[len(key)-1]%2 == 1 { // every other step adds all at once
			allRows, allValues = append(allRows, rows...), append(allValues, values...)
			ends = append(ends, len(allRows))
		} else if err := s.Add(k, rows, values); err != nil {
			return nil, err
		}
	}
	if len(ends) > 0 {
		if err := s.AddAll(parallel, ends, allRows, allValues); err != nil {
			return nil, err
		}
	}
	sum := make([]T, s.rows*s.cols)
	return sum, s.Finish(parallel, func(at int, part []T) { copy(sum[at:], part) })
}

// denseStep makes the same step with dense gradients, and returns the mean.
func denseStep[T mechanism.Float](s *Steps[T], rows, cols int, key ...uint64) ([]T, error) {
	batch, err := s.Begin(key...)
	if err != nil {
		return nil, err
	}
	for k, e := range batch {
		dense := make([]T, rows*cols)
		touched, values := rowGradient[T](rows, cols, e)
		for i, r := range touched {
			copy(dense[int(r)*cols:], values[i*cols:(i+1)*cols])
		}
		if err := s.Add(k, dense); err != nil {
			return nil, err
		}
	}
	mean := make([]T, rows*cols)
	return mean, s.Finish(mean)
}

// A step on rows is the step on the flattened table: bit for bit where nothing is clipped, and to the rounding
// of the clip otherwise, for any shape and in whatever order the pieces are made.
func TestRowStepsEqualDenseSteps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SampledFrom([]DPSGD{poissonSGD, fixedSGD}).Draw(rt, "sampling")
		unclipped := rapid.Bool().Draw(rt, "nothing is clipped")
		if unclipped {
			d.Clip, d.NoiseMultiplier = 1e3, 1e-3
		}
		d.Examples = 100
		if d.Batch > 0 {
			d.Batch = 7
		}
		rows, cols := rapid.IntRange(1, 300).Draw(rt, "rows"), rapid.SampledFrom([]int{1, 3, 64, 300}).Draw(rt, "cols")
		if rapid.Bool().Draw(rt, "double precision") {
			compareRows[float64](rt, t, d, rows, cols, unclipped, 1e-12)
		} else {
			compareRows[float32](rt, t, d, rows, cols, unclipped, 1e-5)
		}
	})
}

func compareRows[T mechanism.Float](rt *rapid.T, t *testing.T, d DPSGD, rows, cols int, exact bool, tolerance float64) {
	dense, l := openSGD[T](t, d, rows*cols)
	sparse, m := openRows[T](t, d, rows, cols)
	parallel := rapid.SampledFrom([]Parallel{inOrder, backwards, scattered}).Draw(rt, "order")
	for step := range uint64(3) {
		mean, err := denseStep(dense, rows, cols, 0, step)
		if err != nil {
			rt.Fatal(err)
		}
		sum, err := rowStep(sparse, parallel, -1, 0, step)
		if err != nil {
			rt.Fatal(err)
		}
		for i, x := range sum {
			got := T(float64(x) / sparse.ExpectedBatch())
			if exact && got != mean[i] || math.Abs(float64(got-mean[i])) > tolerance*(1+math.Abs(float64(mean[i]))) {
				rt.Fatalf("step %d, value %d: %v, of the dense step %v", step, i, got, mean[i])
			}
		}
	}
	if err := errors.Join(dense.Check(), sparse.Check()); err != nil {
		rt.Fatal(err)
	}
	a, b := dense.State(), sparse.State()
	if a.Batches != b.Batches || a.Noise.Values != b.Noise.Values || !slices.EqualFunc(l.Entries(), m.Entries(), func(x, y privacy.Entry) bool { return x.Event == y.Event && x.Count == y.Count }) {
		rt.Fatalf("state %+v, of the dense steps %+v", b, a)
	}
}

// Without clipping, and with hardly any noise, the sum of the gradients of examples is the gradient of the batch.
func TestRowStepsSumTheBatch(t *testing.T) {
	const rows, cols = 40, 5
	d := poissonSGD
	d.Examples, d.Rate, d.Clip, d.NoiseMultiplier = 200, 0.2, 1e6, 1e-16
	s, _ := openRows[float64](t, d, rows, cols)
	for step := range uint64(20) {
		sum, err := rowStep(s, scattered, -1, 0, step)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, rows*cols)
		for _, e := range s.batch {
			touched, values := rowGradient[float64](rows, cols, e)
			for i, v := range values {
				want[int(touched[i/cols])*cols+i%cols] += v
			}
		}
		for i, x := range sum {
			if math.Abs(x-want[i]) > 1e-8 {
				t.Fatalf("step %d, value %d: %v, want %v", step, i, x, want[i])
			}
		}
	}
}

// Under the same noise the sums of all neighbours, one example less, differ by at most the clipping norm, in
// Euclidean norm over the whole table: what the event states. Some attain it.
func TestRowStepsSensitivity(t *testing.T) {
	const rows, cols = 30, 4
	d := poissonSGD
	d.Examples, d.Rate = 40, 1
	whole, _ := openRows[float64](t, d, rows, cols)
	all, err := rowStep(whole, inOrder, -1, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	widest := 0.0
	for e := range int32(d.Examples) {
		s, _ := openRows[float64](t, d, rows, cols)
		less, err := rowStep(s, inOrder, e, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		sq := 0.0
		for i, x := range all {
			sq += (x - less[i]) * (x - less[i])
		}
		widest = max(widest, math.Sqrt(sq))
	}
	if want := d.sampled().Event.(privacy.Gaussian).Sensitivity; widest > want*(1+1e-12) || widest < want*(1-1e-9) {
		t.Errorf("neighbours differ by %v at most, the event says %v", widest, want)
	}
}

// An empty batch releases noise on every coordinate, of the law of all others: the mean square of 80,000 values
// is within 6.2 of its standard deviations, which fails once in 10^9.
func TestRowStepsOfAnEmptyBatch(t *testing.T) {
	const rows, cols = 1250, 64
	d := poissonSGD
	d.Rate = 1e-9
	s, l := openRows[float32](t, d, rows, cols)
	sum, err := rowStep(s, scattered, -1, 0, 0)
	if err != nil || len(s.batch) != 0 {
		t.Fatal(len(s.batch), err)
	}
	sq := 0.0
	for i, x := range sum {
		if x == 0 {
			t.Fatalf("value %d has no noise", i)
		}
		sq += float64(x) * float64(x)
	}
	n := float64(len(sum))
	if r := sq / n / (d.Sigma() * d.Sigma()); math.Abs(r-1) > 6.2*math.Sqrt(2/n) || mechanismtest.CountOf(l) != 1 {
		t.Errorf("noise of %v times the variance, %d releases", r, mechanismtest.CountOf(l))
	}
}

// Rows that a batch touched before do not stay in the sum.
func TestRowStepsForget(t *testing.T) {
	d := poissonSGD
	d.Examples, d.Rate, d.NoiseMultiplier = 1, 1, 1e-9
	s, _ := openRows[float64](t, d, 9, 2)
	for step, rows := range [][]int32{{3, 5}, nil, {5, 0}, {8}} {
		if _, err := s.Begin(0, uint64(step)); err != nil {
			t.Fatal(err)
		}
		values := make([]float64, 2*len(rows))
		for i := range values {
			values[i] = 0.1
		}
		if err := s.Add(0, rows, values); err != nil {
			t.Fatal(err)
		}
		err := s.Finish(inOrder, func(at int, sum []float64) {
			for i, x := range sum {
				want := 0.0
				if slices.Contains(rows, int32((at+i)/2)) {
					want = 0.1
				}
				if math.Abs(x-want) > 1e-7 {
					t.Errorf("step %d: value %d is %v, want %v", step, at+i, x, want)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Restored between any two steps, a run goes on to the same bytes and the same state.
func TestRowStepsResume(t *testing.T) {
	const rows, cols, steps = 50, 7, 6
	whole, _ := openRows[float32](t, poissonSGD, rows, cols)
	var sums [][]float32
	var states [][]byte
	for step := range uint64(steps) {
		b, err := json.Marshal(whole.State())
		if err != nil {
			t.Fatal(err)
		}
		sum, err := rowStep(whole, scattered, -1, 0, step)
		if err != nil {
			t.Fatal(err)
		}
		states, sums = append(states, b), append(sums, sum)
	}
	for from := range steps {
		var st State
		if err := json.Unmarshal(states[from], &st); err != nil {
			t.Fatal(err)
		}
		s, _ := openRows[float32](t, poissonSGD, rows, cols)
		if err := s.Restore(st); err != nil {
			t.Fatal(err)
		}
		for step := from; step < steps; step++ {
			sum, err := rowStep(s, backwards, -1, 0, uint64(step))
			if err != nil || !slices.Equal(sum, sums[step]) {
				t.Fatalf("step %d after a restore at %d: other bytes, %v", step, from, err)
			}
		}
		if _, err := rowStep(s, inOrder, -1, 0, uint64(steps-1)); err == nil {
			t.Error("a key was used twice")
		}
	}
}

// What is not a gradient of the table, or not in order, ends the run.
func TestRowStepsRefuse(t *testing.T) {
	nothing := func(int, []float32) {}
	for name, misuse := range map[string]func(s *RowSteps[float32]) error{
		"row 2 twice":         func(s *RowSteps[float32]) error { return s.Add(0, []int32{2, 1, 2}, make([]float32, 9)) },
		"row 5, the table":    func(s *RowSteps[float32]) error { return s.Add(0, []int32{5}, make([]float32, 3)) },
		"row -1, the table":   func(s *RowSteps[float32]) error { return s.Add(0, []int32{-1}, make([]float32, 3)) },
		"4 values for 1":      func(s *RowSteps[float32]) error { return s.Add(0, []int32{1}, make([]float32, 4)) },
		"want them in order":  func(s *RowSteps[float32]) error { return s.Add(1, nil, nil) },
		"a step ends after 0": func(s *RowSteps[float32]) error { return s.Finish(inOrder, nothing) },
		"before the last":     func(s *RowSteps[float32]) error { _, err := s.Begin(0, 1); return err },
		"not clipped": func(s *RowSteps[float32]) error {
			s.own.clip = func([]float32, float64) (bool, error) { return false, nil }
			return s.Add(0, []int32{1, 2}, []float32{1, 0, 0, 0, 0, 1})
		},
		"want all of them": func(s *RowSteps[float32]) error { return s.AddAll(inOrder, nil, nil, nil) },
		"want 1 to 2": func(s *RowSteps[float32]) error {
			ends := slices.Repeat([]int{1}, len(s.batch))
			return s.AddAll(inOrder, ends, []int32{1, 2}, make([]float32, 6))
		},
		"6 values for 1": func(s *RowSteps[float32]) error {
			return s.AddAll(inOrder, slices.Repeat([]int{1}, len(s.batch)), []int32{1}, make([]float32, 6))
		},
		"has row 2 twice": func(s *RowSteps[float32]) error {
			return s.AddAll(inOrder, slices.Repeat([]int{2}, len(s.batch)), []int32{2, 2}, make([]float32, 6))
		},
		"got no noise": func(s *RowSteps[float32]) error { // a piece is left out
			for k := range s.batch {
				if err := s.Add(k, nil, nil); err != nil {
					return err
				}
			}
			return s.Finish(func(int, int, func(_, _, _ int)) {}, nothing)
		},
	} {
		s, l := openRows[float32](t, poissonSGD, 5, 3)
		if batch, err := s.Begin(0, 0); err != nil || len(batch) < 2 {
			t.Fatal(len(batch), err)
		}
		if err := misuse(s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if s.Add(0, nil, nil) == nil || s.Finish(inOrder, nothing) == nil || s.Check() == nil || mechanismtest.CountOf(l) != 1 {
			t.Errorf("%s: the run goes on", name)
		}
	}
	l := mechanismtest.Ledger(t)
	for _, shape := range [][2]int{{0, 3}, {3, 0}} {
		if _, err := OpenRows[float32](poissonSGD, shape[0], shape[1], l, rng.Stream{}); err == nil {
			t.Errorf("a table of %v", shape)
		}
	}
	bad := poissonSGD
	bad.Clip = -1
	if _, err := OpenRows[float32](bad, 3, 3, l, rng.Stream{}); err == nil || mechanismtest.CountOf(l) != 0 {
		t.Error("a negative clip")
	}
}

// Noise of another scale, or none on the rows that a batch did not touch, ends the run.
func TestRowStepsPlantedFaults(t *testing.T) {
	for name, plant := range map[string]func(rng.Stream, []float32, float32){
		"scale": func(r rng.Stream, dst []float32, sigma float32) { addNormals(r, dst, 0.9*sigma) },
		"number of unchanged values": func(r rng.Stream, dst []float32, sigma float32) {
			if !slices.ContainsFunc(dst, func(x float32) bool { return x != 0 }) {
				return
			}
			addNormals(r, dst, sigma)
		},
	} {
		s, _ := openRows[float32](t, poissonSGD, 2000, 64)
		s.own.noise = faulty(plant)
		_, err := rowStep(s, scattered, -1, 0, 0)
		var ce *mechanism.CheckError
		if !errors.As(err, &ce) || ce.What != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A step of a warm run allocates a fixed number of pieces, whatever the size of the table.
func BenchmarkRowSteps(b *testing.B) {
	const rows, cols, batch = 70_839, 64, 1024
	d := poissonSGD
	d.Examples, d.Rate = 810_128, batch/810_128.0
	s, _ := openRows[float32](b, d, rows, cols)
	values, r := make([]float32, 3*cols), rng.Seed(1).Stream("rows")
	for i := range values {
		values[i] = 0.1
	}
	for i := range b.N {
		examples, err := s.Begin(0, uint64(i))
		if err != nil {
			b.Fatal(err)
		}
		for k := range examples {
			u := int32(r.IntN(rows/3) * 3)
			if err := s.Add(k, []int32{u, u + 1, u + 2}, values); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Finish(inOrder, func(int, []float32) {}); err != nil {
			b.Fatal(err)
		}
	}
}
