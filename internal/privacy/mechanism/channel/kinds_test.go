package channel_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
)

// noisyKind is one of the mechanisms that add noise by a Channel, opened with noise
// of the given scale on a fixed grid.
type noisyKind[T mechanism.Float] struct {
	name   string
	secret bool
	open   func(t testing.TB, scale float64) (*channel.Channel[T], *privacy.Ledger)
}

const testGrid = 0x1p-12

func noisyKinds[T mechanism.Float]() []noisyKind[T] {
	stream := func() rng.Stream { return rng.Seed(4).Stream("noise") }
	gauss := func(scale float64) secure.DiscreteGaussian {
		return secure.DiscreteGaussian{Purpose: "sums", Sigma: scale, Sensitivity: 0.2, Dimension: 150, Bound: 1, Grid: testGrid, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	}
	opened := func(t testing.TB, l *privacy.Ledger, c *channel.Channel[T], err error) (*channel.Channel[T], *privacy.Ledger) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c, l
	}
	return []noisyKind[T]{
		{"laplace", false, func(t testing.TB, scale float64) (*channel.Channel[T], *privacy.Ledger) {
			l, m := mechanismtest.Ledger(t), channel.Laplace{Purpose: "degrees", Scale: 0.2374, Sensitivity: 0.2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
			m.Scale = scale
			c, err := channel.OpenLaplace[T](m, l, stream())
			return opened(t, l, c, err)
		}},
		{"secure gaussian", true, func(t testing.TB, scale float64) (*channel.Channel[T], *privacy.Ledger) {
			l := mechanismtest.SecureLedger(t)
			c, err := secure.OpenGaussian[T](gauss(scale), l)
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

func testChannels[T mechanism.Float](t *testing.T) {
	for _, k := range noisyKinds[T]() {
		c, l := k.open(t, 0.2374)
		if err := channel.Train(c, 4); err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		seen, scale, absolute := channel.Seen(c)
		want := []privacy.Entry{{Purpose: c.State().Purpose, Count: 400, Event: c.Event()}}
		if got := l.Entries(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", k.name, got, want)
		}
		n := float64(seen.N)
		if n != 4*320*150 {
			t.Errorf("%s: %g values counted", k.name, n)
		}
		mean, sd := seen.Sq/n, math.Sqrt2 // of squares of a normal
		if absolute {
			sd = 1
		}
		if math.Abs(mean-1) > 7*sd/math.Sqrt(n)+1e-3 {
			t.Errorf("%s: mean size %g, want 1", k.name, mean)
		}
		if scale < 0.2374 || scale > 0.2374*1.05 {
			t.Errorf("%s: scale %g", k.name, scale)
		}
	}
}

// The faults that the checks exist for, planted in the sampler: each ends the run
// within ten steps with the name of what is wrong.
func TestChannelsSeePlantedFaults(t *testing.T) {
	t.Run("float32", testChannelFaults[float32])
	t.Run("float64", testChannelFaults[float64])
}

func testChannelFaults[T mechanism.Float](t *testing.T) {
	type sampler = func(rng.Stream, []T, T)
	for _, k := range noisyKinds[T]() {
		like := func(scale float64) sampler {
			c, _ := k.open(t, scale)
			return func(s rng.Stream, dst []T, _ T) { channel.Sampler(c)(s, dst, T(scale)) }
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
			channel.Plant(c, f.add)
			err := channel.Train(c, 10)
			var failed *mechanism.CheckError
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
		steps := func(c *channel.Channel[float64], from, to uint64) []float64 {
			var x []float64
			for s := from; s < to; s++ {
				x = mechanismtest.Message[float64](20, 150)
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
		var st channel.State
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
