package edges

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/internal/observe"
	"privrec/internal/privacy/numeric"
	"privrec/internal/rng"
)

// LapGraph describes the release of an adjacency matrix by Laplace noise (the baseline of the RDP-GCF paper, after Wu,
// Long, Zhang, Li, "LinkTeller", IEEE S&P 2022). It releases the number of ones with noise of scale 1/eps1, then that
// many cells: the largest ones after noise of scale 1/eps2 on every cell. eps1 is CountShare of Epsilon and eps2 the
// rest. An edge more or less moves the number by one, and the cells by one in l1. The choice of the largest cells is
// post-processing.
//
// The published code truncates the count's noise before it adds it. A count with noise below one either way is then
// told apart from its neighbours: the ratio is 2 e^eps1, not e^eps1. Here the noisy number is rounded, which reveals
// nothing.
type LapGraph struct {
	Purpose    string          // names the releases in the ledger
	Epsilon    float64         // of one edge, count and cells together
	CountShare float64         // in (0, 1); 0 is 0.01
	Unit       privacy.Unit    // what a one in the matrix is: Edge or Interaction
	Limit      int64           // most ones that the output may have; 0 is 2^31
	Share      mechanism.Share // of the run's false-alarm probability
}

// events returns the events of the count and of the cells.
func (m LapGraph) events() (count, cells privacy.Laplace, err error) {
	share := m.CountShare
	if share == 0 {
		share = 0.01
	}
	if !(share > 0 && share < 1) {
		return count, cells, fmt.Errorf("count share is %v, want above 0 and below 1", m.CountShare)
	}
	b1, err := channel.LaplaceScale(share*m.Epsilon, 1)
	if err != nil {
		return count, cells, err
	}
	b2, err := channel.LaplaceScale((1-share)*m.Epsilon, 1)
	if err != nil {
		return count, cells, err
	}
	count = privacy.Laplace{Scale: b1, Sensitivity: 1, Unit: m.Unit, Neighbouring: privacy.AddRemove}
	cells = count
	cells.Scale = b2
	return count, cells, nil
}

// Releases returns the events that one use of the mechanism records: the count, and the cells.
func (m LapGraph) Releases() ([]privacy.Event, error) {
	count, cells, err := m.events()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Purpose, err)
	}
	return []privacy.Event{count, cells}, nil
}

// Expected returns the share of true edges in the output, if it has as many ones as the matrix.
func (m LapGraph) Expected(cells, edges int64) (trueShare float64, err error) {
	_, e, err := m.events()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", m.Purpose, err)
	}
	if edges <= 0 || cells < edges {
		return 0, fmt.Errorf("%s: %d ones in %d cells", m.Purpose, edges, cells)
	}
	c := cellLaw{e.Scale, float64(edges), float64(cells - edges)}
	return laplaceAbove(c.threshold(func(t float64) float64 { return c.mean(t) - c.ones })-1, c.scale), nil
}

// The streams of a release.
const (
	countStream = iota
	onesStream
	zerosStream
	placeStream
)

// PerturbLapGraph returns a perturbed copy of a and records the releases of the count and of the cells. It draws the
// noise of the zeros only as far as needed: their largest values in descending order, until the cells are found. The
// law of the output is that of noise on every cell. Time and memory are those of the ones before and after.
func PerturbLapGraph(m LapGraph, l *privacy.Ledger, s rng.Stream, a Adjacency) (Adjacency, error) {
	countEvent, cellsEvent, err := m.events()
	if err != nil {
		return Adjacency{}, fmt.Errorf("%s: %w", m.Purpose, err)
	}
	if err := edgeUnit(m.Purpose, cellsEvent, m.Unit, m.Share, l, a); err != nil {
		return Adjacency{}, err
	}
	if a.Cells() == 0 {
		return newBuilder(a.Rows, a.Cols, 0).finish(), nil
	}
	third := m.Share / 3
	if m.Share == 0 {
		third = 1.0 / 3
	}
	g := lapRun{m: m, a: a, share: third, law: cellLaw{cellsEvent.Scale, float64(a.Edges()),
		float64(a.Cells() - a.Edges())}}
	count := []float64{float64(a.Edges())}
	if err := g.noise(countEvent, l, s.Sub(countStream), count); err != nil {
		return Adjacency{}, err
	}
	top := int64(math.Max(0, math.Min(float64(a.Cells()), math.RoundToEven(count[0]))))
	if limit := m.Limit; limit < 0 || limit > 0 && top > limit || limit == 0 && top > defaultLimit {
		return Adjacency{}, fmt.Errorf("%s: %d ones after noise, the limit is %d (0 is 2^31)", m.Purpose, top, limit)
	}
	values := make([]float64, len(a.Idx))
	for i := range values {
		values[i] = 1
	}
	if err := g.noise(cellsEvent, l, s.Sub(onesStream), values); err != nil {
		return Adjacency{}, err
	}
	out, err := g.release(s, values, top)
	if err != nil {
		return Adjacency{}, err
	}
	return seen(observe.Begin(m.Purpose+", cells", cellsEvent, 1, 1), a, out), nil
}

// lapRun holds one release of a LapGraph.
type lapRun struct {
	m     LapGraph
	a     Adjacency
	share mechanism.Share // of each of three checks
	law   cellLaw
}

// noise adds noise to values as one release. A matrix without ones still has noise on its zeros, and a release.
func (g lapRun) noise(e privacy.Laplace, l *privacy.Ledger, s rng.Stream, values []float64) error {
	c, err := channel.OpenLaplace[float64](channel.Laplace{Purpose: g.m.Purpose, Scale: e.Scale,
		Sensitivity: e.Sensitivity,
		Unit:        e.Unit, Neighbouring: e.Neighbouring, Share: g.share}, l, s)
	if err != nil {
		return err
	}
	const cols = 256
	rows := max(1, (len(values)+cols-1)/cols)
	padded := make([]float64, rows*cols)
	if len(values) == 1 {
		padded = padded[:1]
	}
	copy(padded, values)
	if err := c.Perturb(padded, len(padded)/rows, 1); err != nil {
		return err
	}
	copy(values, padded)
	return nil
}

// release returns the top cells, given the noisy values of the ones.
func (g lapRun) release(s rng.Stream, values []float64, top int64) (Adjacency, error) {
	kept, zeros := g.choose(s.Sub(zerosStream), values, top)
	places := distinct(s.Sub(placeStream), zeros, g.a.Cells()-g.a.Edges())
	out := g.merge(kept, places, top)
	if err := g.check(out); err != nil {
		return Adjacency{}, err
	}
	return out, nil
}

// choose returns which ones are among the top cells, ascending, and how many zeros are.
func (g lapRun) choose(s rng.Stream, values []float64, top int64) (kept []int64, zeros int64) {
	order := make([]int64, len(values))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(i, j int64) int {
		if values[i] > values[j] {
			return -1
		} else if values[i] < values[j] {
			return 1
		}
		return 0
	})
	z := descending{s: s, scale: g.law.scale, left: g.a.Cells() - g.a.Edges()}
	n := int64(0)
	for next := z.next(); n+zeros < top; {
		if n < int64(len(order)) && values[order[n]] >= next {
			n++
		} else {
			zeros++
			next = z.next()
		}
	}
	kept = order[:n]
	slices.Sort(kept)
	return kept, zeros
}

// descending generates independent Laplace values from the largest down. Of n uniform numbers the largest is V^(1/n),
// the next that times V^(1/(n-1)), and so on (Bentley and Saxe, "Generating sorted lists of random numbers", ACM TOMS
// 1980). It works with their logarithms.
type descending struct {
	s     rng.Stream
	scale float64
	left  int64
	logU  float64
}

// next returns the next value, and minus infinity after the last.
func (d *descending) next() float64 {
	if d.left == 0 {
		return math.Inf(-1)
	}
	v := (float64(d.s.Uint64()>>1) + 0.5) * 0x1p-63
	d.logU += math.Log(v) / float64(d.left)
	d.left--
	if d.logU < -math.Ln2 { // below the median
		return d.scale * (d.logU + math.Ln2)
	}
	return -d.scale * (math.Ln2 + math.Log(-math.Expm1(d.logU)))
}

// distinct returns a uniform subset of k of the numbers below n, ascending: draws without repeats, or the complement of
// such a subset if k is large.
func distinct(s rng.Stream, k, n int64) []int64 {
	if 2*k > n {
		rest := distinct(s, n-k, n)
		all := make([]int64, 0, k)
		for i := range n {
			if len(rest) > 0 && rest[0] == i {
				rest = rest[1:]
			} else {
				all = append(all, i)
			}
		}
		return all
	}
	list := make([]int64, 0, k)
	for int64(len(list)) < k {
		for range k - int64(len(list)) {
			list = append(list, int64(s.IntN(int(n))))
		}
		slices.Sort(list)
		list = slices.Compact(list)
	}
	return list
}

// merge returns the matrix of the kept ones, given by their numbers, and of zeros, given by their rank among the zeros.
func (g lapRun) merge(kept, places []int64, top int64) Adjacency {
	b := newBuilder(g.a.Rows, g.a.Cols, top)
	w := ones{a: g.a}
	next := w.cell()
	for _, r := range places {
		for next-w.next <= r { // zeros before this one: the one comes first
			if len(kept) > 0 && kept[0] == w.next {
				b.add(next)
				kept = kept[1:]
			}
			w.next++
			next = w.cell()
		}
		b.add(r + w.next)
	}
	for ; next != math.MaxInt64; next = w.cell() {
		if len(kept) > 0 && kept[0] == w.next {
			b.add(next)
			kept = kept[1:]
		}
		w.next++
	}
	return b.finish()
}

// cellLaw is the law of the noisy cells of a matrix with the given numbers of ones and zeros.
type cellLaw struct{ scale, ones, zeros float64 }

// laplaceAbove returns the probability that Laplace noise exceeds t.
func laplaceAbove(t, scale float64) float64 {
	if t < 0 {
		return 1 - math.Exp(t/scale)/2
	}
	return math.Exp(-t/scale) / 2
}

// mean returns the expected number of cells above t.
func (c cellLaw) mean(t float64) float64 {
	return c.ones*laplaceAbove(t-1, c.scale) + c.zeros*laplaceAbove(t, c.scale)
}

// threshold returns the root of a falling function of t, within the range of the noise.
func (c cellLaw) threshold(f func(t float64) float64) float64 {
	low, high := numeric.Halve(200, -800*c.scale, 1+800*c.scale, func(t float64) bool { return f(t) > 0 })
	return (low + high) / 2
}

// check returns an error if the number of ones kept does not fit the law. Let r(m) = sqrt(2 m x) + 2x/3 (Bernstein). If
// t is so high that mean(t) + r <= top, then all cells above t are among the top, except with probability exp(-x), so
// at least as many ones are kept as are above t. The bound from above is similar. These are four tails.
func (g lapRun) check(out Adjacency) error {
	x := math.Log(4 / g.share.FalseAlarm())
	r := func(m float64) float64 { return math.Sqrt(2*m*x) + 2*x/3 }
	top, c := float64(out.Edges()), g.law
	above := func(t float64) float64 { return c.ones * laplaceAbove(t-1, c.scale) }
	low, high := 0.0, math.Min(c.ones, top)
	if t := c.threshold(func(t float64) float64 { m := c.mean(t); return m + r(m) - top }); c.mean(t)+
		r(c.mean(t)) <= top*(1+1e-12) {
		low = math.Max(0, above(t)-r(above(t)))
	}
	if t := c.threshold(func(t float64) float64 { m := c.mean(t); return m - r(m) - top }); c.mean(t)-r(
		c.mean(t)) >= top*(1-1e-12) {
		high = math.Min(high, above(t)+r(above(t)))
	}
	if kept := float64(inCommon(g.a, out)); !(kept >= low && kept <= high) {
		return &mechanism.CheckError{Purpose: g.m.Purpose, What: "number of ones kept", Got: kept, Low: low, High: high,
			N: int64(top)}
	}
	return nil
}
