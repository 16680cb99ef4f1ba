package channel

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// dyadic draws numbers within [-1, 1] of few binary digits: sums and products of
// them are exact in a double, and so comparisons with rationals are equalities.
func dyadic(t *rapid.T, n int, name string) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(rapid.IntRange(-16, 16).Draw(t, name)) / 16
	}
	return v
}

// dense are the coefficients as a symmetric matrix: entry (m, n) and (n, m) are
// half of the monomial's each.
func dense(p *Polynomial[float64]) [][]*big.Rat {
	d := len(p.Linear)
	a := make([][]*big.Rat, d)
	for m := range a {
		a[m] = make([]*big.Rat, d)
		for n := range a[m] {
			a[m][n] = new(big.Rat).SetFloat64(p.Coefficient(m, n))
			if m != n {
				a[m][n].Mul(a[m][n], big.NewRat(1, 2))
			}
		}
	}
	return a
}

// The value at w is c + b.w + w'Aw and the gradient b + 2Aw, by rationals, for any
// coefficients; the gradient is added to what is there.
func TestPolynomialAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(0, 6).Draw(t, "d")
		p := NewPolynomial[float64](d)
		p.Constant = dyadic(t, 1, "constant")[0]
		copy(p.Linear, dyadic(t, d, "linear"))
		copy(p.Quadratic, dyadic(t, len(p.Quadratic), "quadratic"))
		w, start := dyadic(t, d, "w"), dyadic(t, d, "start")
		a := dense(p)
		value, slope := mechanismtest.Rat(p.Constant), slices.Clone(start)
		for m := range d {
			value.Add(value, new(big.Rat).Mul(mechanismtest.Rat(p.Linear[m]), mechanismtest.Rat(w[m])))
			g := new(big.Rat).Add(mechanismtest.Rat(start[m]), mechanismtest.Rat(p.Linear[m]))
			for n := range d {
				term := new(big.Rat).Mul(a[m][n], mechanismtest.Rat(w[n]))
				value.Add(value, new(big.Rat).Mul(term, mechanismtest.Rat(w[m])))
				g.Add(g, term.Mul(term, big.NewRat(2, 1)))
			}
			slope[m], _ = g.Float64()
		}
		if got := p.Value(w); mechanismtest.Rat(got).Cmp(value) != 0 {
			t.Fatalf("value %v, want %s", got, value.FloatString(20))
		}
		got := slices.Clone(start)
		p.Gradient(got, w)
		if !slices.Equal(got, slope) {
			t.Fatalf("gradient %v, want %v", got, slope)
		}
		// Euler: for homogeneous parts of degree 1 and 2, w.grad = linear + 2 quadratic.
		euler, zero := 0.0, make([]float64, d)
		p.Gradient(zero, w)
		for m := range d {
			euler += w[m] * zero[m]
		}
		linear := &Polynomial[float64]{Linear: p.Linear, Quadratic: make([]float64, len(p.Quadratic))}
		if want := linear.Value(w) + 2*(p.Value(w)-p.Constant-linear.Value(w)); euler != want {
			t.Fatalf("w.grad is %v, want %v", euler, want)
		}
	})
}

// Losses add up and scale, in any order; flipping the sign of q flips that of the
// linear part only; renaming the variables renames the coefficients.
func TestLogisticIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, n := rapid.IntRange(1, 5).Draw(t, "d"), rapid.IntRange(1, 5).Draw(t, "n")
		triples := make([][]float64, n)
		for i := range triples {
			triples[i] = dyadic(t, d, "q")
		}
		sum := func(weight float64, list [][]float64) *Polynomial[float64] {
			p := NewPolynomial[float64](d)
			for _, q := range list {
				if err := p.AddLogistic(weight, q); err != nil {
					t.Fatal(err)
				}
			}
			return p
		}
		p := sum(1, triples)
		order := slices.Clone(triples)
		slices.Reverse(order)
		if r := sum(1, order); !slices.Equal(p.Linear, r.Linear) || !slices.Equal(p.Quadratic, r.Quadratic) {
			t.Fatal("the order of the examples matters")
		}
		quarter := sum(0.25, triples)
		for i, x := range p.Quadratic {
			if quarter.Quadratic[i] != x/4 {
				t.Fatalf("a weight of 1/4 makes %v of %v", quarter.Quadratic[i], x)
			}
		}
		minus := make([][]float64, n)
		for i, q := range triples {
			minus[i] = slices.Clone(q)
			for k := range q {
				minus[i][k] = -q[k]
			}
		}
		m := sum(1, minus)
		for k := range d {
			if m.Linear[k] != -p.Linear[k] {
				t.Fatalf("linear part %v of -q, %v of q", m.Linear, p.Linear)
			}
		}
		if !slices.Equal(m.Quadratic, p.Quadratic) || m.Constant != p.Constant {
			t.Fatal("the even parts depend on the sign of q")
		}
		perm := rapid.Permutation(mechanismtest.UpTo(d)).Draw(t, "perm")
		renamed := make([][]float64, n)
		for i, q := range triples {
			renamed[i] = make([]float64, d)
			for k := range q {
				renamed[i][perm[k]] = q[k]
			}
		}
		r := sum(1, renamed)
		for i := range d {
			for j := range d {
				if r.Linear[perm[i]] != p.Linear[i] || r.Coefficient(perm[i], perm[j]) != p.Coefficient(i, j) || p.Coefficient(i, j) != p.Coefficient(j, i) {
					t.Fatalf("monomial %d %d does not follow the variables", i, j)
				}
			}
		}
	})
}

// The Taylor form is within z⁴/192 of ln(1+e^-z), never above it by anything, and
// has its value, slope and curvature at 0, by differences of the loss itself.
func TestTaylorFormIsBelowTheLoss(t *testing.T) {
	p := NewPolynomial[float64](1)
	if err := p.AddLogistic(1, []float64{1}); err != nil {
		t.Fatal(err)
	}
	loss := func(z float64) float64 { return math.Log1p(math.Exp(-z)) }
	for z := -3.0; z <= 3; z += 1. / 64 {
		if off := p.Value([]float64{z}) - loss(z); off < -1e-15 || off > z*z*z*z/192+1e-15 {
			t.Errorf("at %g the form is %g off, want 0 to %g", z, off, z*z*z*z/192)
		}
	}
	const h = 0x1p-10
	slope, curve := (loss(h)-loss(-h))/(2*h), (loss(h)-2*loss(0)+loss(-h))/(h*h)
	if math.Abs(float64(p.Linear[0])-slope) > 1e-6 || math.Abs(2*p.Coefficient(0, 0)-curve) > 1e-6 {
		t.Errorf("slope %g and curvature %g, want %g and %g", p.Linear[0], 2*p.Coefficient(0, 0), slope, curve)
	}
}

// coefficientDistance is the l1 distance of two examples' coefficients, written out.
func coefficientDistance(q, r []float64) (d float64) {
	for m := range q {
		d += math.Abs(q[m]-r[m]) / 2
		for n := m; n < len(q); n++ {
			w := 0.25
			if m == n {
				w = 0.125
			}
			d += w * math.Abs(q[m]*q[n]-r[m]*r[n])
		}
	}
	return d
}

// Over all examples with values in {-1, -1/2, 0, 1/2, 1} the coefficients of two
// data sets differ by at most the sensitivity, which is reached; that of the paper
// is valid too and above it, and a bound a tenth smaller or that of one relation
// used for the other would be exceeded.
func TestLogisticSensitivityByBruteForce(t *testing.T) {
	for d := 1; d <= 3; d++ {
		var all [][]float64
		for code := range int(math.Pow(5, float64(d))) {
			q := make([]float64, d)
			for i := range q {
				q[i] = float64(code%5-2) / 2
				code /= 5
			}
			all = append(all, q)
		}
		zero := make([]float64, d)
		one, two := 0.0, 0.0
		for _, q := range all {
			one = max(one, coefficientDistance(q, zero))
			for _, r := range all {
				two = max(two, coefficientDistance(q, r))
			}
			// The polynomials themselves move as far.
			p := NewPolynomial[float64](d)
			if err := p.AddLogistic(1, q); err != nil {
				t.Fatal(err)
			}
			moved := 0.0
			for _, x := range slices.Concat(p.Linear, p.Quadratic) {
				moved += math.Abs(x)
			}
			if math.Abs(moved-coefficientDistance(q, zero)) > 1e-15 {
				t.Fatalf("%v moves the polynomial by %v, want %v", q, moved, coefficientDistance(q, zero))
			}
		}
		if got := LogisticSensitivity(d, false); one != got {
			t.Errorf("d %d: one example more moves %v, stated %v", d, one, got)
		}
		got := LogisticSensitivity(d, true)
		if two > got || d != 3 && two < got || two < got*0.9 {
			t.Errorf("d %d: an exchange moves %v, stated %v", d, two, got)
		}
		if d > 1 && two <= LogisticSensitivity(d, false) {
			t.Errorf("d %d: the bound of one example more would do for an exchange", d)
		}
		if paper := PaperLogisticSensitivity(d); paper < got || paper != 2*LogisticSensitivity(d, false) {
			t.Errorf("d %d: the paper's bound is %v", d, paper)
		}
	}
	for d := 1; d < 400; d++ { // growing, and about half of the paper's from some point on
		r, p := LogisticSensitivity(d, true), PaperLogisticSensitivity(d)
		if r >= LogisticSensitivity(d+1, true) || r > p || r < LogisticSensitivity(d, false) || d > 60 && r/p > 0.54 {
			t.Fatalf("d %d: %v, the paper has %v", d, r, p)
		}
	}
	if got := LogisticSensitivity(60, true); got != 480.5 || PaperLogisticSensitivity(60) != 960 {
		t.Errorf("at the paper's d = 60 %v and %v, want 480.5 and 960", got, PaperLogisticSensitivity(60))
	}
}

// Mistakes in the polynomial that the comparison with rationals is for: each gives
// another value or gradient at some point.
func TestPolynomialMistakesShow(t *testing.T) {
	p := NewPolynomial[float64](3)
	for i := range p.Quadratic {
		p.Quadratic[i] = float64(i + 1)
	}
	copy(p.Linear, []float64{1, -2, 3})
	w := []float64{0.5, -0.25, 0.75}
	right, slope := p.Value(w), make([]float64, 3)
	p.Gradient(slope, w)
	single := slices.Clone(slope) // the diagonal once
	for m := range w {
		single[m] -= p.Coefficient(m, m) * w[m]
	}
	twice := 0.0 // each mixed monomial twice
	for m := range w {
		for n := range w {
			if m != n {
				twice += p.Coefficient(m, n) * w[m] * w[n] / 2
			}
		}
	}
	transposed := NewPolynomial[float64](3) // packed by columns
	copy(transposed.Linear, p.Linear)
	k := 0
	for n := range 3 {
		for m := range n + 1 {
			transposed.Quadratic[transposed.at(m, n)] = p.Quadratic[k]
			k++
		}
	}
	if slices.Equal(single, slope) || twice == 0 || transposed.Value(w) == right {
		t.Errorf("value %v, gradient %v: a mistake would not show", right, slope)
	}
	// And by differences: exact for a polynomial of degree 2 and steps of powers of two.
	for m := range w {
		up, down := slices.Clone(w), slices.Clone(w)
		up[m] += 0.5
		down[m] -= 0.5
		if got := p.Value(up) - p.Value(down); got != slope[m] || got == single[m] {
			t.Errorf("variable %d: the value moves by %v, the gradient says %v", m, got, slope[m])
		}
	}
}

// Coefficients may be given in any parts: the same noise, the same one release,
// in the order they come.
func TestCoefficientsInParts(t *testing.T) {
	values := func() []float64 {
		v := make([]float64, 12)
		for i := range v {
			v[i] = float64(i)
		}
		return v
	}
	whole := values()
	o, l := openFM[float64](t, fm)
	if err := o.PerturbCoefficients([]uint64{3, 1}, whole); err != nil {
		t.Fatal(err)
	}
	if e := l.Entries(); len(e) != 1 || e[0].Count != 1 {
		t.Errorf("recorded %v", e)
	}
	s := rng.Seed(3).Stream("cuts")
	for range 20 {
		a, b := s.IntN(13), s.IntN(13)
		a, b = min(a, b), max(a, b)
		v := values()
		o, _ := openFM[float64](t, fm)
		if err := o.PerturbCoefficients([]uint64{3, 1}, v[:a], v[a:b], v[b:]); err != nil || !slices.Equal(v, whole) {
			t.Errorf("cut at %d and %d: %v (%v)", a, b, v, err)
		}
	}
	o, l = openFM[float64](t, fm)
	for name, bad := range map[string][][]float64{"no coefficients": {nil, {}}, "coefficient 3 is NaN": {{1, 2}, {3, math.NaN()}}, "coefficient 0 is -Inf": {{math.Inf(-1)}}} {
		if err := o.PerturbCoefficients([]uint64{4}, bad...); err == nil || !mechanismtest.ContainsAll(err.Error(), fm.Purpose, name) || mechanismtest.CountOf(l) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
