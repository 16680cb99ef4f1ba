package mechanism

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

var spread = Laplace{Purpose: "degrees", Scale: 0.2374, Sensitivity: 0.2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}

// noisyKind is one of the mechanisms that Channel puts to work, opened with noise
// of the given scale on a fixed grid.
type noisyKind[T Float] struct {
	name   string
	secret bool
	open   func(t testing.TB, scale float64) (*Channel[T], *privacy.Ledger)
}

const testGrid = 0x1p-12

func noisyKinds[T Float]() []noisyKind[T] {
	stream := func() rng.Stream { return rng.Seed(4).Stream("noise") }
	gauss := func(scale float64) DiscreteGaussian {
		return DiscreteGaussian{Purpose: "sums", Sigma: scale, Sensitivity: 0.2, Dimension: 150, Bound: 1, Grid: testGrid, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	}
	lap := func(scale float64) DiscreteLaplace {
		return DiscreteLaplace{Purpose: "sums", Scale: scale, Sensitivity: 0.2, Dimension: 10, Bound: 1, Grid: testGrid, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	}
	opened := func(t testing.TB, l *privacy.Ledger, c *Channel[T], err error) (*Channel[T], *privacy.Ledger) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c, l
	}
	return []noisyKind[T]{
		{"laplace", false, func(t testing.TB, scale float64) (*Channel[T], *privacy.Ledger) {
			l, m := newLedger(t), spread
			m.Scale = scale
			c, err := OpenLaplace[T](m, l, stream())
			return opened(t, l, c, err)
		}},
		{"discrete gaussian", false, func(t testing.TB, scale float64) (*Channel[T], *privacy.Ledger) {
			l := newLedger(t)
			c, err := OpenDiscreteGaussian[T](gauss(scale), l, stream())
			return opened(t, l, c, err)
		}},
		{"discrete laplace", false, func(t testing.TB, scale float64) (*Channel[T], *privacy.Ledger) {
			l := newLedger(t)
			c, err := OpenDiscreteLaplace[T](lap(scale), l, stream())
			return opened(t, l, c, err)
		}},
		{"secure gaussian", true, func(t testing.TB, scale float64) (*Channel[T], *privacy.Ledger) {
			l := secureLedger(t)
			c, err := OpenSecureGaussian[T](gauss(scale), l)
			return opened(t, l, c, err)
		}},
		{"secure laplace", true, func(t testing.TB, scale float64) (*Channel[T], *privacy.Ledger) {
			l := secureLedger(t)
			c, err := OpenSecureLaplace[T](lap(scale), l)
			return opened(t, l, c, err)
		}},
	}
}

// Every mechanism records its event once a release, passes its own checks and adds
// noise of the scale that its event states. Secure rows differ from run to run: the
// scale is within 7 standard errors, false alarm below 1e-9 (Laplace tails included).
func TestChannelsAreRecordedAndPass(t *testing.T) {
	t.Run("float32", testChannels[float32])
	t.Run("float64", testChannels[float64])
}

func testChannels[T Float](t *testing.T) {
	for _, k := range noisyKinds[T]() {
		c, l := k.open(t, 0.2374)
		if err := train(c, 4); err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		want := []privacy.Entry{{Purpose: c.purpose, Count: 400, Event: c.Event()}}
		if got := l.Entries(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", k.name, got, want)
		}
		n := float64(c.total.n)
		if n != 4*320*150 {
			t.Errorf("%s: %g values counted", k.name, n)
		}
		mean, sd := c.total.sq/n, math.Sqrt2 // of squares of a normal
		if c.absolute {
			sd = 1
		}
		if math.Abs(mean-1) > 7*sd/math.Sqrt(n)+1e-3 {
			t.Errorf("%s: mean size %g, want 1", k.name, mean)
		}
		if s := c.law.scale(); s < 0.2374 || s > 0.2374*1.05 {
			t.Errorf("%s: scale %g", k.name, s)
		}
	}
}

// The faults that the checks exist for, planted in the sampler: each ends the run
// within ten steps with the name of what is wrong.
func TestChannelsSeePlantedFaults(t *testing.T) {
	t.Run("float32", testChannelFaults[float32])
	t.Run("float64", testChannelFaults[float64])
}

func testChannelFaults[T Float](t *testing.T) {
	type sampler = func(rng.Stream, []T, T)
	for _, k := range noisyKinds[T]() {
		like := func(scale float64) sampler {
			c, _ := k.open(t, scale)
			return func(s rng.Stream, dst []T, _ T) { c.add(s, dst, T(scale)) }
		}
		good := like(0.2374)
		after := func(change func(i int, before, after T) T) sampler {
			return func(s rng.Stream, dst []T, scale T) {
				before := slices.Clone(dst)
				good(s, dst, scale)
				for i, y := range dst {
					dst[i] = change(i, before[i], y)
				}
			}
		}
		once := make([]T, 1)
		good(rng.Seed(1).Stream("once"), once, 0.2374)
		for _, f := range []struct {
			name, what string
			add        sampler
		}{
			{"variance for deviation", "", like(0.2374 * 0.2374)},
			{"scale 2% high", "scale", like(0.2374 * 1.02)},
			{"scale 2% low", "scale", like(0.2374 * 0.98)},
			{"no noise", "", func(_ rng.Stream, dst []T, _ T) {
				for i, x := range dst {
					dst[i] = T(math.Round(float64(x)/testGrid) * testGrid)
				}
			}},
			{"2% of the draws skipped", "", after(func(i int, before, after T) T {
				if i%50 == 7 {
					return T(math.RoundToEven(float64(before)/testGrid) * testGrid)
				}
				return after
			})},
			{"absolute value", "mean", after(func(_ int, before, after T) T {
				x := T(math.RoundToEven(float64(before)/testGrid) * testGrid)
				return x + T(math.Abs(float64(after-x)))
			})},
			{"drawn once per run", "", func(_ rng.Stream, dst []T, _ T) {
				for i, x := range dst {
					dst[i] = T(math.RoundToEven(float64(x)/testGrid)*testGrid) + once[0]
				}
			}},
			{"overwritten", "scale", func(s rng.Stream, dst []T, scale T) { clear(dst); good(s, dst, scale) }},
			{"not a number", "scale", after(func(i int, _, after T) T {
				if i == 7 {
					return T(math.NaN())
				}
				return after
			})},
			{"wrong grid", "scale", after(func(i int, _, after T) T { return after + testGrid/2 })},
			{"the same noise for all rows", "", func(_ rng.Stream, dst []T, scale T) { good(rng.Seed(9).Stream("fixed"), dst, scale) }},
		} {
			// Half a step is noise like any other in floating point; secure noise has
			// no seed to forget.
			if f.name == "wrong grid" && k.name == "laplace" || f.name == "the same noise for all rows" && k.secret {
				continue
			}
			c, _ := k.open(t, 0.2374)
			c.add = f.add
			err := train(c, 10)
			var failed *CheckError
			if !errors.As(err, &failed) || !strings.Contains(failed.What, f.what) {
				t.Errorf("%s, %s: %v", k.name, f.name, err)
				continue
			}
			if _, again := c.Begin(1, 1); again == nil {
				t.Errorf("%s, %s: the mechanism went on after the failure", k.name, f.name)
			}
		}
	}
}

// Research channels: the same bytes for any number of goroutines, others for other
// keys. Secure ones: never the same twice.
func TestChannelsAreKeyed(t *testing.T) {
	const rows, cols = 40, 150
	for _, k := range noisyKinds[float32]() {
		draw := func(workers int, key ...uint64) []float32 {
			c, _ := k.open(t, 0.2374)
			x := message[float32](rows, cols)
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
		if got := draw(8, 3, 7); slices.Equal(got, want) == k.secret {
			t.Errorf("%s: 8 goroutines give the same noise: %v", k.name, !k.secret)
		}
		same := 0
		for i, v := range draw(1, 3, 8) {
			if v == want[i] {
				same++
			}
		}
		if same > 60 { // some 1000 to 3000 values of each are within reach: 6000/2700 = 2 by chance
			t.Errorf("%s: key [3 8] repeats %d values of key [3 7]", k.name, same)
		}
		if c, _ := k.open(t, 0.2374); c.Perturb(make([]float32, 3), 3, 1, 4) != nil || c.Perturb(make([]float32, 3), 3, 1, 4) == nil {
			t.Errorf("%s: a key was used twice", k.name)
		}
	}
}

// A checkpoint carries a research channel on to the same noise and the same
// checks; a secure one has none.
func TestChannelsResume(t *testing.T) {
	for _, k := range noisyKinds[float64]() {
		whole, _ := k.open(t, 0.2374)
		first, _ := k.open(t, 0.2374)
		second, _ := k.open(t, 0.2374)
		steps := func(c *Channel[float64], from, to uint64) []float64 {
			var x []float64
			for s := from; s < to; s++ {
				x = message[float64](20, 150)
				if err := c.Perturb(x, 150, 1, s); err != nil {
					t.Fatal(k.name, err)
				}
			}
			return x
		}
		want := steps(whole, 0, 6)
		steps(first, 0, 3)
		b, err := json.Marshal(first.State())
		if err != nil {
			t.Fatal(err)
		}
		var st ChannelState
		if err := json.Unmarshal(b, &st); err != nil {
			t.Fatal(err)
		}
		other := st
		if other.Kind += "x"; second.Restore(other) == nil {
			t.Errorf("%s: the state of another mechanism was restored", k.name)
		}
		err = second.Restore(st)
		if k.secret {
			st.Failed = ""
			if err == nil || second.Restore(st) == nil {
				t.Errorf("%s: restored", k.name)
			}
			continue
		}
		if err != nil {
			t.Fatal(k.name, err)
		}
		if got := steps(second, 3, 6); !slices.Equal(got, want) {
			t.Errorf("%s: other noise after resuming", k.name)
		}
		if d := cmp.Diff(whole.State(), second.State()); d != "" {
			t.Errorf("%s: the resumed channel is another one:\n%s", k.name, d)
		}
	}
}

// The law of the research sampler: chi-square over 40 cells of equal probability,
// false alarm 1e-9, in both types.
func TestLaplaceLaw(t *testing.T) {
	t.Run("float32", testLaplaceLaw[float32])
	t.Run("float64", testLaplaceLaw[float64])
}

func testLaplaceLaw[T Float](t *testing.T) {
	const n, cells = 200_000, 40
	law := func(draw func(s rng.Stream, dst []T, scale T)) []int {
		x := make([]T, n)
		draw(rng.Seed(3).Stream("laplace"), x, 2)
		counts := make([]int, cells)
		for _, v := range x {
			u := 0.5 * math.Exp(-math.Abs(float64(v))/2)
			if v > 0 {
				u = 1 - u
			}
			counts[min(cells-1, int(u*cells))]++
		}
		return counts
	}
	even := func(int) float64 { return 1.0 / cells }
	checkCounts(t, "laplace", law(addLaplace[T]), even)
	if checkCounts(quiet{t}, "", law(func(s rng.Stream, dst []T, scale T) { addLaplace(s, dst, scale*1.03) }), even) {
		t.Error("a scale 3% too large passed")
	}
	if checkCounts(quiet{t}, "", law(func(s rng.Stream, dst []T, _ T) { addNormals(s, dst, 2*math.Sqrt2) }), even) {
		t.Error("a normal of the same variance passed")
	}
}

func TestOpenLaplaceRefuses(t *testing.T) {
	for name, change := range map[string]func(m *Laplace) *privacy.Ledger{
		"no purpose":  func(m *Laplace) *privacy.Ledger { m.Purpose = ""; return newLedger(t) },
		"scale":       func(m *Laplace) *privacy.Ledger { m.Scale = 0; return newLedger(t) },
		"nan":         func(m *Laplace) *privacy.Ledger { m.Scale = math.NaN(); return newLedger(t) },
		"tiny":        func(m *Laplace) *privacy.Ledger { m.Scale = 1e-60; return newLedger(t) },
		"sensitivity": func(m *Laplace) *privacy.Ledger { m.Sensitivity = -1; return newLedger(t) },
		"unit":        func(m *Laplace) *privacy.Ledger { m.Unit = "x"; return newLedger(t) },
		"share":       func(m *Laplace) *privacy.Ledger { m.Share = 2; return newLedger(t) },
		"no ledger":   func(*Laplace) *privacy.Ledger { return nil },
		"secure":      func(*Laplace) *privacy.Ledger { return secureLedger(t) },
	} {
		m := spread
		l := change(&m)
		if _, err := OpenLaplace[float32](m, l, rng.Stream{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A scale never falls short of sensitivity/epsilon.
func TestLaplaceScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps, sens := rapid.Float64Range(1e-9, 1e9).Draw(t, "eps"), rapid.Float64Range(1e-9, 1e9).Draw(t, "sens")
		b, err := LaplaceScale(eps, sens)
		if err != nil || math.FMA(b, eps, -sens) < 0 || b > sens/eps*(1+1e-15) {
			t.Fatalf("%v %v: %v, %v", eps, sens, b, err)
		}
	})
	for _, bad := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}, {1, math.Inf(1)}, {1e-300, 1e300}} {
		if b, err := LaplaceScale(bad[0], bad[1]); err == nil {
			t.Errorf("%v: scale %v", bad, b)
		}
	}
}
