package pld

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// reference is a row of testdata/reference.json, which testdata/reference.py wrote
// by quadrature and sums in 40 digits.
type reference struct {
	Kind            string
	Mu, Q, Sigma, D float64
	N               int64
	Eps             float64
	Direction       string
	Delta           string
}

func references(t *testing.T) []reference {
	t.Helper()
	b, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []reference
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 144 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows
}

func (r reference) terms(t *testing.T) []terms.Term {
	t.Helper()
	n := max(r.N, 1)
	switch r.Kind {
	case "gaussian":
		return []terms.Term{gaussianTerm(1, 1, r.Mu, privacy.AddRemove, n)}
	case "sampled":
		return []terms.Term{gaussianTerm(r.Q, r.Sigma, 1, privacy.AddRemove, n)}
	case "replaced": // sums clipped at half the sensitivity
		return []terms.Term{gaussianTerm(r.Q, r.Sigma, 2, privacy.Replace, n)}
	case "discrete":
		return []terms.Term{discreteGaussianTerm(r.Sigma, r.D, n)}
	case "laplace":
		return []terms.Term{laplaceTerm(1, r.Sigma, n)}
	}
	t.Fatalf("kind %q", r.Kind)
	return nil
}

// side is the bracket in the row's direction.
func (r reference) side(bs []Bounds) Bounds {
	if r.Direction == "add" {
		return bs[len(bs)-1]
	}
	return bs[0]
}

// Every bracket of delta holds the reference, is narrow, and the bracket of epsilon
// at that delta holds the epsilon.
func TestReference(t *testing.T) {
	for _, r := range references(t) {
		delta, ok := new(big.Float).SetPrec(bits).SetString(r.Delta)
		if !ok {
			t.Fatalf("%+v", r)
		}
		want, _ := delta.Float64()
		parts, err := build(r.terms(t))
		if err != nil {
			t.Fatal(err)
		}
		bs, err := brackets(context.Background(), parts, query{eps: r.Eps}, Options{Bins: 1 << 12}, false)
		if err != nil {
			t.Errorf("%+v: %v", r, err)
			continue
		}
		b := r.side(bs)
		// The quotient of sensitivity and sigma is rounded.
		tol := 1e-12*want*(1+r.Eps) + 1e-300
		if b.Lower > want+tol || b.Upper < want-tol {
			t.Errorf("%+v: bracket %v to %v", r, b.Lower, b.Upper)
		}
		if b.Upper-b.Lower > 0.02*want && want > 1e-60 && (r.Kind == "laplace" || r.Kind == "discrete" || r.Kind == "gaussian" && r.Mu <= 5) {
			t.Errorf("%+v: bracket %v to %v is wide", r, b.Lower, b.Upper)
		}
		if !(want > 1e-60 && want < 0.999) || r.Eps == 0 {
			continue
		}
		bs, err = brackets(context.Background(), parts, query{delta: want, solve: true}, Options{Bins: 1 << 12}, false)
		if err != nil {
			t.Errorf("%+v: %v", r, err)
			continue
		}
		if b := r.side(bs); b.Lower > r.Eps*(1+1e-12) || b.Upper < r.Eps*(1-1e-12) || b.Upper-b.Lower > 0.01*(1+r.Eps) && r.Q != 1e-5 {
			t.Errorf("%+v: epsilon is %v to %v", r, b.Lower, b.Upper)
		}
	}
}

// The rows themselves: the larger direction is the answer for both, more releases
// cost more, and delta falls with epsilon.
func TestReferenceLaws(t *testing.T) {
	type key struct {
		kind      string
		mu, q, s  float64
		n         int64
		direction string
	}
	last := map[key]reference{}
	value := func(r reference) float64 {
		v, _, err := big.ParseFloat(r.Delta, 10, bits, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := v.Float64()
		return f
	}
	for _, r := range references(t) {
		k := key{r.Kind, r.Mu, r.Q, r.Sigma, r.N, r.Direction}
		if was, ok := last[k]; ok && r.Eps > was.Eps && value(r) > value(was) {
			t.Errorf("delta rises from %+v to %+v", was, r)
		}
		last[k] = r
	}
	for k, r := range last {
		if k.n == 2 {
			k.n = 1
			if one := last[k]; one.Eps == r.Eps && value(one) > value(r) {
				t.Errorf("one release costs more than two: %+v", r)
			}
		}
	}
}

// Wrong answers that the references exclude, but where they come to nearly the
// same delta: noise of sigma² for sigma, a rate of q² for q, one release for two,
// the other direction, the sensitivity of add-remove under replace.
func TestReferenceExcludesMistakes(t *testing.T) {
	mistakes := map[string]func(r reference, x terms.Term) (terms.Term, bool){
		"variance for deviation": func(r reference, x terms.Term) (terms.Term, bool) {
			if g, ok := x.Leaf.(privacy.Gaussian); ok && g.Sigma != 1 {
				g.Sigma *= g.Sigma
				x.Leaf = g
				return x, true
			}
			return x, false
		},
		"rate squared": func(_ reference, x terms.Term) (terms.Term, bool) {
			x.Rate *= x.Rate
			return x, x.Rate < 1
		},
		"count ignored": func(_ reference, x terms.Term) (terms.Term, bool) {
			ok := x.Count > 1
			x.Count = 1
			return x, ok
		},
		"one more": func(_ reference, x terms.Term) (terms.Term, bool) { x.Count++; return x, true },
		"sensitivity of add-remove": func(r reference, x terms.Term) (terms.Term, bool) {
			g, ok := x.Leaf.(privacy.Gaussian)
			g.Sensitivity /= 2
			x.Leaf = g
			return x, ok && r.Kind == "replaced"
		},
		"relation": func(r reference, x terms.Term) (terms.Term, bool) {
			x.Relation = privacy.AddRemove
			return x, r.Kind == "replaced"
		},
	}
	for name, spoil := range mistakes {
		caught, tried := 0, 0
		for _, r := range references(t) {
			want, _, err := big.ParseFloat(r.Delta, 10, bits, big.ToNearestEven)
			if err != nil {
				t.Fatal(err)
			}
			if f, _ := want.Float64(); f < 1e-12 || f > 0.99 || r.Direction == "add" || r.Q == 1e-5 {
				continue
			}
			x, ok := spoil(r, r.terms(t)[0])
			if !ok {
				continue
			}
			parts, err := build([]terms.Term{x})
			if err != nil {
				t.Fatal(err)
			}
			bs, err := brackets(context.Background(), parts, query{eps: r.Eps}, Options{Bins: 1 << 10}, false)
			if err != nil {
				t.Errorf("%s, %+v: %v", name, r, err)
				continue
			}
			tried++
			if b := bs[0]; !holds(b.Lower*(1-1e-9), b.Upper*(1+1e-9), want) {
				caught++
			}
		}
		if tried < 4 || 10*caught < 6*tried {
			t.Errorf("%s: %d of %d are caught", name, caught, tried)
		}
	}
	// The other direction: caught wherever the two differ.
	caught := 0
	for _, r := range references(t) {
		if r.Direction != "add" || math.Abs(r.Eps-0.5) > 0 {
			continue
		}
		want, _, err := big.ParseFloat(r.Delta, 10, bits, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := build(r.terms(t))
		if err != nil {
			t.Fatal(err)
		}
		bs, err := brackets(context.Background(), parts, query{eps: r.Eps}, Options{Bins: 1 << 10}, false)
		if err != nil {
			t.Fatal(err)
		}
		if !holds(bs[0].Lower, bs[0].Upper, want) {
			caught++
		}
	}
	if caught < 6 {
		t.Errorf("the other direction is caught %d times", caught)
	}
}
