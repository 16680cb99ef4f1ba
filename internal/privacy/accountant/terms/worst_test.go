package terms_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// orders is where two compositions are compared: a worst case must cost at least as
// much at every one of them.
var orders = []float64{1.01, 1.5, 2, 3, 8, 40, 300}

// above reports the first order at which a costs less than b.
func above(a, b []terms.Term) error {
	x, err := rdp.Total(a)
	if err != nil {
		return err
	}
	y, err := rdp.Total(b)
	if err != nil {
		return err
	}
	for _, order := range orders {
		if p, q := x(order), y(order); p < q*(1-1e-9)-1e-15 {
			return fmt.Errorf("at order %v it costs %v, a branch %v", order, p, q)
		}
	}
	return nil
}

// branch is a part of a parallel composition, of few kinds so that often one is the
// worst.
func branch(t *rapid.T, levels int) privacy.Event {
	g := normal(rapid.SampledFrom([]float64{1, 2, 4}).Draw(t, "sigma"), 1)
	one := self(g, rapid.Int64Range(1, 3).Draw(t, "count"))
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return self(sample(g, rapid.SampledFrom([]float64{0.1, 0.5}).Draw(t, "rate"), privacy.Poisson), 2)
	case 1:
		return all(one, spread)
	case 2:
		if levels > 0 {
			return split(branch(t, levels-1), branch(t, levels-1))
		}
	case 3:
		return all(one, open)
	case 4:
		if levels > 0 {
			return self(branch(t, levels-1), 2)
		}
	}
	return one
}

// The worst case, where there is one, costs at least what every way through the
// branches costs, at every order of the Rényi divergence: an accountant that knows
// nothing of how the branch was chosen.
func TestWorstIsAboveEveryBranch(t *testing.T) {
	found, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		l := flat2(t, all(split(branch(t, 1), branch(t, 1), branch(t, 0)), self(split(branch(t, 0), branch(t, 0)), 2)), 1)
		worst, err := l.Worst()
		if err != nil {
			if !errors.Is(err, terms.ErrForm) {
				t.Fatal(err)
			}
			refused++
			return
		}
		found++
		for _, world := range branchesOf(l) {
			if err := above(worst, world); err != nil {
				t.Fatalf("%+v: the worst case is %+v: %v", l, worst, err)
			}
		}
	})
	t.Logf("%d with a worst case, %d without", found, refused)
	if found == 0 || refused == 0 {
		t.Errorf("%d worst cases, %d refusals: one side is not tested", found, refused)
	}
}

// Rules for the worst branch that look at one thing alone pick one that is not, and
// are caught by the comparison that the real rule passes.
func TestWrongWorstCasesAreCaught(t *testing.T) {
	pairs := map[string][2]privacy.Event{ // what the wrong rule takes, and what it leaves
		"more releases, whatever noise":   {self(normal(40, 1), 5), near},
		"less noise, however few":         {near, self(normal(2.5, 1), 90)},
		"less noise, however rarely":      {sample(near, 0.001, privacy.Poisson), normal(4, 1)},
		"a higher rate, whatever noise":   {sample(normal(9, 1), 0.9, privacy.Poisson), sample(normal(1, 1), 0.3, privacy.Poisson)},
		"sigma without its distance":      {near, far},
		"the first":                       {normal(7, 1), near},
		"the longer list":                 {all(normal(50, 1), normal(60, 1), normal(70, 1)), near},
		"another kind with the same size": {spread, normal(0.5, 1)},
	}
	for name, p := range pairs {
		taken, left := flat(t, p[0], 1), flat(t, p[1], 1)
		if above(taken.Terms, left.Terms) == nil {
			t.Errorf("%s: not caught", name)
		}
		worst, err := flat(t, split(p[0], p[1]), 1).Worst()
		if err == nil && cmp.Equal(worst, taken.Terms) {
			t.Errorf("%s: taken", name)
		}
		if err == nil {
			if err := errors.Join(above(worst, taken.Terms), above(worst, left.Terms)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if !errors.Is(err, terms.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The order of the branches, a branch twice and one that is empty do not change
// what the worst is.
func TestWorstDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := branch(t, 1), branch(t, 1), branch(t, 0)
		want, err := flat2(t, split(a, b, c), 1).Worst()
		for _, other := range []privacy.Event{split(c, b, a), split(b, a, c), split(a, b, c, b, a), split(open, a, b, c), split(a, split(b, c)), split(split(a, b, c))} {
			got, otherErr := flat2(t, other, 1).Worst()
			if err == nil && otherErr == nil {
				if err := errors.Join(above(got, want), above(want, got)); err != nil {
					t.Fatalf("%+v and %+v: %v", want, got, err)
				}
			}
			// Within a branch of branches the inner worst must exist first, else alike.
			if nested := len(flat2(t, other, 1).Parallels[0].Of) < 3; !nested && (err == nil) != (otherErr == nil) {
				t.Fatalf("%v and, in another order, %v", err, otherErr)
			}
		}
	})
}

// Adding lists is a sum: it has a zero, any order and grouping give the same counts,
// and it leaves what it adds as it was.
func TestAddIsASum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l [3]terms.List
		var before [3]string
		for i := range l {
			l[i] = flat2(t, tree(t, 2, true), 1)
			before[i] = fmt.Sprintf("%+v", l[i])
		}
		left := must(must(l[0].Add(l[1])).Add(l[2]))
		right := must(l[0].Add(must(l[1].Add(l[2]))))
		turned := must(must(l[2].Add(l[1])).Add(l[0]))
		if d := cmp.Diff(left, right, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("grouped: %s", d)
		}
		if !cmp.Equal(counted(left.Terms), counted(turned.Terms)) || len(left.Parallels) != len(turned.Parallels) || len(left.WithoutNoise) != len(turned.WithoutNoise) {
			t.Fatalf("turned: %+v, %+v", left, turned)
		}
		if zero := must(terms.List{}.Add(l[0])); !cmp.Equal(zero, l[0], cmpopts.EquateEmpty()) {
			t.Fatalf("nothing and %+v is %+v", l[0], zero)
		}
		for i := range left.Terms { // the result shares nothing
			left.Terms[i].Count = -1
		}
		for i := range l {
			if now := fmt.Sprintf("%+v", l[i]); now != before[i] {
				t.Fatalf("adding changed %s to %s", before[i], now)
			}
		}
	})
	full := terms.List{Terms: []terms.Term{{Leaf: near, Rate: 1, Relation: privacy.AddRemove, Count: math.MaxInt64}}}
	if sum, err := full.Add(full); err == nil || !cmp.Equal(sum, terms.List{}) || full.Terms[0].Count != math.MaxInt64 {
		t.Errorf("%+v, %v", sum, err)
	}
}

func ExampleFlatten() {
	step := privacy.Sampled{Rate: 0.01, Method: privacy.Poisson, Event: privacy.Gaussian{
		Sigma: 2, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}}
	run := privacy.Composed{Events: []privacy.Event{
		privacy.SelfComposed{Event: step, Count: 300},
		privacy.Laplace{Scale: 5, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove},
		privacy.Unprotected{What: "labels", Why: "the loss sees them"},
	}}
	l, err := terms.Flatten(run, 10, privacy.User, privacy.AddRemove)
	for _, t := range l.Terms {
		fmt.Println(t.Count, t.Leaf.Kind(), "at rate", t.Rate)
	}
	fmt.Println(len(l.WithoutNoise), "open,", err)
	// Output:
	// 3000 gaussian at rate 0.01
	// 10 laplace at rate 1
	// 1 open, <nil>
}
