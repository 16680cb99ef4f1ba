package classic

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
)

// An adversary who picks each epsilon after the last answer gets no more from a
// filter than its budget: whatever ran, its exact composition is within it.
func TestFilterAgainstAdversaries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := privacy.Budget{Epsilon: rapid.Float64Range(0.1, 8).Draw(t, "epsilon"), Delta: math.Pow(10, rapid.Float64Range(-8, -2).Draw(t, "delta"))}
		slack := b.Delta * rapid.Float64Range(0.01, 1).Draw(t, "slack")
		f, err := NewFilter(b, slack)
		if err != nil {
			t.Fatal(err)
		}
		choices := []float64{0.001, 0.05, 0.3} // few, so that the composition can be summed
		ran := map[float64]int64{}
		delta, refused := 0.0, 0
		for range 60 {
			e := rapid.SampledFrom(choices).Draw(t, "next")
			d := b.Delta * rapid.SampledFrom([]float64{0, 0, 1e-3, 0.3}).Draw(t, "fails")
			spent := f.Spent()
			switch err := f.Charge(e, d); {
			case err == nil:
				ran[e]++
				delta += d
			case errors.Is(err, ErrExhausted):
				if refused++; f.Spent() != spent {
					t.Fatal("a refusal was charged")
				}
			default:
				t.Fatal(err)
			}
		}
		if f.Spent() > b.Epsilon || delta+slack > b.Delta*(1+1e-9) {
			t.Fatalf("spent (%v, %v) of %+v", f.Spent(), delta+slack, b)
		}
		var terms []Term
		for e, n := range ran {
			terms = append(terms, Term{Epsilon: e, Count: n})
		}
		if len(terms) == 0 {
			return
		}
		if d, err := KFoldDelta(terms, b.Epsilon); err != nil || d > slack*(1+1e-9) {
			t.Fatalf("%v have delta %v at epsilon %v, slack %v, %v (%d refused)", ran, d, b.Epsilon, slack, err, refused)
		}
	})
}

// The same for divergences, and for a mechanism chosen to fit exactly.
func TestRenyiFilterAgainstAdversaries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := privacy.Budget{Epsilon: rapid.Float64Range(0.5, 10).Draw(t, "epsilon"), Delta: math.Pow(10, rapid.Float64Range(-9, -2).Draw(t, "delta"))}
		order := math.Pow(10, rapid.Float64Range(0.5, 3).Draw(t, "order"))
		f, err := NewRenyiFilter(b, order)
		if err != nil {
			return // nothing is left at this order, and that is said
		}
		for range 30 {
			sigma := math.Pow(10, rapid.Float64Range(-1, 2).Draw(t, "sigma"))
			curve, err := rdp.Gaussian(sigma, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.ChargeDivergence(curve(order)); err != nil && !errors.Is(err, ErrExhausted) {
				t.Fatal(err)
			}
		}
		if err := f.ChargeDivergence((f.Limit() - f.Spent()) * (1 - 1e-12)); err != nil && f.Limit()-f.Spent() > 1e-12*f.Limit() {
			t.Fatalf("what is left does not fit: %v", err)
		}
		if e := rdp.TightEpsilon(f.Spent(), order, b.Delta); e > b.Epsilon*(1+1e-12) {
			t.Fatalf("spent %v at order %v: epsilon %v of %v", f.Spent(), order, e, b.Epsilon)
		}
		if err := f.ChargeDivergence(f.Limit() * 1e-9); !errors.Is(err, ErrExhausted) {
			t.Fatalf("the filter is full and goes on: %v", err)
		}
	})
}

// law is a random law on a few outcomes, some of them with no mass.
func law(t *rapid.T, name string) []float64 {
	p := make([]float64, 5)
	sum := 0.0
	for i := range p {
		if w := rapid.Float64Range(-0.3, 1).Draw(t, name); w > 0 || i == 0 {
			p[i] = math.Max(w, 1e-3)
		}
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func hockey(p, q []float64, epsilon float64) (d float64) {
	for i := range p {
		d += math.Max(0, p[i]-math.Exp(epsilon)*q[i])
	}
	return d
}

// Sampling: with P the law where the unit is in and Q where it is not, a sample has
// (1-rate) Q + rate P. Its delta is what the theorem says: exactly against Q, and no
// more the other way round.
func TestAmplificationOfAnyLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := law(t, "p"), law(t, "q")
		rate, epsilon := rapid.Float64Range(0, 1).Draw(t, "rate"), rapid.Float64Range(0, 4).Draw(t, "epsilon")
		mixed := make([]float64, len(p))
		for i := range p {
			mixed[i] = (1-rate)*q[i] + rate*p[i]
		}
		delta := math.Max(hockey(p, q, epsilon), hockey(q, p, epsilon))
		e, d, err := AmplifyPoisson(rate, epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := hockey(mixed, q, e), rate*hockey(p, q, epsilon); math.Abs(got-want) > 1e-12 {
			t.Fatalf("rate %v: delta %v at the amplified epsilon %v, want %v", rate, got, e, want)
		}
		if got := hockey(q, mixed, e); got > d+1e-12 {
			t.Fatalf("rate %v: delta %v of removal at epsilon %v, the theorem says %v", rate, got, e, d)
		}
		if e > epsilon || d > delta {
			t.Fatalf("(%v, %v) sampled at %v costs (%v, %v)", epsilon, delta, rate, e, d)
		}
	})
}

// The other relation: a unit exchanged for another moves two mechanisms whose
// sample has it in the same way, so that the mixture is with a law common to both.
func TestAmplificationUnderReplace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q, rest := law(t, "p"), law(t, "q"), law(t, "rest")
		whole := rapid.Int64Range(1, 50).Draw(t, "whole")
		sample := rapid.Int64Range(0, whole).Draw(t, "sample")
		rate, epsilon := float64(sample)/float64(whole), rapid.Float64Range(0, 3).Draw(t, "epsilon")
		// Under replace each sample with the unit has neighbours without it too.
		delta := 0.0
		for _, pair := range [][2][]float64{{p, q}, {q, p}, {p, rest}, {q, rest}, {rest, p}, {rest, q}} {
			delta = math.Max(delta, hockey(pair[0], pair[1], epsilon))
		}
		a, b := make([]float64, len(p)), make([]float64, len(p))
		for i := range p {
			a[i], b[i] = (1-rate)*rest[i]+rate*p[i], (1-rate)*rest[i]+rate*q[i]
		}
		e, d, err := AmplifyWithoutReplacement(sample, whole, epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		if got := math.Max(hockey(a, b, e), hockey(b, a, e)); got > d+1e-12 {
			t.Fatalf("%d of %d: delta %v at epsilon %v, the theorem says %v", sample, whole, got, e, d)
		}
	})
}

// The optimal composition of terms that also fail is the convolution of their worst
// laws: each answers truthfully by randomised response, or, with probability delta,
// gives everything away. Here the law is built outcome by outcome.
func TestKFoldAgainstItsWorstLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "terms")
		terms := make([]Term, n)
		p, q := []float64{1}, []float64{1}
		sum := 0.0
		for i := range terms {
			e, d := rapid.Float64Range(0, 2).Draw(t, "epsilon"), rapid.Float64Range(0, 0.3).Draw(t, "delta")
			terms[i] = Term{Epsilon: e, Delta: d, Count: rapid.Int64Range(1, 3).Draw(t, "count")}
			high, low := (1-d)/(1+math.Exp(-e)), (1-d)/(1+math.Exp(e))
			for range terms[i].Count {
				sum += e
				var a, b []float64
				for j := range p {
					a = append(a, p[j]*d, p[j]*high, p[j]*low, 0)
					b = append(b, 0, q[j]*low, q[j]*high, q[j]*d)
				}
				p, q = a, b
			}
			if len(p) > 1<<14 {
				return
			}
		}
		epsilon := sum * rapid.Float64Range(0, 1.1).Draw(t, "share")
		got, err := KFoldDelta(terms, epsilon)
		if want := hockey(p, q, epsilon); err != nil || math.Abs(got-want) > 1e-12 {
			t.Fatalf("%+v at %v: %v, want %v (%v)", terms, epsilon, got, want, err)
		}
	})
}

// rho of pure DP is that of the curves of package rdp: no order of any of them asks
// for more, and randomised response of two answers comes as near as one likes.
func TestPureToZCDPCoversTheCurves(t *testing.T) {
	for _, e := range []float64{0.01, 0.5, 2, 8} {
		rho, err := PureToZCDP(e)
		if err != nil {
			t.Fatal(err)
		}
		two, err1 := rdp.RandomizedResponse(e, 2)
		nine, err2 := rdp.RandomizedResponse(e, 9)
		laplace, err3 := rdp.Laplace(1, e)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		for name, curve := range map[string]rdp.Curve{"two": two, "nine": nine, "laplace": laplace} {
			for alpha := 1.001; alpha < 1e5; alpha *= 1.2 {
				if d := curve(alpha); d > alpha*rho*(1+1e-9) {
					t.Errorf("%s, epsilon %v, order %v: divergence %v above %v", name, e, alpha, d, alpha*rho)
				}
			}
		}
		if near := two(1 + 1e-6); near < rho*(1-1e-5) {
			t.Errorf("epsilon %v: randomised response asks for %v only, rho is %v", e, near, rho)
		}
	}
}
