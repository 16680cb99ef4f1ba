package channel_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
)

const (
	edge = privacy.Edge
	more = privacy.AddRemove
)

// noiseKind opens one of the channels that a checkpoint carries.
type noiseKind struct {
	name string
	open func(l *privacy.Ledger, seed rng.Seed) (*channel.Channel[float64], error)
}

func noiseKinds() []noiseKind {
	return []noiseKind{
		{"gaussian", func(l *privacy.Ledger, seed rng.Seed) (*channel.Channel[float64], error) {
			return channel.Open[float64](channel.Gaussian{Purpose: "noise", Sigma: 1, Sensitivity: 1, Unit: edge, Neighbouring: more}, l, seed.Stream("noise"))
		}},
		{"laplace", func(l *privacy.Ledger, seed rng.Seed) (*channel.Channel[float64], error) {
			return channel.OpenLaplace[float64](channel.Laplace{Purpose: "noise", Scale: 1, Sensitivity: 1, Unit: edge, Neighbouring: more}, l, seed.Stream("noise"))
		}},
	}
}

// act is one release of a run that uses all ways of making one.
func act(c *channel.Channel[float64], i int) ([]float64, error) {
	x := make([]float64, 12)
	for k := range x {
		x[k] = math.Sin(float64(i + k))
	}
	pass, step := uint64(i/6), uint64(i%6)
	switch i % 3 {
	case 0:
		return x, c.Perturb(x, 4, 2, pass, step)
	case 1:
		r, err := c.BeginMany(5, 3, 4, pass, step)
		if err != nil {
			return nil, err
		}
		for k := 2; k >= 0; k-- {
			r.Row(k, x[4*k:4*k+4])
		}
		return x, r.Finish()
	}
	r, err := c.Start([]int32{7, int32(i)}, 3, 4, pass, step)
	if err != nil {
		return nil, err
	}
	r.RowAt(0, x[:4], 0, 3)
	r.RowAt(1, x[4:8], 0, 9)
	r.RowAt(2, x[8:], 1, 0)
	return x, r.Finish()
}

// Every research channel may be saved and restored after any release, whichever
// way it was made: the same bytes follow, the same state, the same entries.
func TestEveryChannelResumesAtEveryPoint(t *testing.T) {
	const acts = 15
	for _, kind := range noiseKinds() {
		l := research()
		c := must(kind.open(l, 5))
		outs, states := make([][]float64, acts), make([]string, acts+1)
		counts := make([]int64, acts+1)
		for i := range acts + 1 {
			states[i] = string(must(json.Marshal(c.State())))
			for _, e := range l.Entries() {
				counts[i] += e.Count
			}
			if i < acts {
				outs[i] = must(act(c, i))
			}
		}
		if want := int64(5 * (2 + 5 + 2)); counts[acts] != want {
			t.Errorf("%s: %d releases on record, want %d", kind.name, counts[acts], want)
		}
		for from := range acts + 1 {
			var st channel.State
			if err := json.Unmarshal([]byte(states[from]), &st); err != nil {
				t.Fatal(err)
			}
			again := must(kind.open(research(), 5))
			if err := again.Restore(st); err != nil {
				t.Fatalf("%s at %d: %v", kind.name, from, err)
			}
			for i := from; i < acts; i++ {
				if got := must(act(again, i)); !slices.Equal(got, outs[i]) {
					t.Fatalf("%s: restored at %d, release %d has other bytes", kind.name, from, i)
				}
			}
			if got := string(must(json.Marshal(again.State()))); got != states[acts] {
				t.Errorf("%s: restored at %d the run ends as\n%s\nwant\n%s", kind.name, from, got, states[acts])
			}
			if err := again.Check(); err != nil {
				t.Errorf("%s: restored at %d: %v", kind.name, from, err)
			}
			if from > 0 { // what was used before the checkpoint stays used
				again := must(kind.open(research(), 5))
				if err := again.Restore(st); err != nil {
					t.Fatal(err)
				}
				if _, err := act(again, from-1); err == nil && from%6 != 0 {
					t.Errorf("%s: release %d was made again after a restore at %d", kind.name, from-1, from)
				}
			}
		}
	}
}

// A state is of one channel: of one seed, kind, scale and purpose. Each other
// channel refuses it, says so, and is as good as new.
func TestStatesAreOfOneChannel(t *testing.T) {
	kinds := noiseKinds()
	for _, from := range kinds {
		c := must(from.open(research(), 5))
		must(act(c, 0))
		st := c.State()
		for _, to := range kinds {
			for _, seed := range []rng.Seed{5, 6} {
				other := must(to.open(research(), seed))
				before := string(must(json.Marshal(other.State())))
				err := other.Restore(st)
				if same := from.name == to.name && seed == 5; same != (err == nil) || err != nil && !strings.Contains(err.Error(), "noise: restore: ") {
					t.Errorf("%s of seed 5 into %s of seed %d: %v", from.name, to.name, seed, err)
				}
				if err == nil {
					continue
				}
				if after := string(must(json.Marshal(other.State()))); after != before {
					t.Errorf("%s into %s: refused, and changed\n%s\nto\n%s", from.name, to.name, before, after)
				}
				if _, err := act(other, 0); err != nil {
					t.Errorf("%s into %s: no longer of use: %v", from.name, to.name, err)
				}
			}
		}
	}
	for _, text := range []string{`{"sigma":"x"}`, `{"sum":""}`, `{"stream":[1,2,3,-4]}`, `{"used":[[1.5]]}`, `[]`} {
		var st channel.State
		if err := json.Unmarshal([]byte(text), &st); err == nil {
			t.Errorf("%s was read as %+v", text, st)
		}
	}
}

// Many goroutines make releases of one channel at once, and rows of each of them:
// the noise of every part is what it is alone, every release is counted once, and
// the check at the end sees all of it. (Run with -race.)
func TestReleasesAtOnce(t *testing.T) {
	const parts, rows, cols = 48, 5, 16
	for _, kind := range noiseKinds() {
		run := func(workers int) (map[int32][]float64, *privacy.Ledger, *channel.Channel[float64]) {
			l := research()
			c := must(kind.open(l, 8))
			out := map[int32][]float64{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for p := w; p < parts; p += workers {
						x := make([]float64, rows*cols)
						r, err := c.Start([]int32{int32(p)}, rows, cols, 1, 0)
						if err != nil {
							t.Error(err)
							return
						}
						var each sync.WaitGroup
						for i := range rows {
							each.Go(func() { r.RowAt(i, x[i*cols:(i+1)*cols], 0, uint64(10*i)) })
						}
						each.Wait()
						if err := r.Finish(); err != nil {
							t.Error(err)
						}
						mu.Lock()
						out[int32(p)] = x
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			return out, l, c
		}
		alone, _, one := run(1)
		together, l, many := run(12)
		for p, x := range alone {
			if !slices.Equal(x, together[p]) {
				t.Errorf("%s: part %d has other noise among others", kind.name, p)
			}
		}
		if e := l.Entries(); len(e) != 1 || e[0].Count != parts || e[0].Event != many.Event() {
			t.Errorf("%s: recorded %v", kind.name, e)
		}
		if err := errors.Join(one.Check(), many.Check()); err != nil {
			t.Errorf("%s: %v", kind.name, err)
		}
		if a, b := one.State(), many.State(); a.Values != parts*rows*cols || b.Values != a.Values || math.Abs(float64(a.SumSq-b.SumSq)) > 1e-6 {
			t.Errorf("%s: %d and %d values of size %g and %g", kind.name, a.Values, b.Values, float64(a.SumSq), float64(b.SumSq))
		}
	}
}

// The seventh goroutine that takes the key of another fails, and the channel with
// it: one release, not two, has the noise of a key.
func TestAKeyIsTakenOnceAmongMany(t *testing.T) {
	for _, kind := range noiseKinds() {
		l := research()
		c := must(kind.open(l, 8))
		errs := make([]error, 7)
		var wg sync.WaitGroup
		for w := range errs {
			wg.Go(func() { errs[w] = c.Perturb(make([]float64, 3), 3, 1, 4, 4) })
		}
		wg.Wait()
		ok := 0
		for _, err := range errs {
			if err == nil {
				ok++
			}
		}
		// The winner may end before or after the channel fails, so one or none is told yes.
		if e := l.Entries(); ok > 1 || len(e) != 1 || e[0].Count != 1 {
			t.Errorf("%s: %d of 7 were told yes, %v", kind.name, ok, e)
		}
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), "used twice") {
			t.Errorf("%s: %v", kind.name, err)
		}
	}
}

// Noise is additive and keyed: x plus noise minus x is the same for any x, other
// for every row, part, step and pass, and for Begin and Start at one key.
func TestNoiseIsOfItsKeyAlone(t *testing.T) {
	for _, kind := range noiseKinds() {
		noise := map[string][]float64{}
		add := func(name string, use func(c *channel.Channel[float64], x []float64) error) {
			x := make([]float64, 8)
			if err := use(must(kind.open(research(), 3)), x); err != nil {
				t.Fatal(kind.name, name, err)
			}
			noise[name+" row 0"], noise[name+" row 1"] = x[:4], x[4:]
		}
		for _, key := range [][]uint64{{}, {1}, {1, 0}, {1, 1}, {2, 1}, {1, 0, 0}} {
			add("key "+string(must(json.Marshal(key))), func(c *channel.Channel[float64], x []float64) error { return c.Perturb(x, 4, 1, key...) })
		}
		for _, part := range []int32{0, 1, 5} {
			add("part "+string(rune('0'+part)), func(c *channel.Channel[float64], x []float64) error {
				r, err := c.Start([]int32{part}, 2, 4, 1, 0)
				if err != nil {
					return err
				}
				r.RowAt(0, x[:4], 0, 0)
				r.RowAt(1, x[4:], 0, 1)
				return r.Finish()
			})
		}
		seen := map[float64]string{}
		for name, x := range noise {
			if other, ok := seen[x[0]+x[1]*math.Pi]; ok {
				t.Errorf("%s: %s has the noise of %s", kind.name, name, other)
			}
			seen[x[0]+x[1]*math.Pi] = name
		}
		if len(seen) != 18 {
			t.Errorf("%s: %d rows of noise, want 18", kind.name, len(seen))
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // in a test
	}
	return v
}
