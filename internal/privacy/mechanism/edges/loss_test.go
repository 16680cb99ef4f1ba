package edges

import (
	"math"
	"math/bits"
	"testing"

	"privrec/internal/privacy"
)

// smallGraphs are matrices of 2 x 2 cells, by number, and their neighbours: one
// cell less.
func smallGraphs(visit func(with, without Adjacency)) {
	names := func(y int) Adjacency {
		b := newBuilder(2, 2, 0)
		for c := range int64(4) {
			if y>>c&1 == 1 {
				b.add(c)
			}
		}
		return b.finish()
	}
	for y := range 1 << 4 {
		for c := range 4 {
			if y>>c&1 == 1 {
				visit(names(y), names(y&^(1<<c)))
			}
		}
	}
}

// flipLaw is the law of whole outputs of flips.
func flipLaw(a Adjacency, drop, add float64) []float64 {
	law := make([]float64, 1<<a.Cells())
	for y := range law {
		law[y] = 1
		for cell := range int(a.Cells()) {
			p := add
			if cellsOf(a)>>cell&1 == 1 {
				p = 1 - drop
			}
			if y>>cell&1 == 0 {
				p = 1 - p
			}
			law[y] *= p
		}
	}
	return law
}

// worstRatio is the largest log-ratio of two laws, either way.
func worstRatio(p, q []float64) (w float64) {
	for i := range p {
		w = max(w, math.Abs(math.Log(p[i]/q[i])))
	}
	return w
}

// Over all graphs of four cells, all neighbours and all outputs the log-ratio of
// EdgeRand is what is charged.
func TestEdgeRandLoss(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 3, 8} {
		m := EdgeRand{Epsilon: eps}
		worst := 0.0
		smallGraphs(func(with, without Adjacency) {
			worst = max(worst, worstRatio(flipLaw(with, m.Flip(), m.Flip()), flipLaw(without, m.Flip(), m.Flip())))
		})
		if math.Abs(worst-eps) > 1e-11 {
			t.Errorf("epsilon %g: a log-ratio of %.15g", eps, worst)
		}
	}
}

// lapLaw is the law of whole outputs of LapGraph: of the rounded and clamped
// count, and of the top cells given that.
func lapLaw(a Adjacency, count, cells float64, kept map[[3]int][]float64) []float64 {
	e, n := int(a.Edges()), int(a.Cells())
	choose := func(n, k int) float64 {
		r := 1.0
		for i := range k {
			r *= float64(n-i) / float64(i+1)
		}
		return r
	}
	law := make([]float64, 1<<n)
	for y := range law {
		top := bits.OnesCount(uint(y))
		p := laplaceAbove(float64(top-e)-0.5, count) - laplaceAbove(float64(top-e)+0.5, count)
		if top == 0 { // everything below too
			p = 1 - laplaceAbove(0.5-float64(e), count)
		} else if top == n {
			p = laplaceAbove(float64(n-e)-0.5, count)
		}
		key := [3]int{e, n - e, top}
		if kept[key] == nil {
			kept[key] = keptLaw(e, n-e, top, cells)
			if top == 0 {
				kept[key][0] = 1
			}
		}
		j := bits.OnesCount(uint(y & cellsOf(a)))
		law[y] = p * kept[key][j] / choose(e, j) / choose(n-e, top-j)
	}
	return law
}

// Over all graphs of four cells, all neighbours and all outputs the log-ratio of
// LapGraph is at most epsilon, count and cells together; with cells' noise of half
// the scale it would not be.
func TestLapGraphLoss(t *testing.T) {
	for _, c := range []struct{ epsilon, share float64 }{{1, 0}, {2, 0.3}, {0.5, 0.5}} {
		m := LapGraph{Epsilon: c.epsilon, CountShare: c.share, Unit: privacy.Edge}
		count, cells, err := m.events()
		if err != nil {
			t.Fatal(err)
		}
		loss := func(scale float64) (worst float64) {
			kept := map[[3]int][]float64{}
			smallGraphs(func(with, without Adjacency) {
				p, q := lapLaw(with, count.Scale, scale, kept), lapLaw(without, count.Scale, scale, kept)
				total := 0.0
				for i := range p {
					total += p[i]
				}
				if math.Abs(total-1) > 1e-5 {
					t.Fatalf("the law has mass %v", total)
				}
				worst = max(worst, worstRatio(p, q))
			})
			return worst
		}
		if worst := loss(cells.Scale); worst > c.epsilon*(1+1e-4) || worst < c.epsilon/2 {
			t.Errorf("epsilon %g: a log-ratio of %g", c.epsilon, worst)
		}
		if worst := loss(cells.Scale / 2); worst <= c.epsilon {
			t.Errorf("epsilon %g: half the noise has a log-ratio of %g", c.epsilon, worst)
		}
	}
}
