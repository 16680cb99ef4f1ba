package channel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

var noisy = Gaussian{Purpose: "aggregate", Sigma: 0.2374, Sensitivity: 0.2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}

func open[T mechanism.Float](t testing.TB, g Gaussian) (*Channel[T], *privacy.Ledger) {
	t.Helper()
	l := mechanismtest.Ledger(t)
	c, err := Open[T](g, l, rng.Seed(4).Stream("noise"))
	if err != nil {
		t.Fatal(err)
	}
	return c, l
}

// Train adds the noise of some steps and returns the first failure.
func Train[T mechanism.Float](c *Channel[T], steps int) error {
	const rows, cols = 320, 150
	for s := range steps {
		if err := c.Perturb(mechanismtest.Message[T](rows, cols), cols, 100, uint64(s)); err != nil {
			return err
		}
	}
	return c.Check()
}

func TestGaussianIsRecordedAndPasses(t *testing.T) {
	t.Run("float32", testRecorded[float32])
	t.Run("float64", testRecorded[float64])
}

func testRecorded[T mechanism.Float](t *testing.T) {
	c, l := open[T](t, noisy)
	if err := Train(c, 20); err != nil {
		t.Fatal(err)
	}
	want := []privacy.Entry{{Purpose: "aggregate", Count: 2000, Event: noisy.Event()}}
	if got := l.Entries(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	n := float64(20 * 320 * 150)
	if c.total.N != int64(n) {
		t.Errorf("%d values counted, want %g", c.total.N, n)
	}
	// The scale is that of sigma within 6.11 standard errors: false alarm 1e-9.
	if got := math.Sqrt(c.total.Sq / n); math.Abs(got-1) > 6.11/math.Sqrt(2*n) {
		t.Errorf("the noise has %.5f times the scale asked for", got)
	}
}

// The faults that this check exists for, and some more: each must end the run
// within ten steps, with the name of what is wrong.
func TestPlantedFaultsFail(t *testing.T) {
	t.Run("float32", testFaults[float32])
	t.Run("float64", testFaults[float64])
}

func testFaults[T mechanism.Float](t *testing.T) {
	skip := func(every, phase int) func(rng.Stream, []T, T) {
		return func(s rng.Stream, dst []T, sigma T) {
			kept := slices.Clone(dst)
			addNormals(s, dst, sigma)
			for i := range dst {
				if i%every == phase {
					dst[i] = kept[i]
				}
			}
		}
	}
	for _, f := range []struct {
		name, what string
		add        func(rng.Stream, []T, T)
	}{
		{"scale squared", "scale", func(s rng.Stream, dst []T, sigma T) { addNormals(s, dst, sigma*sigma) }},
		{"zeroed", "unchanged", func(rng.Stream, []T, T) {}},
		{"1% of the draws skipped", "unchanged", skip(100, 50)},
		{"scale 1% high", "scale", func(s rng.Stream, dst []T, sigma T) { addNormals(s, dst, sigma*1.01) }},
		{"1% of the draws too small", "scale", func(s rng.Stream, dst []T, sigma T) {
			kept := slices.Clone(dst)
			addNormals(s, dst, sigma)
			for i := 0; i < len(dst); i += 50 {
				dst[i] = kept[i] + (dst[i]-kept[i])/64
			}
		}},
		{"absolute value", "mean", func(s rng.Stream, dst []T, sigma T) {
			kept := slices.Clone(dst)
			addNormals(s, dst, sigma)
			for i := range dst {
				dst[i] = kept[i] + T(math.Abs(float64(dst[i]-kept[i])))
			}
		}},
		{"overwritten", "scale", func(s rng.Stream, dst []T, sigma T) { clear(dst); addNormals(s, dst, sigma) }},
		{"not a number", "scale", func(s rng.Stream, dst []T, sigma T) { addNormals(s, dst, sigma); dst[7] = T(math.NaN()) }},
	} {
		c, _ := open[T](t, noisy)
		c.add = f.add
		err := Train(c, 10)
		var failed *mechanism.CheckError
		if !errors.As(err, &failed) || !strings.Contains(failed.What, f.what) {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		t.Logf("%s: %v", f.name, err)
		if _, again := c.Begin(1, 1); again == nil {
			t.Errorf("%s: the mechanism went on after the failure", f.name)
		}
	}
}

// Noise lost to rounding is no noise.
func TestNoiseBelowResolution(t *testing.T) {
	c, _ := open[float32](t, noisy)
	x := make([]float32, 15000)
	for i := range x {
		x[i] = 1e8
	}
	var failed *mechanism.CheckError
	if err := c.Perturb(x, 150, 1); !errors.As(err, &failed) || !strings.Contains(err.Error(), "resolution") {
		t.Errorf("%v", err)
	}
}

// The same bytes for any number of goroutines; other keys, other noise.
func TestRowsInParallel(t *testing.T) {
	const rows, cols = 100, 150
	draw := func(workers int, key ...uint64) []float32 {
		c, _ := open[float32](t, noisy)
		x := mechanismtest.Message[float32](rows, cols)
		r, err := c.Begin(rows, cols, key...)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range workers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := w; i < rows; i += workers {
					r.Row(i, x[i*cols:(i+1)*cols])
				}
			}()
		}
		wg.Wait()
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		return x
	}
	want := draw(1, 3, 7)
	for _, w := range []int{2, 5, 16} {
		if !slices.Equal(draw(w, 3, 7), want) {
			t.Errorf("%d workers change the noise", w)
		}
	}
	for _, key := range [][]uint64{{3, 8}, {4, 7}, {3}, {}} {
		got := draw(1, key...)
		same := 0
		for i := range got {
			if got[i] == want[i] {
				same++
			}
		}
		if same > 20 { // equal values by chance: 15000 values on a grid of 2^-20 and finer
			t.Errorf("key %v repeats %d values of key [3 7]", key, same)
		}
	}
}

func TestMisuseIsReported(t *testing.T) {
	row := make([]float32, 3)
	for name, use := range map[string]func(r *Release[float32]) error{
		"missing":  func(r *Release[float32]) error { r.Row(0, row); return r.Finish() },
		"twice":    func(r *Release[float32]) error { r.Row(0, row); r.Row(0, row); r.Row(1, row); return r.Finish() },
		"outside":  func(r *Release[float32]) error { r.Row(0, row); r.Row(2, row); return r.Finish() },
		"negative": func(r *Release[float32]) error { r.Row(-1, row); return r.Finish() },
		"short":    func(r *Release[float32]) error { r.Row(0, row[:2]); r.Row(1, row); return r.Finish() },
		"nothing":  func(r *Release[float32]) error { return r.Finish() },
	} {
		c, _ := open[float32](t, noisy)
		r, err := c.Begin(2, 3)
		if err != nil {
			t.Fatal(err)
		}
		if use(r) == nil {
			t.Errorf("%s: accepted", name)
		}
		if c.Check() == nil {
			t.Errorf("%s: forgotten", name)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	secure, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		t.Fatal(err)
	}
	unnamed, silent, tiny := noisy, noisy, noisy
	unnamed.Purpose, silent.Sigma, tiny.Sigma = "", 0, 1e-60
	for name, try := range map[string]struct {
		g Gaussian
		l *privacy.Ledger
	}{
		"no ledger": {noisy, nil}, "secure": {noisy, secure}, "no purpose": {unnamed, mechanismtest.Ledger(t)},
		"sigma 0": {silent, mechanismtest.Ledger(t)}, "sigma 1e-60 in float32": {tiny, mechanismtest.Ledger(t)},
	} {
		if _, err := Open[float32](try.g, try.l, rng.Stream{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	c, l := open[float32](t, noisy)
	for _, bad := range []error{c.Perturb(make([]float32, 10), 3, 1), c.Perturb(nil, 0, 1)} {
		if bad == nil {
			t.Error("a ragged matrix was accepted")
		}
	}
	if _, err := c.Begin(-1, 3); err == nil {
		t.Error("a negative shape was accepted")
	}
	r, err := c.Begin(0, 150)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(); err != nil || len(l.Entries()) != 0 {
		t.Errorf("an empty batch: %v, %v", err, l.Entries())
	}
}

// Long rows leave the stack, and read like short ones.
func TestLongRows(t *testing.T) {
	c, _ := open[float32](t, noisy)
	if err := c.Perturb(make([]float32, 3*5000), 5000, 1); err != nil {
		t.Error(err)
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	if mechanismtest.Raced { // the same test runs without the detector too
		t.Skip("the race detector allocates")
	}
	c, _ := open[float32](t, noisy)
	x := mechanismtest.Message[float32](64, 150)
	step := uint64(0)
	n := testing.AllocsPerRun(100, func() {
		r, err := c.BeginMany(100, 64, 150, 1, step)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 64 {
			r.Row(i, x[i*150:(i+1)*150])
		}
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		step++
	})
	if n > 12 { // the ledger entry, not the rows
		t.Errorf("%g allocations for a release of 64 rows", n)
	}
}

func BenchmarkRelease(b *testing.B) {
	const rows, cols = 3200, 150
	c, _ := open[float32](b, noisy)
	x := make([]float32, rows*cols)
	b.ReportAllocs()
	for step := uint64(0); b.Loop(); step++ {
		if err := c.Perturb(x, cols, 100, step); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/cols, "ns/value")
}

func ExampleOpen() {
	ledger, _ := privacy.NewLedger(privacy.Research)
	g := Gaussian{Purpose: "aggregate", Sigma: 0.5, Sensitivity: 0.2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	noise, err := Open[float32](g, ledger, rng.Seed(1).Stream("aggregate"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sums := make([]float32, 2*150) // two rows of 150
	if err := noise.Perturb(sums, 150, 1, 0 /* epoch */, 12 /* step */); err != nil {
		fmt.Println(err)
		return
	}
	e := ledger.Entries()[0]
	fmt.Println(e.Purpose, e.Count, e.Event.Kind())
	// Output: aggregate 1 gaussian
}
