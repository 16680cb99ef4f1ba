package pld

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// cellsOf is random cells with P and Q masses whose ratio is inside each cell.
func cellsOf(r *rand.Rand, n int, h, offset float64) *cells {
	c := &cells{h: h, offset: offset, first: 2*r.IntN(20) - 21, p: make([]float64, 2*n), q: make([]float64, 2*n)}
	sum := 0.0
	for i := range c.q {
		if r.IntN(6) > 0 {
			c.q[i] = math.Exp(3 * r.NormFloat64())
		}
		c.p[i] = c.q[i] * math.Exp(c.loss(c.first+i)+h*r.Float64())
		sum += c.p[i]
	}
	for i := range c.p {
		c.p[i], c.q[i] = c.p[i]/sum, c.q[i]/sum
	}
	c.pTail, c.qTail = smaller(c.p, 0, 0), smaller(c.q, 0, 0)
	return c
}

// qMass is what Q has under a law of the loss under P: the mean of exp(-loss).
func qMass(m *masses) float64 {
	s := 0.0
	for i, w := range m.w {
		s += w * math.Exp(-m.loss(i))
	}
	return s
}

// asPoints is the hockey stick of cells that are one point each: at most that of
// whatever law they were cut from, as putting outcomes together is processing.
func (c *cells) asPoints(eps float64) float64 {
	d := 0.0
	for i := range c.p {
		d += max(0, c.p[i]-math.Exp(eps)*c.q[i])
	}
	return d
}

// The upper law of any cells keeps all mass of P and of Q, and is at least the
// cells as points at every epsilon; the lower one keeps P's, and at the nodes that
// it has is at most what the cells can hide.
func TestMassesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		h := logUniform(t, "mesh", 1e-4, 1)
		c := cellsOf(r, rapid.IntRange(1, 30).Draw(t, "pairs of cells"), h, rapid.Float64Range(-2, 2).Draw(t, "offset"))
		up, low := c.upper(), c.lower()
		q := 0.0
		for _, v := range c.q {
			q += v
		}
		if p := up.total(); math.Abs(p-1) > 1e-13 {
			t.Fatalf("the upper law sums to 1%+g", p-1)
		}
		if got := qMass(up); math.Abs(got/q-1) > 1e-10/h {
			t.Fatalf("Q has %g in the upper law, %g in the cells", got, q)
		}
		if p := low.total(); math.Abs(p-1) > 1e-13 {
			t.Fatalf("the lower law sums to 1%+g", p-1)
		}
		for range 40 {
			eps := c.offset + h*(float64(c.first)+float64(len(c.p))*(1.2*r.Float64()-0.1))
			tol := 1e-12 * (1 + math.Exp(eps)*q)
			if u, p := hockeyStick(up, eps), c.asPoints(eps); u < p-tol {
				t.Fatalf("at %g: %g is below %g of the cells as points", eps, u, p)
			}
			// Connect the dots at the cells' ends is the largest that they can be.
			if l, u := hockeyStick(low, eps), hockeyStick(up, eps); l > u+tol {
				t.Fatalf("at %g: lower %g, upper %g", eps, l, u)
			}
			if l, p := hockeyStick(low, eps), c.asPoints(eps); l > p+tol {
				t.Fatalf("at %g: lower %g is above %g of the cells as points", eps, l, p)
			}
		}
	})
}

// At the nodes themselves the upper law is the cells: connecting dots changes
// delta between nodes alone.
func TestExactAtNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		c := cellsOf(r, 12, 0.05+r.Float64()/2, r.NormFloat64())
		up := c.upper()
		for k := range len(c.p) + 1 {
			eps := c.loss(c.first + k)
			if u, p := hockeyStick(up, eps), c.asPoints(eps); math.Abs(u-p) > 1e-12*(1+math.Exp(eps)) {
				t.Fatalf("node %d at %g: %g, the cells have %g", k, eps, u, p)
			}
		}
	}
}

// The shares solve their linear system: what each takes is its need times what is
// left of it, against elimination in rationals.
func TestSharesSolveTheirSystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "cells")
		ms := make([]merged, n)
		for j := range ms {
			ms[j].up = rapid.Bool().Draw(t, "up")
			if rapid.IntRange(0, 4).Draw(t, "needs") > 0 {
				ms[j].need = rapid.Float64Range(0, 0.89).Draw(t, "need")
			}
			if j == 0 && ms[j].up || j == n-1 && !ms[j].up {
				ms[j].need = 0
			}
		}
		want := eliminated(ms)
		if want == nil {
			return
		}
		got := solve(ms)
		for j := range ms {
			exact, _ := want[j].Float64()
			if math.Abs(got[j]-exact) > 1e-9*(1+math.Abs(exact)) {
				t.Fatalf("cell %d takes %v, want %v", j, got[j], exact)
			}
			if left := 1 - given(ms, got, j); math.Abs(got[j]-ms[j].need*left) > 1e-9*(1+math.Abs(got[j])) {
				t.Fatalf("cell %d takes %v: %v of the %v that is left of it", j, got[j], ms[j].need, left)
			}
		}
		took, _ := shares(ms) // changes needs
		for j := range ms {
			if g := given(ms, took, j); took[j] < 0 || g < 0 || g > 1+1e-12 {
				t.Fatalf("cell %d takes %v and gives %v", j, took[j], g)
			}
		}
	})
}

// eliminated is the system of shares by Gaussian elimination in rationals, nil where
// it has none or no stable solution.
func eliminated(ms []merged) []*big.Rat {
	n := len(ms)
	a := make([][]*big.Rat, n)
	for j := range a {
		a[j] = make([]*big.Rat, n+1)
		for k := range a[j] {
			a[j][k] = new(big.Rat)
		}
		need := new(big.Rat).SetFloat64(ms[j].need)
		a[j][j].SetInt64(1)
		a[j][n].Set(need)
		if j > 0 && !ms[j-1].up {
			a[j][j-1].Add(a[j][j-1], need)
		}
		if j+1 < n && ms[j+1].up {
			a[j][j+1].Add(a[j][j+1], need)
		}
	}
	for j := range n {
		if f, _ := a[j][j].Float64(); math.Abs(f) < 1e-3 { // no pivoting, as in the tridiagonal solution
			return nil
		}
		for k := j + 1; k < n; k++ {
			f := new(big.Rat).Quo(a[k][j], a[j][j])
			for l := j; l <= n; l++ {
				a[k][l].Sub(a[k][l], new(big.Rat).Mul(f, a[j][l]))
			}
		}
	}
	x := make([]*big.Rat, n)
	for j := n - 1; j >= 0; j-- {
		s := new(big.Rat).Set(a[j][n])
		for k := j + 1; k < n; k++ {
			s.Sub(s, new(big.Rat).Mul(a[j][k], x[k]))
		}
		x[j] = s.Quo(s, a[j][j])
	}
	return x
}

func TestShare(t *testing.T) {
	for _, c := range []struct{ excess, has, want float64 }{
		{1, 2, 0.5}, {0, 2, 0}, {1, 0, 0}, {1, -2, 0}, {1.79, 2, 0.895}, {1.81, 2, 0}, {3, 2, 0},
	} {
		if got := share(c.excess, c.has); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Two cells in balance become their node, whatever is beside them; a ratio above
// it takes from below, and one below from above, exactly as much as balances.
func TestMergeBalances(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	took := map[bool]int{}
	for range 300 {
		c := cellsOf(r, 3, 0.02+r.Float64()/5, 0)
		x := c.merge(1)
		ratio := math.Exp(c.loss(c.first + 3))
		p, q := c.p[2]+c.p[3], c.q[2]+c.q[3]
		if x.p != p {
			t.Fatalf("mass %v, want %v", x.p, p)
		}
		if p == 0 || q == 0 {
			continue
		}
		if up := p > ratio*q; up != x.up && math.Abs(p/(ratio*q)-1) > 1e-12 {
			t.Fatalf("up is %v with a ratio %v of its node's", x.up, p/(ratio*q))
		}
		if x.need > 0 {
			from := 0
			if !x.up {
				from = 4
			}
			mixedP, mixedQ := p+x.need*(c.p[from]+c.p[from+1]), q+x.need*(c.q[from]+c.q[from+1])
			if off := mixedP/(ratio*mixedQ) - 1; math.Abs(off) > 1e-12 {
				t.Fatalf("mixed with %v of cell %d the ratio is off by %g", x.need, from, off)
			}
			took[x.up]++
		}
		if !x.up && x.keep > 0 { // what stays has the node's ratio or more
			kept := x.keep * p
			share := (kept - c.p[3]) / c.p[2]
			if c.p[2] > 0 && kept-ratio*(c.q[3]+share*c.q[2]) < -1e-12*kept {
				t.Fatalf("what stays is below its node")
			}
		}
	}
	if took[true] < 20 || took[false] < 20 {
		t.Errorf("neighbours are mixed in %v times", took)
	}
}

// Folding cells at an edge moves P and Q masses together: none is lost, none
// negative, and no hockey stick rises.
func TestFolded(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	changed := 0
	for range 200 {
		c := cellsOf(r, 10, 0.3*r.Float64()+0.01, 0)
		// A steep edge: the outermost cells have next to nothing, or lean inwards.
		for i := range r.IntN(4) {
			f := math.Exp(-20 * r.Float64())
			c.p[i], c.q[i] = c.p[i]*f, c.q[i]*f
		}
		f := c.folded()
		if !slices.Equal(f.p, c.p) {
			changed++
		}
		var p, q, wasP, wasQ float64
		for i := range f.p {
			if f.p[i] < 0 || f.q[i] < 0 {
				t.Fatalf("cell %d has %g and %g", i, f.p[i], f.q[i])
			}
			p, q, wasP, wasQ = p+f.p[i], q+f.q[i], wasP+c.p[i], wasQ+c.q[i]
		}
		if math.Abs(p-wasP) > 1e-13*wasP || math.Abs(q-wasQ) > 1e-13*wasQ {
			t.Fatalf("masses %g and %g, were %g and %g", p, q, wasP, wasQ)
		}
		for range 30 {
			eps := c.loss(c.first) + c.h*float64(len(c.p))*r.Float64()
			if got, was := f.asPoints(eps), c.asPoints(eps); got > was+1e-12*(1+wasQ*math.Exp(eps)) {
				t.Fatalf("at %g: %g after, %g before", eps, got, was)
			}
		}
	}
	if changed < 50 {
		t.Errorf("%d of 200 edges were folded", changed)
	}
}

// What rounding down wastes moves mass up, but never more than was wasted.
func TestRecover(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		m := &masses{h: 0.01 + 0.2*r.Float64(), w: make([]float64, 30)}
		for i := range m.w {
			m.w[i] = math.Exp(2*r.NormFloat64()) / 50
		}
		was := slices.Clone(m.w)
		waste, total := make([]float64, len(m.w)), 0.0
		for range 5 {
			waste[1+r.IntN(len(waste)-1)] = 1e-3 * r.Float64()
		}
		for _, v := range waste {
			total += v
		}
		m.recover(waste)
		mean, meanWas, p, pWas := 0.0, 0.0, 0.0, 0.0
		for i := range m.w {
			if m.w[i] < 0 {
				t.Fatalf("node %d has %g", i, m.w[i])
			}
			p, pWas = p+m.w[i], pWas+was[i]
			mean, meanWas = mean+m.w[i]*math.Exp(-m.loss(i)), meanWas+was[i]*math.Exp(-m.loss(i))
		}
		if math.Abs(p-pWas) > 1e-14*pWas {
			t.Fatalf("mass %g, was %g", p, pWas)
		}
		// Moved up by d, a mass y needs y(exp(-l) - exp(-l-d)) less of Q: the waste at the
		// node above in units of Q there.
		need := 0.0
		for i, v := range waste {
			need += v * math.Exp(-m.loss(i))
		}
		if meanWas-mean > need*(1+1e-9) {
			t.Fatalf("Q loses %g, wasted were %g (%g of P)", meanWas-mean, need, total)
		}
	}
}

// Rounding errors of distribution functions only move mass up in the upper law and
// down in the lower one.
func TestGuards(t *testing.T) {
	x := mustPair(gaussian(1))
	lo, hi := x.cut(1e-15, false)
	c := x.discretise(context.Background(), (hi-lo)/200, lo, hi)
	clean := *c
	clean.rho = 0
	for _, allowed := range []float64{rho, 1e-9, 1e-6} {
		c.rho = allowed
		for i := range 100 {
			eps := lo + (hi-lo)*(float64(i)+0.4)/100
			up, upClean := hockeyStick(c.upper(), eps), hockeyStick(clean.upper(), eps)
			low, lowClean := hockeyStick(c.lower(), eps), hockeyStick(clean.lower(), eps)
			if up < upClean-1e-15 || low > lowClean+1e-15 {
				t.Fatalf("errors of %g at %g: upper %g (%g without), lower %g (%g without)", allowed, eps, up, upClean, low, lowClean)
			}
			if allowed == 1e-6 && i == 50 && (up <= upClean || low >= lowClean) {
				t.Errorf("errors of %g change nothing", allowed)
			}
		}
		if total := c.upper().total(); math.Abs(total-1) > 1e-14 {
			t.Errorf("errors of %g: the upper law sums to 1%+g", allowed, total-1)
		}
	}
}

// A distribution function that is wrong within rho, at random, is still bounded on
// both sides.
func TestWrongTailsAreMet(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	x := mustPair(gaussian(1.3)).sampled(0.2)
	lo, hi := x.cut(1e-15, false)
	good := x.tails
	x.tails = func(l float64) edge {
		e := good(l)
		off := func(below, above *float64) {
			v := (2*r.Float64() - 1) * rho
			if *below < *above {
				*below *= 1 + v
				*above = 1 - *below
			} else {
				*above *= 1 + v
				*below = 1 - *above
			}
		}
		off(&e.pBelow, &e.pAbove)
		off(&e.qBelow, &e.qAbove)
		return e
	}
	for range 5 {
		c := x.discretise(context.Background(), (hi-lo)/3000, lo, hi)
		up, low := c.upper(), c.lower()
		for i := range 300 {
			eps := lo + (hi-lo)*(float64(i)+0.31)/300
			e := good(min(max(eps, x.lo), x.hi))
			want := e.pAbove - math.Exp(eps)*e.qAbove
			tol := 1e-15 * (1 + math.Exp(eps)*e.qAbove)
			if u, l := hockeyStick(up, eps), hockeyStick(low, eps); u < want-tol || l > want+tol {
				t.Fatalf("at %g: %g to %g, want %g", eps, l, u, want)
			}
		}
	}
}

// The sum of masses loses nothing to cancellation of large and small ones.
func TestTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 20 {
		m, want := &masses{inf: r.Float64() * 1e-3, w: make([]float64, 5000)}, new(big.Float).SetPrec(bits)
		for i := range m.w {
			m.w[i] = math.Exp(-30 * r.Float64())
			want = add(want, bigOf(m.w[i]))
		}
		if got := m.total(); !near(got, add(want, bigOf(m.inf)), 4*unit) {
			t.Errorf("%.20g, want %.20g", got, want)
		}
	}
}
