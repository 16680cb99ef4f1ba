package channel

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// The event is on record before a row can get noise, whether or not the release
// is ever ended; and a release that was not ended fails the check.
func TestRecordedBeforeNoise(t *testing.T) {
	c, l := open[float32](t, noisy)
	if _, err := c.Begin(2, 3, 0); err != nil {
		t.Fatal(err)
	}
	if n := mechanismtest.CountOf(l); n != 1 {
		t.Errorf("%d releases on record after Begin, want 1", n)
	}
	if _, err := c.Start([]int32{4, 9, 2}, 5, 3, 1); err != nil {
		t.Fatal(err)
	}
	if n := mechanismtest.CountOf(l); n != 4 {
		t.Errorf("%d releases on record after Start of 3 parts, want 4", n)
	}
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "2 releases") {
		t.Errorf("noise that was never looked at passed: %v", err)
	}
}

// All parts of a matrix are on record before a row can get noise; a number that cannot be
// is refused, and ends the channel's work with nothing drawn.
func TestManyAreRecordedBeforeNoise(t *testing.T) {
	for _, c := range []struct {
		releases int64
		ok       bool
	}{{-1, false}, {0, false}, {1, true}, {5, true}, {math.MaxInt64, true}} {
		ch, l := open[float32](t, noisy)
		r, err := ch.BeginMany(c.releases, 1, 3)
		if (err == nil) != c.ok {
			t.Errorf("%d releases: %v", c.releases, err)
		}
		if n := mechanismtest.CountOf(l); n != max(0, c.releases) {
			t.Errorf("%d releases: %d on record before a row", c.releases, n)
		}
		if err != nil {
			continue
		}
		r.Row(0, make([]float32, 3))
		if err := r.Finish(); err != nil {
			t.Errorf("%d releases: %v", c.releases, err)
		}
		if n := mechanismtest.CountOf(l); n != c.releases {
			t.Errorf("%d releases: %d on record", c.releases, n)
		}
		if err := r.Finish(); err == nil || ch.Check() == nil {
			t.Errorf("%d releases: finished twice: %v", c.releases, err)
		}
		if _, err := ch.BeginMany(1, 1, 3); err == nil {
			t.Errorf("%d releases: a failed channel goes on", c.releases)
		}
	}
	ch, _ := open[float32](t, noisy)
	if err := ch.Perturb(make([]float32, 3), 3, 0); err == nil {
		t.Error("0 releases of a matrix were accepted")
	}
	if _, err := ch.Start(nil, 1, 3, 0); err == nil {
		t.Error("a row of no part was accepted")
	}
}

// A key is for one release: within a pass in any order, passes ascending.
func TestKeysAreUsedOnce(t *testing.T) {
	try := func(before [][]uint64, key ...uint64) error {
		c, _ := open[float32](t, noisy)
		for _, k := range before {
			if err := c.Perturb(make([]float32, 3), 3, 1, k...); err != nil {
				t.Fatal(err)
			}
		}
		err := c.Perturb(make([]float32, 3), 3, 1, key...)
		if err != nil && c.Check() == nil {
			t.Errorf("%v after %v is forgotten", key, before)
		}
		return err
	}
	used := [][]uint64{{}, {0}, {3}, {3, 900, 0}, {3, 900, 1}, {3, 5, 0}, {3, 5}, {3, 6}}
	for _, good := range [][]uint64{{3, 900, 2}, {3, 4, 0}, {3, 5, 64}, {3, 0}, {3, 0, 0}, {3, 5, 0, 0}, {4}, {4, 5, 0}, {math.MaxUint64 - 1}} {
		if err := try(used, good...); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range [][]uint64{{3}, {3, 900, 0}, {3, 5, 0}, {3, 5}, {2}, {2, 8}, {}, {math.MaxUint64}, {3, 1, 2, 3, 4, 5}} {
		if err := try(used, bad...); err == nil {
			t.Errorf("%v was accepted after %v", bad, used)
		}
	}
	if err := try([][]uint64{{}}); err == nil {
		t.Error("a release without key was repeated")
	}
}

// What is kept of keys is bounded by one pass, and small where parts are dense.
func TestKeysAreForgotten(t *testing.T) {
	c, _ := open[float32](t, noisy)
	const samples = 20_000
	var parts [100]int32
	for pass := range uint64(5) {
		for first := int32(0); first < samples; first += 100 {
			for i := range parts {
				parts[i] = (first + int32(i)) * 7919 % samples // 7919 is prime: a permutation
			}
			r, err := c.Start(parts[:], 1, 0, pass, 3)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Finish(); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(c.used.blocks); n != (samples+63)/64 {
			t.Fatalf("%d blocks after pass %d, want %d", n, pass, (samples+63)/64)
		}
	}
}

// keyedRows releases samples of several nodes in batches of the given size and
// returns the noise of every sample and node.
func keyedRows(t *testing.T, batch int, pass, step uint64) map[string]float32 {
	t.Helper()
	c, l := open[float32](t, noisy)
	const samples, nodes, cols = 12, 5, 4
	noise := map[string]float32{}
	for first := 0; first < samples; first += batch {
		var parts []int32
		for s := first; s < min(samples, first+batch); s++ {
			parts = append(parts, int32(s*5%samples))
		}
		x := make([]float32, len(parts)*nodes*cols)
		r, err := c.Start(parts, len(parts)*nodes, cols, pass, step)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(parts) * nodes {
			r.RowAt(i, x[i*cols:(i+1)*cols], i/nodes, uint64(i%nodes))
		}
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			noise[fmt.Sprint(parts[i/cols/nodes], i/cols%nodes, i%cols)] = v
		}
	}
	if n := mechanismtest.CountOf(l); n != samples {
		t.Errorf("batches of %d: %d releases on record, want one a sample", batch, n)
	}
	return noise
}

// Keyed by part, noise does not depend on how parts are batched, and differs
// between passes, steps, parts, rows and releases keyed as a whole.
func TestRowAtIsKeyedByPart(t *testing.T) {
	want := keyedRows(t, 1, 2, 1)
	for _, batch := range []int{2, 5, 12} {
		for k, v := range keyedRows(t, batch, 2, 1) {
			if v != want[k] {
				t.Fatalf("batches of %d: value %s is %g, want %g", batch, k, v, want[k])
			}
		}
	}
	seen := map[float32]int{}
	for _, key := range [][2]uint64{{2, 1}, {2, 0}, {3, 1}, {1, 2}} {
		for _, v := range keyedRows(t, 12, key[0], key[1]) {
			seen[v]++
		}
	}
	c, _ := open[float32](t, noisy)
	for part := range uint64(12) { // the same components, keyed as a whole
		x := make([]float32, 5*4)
		if err := c.Perturb(x, 4, 1, 2, 1, part); err != nil {
			t.Fatal(err)
		}
		for _, v := range x {
			seen[v]++
		}
	}
	// 1200 values on a grid of some 2^24: repetitions by chance are few.
	if n := 5 * 12 * 5 * 4; len(seen) < n-20 {
		t.Errorf("%d different values among %d", len(seen), n)
	}
}

func TestRowAtMisuse(t *testing.T) {
	row := make([]float32, 3)
	type at struct {
		i, part int
		key     uint64
	}
	for name, rows := range map[string][]at{
		"same key": {{i: 0, part: 0, key: 1}, {i: 1, part: 0, key: 1}, {i: 2, part: 1, key: 0}}, "descending key": {{i: 0, part: 0, key: 2}, {i: 1, part: 0, key: 1}, {i: 2, part: 1, key: 0}},
		"descending part": {{i: 0, part: 1, key: 0}, {i: 1, part: 0, key: 0}, {i: 2, part: 1, key: 1}}, "no such part": {{i: 0, part: 0, key: 0}, {i: 1, part: 1, key: 0}, {i: 2, part: 2, key: 0}},
		"negative part": {{i: 0, part: -1, key: 0}, {i: 1, part: 0, key: 0}, {i: 2, part: 1, key: 0}}, "missing": {{i: 0, part: 0, key: 0}, {i: 2, part: 1, key: 0}}, "twice": {{i: 0, part: 0, key: 0}, {i: 0, part: 0, key: 1}, {i: 1, part: 0, key: 2}, {i: 2, part: 1, key: 0}},
	} {
		c, _ := open[float32](t, noisy)
		r, err := c.Start([]int32{6, 5}, 3, 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range rows {
			r.RowAt(a.i, row, a.part, a.key)
		}
		if r.Finish() == nil || c.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, use := range map[string]func(c *Channel[float32]) error{
		"row of parts": func(c *Channel[float32]) error {
			r, err := c.Start([]int32{6}, 1, 3, 0)
			if err != nil {
				t.Fatal(err)
			}
			r.Row(0, row)
			return r.Finish()
		},
		"part of none": func(c *Channel[float32]) error {
			r, err := c.Begin(1, 3, 0)
			if err != nil {
				t.Fatal(err)
			}
			r.RowAt(0, row, 0, 0)
			return r.Finish()
		},
		"part twice":    func(c *Channel[float32]) error { _, err := c.Start([]int32{6, 5, 6}, 3, 3, 0); return err },
		"negative":      func(c *Channel[float32]) error { _, err := c.Start([]int32{-6}, 3, 3, 0); return err },
		"no key":        func(c *Channel[float32]) error { _, err := c.Start([]int32{6}, 3, 3); return err },
		"too long":      func(c *Channel[float32]) error { _, err := c.Start([]int32{6}, 3, 3, 1, 2, 3, 4, 5); return err },
		"negative rows": func(c *Channel[float32]) error { _, err := c.Start([]int32{6}, -3, 3, 1); return err },
	} {
		c, l := open[float32](t, noisy)
		if use(c) == nil {
			t.Errorf("%s: accepted", name)
		}
		if n := mechanismtest.CountOf(l); strings.Contains(name, "twice") && n != 0 {
			t.Errorf("%s: %d releases on record", name, n)
		}
	}
}

func TestStartDoesNotAllocate(t *testing.T) {
	c, _ := open[float32](t, noisy)
	x, parts := mechanismtest.Message[float32](64, 150), []int32{0, 1, 2, 3}
	step := uint64(0)
	n := testing.AllocsPerRun(100, func() {
		r, err := c.Start(parts, 64, 150, step)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 64 {
			r.RowAt(i, x[i*150:(i+1)*150], i/16, uint64(i%16))
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

// Mechanisms that share a run's false-alarm probability have wider bands.
func TestShare(t *testing.T) {
	whole, part := mechanism.Spending{}, mechanism.Spending{}
	if d := part.Next(5, 0.25) - whole.Next(5, 0); math.Abs(d-math.Log(4)) > 1e-12 {
		t.Errorf("a quarter of the probability moves the band by %g, want log 4", d)
	}
	for _, bad := range []mechanism.Share{-0.1, 1.1, mechanism.Share(math.NaN())} {
		g := noisy
		g.Share = bad
		if _, err := Open[float32](g, mechanismtest.Ledger(t), rng.Stream{}); err == nil {
			t.Errorf("a share of %v was accepted", bad)
		}
	}
	// A channel uses its own share: the lowest failing scale moves with it.
	fails := func(share mechanism.Share) float64 {
		c, _ := open[float32](t, noisy)
		c.share, c.total = share, Tally{N: 1000, Sq: 1e9}
		err, _ := c.Check().(*mechanism.CheckError)
		if err == nil {
			t.Fatal("a scale of 1000 passed")
		}
		return err.High
	}
	if a, b, d := fails(0), fails(1), fails(0.001); a != b || !(d > a) {
		t.Errorf("bands end at %g without a share, %g for 1, %g for 0.001", a, b, d)
	}
}

func BenchmarkReleaseByPart(b *testing.B) {
	const rows, cols, perPart = 3200, 150, 32
	c, _ := open[float32](b, noisy)
	x := make([]float32, rows*cols)
	var parts [rows / perPart]int32
	for i := range parts {
		parts[i] = int32(i * 37)
	}
	b.ReportAllocs()
	for step := uint64(0); b.Loop(); step++ {
		r, err := c.Start(parts[:], rows, cols, step, 0)
		if err != nil {
			b.Fatal(err)
		}
		for i := range rows {
			r.RowAt(i, x[i*cols:(i+1)*cols], i/perPart, uint64(i%perPart))
		}
		if err := r.Finish(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/cols, "ns/value")
}
