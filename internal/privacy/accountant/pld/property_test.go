package pld

import (
	"context"
	"errors"
	"flag"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

const user = privacy.User

func gaussianTerm(q, sigma, sens float64, rel privacy.Neighbouring, n int64) terms.Term {
	t := terms.Term{Leaf: privacy.Gaussian{Sigma: sigma, Sensitivity: sens, Norm: clipped(sens, rel), Unit: user, Neighbouring: rel}, Rate: q, Relation: rel, Count: n}
	if q < 1 {
		t.Method = privacy.Poisson
	}
	return t
}

func laplaceTerm(q, scale float64, n int64) terms.Term {
	t := terms.Term{Leaf: privacy.Laplace{Scale: scale, Sensitivity: 1, Unit: user, Neighbouring: privacy.AddRemove}, Rate: q, Relation: privacy.AddRemove, Count: n}
	if q < 1 {
		t.Method = privacy.Poisson
	}
	return t
}

func logUniform(t *rapid.T, name string, lo, hi float64) float64 {
	return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
}

// setting is a random composition of one kind.
func setting(t *rapid.T) []terms.Term {
	n := int64(logUniform(t, "steps", 1, 20000))
	q := logUniform(t, "rate", 1e-4, 1)
	if q > 0.7 {
		q = 1
	}
	sigma := logUniform(t, "sigma", 0.5, 20)
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return []terms.Term{gaussianTerm(q, sigma, 1, privacy.Replace, n)}
	case 1:
		return []terms.Term{laplaceTerm(q, sigma, min(n, 500))}
	case 2:
		k := rapid.Int64Range(2, 5).Draw(t, "categories")
		return []terms.Term{{Leaf: privacy.RandomizedResponse{Epsilon: 1 / sigma, Categories: k, Unit: user}, Rate: 1, Relation: privacy.Replace, Count: min(n, 500)}}
	case 3:
		d := float64(rapid.IntRange(1, 3).Draw(t, "sensitivity"))
		return []terms.Term{{Leaf: privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: d, Dimension: 1, Unit: user, Neighbouring: privacy.AddRemove}, Rate: 1, Relation: privacy.AddRemove, Count: min(n, 200)}}
	case 4:
		return []terms.Term{gaussianTerm(q, sigma, 1, privacy.AddRemove, n), laplaceTerm(1, 10*sigma, 5)}
	}
	return []terms.Term{gaussianTerm(q, sigma, 1, privacy.AddRemove, n)}
}

// check is rapid.Check without its search for a smaller failure, which takes
// minutes where each try is several brackets.
func check(t *testing.T, prop func(*rapid.T)) {
	t.Helper()
	if f := flag.Lookup("rapid.shrinktime"); f != nil {
		was := f.Value.String()
		if err := f.Value.Set("1s"); err != nil {
			t.Fatal(err)
		}
		defer f.Value.Set(was)
	}
	rapid.Check(t, prop)
}

var small = Options{Bins: 1 << 12}

// valid checks a bracket; what cannot be answered is an error of the declared
// kinds.
func valid(t *rapid.T, b Bounds, err error) bool {
	if err != nil {
		if !errors.Is(err, ErrInfinite) && !errors.Is(err, ErrNotCovered) {
			t.Fatal(err)
		}
		return false
	}
	if !(b.Lower >= 0 && b.Lower <= b.Upper) || math.IsInf(b.Upper, 0) || !(b.Mesh > 0) || !(b.Tilt > 0) || !(b.Truncated >= 0) || !(b.Rounding >= 0) ||
		math.IsInf(b.Truncated+b.Rounding, 0) {
		t.Fatalf("%+v", b)
	}
	return true
}

// Brackets are ordered and finite, and two brackets of the same thing overlap:
// epsilon falls with delta, the delta at the bounds of epsilon is on the right
// side of the one asked for.
func TestBracketsAreConsistent(t *testing.T) {
	check(t, func(t *rapid.T) {
		ts := setting(t)
		delta := logUniform(t, "delta", 1e-10, 0.3)
		b, err := Bracket(context.Background(), ts, delta, small)
		if !valid(t, b, err) {
			return
		}
		more := logUniform(t, "more", 1.01, 3)
		c, err := Bracket(context.Background(), ts, min(delta*more, 0.9), small)
		if valid(t, c, err) && c.Lower > b.Upper {
			t.Fatalf("a larger delta gives %v, above %v", c, b)
		}
		d, err := DeltaBracket(context.Background(), ts, b.Upper, small)
		if valid(t, d, err) && d.Lower > delta*(1+1e-9) {
			t.Fatalf("delta at the upper epsilon %v is %v, above %v", b.Upper, d.Lower, delta)
		}
		if b.Lower == 0 {
			return
		}
		d, err = DeltaBracket(context.Background(), ts, b.Lower, small)
		if valid(t, d, err) && d.Upper < delta*(1-1e-9) {
			t.Fatalf("delta at the lower epsilon %v is %v, below %v", b.Lower, d.Upper, delta)
		}
	})
}

// Less noise, a higher rate and more steps cost more, within the widths.
func TestBracketsAreMonotone(t *testing.T) {
	check(t, func(t *rapid.T) {
		q := logUniform(t, "rate", 1e-3, 0.5)
		sigma := logUniform(t, "sigma", 0.5, 10)
		n := int64(logUniform(t, "steps", 1, 5000))
		delta := logUniform(t, "delta", 1e-9, 1e-2)
		more := logUniform(t, "more", 1.001, 2)
		rel := []privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut}[rapid.IntRange(0, 2).Draw(t, "relation")]
		get := func(q, sigma float64, n int64) Bounds {
			b, err := Bracket(context.Background(), []terms.Term{gaussianTerm(q, sigma, 1, rel, n)}, delta, small)
			if !valid(t, b, err) {
				t.Fatal(err)
			}
			return b
		}
		b := get(q, sigma, n)
		for name, c := range map[string]Bounds{
			"sigma": get(q, sigma/more, n), "rate": get(min(q*more, 0.999), sigma, n), "steps": get(q, sigma, n+max(1, n/3)),
		} {
			if c.Upper < b.Lower {
				t.Fatalf("more by %s gives %v, below %v", name, c, b)
			}
		}
	})
}

// n at once are n times one, in whatever order, bit for bit.
func TestCountsAdd(t *testing.T) {
	check(t, func(t *rapid.T) {
		ts := setting(t)
		n := rapid.Int64Range(2, 5).Draw(t, "times")
		var many, split []terms.Term
		for _, x := range ts {
			split = append(split, x)
			x.Count *= n
			many = append(many, x)
		}
		for range n - 1 {
			split = append(split, ts...)
		}
		a, errA := Bracket(context.Background(), many, 1e-5, small)
		b, errB := Bracket(context.Background(), split, 1e-5, small)
		if (errA == nil) != (errB == nil) {
			t.Fatal(errA, errB)
		}
		// Joined Gaussians sum their mu² in another order.
		if errA == nil && (math.Abs(a.Upper-b.Upper) > 1e-9*(1+a.Upper) || math.Abs(a.Lower-b.Lower) > 1e-9*(1+a.Upper)) {
			t.Fatalf("%v at once, %v one by one", a, b)
		}
	})
}

// The brackets of compositions of different kinds: a rate near one meets the
// unsampled release, and a sum of two kinds costs more than either.
func TestHeterogeneous(t *testing.T) {
	g, l := gaussianTerm(0.01, 1, 1, privacy.AddRemove, 1000), laplaceTerm(1, 10, 20)
	get := func(ts ...terms.Term) Bounds {
		b, err := Bracket(context.Background(), ts, 1e-5, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	one, two, sum := get(g), get(l), get(g, l)
	if sum.Lower <= max(one.Upper, two.Upper) || sum.Upper >= one.Upper+two.Upper {
		t.Errorf("%v and %v make %v", one, two, sum)
	}
	if swap := get(l, g); math.Abs(swap.Upper-sum.Upper) > 1e-9 || math.Abs(swap.Lower-sum.Lower) > 1e-9 {
		t.Errorf("another order gives %v, not %v", swap, sum)
	}
	if sum.Upper-sum.Lower > enough*sum.Upper {
		t.Errorf("the bracket %v is wide", sum)
	}
	near, full := get(gaussianTerm(1-1e-9, 1, 1, privacy.AddRemove, 10)), get(gaussianTerm(1, 1, 1, privacy.AddRemove, 10))
	if near.Upper < full.Lower-1e-6 || full.Upper < near.Lower-1e-6 {
		t.Errorf("rate 1: %v, just below: %v", full, near)
	}
	// Under replace at rate 1 the moved sum is at twice the distance.
	twice := get(gaussianTerm(1-1e-9, 2, 2, privacy.Replace, 10))
	if twice.Upper < full.Lower-1e-6 || full.Upper < twice.Lower-1e-6 {
		t.Errorf("replace: %v, want %v", twice, full)
	}
}
