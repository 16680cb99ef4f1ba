package terms_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func normal(sigma, distance float64) privacy.Gaussian {
	return privacy.Gaussian{Sigma: sigma, Sensitivity: distance, Unit: privacy.User, Neighbouring: privacy.AddRemove}
}

var (
	near   = normal(2, 1)
	far    = normal(5, 3)
	spread = privacy.Laplace{Scale: 3, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	grid   = privacy.DiscreteGaussian{Sigma: 8, Sensitivity: 3, Dimension: 2, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	steps  = privacy.DiscreteLaplace{Scale: 8, Sensitivity: 3, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	choice = privacy.Exponential{Epsilon: 0.5, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	open   = privacy.Unprotected{What: "labels", Why: "the loss sees them"}
	leaves = []privacy.Event{near, far, spread, grid, steps, choice}
)

func self(e privacy.Event, n int64) privacy.Event { return privacy.SelfComposed{Event: e, Count: n} }
func all(e ...privacy.Event) privacy.Event        { return privacy.Composed{Events: e} }
func split(e ...privacy.Event) privacy.Event      { return privacy.Parallel{Events: e} }
func sample(e privacy.Event, rate float64, m privacy.Sampling) privacy.Event {
	return privacy.Sampled{Event: e, Rate: rate, Method: m}
}

func flat(t testing.TB, e privacy.Event, n int64) terms.List {
	t.Helper()
	l, err := terms.Flatten(e, n, privacy.User, privacy.AddRemove)
	if err != nil {
		t.Fatalf("%+v: %v", e, err)
	}
	return l
}

// expand walks an event release by release, one call of visit for every one that is
// made, and chooses the branch of a parallel composition that pick says: the
// definition of a count, with no multiplication in it.
func expand(e privacy.Event, rate float64, m privacy.Sampling, pick func(branches int) int, visit func(key string)) {
	switch e := e.(type) {
	case privacy.Composed:
		for _, part := range e.Events {
			expand(part, rate, m, pick, visit)
		}
	case privacy.SelfComposed:
		for range e.Count {
			expand(e.Event, rate, m, pick, visit)
		}
	case privacy.Sampled:
		if e.Rate < 1 {
			rate, m = e.Rate, e.Method
		}
		expand(e.Event, rate, m, pick, visit)
	case privacy.Parallel:
		expand(e.Events[pick(len(e.Events))], rate, m, pick, visit)
	case privacy.Unprotected:
		visit("open: " + e.What)
	default:
		visit(fmt.Sprintf("%#v at %v %s", e, rate, m))
	}
}

// counted is how often a list of terms makes each release.
func counted(ts []terms.Term) map[string]int64 {
	n := map[string]int64{}
	for _, t := range ts {
		n[fmt.Sprintf("%#v at %v %s", t.Leaf, t.Rate, t.Method)] += t.Count
	}
	return n
}

// tree is an event of so many levels with small counts; sampling is of leaves.
func tree(t *rapid.T, levels int, parallel bool) privacy.Event {
	kinds := 3
	if levels == 0 {
		kinds = 2
	} else if parallel {
		kinds = 4
	}
	some := func() (list []privacy.Event) {
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			list = append(list, tree(t, levels-1, parallel))
		}
		return list
	}
	leaf := rapid.SampledFrom(leaves).Draw(t, "leaf")
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case levels == 0 && kind == 9:
		return open
	case levels == 0 && kind%kinds == 1:
		return sample(leaf, rapid.SampledFrom([]float64{0.125, 0.5, 1}).Draw(t, "rate"), rapid.SampledFrom([]privacy.Sampling{privacy.Poisson, privacy.WithoutReplacement}).Draw(t, "method"))
	case levels == 0:
		return leaf
	case kind%kinds == 0:
		return self(tree(t, levels-1, parallel), rapid.Int64Range(1, 4).Draw(t, "count"))
	case kind%kinds == 3:
		return split(some()...)
	}
	return all(some()...)
}

// However events nest, the list has as many of each release as a walk through the
// whole run makes, and each thing that is open once.
func TestCountsAreThoseOfAWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, n := tree(t, 3, false), rapid.Int64Range(1, 3).Draw(t, "n")
		want, opened := map[string]int64{}, false
		expand(self(e, n), 1, "", nil, func(key string) {
			if strings.HasPrefix(key, "open: ") {
				opened = true
				return
			}
			if strings.Contains(key, " at 1 ") { // a rate of 1 has no method
				key = key[:strings.Index(key, " at 1 ")] + " at 1 "
			}
			want[key]++
		})
		l := flat2(t, e, n)
		if d := cmp.Diff(want, counted(l.Terms)); d != "" {
			t.Fatalf("%+v: %s", e, d)
		}
		if len(counted(l.Terms)) != len(l.Terms) || opened != (len(l.WithoutNoise) == 1) || len(l.WithoutNoise) > 1 || len(l.Parallels) > 0 {
			t.Fatalf("%+v: %+v", e, l)
		}
	})
}

func flat2(t *rapid.T, e privacy.Event, n int64) terms.List {
	l, err := terms.Flatten(e, n, privacy.User, privacy.AddRemove)
	if err != nil {
		t.Fatalf("%+v: %v", e, err)
	}
	return l
}

// branchesOf is every list of terms that one unit may meet in a list: one branch of
// each parallel composition.
func branchesOf(l terms.List) (worlds [][]terms.Term) {
	worlds = [][]terms.Term{l.Terms}
	for _, b := range l.Parallels {
		var next [][]terms.Term
		for _, branch := range b.Of {
			for _, inside := range branchesOf(branch) {
				for _, w := range worlds {
					w = slices.Clone(w)
					for _, t := range inside {
						t.Count *= b.Count
						w = append(w, t)
					}
					next = append(next, w)
				}
			}
		}
		worlds = next
	}
	return worlds
}

// A parallel composition keeps its branches, one of which a walk takes: what a
// walk that always takes the i-th meets is one of the list's worlds. (In a count of
// several, walks may take another branch each time, which costs no more than the
// worst branch each time.)
func TestBranchesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := tree(t, 3, true)
		l := flat2(t, e, 1)
		worlds := branchesOf(l)
		if len(worlds) > 3000 {
			return
		}
		for i := range 3 {
			want := map[string]int64{}
			expand(e, 1, "", func(branches int) int { return min(i, branches-1) }, func(key string) {
				if strings.HasPrefix(key, "open: ") {
					return
				}
				if strings.Contains(key, " at 1 ") {
					key = key[:strings.Index(key, " at 1 ")] + " at 1 "
				}
				want[key]++
			})
			if !slices.ContainsFunc(worlds, func(w []terms.Term) bool { return cmp.Equal(counted(w), want, cmpopts.EquateEmpty()) }) {
				t.Fatalf("%+v: a unit that meets %v is in none of %d worlds", e, want, len(worlds))
			}
		}
	})
}

// Several Gaussians on one sample are one whose squared distance over sigma is the
// exact sum or a little more: sums in rational arithmetic.
func TestJoinedNoiseIsTheExactSum(t *testing.T) {
	ratio := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	cost := func(g privacy.Gaussian) *big.Rat {
		r := new(big.Rat).Quo(ratio(g.Sensitivity), ratio(g.Sigma))
		return r.Mul(r, r)
	}
	rapid.Check(t, func(t *rapid.T) {
		sum, list := new(big.Rat), []privacy.Event{}
		for range rapid.IntRange(1, 6).Draw(t, "releases") {
			g := normal(math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log sigma")), math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log distance")))
			n := rapid.Int64Range(1, 1<<40).Draw(t, "count")
			list = append(list, self(g, n))
			sum.Add(sum, new(big.Rat).Mul(cost(g), new(big.Rat).SetInt64(n)))
		}
		l := flat2(t, sample(all(list...), 0.25, privacy.Poisson), 3)
		if len(l.Terms) != 1 || l.Terms[0].Count != 3 || l.Terms[0].Rate != 0.25 || l.Terms[0].Method != privacy.Poisson {
			t.Fatalf("%+v", l)
		}
		over := new(big.Rat).Quo(cost(l.Terms[0].Leaf.(privacy.Gaussian)), sum)
		f, _ := over.Float64()
		if over.Cmp(big.NewRat(1, 1)) < 0 && len(list) > 1 || !(f >= 1-1e-15 && f < 1+1e-14) {
			t.Fatalf("the joined release costs %v of the sum", f)
		}
	})
}

// Counts are exact up to the largest number, and beyond it an error, never a
// smaller count: against arithmetic without a largest number.
func TestCountsNeverWrap(t *testing.T) {
	most := big.NewInt(math.MaxInt64)
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Custom(func(t *rapid.T) int64 {
			return int64(math.Min(math.Exp2(rapid.Float64Range(0, 63).Draw(t, "log count")), math.MaxInt64-1024))
		})
		a, b, c, n := count.Draw(t, "a"), count.Draw(t, "b"), count.Draw(t, "c"), count.Draw(t, "n")
		if rapid.Bool().Draw(t, "small") {
			b, n = b%7+1, n%5+1
		}
		// n times (a times b, and c more)
		want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		inner := want.Cmp(most) > 0
		want.Add(want, big.NewInt(c))
		inner = inner || want.Cmp(most) > 0
		want.Mul(want, big.NewInt(n))
		wrap := map[string]func(privacy.Event) privacy.Event{"a leaf": func(e privacy.Event) privacy.Event { return e }, "branches": func(e privacy.Event) privacy.Event { return split(e) }}
		for name, w := range wrap {
			l, err := terms.Flatten(all(self(self(w(near), b), a), self(w(near), c)), n, privacy.User, privacy.AddRemove)
			if name == "branches" { // each stays by itself: they may differ in who is where
				first, second := new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), big.NewInt(c)
				first.Mul(first, big.NewInt(n))
				second.Mul(second, big.NewInt(n))
				if fits := first.Cmp(most) <= 0 && second.Cmp(most) <= 0; fits != (err == nil) || fits && (l.Parallels[0].Count != first.Int64() || l.Parallels[1].Count != second.Int64()) {
					t.Fatalf("%s: %d times %d and %d, %d times: %+v, %v", name, a, b, c, n, l, err)
				}
				continue
			}
			fits := !inner && want.Cmp(most) <= 0
			if fits != (err == nil) || fits && (len(l.Terms) != 1 || l.Terms[0].Count != want.Int64()) {
				t.Fatalf("%s: %d times %d and %d, %d times: %+v, %v, want %v", name, a, b, c, n, l, err, want)
			}
			if err != nil && !strings.Contains(err.Error(), "overflow") {
				t.Fatalf("%v", err)
			}
		}
	})
}

// Every kind of leaf under every unit and relation: taken where both are asked
// about, refused by name elsewhere, also within branches, samples and counts.
func TestWhatALeafIsAbout(t *testing.T) {
	units := privacy.Units()
	relations := []privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut}
	kinds := map[string]func(u privacy.Unit, r privacy.Neighbouring) (privacy.Event, privacy.Neighbouring){
		"gaussian": func(u privacy.Unit, r privacy.Neighbouring) (privacy.Event, privacy.Neighbouring) {
			return privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: u, Neighbouring: r}, r
		},
		"laplace": func(u privacy.Unit, r privacy.Neighbouring) (privacy.Event, privacy.Neighbouring) {
			return privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: u, Neighbouring: r}, r
		},
		"discrete-gaussian": func(u privacy.Unit, r privacy.Neighbouring) (privacy.Event, privacy.Neighbouring) {
			return privacy.DiscreteGaussian{Sigma: 1, Sensitivity: 1, Dimension: 1, Unit: u, Neighbouring: r}, r
		},
		"discrete-laplace": func(u privacy.Unit, r privacy.Neighbouring) (privacy.Event, privacy.Neighbouring) {
			return privacy.DiscreteLaplace{Scale: 1, Sensitivity: 1, Unit: u, Neighbouring: r}, r
		},
		"exponential": func(u privacy.Unit, r privacy.Neighbouring) (privacy.Event, privacy.Neighbouring) {
			return privacy.Exponential{Epsilon: 1, Unit: u, Neighbouring: r}, r
		},
		"pure-ldp": func(u privacy.Unit, _ privacy.Neighbouring) (privacy.Event, privacy.Neighbouring) {
			return privacy.PureLDP{Epsilon: 1, Unit: u}, privacy.Replace
		},
		"randomized-response": func(u privacy.Unit, _ privacy.Neighbouring) (privacy.Event, privacy.Neighbouring) {
			return privacy.RandomizedResponse{Epsilon: 1, Categories: 3, Unit: u}, privacy.Replace
		},
	}
	for kind, of := range kinds {
		for _, u := range units {
			for _, r := range relations {
				e, about := of(u, r)
				for _, asked := range units {
					for _, askedR := range relations {
						for how, whole := range map[string]privacy.Event{"alone": e, "counted": self(e, 2), "in a branch": split(e, e), "on a sample": sample(e, 0.5, privacy.Poisson)} {
							l, err := terms.Flatten(whole, 1, asked, askedR)
							if asked == u && askedR == about {
								if err != nil || len(l.Terms)+len(l.Parallels) != 1 || len(l.Terms) == 1 && (l.Terms[0].Leaf != e || l.Terms[0].Relation != about) {
									t.Errorf("%s %s about %s, %s: %+v, %v", kind, how, u, about, l, err)
								}
								continue
							}
							if want := fmt.Sprintf("%s about %s, %s; asked about %s, %s", kind, u, about, asked, askedR); !errors.Is(err, terms.ErrUnit) || !strings.Contains(err.Error(), want) || !cmp.Equal(l, terms.List{}) {
								t.Errorf("%s %s: %+v, %v, want %q", kind, how, l, err, want)
							}
						}
					}
				}
			}
		}
	}
}
