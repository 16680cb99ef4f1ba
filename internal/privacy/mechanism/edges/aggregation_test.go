package edges

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

var gap = Aggregation{Purpose: "aggregate", Sigma: 0.5, Norm: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}

func openGAP[T mechanism.Float](t testing.TB, m Aggregation) (*Aggregator[T], *privacy.Ledger) {
	t.Helper()
	l := mechanismtest.Ledger(t)
	g, err := OpenAggregation[T](m, l, rng.Seed(4).Stream("gap"))
	if err != nil {
		t.Fatal(err)
	}
	return g, l
}

// plantNoise puts a sampler in place of the aggregator's.
func plantNoise[T mechanism.Float](t testing.TB, g *Aggregator[T], add func(s rng.Stream, dst []T, sigma T)) {
	t.Helper()
	e, err := g.m.Event()
	if err != nil {
		t.Fatal(err)
	}
	law := channel.Gaussian{Sigma: e.Sigma, Sensitivity: e.Sensitivity, Unit: e.Unit, Neighbouring: e.Neighbouring}.Law()
	g.noise, err = channel.New(channel.Noise[T]{Purpose: g.m.Purpose, Share: g.m.Share, Law: law, Add: add}, mechanismtest.Ledger(t), rng.Seed(4).Stream("gap"))
	if err != nil {
		t.Fatal(err)
	}
}

// addNormals adds normal noise.
func addNormals(s rng.Stream, dst []float32, sigma float32) {
	for i := range dst {
		dst[i] += sigma * float32(s.NormFloat64())
	}
}

// exactly aggregates without noise, by the very code.
func exactly(t testing.TB, m Aggregation, x []float64, cols int, a Adjacency) []float64 {
	t.Helper()
	g, _ := openGAP[float64](t, m)
	plantNoise(t, g, func(_ rng.Stream, dst []float64, _ float64) { // the check fails, and that is all
		for i := range dst {
			dst[i] += 0
		}
	})
	dst := make([]float64, a.Rows*cols)
	if err := g.Aggregate(dst, x, cols, a, 0, 0); err != nil {
		var ce *mechanism.CheckError
		if !errors.As(err, &ce) {
			t.Fatal(err)
		}
	}
	return dst
}

// without clears a cell.
func without(a Adjacency, cells ...int64) Adjacency {
	b := newBuilder(a.Rows, a.Cols, 0)
	for w := (&ones{a: a}); w.cell() != math.MaxInt64; w.next++ {
		if c := w.cell(); !slices.Contains(cells, c) {
			b.add(c)
		}
	}
	return b.finish()
}

// Edge sensitivities by search: every bipartite graph of up to 3 x 3 nodes and
// random larger ones, every edge, vectors random and opposed. What the event says
// is never exceeded, and attained where it is said to be.
func TestEdgeSensitivity(t *testing.T) {
	s := rng.Seed(1).Stream("search")
	for _, c := range []struct {
		w     Weights
		clamp int
	}{{SumWeights, 0}, {RightWeights, 1}, {RightWeights, 2}, {RightWeights, 3}, {BothWeights, 1}, {BothWeights, 2}, {BothWeights, 3}} {
		m := gap
		m.Weights, m.Clamp, m.Norm = c.w, c.clamp, 0.8
		e, err := m.Event()
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		try := func(a Adjacency) {
			const cols = 2
			x := make([]float64, a.Cols*cols)
			for w := (&ones{a: a}); w.cell() != math.MaxInt64; w.next++ {
				cell := w.cell()
				far := int(a.Idx[w.next])
				for k := range 2 {
					for j := range a.Cols { // the worst: all others opposed to the one that goes
						x[2*j], x[2*j+1] = -1, 0
						if j == far {
							x[2*j] = 1
						}
						if k == 1 {
							x[2*j], x[2*j+1] = s.NormFloat64(), s.NormFloat64()
						}
					}
					worst = max(worst, mechanismtest.Apart(exactly(t, m, x, cols, a), exactly(t, m, x, cols, without(a, cell))))
				}
			}
		}
		for rows := 1; rows <= 3; rows++ {
			for bits := range 1 << (3 * rows) {
				if rows == 3 && bits%7 != 0 { // a seventh of those
					continue
				}
				b := newBuilder(rows, 3, 0)
				for cell := range 3 * rows {
					if bits>>cell&1 == 1 {
						b.add(int64(cell))
					}
				}
				try(b.finish())
			}
		}
		for range 6 {
			try(scattered(&s, 4+s.IntN(5), 4+s.IntN(5), 0.5))
		}
		// Where it is attained: row of degree k+1, columns of degree k.
		k := max(1, c.clamp)
		var lines []string
		for range k {
			lines = append(lines, strings.Repeat("1", k+1))
		}
		try(matrix(lines...))
		if worst > e.Sensitivity || worst < e.Sensitivity*(1-1e-9) {
			t.Errorf("%s, clamp %d: sums move by %v at most, the event says %v", c.w, c.clamp, worst, e.Sensitivity)
		}
	}
}

// The closed forms against the worst case over unit vectors at all degrees, which
// is F(a, b)² = (1/sqrt(a' b') + c_a (a-1)/sqrt(k))² + c_b² (b-1)/k with clamped
// degrees and c the change of a factor; and the values that are published for it.
func TestClosedFormsOverDegrees(t *testing.T) {
	for _, k := range []int{1, 2, 3, 5, 10, 20, 50, 100} {
		kk := float64(k)
		clamp := func(d int) float64 { return math.Max(float64(d), kk) }
		c := func(d int) float64 {
			if d == 1 {
				return 0
			}
			return 1/math.Sqrt(clamp(d-1)) - 1/math.Sqrt(clamp(d))
		}
		both, right := 0.0, 0.0
		for a := 1; a <= k+400; a++ {
			for b := 1; b <= k+400; b++ {
				x := 1/math.Sqrt(clamp(a)*clamp(b)) + c(a)*float64(a-1)/math.Sqrt(kk)
				both = max(both, x*x+c(b)*c(b)*float64(b-1)/kk)
			}
			right = max(right, 1/clamp(a)+c(a)*c(a)*float64(a-1))
		}
		for w, want := range map[Weights]float64{BothWeights: math.Sqrt(both), RightWeights: math.Sqrt(right)} {
			m := gap
			m.Weights, m.Clamp = w, k
			got, err := m.Sensitivity()
			if err != nil || got < want*(1-1e-13) || got > want*(1+1e-12) {
				t.Errorf("%s, clamp %d: %v, want %v (%v)", w, k, got, want, err)
			}
		}
	}
	for k, published := range map[int]float64{1: 1, 5: 0.2697, 10: 0.1419, 20: 0.0729, 50: 0.0297, 100: 0.0149} {
		m := gap
		m.Weights, m.Clamp = BothWeights, k
		if got, _ := m.Sensitivity(); math.Abs(got-published) > 5.1e-5 {
			t.Errorf("clamp %d: %v, published %v", k, got, published)
		}
	}
}

// Sensitivities of an undirected edge and of whole nodes, by search.
func TestNodeSensitivity(t *testing.T) {
	s := rng.Seed(2).Stream("search")
	const n, cols = 6, 2
	x := make([]float64, n*cols)
	vectors := func(aligned bool) {
		for j := range n {
			x[2*j], x[2*j+1] = s.NormFloat64(), s.NormFloat64()
			if aligned {
				x[2*j], x[2*j+1] = 1, 0
			}
		}
	}
	// Undirected: cells (i, j) and (j, i).
	m := gap
	m.Undirected = true
	e, err := m.Event()
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for trial := range 60 {
		b := newBuilder(n, n, 0)
		up := scattered(&s, n, n, 0.5)
		for i := range int64(n) {
			for j := range int64(n) {
				if i != j && slices.Contains(up.Row(int(min(i, j))), int32(max(i, j))) {
					b.add(i*n + j)
				}
			}
		}
		a := b.finish()
		vectors(trial%2 == 0)
		for w := (&ones{a: a}); w.cell() != math.MaxInt64; w.next++ {
			i, j := w.cell()/n, w.cell()%n
			worst = max(worst, mechanismtest.Apart(exactly(t, m, x, cols, a), exactly(t, m, x, cols, without(a, i*n+j, j*n+i))))
		}
	}
	if worst > e.Sensitivity || worst < e.Sensitivity*(1-1e-9) {
		t.Errorf("an undirected edge moves sums by %v, the event says %v", worst, e.Sensitivity)
	}
	// A node: its column goes, and its row where that is seen; or becomes another's.
	for _, c := range []struct {
		columns, own int
		relation     privacy.Neighbouring
	}{{3, 0, privacy.AddRemove}, {3, 2, privacy.AddRemove}, {0, 3, privacy.AddRemove}, {3, 2, privacy.ZeroOut}, {2, 2, privacy.Replace}} {
		m := gap
		m.Unit, m.Columns, m.Own, m.Neighbouring = privacy.User, c.columns, c.own, c.relation
		e, err := m.Event()
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		graph := func() Adjacency { // node 0 with all that it may have, at most
			b := newBuilder(n, n, 0)
			for cell := range int64(n * n) {
				i, j := cell/n, cell%n
				if (j == 0 && i > 0 && i <= int64(c.columns)) || (i == 0 && j > 0 && (c.own == 0 && j < 4 || j <= int64(c.own))) {
					b.add(cell)
				}
			}
			return b.finish()
		}
		sums := func(a Adjacency, drop bool) []float64 {
			if drop { // node 0 has nothing
				for i := range int64(n) {
					a = without(a, i*n, i)
				}
			}
			out := exactly(t, m, x, cols, a)
			if c.own == 0 {
				out = out[cols:] // its own row is its own
			}
			return out
		}
		for trial := range 20 {
			vectors(trial%2 == 0)
			a := graph()
			with := sums(a, false)
			if c.relation == privacy.Replace {
				if trial%2 == 0 { // exchanged for one with opposed vector and neighbours
					save := slices.Clone(x)
					x[0] = -1
					other := sums(a, false)
					copy(x, save)
					for j := 1; j < n; j++ {
						x[2*j] = 1
					}
					worst = max(worst, mechanismtest.Apart(with, other))
				}
				continue
			}
			worst = max(worst, mechanismtest.Apart(with, sums(a, true)))
		}
		attained := c.relation != privacy.Replace
		if worst > e.Sensitivity || attained && worst < e.Sensitivity*(1-1e-9) {
			t.Errorf("%v: sums move by %v, the event says %v", c, worst, e.Sensitivity)
		}
		for _, big := range []Adjacency{matrix("000000", "100000", "100000", "100000", "100000", "000000"), matrix("011110", "000000", "000000", "000000", "000000", "000000")} {
			g, l := openGAP[float64](t, m)
			bounded := c.columns > 0 && big.Row(1) != nil && len(big.Row(0)) == 0 || c.own > 0 && len(big.Row(0)) > 0
			if err := g.Aggregate(make([]float64, n*cols), x, cols, big, 0, 0); bounded && (err == nil || !strings.Contains(err.Error(), "bound them first") || mechanismtest.CountOf(l) != 0) {
				t.Errorf("%v: a node of degree 4: %v", c, err)
			}
		}
	}
}

// Sums are those of the definition, for any number of processors; noise has
// the event's scale, differs by key, view and row, and every view is on record.
func TestAggregate(t *testing.T) {
	t.Run("float32", testAggregate[float32])
	t.Run("float64", testAggregate[float64])
}

func testAggregate[T mechanism.Float](t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const rows, items, cols = 500, 300, 24
	s := rng.Seed(3).Stream("aggregate")
	a := scattered(&s, rows, items, 0.05)
	x := make([]T, items*cols)
	for i := range x {
		if i/cols%11 != 5 { // some rows of zeros stay zeros
			x[i] = T(s.NormFloat64() * 3)
		}
	}
	m := gap
	m.Weights, m.Clamp, m.Norm = BothWeights, 10, 0.7
	var first []T
	for i, workers := range []int{1, 3} {
		runtime.GOMAXPROCS(workers)
		g, l := openGAP[T](t, m)
		dst, again, other := make([]T, rows*cols), make([]T, rows*cols), make([]T, rows*cols)
		kept := slices.Clone(x)
		if err := errors.Join(g.Aggregate(dst, x, cols, a, 0, 0, 0), g.Aggregate(again, x, cols, a, 1, 0, 0), g.Aggregate(other, x, cols, a, 0, 0, 1), g.Channel().Check()); err != nil {
			t.Fatal(err)
		}
		if err := g.Aggregate(other, x, cols, a, 1, 0, 0); err == nil || !slices.Equal(x, kept) {
			t.Errorf("a view was released twice under one key: %v", err)
		}
		if i == 0 {
			first = dst
		} else if !slices.Equal(first, dst) {
			t.Error("bytes depend on the number of processors")
		}
		e, _ := m.Event()
		if got := l.Entries(); len(got) != 1 || got[0].Event != privacy.Event(e) || got[0].Count != 3 || e.Sigma != 0.5 {
			t.Errorf("recorded %v, want 3 of %v", got, e)
		}
		d, c := a.Degrees()
		var n, sum, sq, with float64
		for r := range a.Rows {
			for k := range cols {
				want := 0.0
				for _, j := range a.Row(r) {
					norm := 0.0
					for _, v := range x[int(j)*cols : (int(j)+1)*cols] {
						norm += float64(v) * float64(v)
					}
					if norm > 0 {
						want += 0.7 * float64(x[int(j)*cols+k]) / math.Sqrt(norm) / math.Sqrt(math.Max(10, float64(d[r]))*math.Max(10, float64(c[j])))
					}
				}
				z := (float64(dst[r*cols+k]) - want) / 0.5
				n, sum, sq = n+1, sum+z, sq+z*z
				with += z * (float64(again[r*cols+k]) - want) / 0.5
			}
		}
		if math.Abs(sum/math.Sqrt(n)) > mechanismtest.Sigmas || math.Abs(sq/n-1) > mechanismtest.Sigmas*math.Sqrt(2/n) || math.Abs(with/math.Sqrt(n)) > mechanismtest.Sigmas {
			t.Errorf("noise around the sums: mean %g, variance %g, between views %g", sum/n, sq/n, with/n)
		}
	}
}

// Rows that were not normalised, and noise that is not the event's, end the run.
func TestAggregationPlantedFaults(t *testing.T) {
	a := grid(60, 40, 8)
	const cols = 16
	x := make([]float32, 40*cols)
	for i := range x {
		x[i] = float32(math.Cos(float64(i)))
	}
	for name, plant := range map[string]func(g *Aggregator[float32]){
		"norm of a row": func(g *Aggregator[float32]) {
			g.scale = func(dst, row []float32, _ float64) error { copy(dst, row); return nil }
		},
		"norm of a row ": func(g *Aggregator[float32]) { // normalised to the wrong norm
			g.scale = func(dst, row []float32, norm float64) error { return channel.ScaleRow(dst, row, norm*1.001) }
		},
		"scale": func(g *Aggregator[float32]) {
			plantNoise(t, g, func(s rng.Stream, dst []float32, sigma float32) { addNormals(s, dst, sigma*sigma) })
		},
		"mean": func(g *Aggregator[float32]) { // drawn once, not a row
			plantNoise(t, g, func(_ rng.Stream, dst []float32, sigma float32) {
				addNormals(rng.Seed(12).Stream("once"), dst, sigma)
			})
		},
	} {
		g, _ := openGAP[float32](t, gap)
		plant(g)
		var err error
		for step := uint64(0); step < 60 && err == nil; step++ {
			err = g.Aggregate(make([]float32, 60*cols), x, cols, a, 0, 0, step)
		}
		var ce *mechanism.CheckError
		if !errors.As(err, &ce) || name != "mean" && !strings.Contains(ce.What, strings.TrimSpace(name)) || g.Channel().Check() == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAggregationRefuses(t *testing.T) {
	nan := math.NaN()
	for name, change := range map[string]func(m *Aggregation){
		"purpose": func(m *Aggregation) { m.Purpose = "" }, "sigma": func(m *Aggregation) { m.Sigma = 0 },
		"norm": func(m *Aggregation) { m.Norm = nan }, "unknown weights": func(m *Aggregation) { m.Weights = "mean" },
		"clamp": func(m *Aggregation) { m.Clamp = 1 }, "clamp is": func(m *Aggregation) { m.Weights = RightWeights },
		"unit": func(m *Aggregation) { m.Unit = privacy.Feature }, "columns": func(m *Aggregation) { m.Columns = 3 },
		"one of them above 0": func(m *Aggregation) { m.Unit = privacy.User },
		"at least 0":          func(m *Aggregation) { m.Unit, m.Own, m.Columns = privacy.User, 4, -1 },
		"whole node": func(m *Aggregation) {
			m.Unit, m.Columns, m.Weights, m.Clamp = privacy.User, 4, RightWeights, 1
		},
		"undirected":   func(m *Aggregation) { m.Undirected, m.Weights, m.Clamp = true, BothWeights, 1 },
		"undirected ":  func(m *Aggregation) { m.Undirected, m.Weights, m.Clamp = true, RightWeights, 1 },
		"neighbouring": func(m *Aggregation) { m.Neighbouring = "" }, "share": func(m *Aggregation) { m.Share = 2 },
	} {
		m := gap
		change(&m)
		if _, err := OpenAggregation[float32](m, mechanismtest.Ledger(t), rng.Stream{}); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := OpenAggregation[float32](gap, nil, rng.Stream{}); err == nil {
		t.Error("no ledger")
	}
	a := matrix("10", "11", "01")
	g, l := openGAP[float64](t, gap)
	for name, call := range map[string]func() error{
		"6 values from 3": func() error { return g.Aggregate(make([]float64, 6), make([]float64, 3), 2, a, 0, 1) },
		"5 values":        func() error { return g.Aggregate(make([]float64, 5), make([]float64, 4), 2, a, 0, 1) },
		"rows of 0":       func() error { return g.Aggregate(nil, nil, 0, a, 0, 1) },
		"ptr":             func() error { return g.Aggregate(nil, nil, 2, Adjacency{Rows: 2}, 0, 1) },
		"row 1: value 0":  func() error { return g.Aggregate(make([]float64, 6), []float64{1, 2, nan, 3}, 2, a, 0, 1) },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), name) || mechanismtest.CountOf(l) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 6)
	if err := g.Aggregate(dst, []float64{1, 2, 3, 4}, 2, a, 0, 1); err == nil || !slices.Equal(dst, make([]float64, 6)) {
		t.Error("noise without a ledger")
	}
}

// Rows come out at the norm, never above it, from any size.
func TestRowsAreScaled(t *testing.T) {
	for _, v := range [][]float32{{3, 4}, {1e-40, 2e-42}, {3e38, -3e38}, {1e-20, 1e20}, {0, 0}, {0, -7}} {
		for _, norm := range []float64{1, 0.2, 1e-30, 1e30} {
			dst := make([]float32, 2)
			if err := channel.ScaleRow(dst, v, norm); err != nil {
				t.Fatal(err)
			}
			n, _ := mechanismtest.SquareNorm(dst).Float64()
			if math.Sqrt(n) > norm || (v[0] != 0 || v[1] != 0) && math.Sqrt(n) < norm*(1-1e-6) {
				t.Errorf("%v at %g: %v", v, norm, dst)
			}
		}
	}
}

func BenchmarkAggregate(b *testing.B) {
	a := grid(30_000, 40_000, 27)
	x := make([]float32, 40_000*64)
	for i := range x {
		x[i] = float32(math.Cos(float64(i)))
	}
	dst := make([]float32, 30_000*64)
	g, _ := openGAP[float32](b, gap)
	for i := range b.N {
		if err := g.Aggregate(dst, x, 64, a, 0, 0, uint64(i)); err != nil {
			b.Fatal(err)
		}
	}
}
