package pld

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

// bounding checks that a pair's discretised laws bound its hockey stick: what every
// accountant with a mesh must pass. It returns by how much, relative to delta, the
// upper law is below it and the lower one above.
func bounding(x pair, c *cells, upper, lower *masses) (below, above float64) {
	lo, hi := x.cut(1e-15, false)
	for i := range 300 {
		eps := lo + (hi-lo)*(float64(i)+0.37)/300
		want := exactDelta(x, eps)
		if want < 1e-9 {
			continue
		}
		below = max(below, (want-hockeyStick(upper, eps))/want)
		above = max(above, (hockeyStick(lower, eps)-want)/want)
	}
	return below, above
}

// Wrong ways to round losses, each caught by the check that the right way passes.
func TestFaultsInRounding(t *testing.T) {
	for _, name := range []string{"gaussian", "sampled gaussian", "loud", "replaced", "laplace"} {
		x := pairs(t)[name]
		lo, hi := x.cut(1e-15, false)
		c := x.discretise(context.Background(), meshOf(x, lo, hi, 400), lo, hi)
		if below, above := bounding(x, c, c.upper(), c.lower()); below > 1e-9 || above > 1e-9 {
			t.Errorf("%s, as it is: %g below, %g above", name, below, above)
		}
		simple := func(node func(i int) int, share func(i int) float64) *masses {
			m, at := c.frame(1)
			m.inf = c.infP + c.pTop
			for i, p := range c.p {
				m.w[at(c.first+node(i))] += p * share(i)
				m.w[at(c.first+i)] += p * (1 - share(i))
			}
			m.w[at(c.first)] += c.pBottom
			for _, a := range c.pins {
				m.w[at(a.node)] += a.p
			}
			return m
		}
		all := func(int) float64 { return 1 }
		// Rounding all losses up or down bounds too: the check is fair.
		if below, _ := bounding(x, c, simple(func(i int) int { return i + 1 }, all), c.lower()); below > 1e-9 {
			t.Errorf("%s: rounded up, %g below", name, below)
		}
		if _, above := bounding(x, c, c.upper(), simple(func(i int) int { return i }, all)); above > 1e-9 {
			t.Errorf("%s: rounded down, %g above", name, above)
		}
		for fault, wrong := range map[string]*masses{
			"rounded down":        simple(func(i int) int { return i }, all),
			"too little moved up": simple(func(i int) int { return i + 1 }, func(int) float64 { return 0.45 }),
			"one node off": func() *masses {
				m := c.upper()
				m.first--
				return m
			}(),
			"a node forgotten": func() *masses {
				m := c.upper()
				heaviest := 0
				for i, w := range m.w {
					if w*m.loss(i) > m.w[heaviest]*m.loss(heaviest) {
						heaviest = i
					}
				}
				m.w[heaviest] = 0
				return m
			}(),
			"lower for upper": c.lower(),
		} {
			if below, _ := bounding(x, c, wrong, c.lower()); below < 1e-9 {
				t.Errorf("%s, %s: not caught", name, fault)
			}
		}
		for fault, wrong := range map[string]*masses{
			"rounded up":      simple(func(i int) int { return i + 1 }, all),
			"upper for lower": c.upper(),
			"one node off": func() *masses {
				m := c.lower()
				m.first++
				return m
			}(),
			"infinite mass": func() *masses {
				m := c.lower()
				m.inf += 1e-6
				return m
			}(),
		} {
			if _, above := bounding(x, c, c.upper(), wrong); above < 1e-9 {
				t.Errorf("%s, %s: not caught", name, fault)
			}
		}
	}
}

// The reference's connect-the-dots takes second differences of delta: at fine meshes
// it creates mass, 234000 times over. Splitting each cell's masses creates none.
func TestSecondDifferencesCreateMass(t *testing.T) {
	x := mustPair(gaussian(1 / 1.1)).sampled(256.0 / 60000)
	const h = 3e-6
	lo, hi := x.cut(1e-15, false)
	c := x.discretise(context.Background(), h, lo, hi)
	delta := func(l float64) float64 { return exactDelta(x, l) }
	total := 0.0
	width := math.Expm1(h)
	for i := range c.p { // the mass at node l: (delta(l-h) e^h - (1+e^h) delta(l) + delta(l+h)) / (e^h - 1), clipped
		l := c.loss(c.first + i + 1)
		mass := (delta(l-h)*math.Exp(h) - (1+math.Exp(h))*delta(l) + delta(l+h)) / width
		total += max(0, mass)
	}
	wrong := 234000 * math.Abs(total-1)
	right := 234000 * math.Abs(c.upper().total()-1)
	if wrong < 1e-5 || right > 1e-9 {
		t.Errorf("masses of all steps are off by %g with second differences, by %g with split cells", wrong, right)
	}
}

// Cell-centred meshes with a shift that mends the mean put atoms between their
// places: a reference's Laplace estimate is too low by 1e-3. Here the bracket is
// within 1e-6 of the closed form, and what a shifted mesh gives is outside.
func TestAtomsBetweenNodes(t *testing.T) {
	const e, eps = 1.0, 0.9
	want := -math.Expm1((eps - e) / 2)
	b, err := DeltaBracket(context.Background(), []terms.Term{laplaceTerm(1, 1/e, 1)}, eps, Options{Bins: 1 << 14})
	if err != nil || b.Lower > want || b.Upper < want || b.Upper-b.Lower > 1e-6 {
		t.Errorf("%+v, %v, want %v", b, err, want)
	}
	x := mustPair(laplace(e))
	const h = 0.01
	centred, mean, exactMean := 0.0, 0.0, 0.0
	var at, mass []float64
	for k := -150; k <= 150; k++ { // cells centred on k h + h/3
		l := (float64(k) + 1.0/3) * h
		left, right := x.tails(min(max(l-h/2, -e), e)), x.tails(min(max(l+h/2, -e), e))
		p := between(left.pBelow, left.pAbove, right.pBelow, right.pAbove)
		for _, a := range x.atoms {
			if a.loss > l-h/2 && a.loss <= l+h/2 {
				p += a.p
			}
		}
		at, mass, mean = append(at, l), append(mass, p), mean+p*l
	}
	// E[L] of Laplace noise: e - 1 + exp(-e).
	exactMean = e - 1 + math.Exp(-e)
	for i, l := range at {
		if l += exactMean - mean; l > eps {
			centred += mass[i] * -math.Expm1(eps-l)
		}
	}
	if centred >= b.Lower && centred <= b.Upper {
		t.Errorf("a centred mesh gives %v, inside %+v", centred, b)
	}
}

// The mesh-free accountant is another method altogether: its number, and the width
// it states, are inside every bracket.
func TestContourIsInside(t *testing.T) {
	for _, c := range []struct {
		name string
		ts   []terms.Term
	}{
		{"DP-SGD", sampledGaussian(0.01, 1, 1000)},
		{"quiet", sampledGaussian(256.0/60000, 4, 234_000)},
		{"loud", sampledGaussian(0.2, 0.6, 12)},
		{"one", sampledGaussian(0.3, 0.9, 1)},
		{"replaced", []terms.Term{gaussianTerm(0.02, 1.5, 2, privacy.Replace, 500)}},
		{"mixed", []terms.Term{gaussianTerm(0.02, 1, 1, privacy.AddRemove, 300), gaussianTerm(1, 20, 1, privacy.AddRemove, 7), gaussianTerm(0.1, 3, 1, privacy.AddRemove, 40)}},
		{"with Laplace", []terms.Term{gaussianTerm(0.02, 1, 1, privacy.AddRemove, 300), laplaceTerm(1, 10, 5)}},
		{"responses", []terms.Term{pureTerm(0.3, 200)}},
		{"discrete", []terms.Term{discreteGaussianTerm(5, 2, 30)}},
	} {
		for _, delta := range []float64{1e-3, 1e-9} {
			v, err := exact.Epsilon(context.Background(), c.ts, delta)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			b, err := Bracket(context.Background(), c.ts, delta, Options{Bins: 1 << 13})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if b.Lower > v.Epsilon+1e-12 || b.Upper < v.Epsilon-v.Error-1e-12 {
				t.Errorf("%s at %g: %+v, the contour gives %v within %g", c.name, delta, b, v.Epsilon, v.Error)
			}
			if v.Epsilon < 0.01 {
				continue
			}
			w, err := exact.Delta(context.Background(), c.ts, v.Epsilon)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			d, err := DeltaBracket(context.Background(), c.ts, v.Epsilon, Options{Bins: 1 << 13})
			if err != nil || d.Lower > w.Delta*(1+1e-10) || d.Upper < (w.Delta-w.Error)*(1-1e-10) {
				t.Errorf("%s at epsilon %g: %+v, %v, the contour gives %v within %g", c.name, v.Epsilon, d, err, w.Delta, w.Error)
			}
		}
	}
}

// Three and more different lattices in one composition, against convolution in
// big.Float: responses of several ratios, each a multiple of one unit.
func TestLatticesExactly(t *testing.T) {
	const unitLoss = 0.0625 // exact in binary: places are exact
	type some struct {
		steps, n int
	}
	for _, c := range [][]some{{{1, 20}, {3, 8}}, {{2, 5}, {5, 4}, {8, 3}}, {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 1}, {32, 1}}} {
		var ts []terms.Term
		law := map[int]*big.Float{0: bigOf(1)}
		for _, s := range c {
			e := unitLoss * float64(s.steps)
			ts = append(ts, pureTerm(e, int64(s.n)))
			ratio := bigExp(bigOf(e))
			keep := quo(ratio, add(bigOf(1), ratio))
			lie := sub(bigOf(1), keep)
			for range s.n {
				next := map[int]*big.Float{}
				for k, p := range law {
					for _, m := range []struct {
						to int
						p  *big.Float
					}{{k + s.steps, mul(p, keep)}, {k - s.steps, mul(p, lie)}} {
						if next[m.to] == nil {
							next[m.to] = new(big.Float).SetPrec(bits)
						}
						next[m.to] = add(next[m.to], m.p)
					}
				}
				law = next
			}
		}
		var ls []weighed
		top := 0.0
		for k, p := range law {
			ls = append(ls, weighed{bigOf(float64(k) * unitLoss), p})
			top = max(top, float64(k)*unitLoss)
		}
		for _, f := range []float64{0, 0.05, 0.21, 0.5, 0.83, 0.97} {
			for _, bins := range []int{1 << 10, 1 << 13} {
				b, err := DeltaBracket(context.Background(), ts, f*top, Options{Bins: bins})
				if err != nil {
					t.Errorf("%v: %v", c, err)
					continue
				}
				if want := stick(ls, bigOf(f*top)); !holds(b.Lower, b.Upper, want) {
					t.Errorf("%v at %g, %d bins: %+v, want %.17g", c, f*top, bins, b, want)
				}
			}
		}
	}
}

// Faults in what is composed: each changes the delta of a composition by more than
// a bracket is wide, so that the bracket of the fault misses the exact number, which
// the right one holds.
func TestFaultsInComposition(t *testing.T) {
	const e, n = 0.3, 30
	law := responses(e, n)
	compose := func(x pair, count, eps float64) Bounds {
		t.Helper()
		bs, err := brackets(context.Background(), []term{{x, count}}, query{eps: eps}, Options{Bins: 1 << 13}, false)
		if err != nil {
			t.Fatal(err)
		}
		return bs[0]
	}
	right := mustPair(response(e, 2))
	for _, eps := range []float64{0.1, 1, 2.5, 4} {
		want := stick(law, bigOf(eps))
		if b := compose(right, n, eps); !holds(b.Lower, b.Upper, want) {
			t.Errorf("at %g: %+v, want %.17g", eps, b, want)
		}
		faults := map[string]func() (pair, float64){
			"one release more":  func() (pair, float64) { return right, n + 1 },
			"one release less":  func() (pair, float64) { return right, n - 1 },
			"P and Q exchanged": func() (pair, float64) { x := right; x.atoms = exchange(x.atoms); return x, n },
			"losses halved":     func() (pair, float64) { return mustPair(response(e/2, 2)), n },
			"three categories":  func() (pair, float64) { return mustPair(response(e, 3)), n },
			"a millionth of mass": func() (pair, float64) {
				x := right
				x.atoms = slices.Clone(x.atoms)
				x.atoms[0].p -= 1e-6
				x.atoms[1].p += 1e-6
				return x, n
			},
			"infinite losses": func() (pair, float64) { x := right; x.infP = 1e-7; return x, n },
		}
		for name, fault := range faults {
			x, count := fault()
			if b := compose(x, count, eps); holds(b.Lower, b.Upper, want) {
				t.Errorf("at %g, %s: %+v holds %.17g", eps, name, b, want)
			}
		}
	}
}

// exchange gives every loss the mass that Q has there.
func exchange(in []atom) []atom {
	out := slices.Clone(in)
	for i := range out {
		out[i].p, out[i].q = in[i].q, in[i].p
	}
	return out
}
