package edges

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// keptLaw is the probability that j of E ones and top-j of M zeros are the top
// cells when every cell has Laplace noise: the integral over the value of the least
// of them, whichever it is.
func keptLaw(e, m, top int, scale float64) []float64 {
	law := make([]float64, e+1)
	density := func(t float64) float64 { return math.Exp(-math.Abs(t)/scale) / (2 * scale) }
	below := func(t float64) float64 { return laplaceAbove(-t, scale) }
	power := func(x float64, n int) float64 { return math.Pow(x, float64(n)) }
	choose := func(n, k int) float64 {
		r := 1.0
		for i := range k {
			r *= float64(n-i) / float64(i+1)
		}
		return r
	}
	const h = 1.0 / 512
	for t := -30 * scale; t < 30*scale+1; t += h * scale {
		mid := t + h*scale/2
		s1, s0 := laplaceAbove(mid-1, scale), laplaceAbove(mid, scale)
		f1, f0 := below(mid-1), below(mid)
		for j := max(0, top-m); j <= min(e, top); j++ {
			k := top - j
			w := 0.0
			if j > 0 {
				w += float64(j) * density(mid-1) * power(s1, j-1) * power(s0, k)
			}
			if k > 0 {
				w += float64(k) * density(mid) * power(s0, k-1) * power(s1, j)
			}
			law[j] += h * scale * w * choose(e, j) * choose(m, k) * power(f1, e-j) * power(f0, m-k)
		}
	}
	return law
}

// The law of whole outputs given the count: every subset of nine cells, against
// the integral; and the integral against noise on every cell.
func TestTopCellsHaveTheDenseLaw(t *testing.T) {
	a := matrix("110", "001", "000")
	const ones, zeros = 3, 6
	for _, c := range []struct {
		top   int
		scale float64
	}{{1, 1}, {3, 0.5}, {3, 2}, {6, 0.7}, {8, 1}, {9, 1}, {0, 1}} {
		law := keptLaw(ones, zeros, c.top, c.scale)
		if c.top == 0 {
			law[0] = 1
		}
		total := 0.0
		for _, p := range law {
			total += p
		}
		if math.Abs(total-1) > 1e-5 {
			t.Fatalf("%v: the law has mass %v", c, total)
		}
		choose := []float64{1, 3, 3, 1}
		chooseZeros := []float64{1, 6, 15, 20, 15, 6, 1}
		var sets []int
		var want []float64
		for y := range 1 << 9 {
			if bits.OnesCount(uint(y)) != c.top {
				continue
			}
			j := bits.OnesCount(uint(y & cellsOf(a)))
			sets, want = append(sets, y), append(want, law[j]/choose[j]/chooseZeros[c.top-j])
		}
		g := lapRun{m: LapGraph{Purpose: "g"}, a: a, law: cellLaw{c.scale, ones, zeros}}
		counts, dense := make([]float64, len(sets)), make([]float64, len(sets))
		for i := range uint64(3000) {
			s := rng.Seed(3).Stream("top", i)
			values := []float64{1, 1, 1}
			addLaplace(s.Sub(9), values, c.scale)
			out, err := g.release(s, values, int64(c.top))
			if err != nil || out.Validate() != nil {
				t.Fatal(out, err)
			}
			counts[slices.Index(sets, cellsOf(out))]++

			cells := make([]float64, 9)
			for k := range cells {
				cells[k] = float64(cellsOf(a) >> k & 1)
			}
			addLaplace(s.Sub(10), cells, c.scale)
			order := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
			slices.SortFunc(order, func(x, y int) int {
				if cells[x] > cells[y] {
					return -1
				}
				return 1
			})
			y := 0
			for _, k := range order[:c.top] {
				y |= 1 << k
			}
			dense[slices.Index(sets, y)]++
		}
		mechanismtest.GoodFit(t, "sparse", counts, want)
		mechanismtest.GoodFit(t, "dense", dense, want)
	}
}

// The zeros' values come down with the law of sorted noise: the k-th of n is
// above t with the probability that k of n are.
func TestDescendingNoise(t *testing.T) {
	const n, draws = 5, 40_000
	above := make([][]float64, n) // by rank and threshold
	levels := []float64{-3, -1, -0.2, 0, 0.2, 1, 3}
	for k := range above {
		above[k] = make([]float64, len(levels))
	}
	for i := range uint64(draws) {
		d := descending{s: rng.Seed(4).Stream("down", i), scale: 0.8, left: n}
		last := math.Inf(1)
		for k := range n {
			v := d.next()
			if !(v < last) {
				t.Fatalf("%g after %g", v, last)
			}
			last = v
			for j, l := range levels {
				if v > l {
					above[k][j]++
				}
			}
		}
		if v := d.next(); !math.IsInf(v, -1) {
			t.Fatalf("%g after the last", v)
		}
	}
	for j, l := range levels {
		p, tail := laplaceAbove(l, 0.8), 0.0
		for k := n; k >= 1; k-- { // P(at least k above)
			b := 1.0
			for i := range k {
				b *= float64(n-i) / float64(i+1)
			}
			tail += b * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
			if z := (above[k-1][j] - draws*tail) / math.Sqrt(draws*tail*(1-tail)); math.Abs(z) > mechanismtest.Sigmas {
				t.Errorf("rank %d above %g: %g of %d, want %g", k, l, above[k-1][j], draws, draws*tail)
			}
		}
	}
}

// Subsets are uniform, small and large ones.
func TestDistinctIsUniform(t *testing.T) {
	for k := range 6 {
		counts := map[int]float64{}
		for i := range uint64(20_000) {
			list := distinct(rng.Seed(2).Stream("subset", i), int64(k), 5)
			set := 0
			for _, v := range list {
				set |= 1 << v
			}
			if len(list) != k || !slices.IsSorted(list) || bits.OnesCount(uint(set)) != k {
				t.Fatalf("%d of 5: %v", k, list)
			}
			counts[set]++
		}
		var c []float64
		for set := range 1 << 5 {
			if bits.OnesCount(uint(set)) == k {
				c = append(c, counts[set])
			}
		}
		mechanismtest.GoodFit(t, "subset", c, slices.Repeat([]float64{1 / float64(len(c))}, len(c)))
	}
}

// Two releases are on record, which add up to epsilon; the count is near the true
// one, and the output has as many ones.
func TestLapGraphIsRecorded(t *testing.T) {
	a := grid(400, 900, 25)
	for _, share := range []float64{0, 0.3} {
		m := LapGraph{Purpose: "graph", Epsilon: 4, CountShare: share, Unit: privacy.Interaction}
		counts := 0.0
		for i := range uint64(30) {
			l := mechanismtest.Ledger(t)
			out, err := PerturbLapGraph(m, l, rng.Seed(6).Stream("lap", i), a)
			if err != nil {
				t.Fatal(err)
			}
			entries := l.Entries()
			if len(entries) != 2 {
				t.Fatal(entries)
			}
			epsilon, finest := 0.0, 0.0
			for _, e := range entries {
				ev, ok := e.Event.(privacy.Laplace)
				if !ok || ev.Sensitivity != 1 || ev.Unit != privacy.Interaction || ev.Neighbouring != privacy.AddRemove || e.Count != 1 || e.Purpose != "graph" {
					t.Fatal(e)
				}
				epsilon += ev.Sensitivity / ev.Scale
				finest = max(finest, ev.Scale)
			}
			if share == 0 {
				share = 0.01
			}
			if epsilon > 4*(1+1e-15) || epsilon < 4*(1-1e-12) || math.Abs(finest*share*4-1) > 1e-12 {
				t.Fatalf("epsilon %v, count noise of scale %v", epsilon, finest)
			}
			counts += (float64(out.Edges()) - float64(a.Edges())) / finest
		}
		if math.Abs(counts/30) > mechanismtest.Sigmas*math.Sqrt(2.0/30)+4 { // deviation sqrt(2) scales, and rounding
			t.Errorf("counts are off by %g scales in the mean", counts/30)
		}
	}
	l := mechanismtest.Ledger(t)
	if out, err := PerturbLapGraph(LapGraph{Purpose: "g", Epsilon: 3, Unit: privacy.Edge, Limit: 100}, l, rng.Seed(1).Stream("x"), a); err == nil || out.Ptr != nil || !strings.Contains(err.Error(), "limit") || mechanismtest.CountOf(l) != 1 {
		t.Errorf("%v, %d on record", err, mechanismtest.CountOf(l)) // the count was released
	}
	if _, err := (LapGraph{Epsilon: 1, Unit: privacy.Edge}).Expected(3, 4); err == nil {
		t.Error("more ones than cells")
	}
	if _, err := (LapGraph{Unit: privacy.Edge}).Expected(5, 4); err == nil {
		t.Error("no epsilon")
	}
}

// Rounding the noisy count keeps the ratio of neighbouring counts within e^eps;
// truncating the noise, as the released code does, does not: by enumeration.
func TestCountIsRoundedNotTruncated(t *testing.T) {
	for _, eps := range []float64{0.01, 0.1, 1} {
		between := func(low, high float64) float64 { return laplaceAbove(low, 1/eps) - laplaceAbove(high, 1/eps) }
		rounded := func(k int) float64 { return between(float64(k)-0.5, float64(k)+0.5) } // P(output = count + k)
		truncated := func(k int) float64 {
			switch {
			case k == 0:
				return between(-1, 1)
			case k > 0:
				return between(float64(k), float64(k+1))
			}
			return between(float64(k-1), float64(k))
		}
		worst := func(p func(int) float64) (w float64) {
			for k := -12; k < 12; k++ {
				w = max(w, math.Abs(math.Log(p(k)/p(k+1)))) // the count of a neighbour is one more
			}
			return w
		}
		if w := worst(rounded); w > eps*(1+1e-9) {
			t.Errorf("epsilon %g: rounding has a log-ratio of %g", eps, w)
		}
		if w := worst(truncated); math.Abs(w-eps-math.Ln2) > 1e-9 {
			t.Errorf("epsilon %g: truncation has a log-ratio of %g, want %g", eps, w, eps+math.Ln2)
		}
	}
}

// Noise of the ones or of the zeros that is not what the ledger says shows in how
// many ones are kept.
func TestLapGraphPlantedFaults(t *testing.T) {
	a := grid(400, 1500, 30)
	e := float64(a.Edges())
	law := cellLaw{0.8, e, float64(a.Cells()) - e}
	g := lapRun{m: LapGraph{Purpose: "g"}, a: a, law: law, share: 1}
	values := func(s rng.Stream, centre, scale float64) []float64 {
		v := slices.Repeat([]float64{centre}, len(a.Idx))
		addLaplace(s, v, scale)
		return v
	}
	for i := range uint64(20) { // right as it is, at any size of the output
		s := rng.Seed(5).Stream("right", i)
		top := a.Edges() * int64(i+1) / 10
		if _, err := g.release(s, values(s.Sub(7), 1, 0.8), top); err != nil {
			t.Error(err)
		}
	}
	s := rng.Seed(5).Stream("fault")
	for name, plant := range map[string]func() (lapRun, []float64){
		"ones as zeros":      func() (lapRun, []float64) { return g, values(s, 0, 0.8) },
		"variance for scale": func() (lapRun, []float64) { return g, values(s, 1, 2*0.8*0.8) },
		"no noise":           func() (lapRun, []float64) { return g, values(s, 1, 1e-9) },
		"noise drawn once": func() (lapRun, []float64) {
			v := values(s, 1, 0.8)
			for i := range v {
				v[i] = v[0]
			}
			return g, v
		},
		"sensitivity 2": func() (lapRun, []float64) { return g, values(s, 1, 1.6) },
	} {
		run, v := plant()
		_, err := run.release(s, v, a.Edges())
		var ce *mechanism.CheckError
		if !errors.As(err, &ce) || !strings.Contains(ce.What, "ones kept") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkLapGraph(b *testing.B) {
	a := grid(30_000, 40_000, 27)
	for range b.N {
		l, _ := privacy.NewLedger(privacy.Research)
		if _, err := PerturbLapGraph(LapGraph{Purpose: "g", Epsilon: 3, Unit: privacy.Edge}, l, rng.Seed(1).Stream("g"), a); err != nil {
			b.Fatal(err)
		}
	}
}

// Subsets of six, of every size, by counts.
func TestSubsetsOfSix(t *testing.T) {
	for k := int64(0); k <= 6; k++ {
		seen := make([]int, 6)
		for i := range uint64(3000) {
			list := distinct(rng.Seed(6).Stream("distinct", uint64(k), i), k, 6)
			if !slices.IsSorted(list) || int64(len(slices.Compact(slices.Clone(list)))) != k {
				t.Fatalf("%d of 6: %v", k, list)
			}
			for _, v := range list {
				seen[v]++
			}
		}
		for v, c := range seen { // each is in with probability k/6: Bernstein, 2e-9
			in := mechanism.Proportion{What: "in", N: 3000, Got: int64(c), P: float64(k) / 6}
			if err := in.Check("distinct", math.Log(1e9)); err != nil {
				t.Errorf("%d of 6, value %d: %v", k, v, err)
			}
		}
	}
}

// addLaplace adds Laplace noise by inversion.
func addLaplace(s rng.Stream, dst []float64, scale float64) {
	for i := range dst {
		u := s.Float64() - 0.5
		dst[i] -= math.Copysign(scale*math.Log1p(-2*math.Abs(u)), u)
	}
}
