package local_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
)

// mixed are features of so many categories each, 0 for a number, named f0, f1, ...
func mixed(categories ...int) (f []local.FeatureKind) {
	for i, c := range categories {
		f = append(f, local.FeatureKind{Name: fmt.Sprint("f", i), Categories: c})
	}
	return f
}

// k of n features share the budget: k is 1 below 5, grows by 1 every 2.5 and never
// exceeds n; k times what one gets is the whole; a row is as wide as its features.
func TestFeatureBudgetsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		eps := rapid.Float64Range(0.01, 60).Draw(t, "eps")
		var categories []int
		width := 0
		for range n {
			c := rapid.IntRange(0, 5).Draw(t, "categories")
			categories = append(categories, c)
			width += max(1, c)
		}
		f := local.FeatureSampler{Epsilon: eps, Features: mixed(categories...)}
		k := f.K()
		if f.Width() != width || k < 1 || k > n || math.Abs(f.PerFeature()*float64(k)-eps) > 1e-13*eps {
			t.Fatalf("width %d, k %d of %d, %g each of %g", f.Width(), k, n, f.PerFeature(), eps)
		}
		// One more drawn would leave less than 2.5 each; one less would do for smaller budgets only.
		if k < n && eps/float64(k+1) >= 2.5 || k > 1 && eps/float64(k) < 2.5 {
			t.Fatalf("k %d of %d at %g", k, n, eps)
		}
		more := f
		if more.Epsilon += 2.5; more.K() != min(n, k+1) && !(eps < 2.5 && more.K() == 1) {
			t.Fatalf("k %d at %g, %d at 2.5 more", k, eps, more.K())
		}
	})
	for c, want := range map[int]int{0: 1, 1: 1, 2: 2, 21: 21} {
		if got := (local.FeatureKind{Categories: c}).Width(); got != want {
			t.Errorf("%d categories are %d wide, want %d", c, got, want)
		}
	}
}

// The worst density ratio of a whole vector of numbers is e^eps: k of them are drawn
// for every user, and each shows with e^(eps/k). With the whole budget for each, or
// with a choice that depends on the value, it would be more.
func TestFeatureVectorsArePrivate(t *testing.T) {
	for _, eps := range []float64{1, 5, 7.5, 20} {
		f := local.FeatureSampler{Epsilon: eps, Features: mixed(0, 0, 0, 0)}
		k := f.K()
		ratio := func(each float64) float64 { // of inputs of ones and of minus ones, over outputs at the ends
			m := local.Piecewise{Epsilon: each}
			worst := 1.0
			for range k {
				worst *= m.Density(m.C(), 1) / m.Density(m.C(), -1)
			}
			return math.Log(worst)
		}
		if got := ratio(f.PerFeature()); math.Abs(got-eps) > 1e-9*eps {
			t.Errorf("eps %g: a vector shows with e^%g", eps, got)
		}
		if wrong := ratio(eps); k > 1 && wrong <= eps {
			t.Errorf("eps %g: the whole budget for each of %d would pass", eps, k)
		}
	}
}

// Every set of k features is drawn as often as any other: within 6.2 standard errors
// each, a false alarm below 1e-9 a set. A number that was drawn is n/k times what
// the piecewise mechanism gives, and what was not drawn is zero.
func TestEverySetOfFeaturesIsDrawnAlike(t *testing.T) {
	const users, n = 20_000, 5
	f := local.FeatureSampler{Purpose: "features", Epsilon: 7.5, Features: mixed(0, 2, 0, 3, 0)} // 3 of 5
	width := f.Width()
	data := make([]float64, users*width)
	for u := range users {
		row := data[u*width:]
		row[0], row[1], row[3], row[4], row[7] = 0.3, 1, -0.9, 1, 1
	}
	if err := local.PerturbFeatures(f, research(), rng.Seed(4).Stream("sets"), data); err != nil {
		t.Fatal(err)
	}
	sets := map[[3]bool]float64{} // of the numbers: a number that is drawn is not 0
	bound := local.Piecewise{Epsilon: f.PerFeature()}.C() * n / 3
	for u := range users {
		row := data[u*width : (u+1)*width]
		sets[[3]bool{row[0] != 0, row[3] != 0, row[7] != 0}]++
		for i, v := range row {
			if number := i == 0 || i == 3 || i == 7; number && math.Abs(v) > bound || !number && v != 0 && v != 1 {
				t.Fatalf("user %d, value %d is %v", u, i, v)
			}
		}
	}
	// Of 10 sets: all three numbers once, two of them (and one category) 2 each, one 1.
	for set, got := range sets {
		numbers := 0
		for _, in := range set {
			if in {
				numbers++
			}
		}
		p := map[int]float64{3: 0.1, 2: 0.2, 1: 0.1}[numbers]
		if z := (got - users*p) / math.Sqrt(users*p*(1-p)); p == 0 || math.Abs(z) > 6.2 {
			t.Errorf("the numbers %v were drawn %g times, want a share %g", set, got, p)
		}
	}
	if len(sets) != 7 {
		t.Errorf("%d sets of numbers, want 7", len(sets))
	}
	// A factor n/k left out, or k/n in its place, is a biased mean: by far.
	sum := 0.0
	for u := range users {
		sum += data[u*width+3]
	}
	pm := local.Piecewise{Epsilon: f.PerFeature()}
	const share = 3. / n
	deviation := math.Sqrt(((pm.Variance(-0.9)+0.81)/share - 0.81) / users)
	for factor, right := range map[float64]bool{1: true, share: false, share * share: false} {
		if z := (factor*sum/users + 0.9) / deviation; (math.Abs(z) < 6.2) != right {
			t.Errorf("times %g the mean is %g standard errors off", factor, z)
		}
	}
}

// The released code's way leaves features in the clear: the very ones that the
// ledger names, for every user, and for another stream other ones.
func TestClearFeaturesAreNamed(t *testing.T) {
	const users = 40
	named := map[string]bool{}
	for seed := range 12 {
		f := local.FeatureSampler{Purpose: "features", Epsilon: 5, Features: mixed(0, 0, 0, 0), Unselected: local.SharedClear}
		data := slices.Repeat([]float32{0.1, 0.2, 0.3, 0.4}, users)
		l := research()
		if err := local.PerturbFeatures(f, l, rng.Seed(seed).Stream("clear"), data); err != nil {
			t.Fatal(err)
		}
		var clear []string
		for j, v := range []float32{0.1, 0.2, 0.3, 0.4} {
			same := 0
			for u := range users {
				if data[u*4+j] == v {
					same++
				}
			}
			if same == users {
				clear = append(clear, fmt.Sprint("f", j))
			} else if same > 0 {
				t.Errorf("seed %d: feature %d is clear for %d of %d users", seed, j, same, users)
			}
		}
		entries := l.Entries()
		if len(clear) != 2 || len(entries) != 2 {
			t.Fatalf("seed %d: %v in the clear, entries %v", seed, clear, entries)
		}
		for _, e := range entries {
			if u, ok := e.Event.(privacy.Unprotected); ok && !strings.HasSuffix(u.Why, ": "+strings.Join(clear, ", ")) {
				t.Errorf("seed %d: %v are in the clear, the ledger says %q", seed, clear, u.Why)
			}
		}
		named[strings.Join(clear, "")] = true
	}
	if len(named) < 3 {
		t.Errorf("12 streams leave the sets %v in the clear", named)
	}
}

// A user's row depends on the stream and on the user's place, not on the type's
// neighbours: rows moved to other places get other noise, later users none of it.
func TestFeatureRowsAreTheirOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := local.FeatureSampler{Purpose: "features", Epsilon: rapid.Float64Range(0.5, 12).Draw(t, "eps"), Features: mixed(0, 3, 0)}
		users := rapid.IntRange(1, 6).Draw(t, "users")
		s := rng.Seed(rapid.Uint64().Draw(t, "seed")).Stream("rows")
		data := make([]float64, users*5)
		for u := range users {
			data[u*5] = rapid.Float64Range(-1, 1).Draw(t, "x")
			data[u*5+1+rapid.IntRange(0, 2).Draw(t, "level")] = 1
		}
		other := slices.Clone(data)
		at := rapid.IntRange(0, users-1).Draw(t, "changed")
		other[at*5] = -other[at*5]
		for _, x := range [][]float64{data, other} {
			if err := local.PerturbFeatures(f, research(), s, x); err != nil {
				t.Fatal(err)
			}
		}
		for u := range users {
			if u != at && !slices.Equal(data[u*5:u*5+5], other[u*5:u*5+5]) {
				t.Fatalf("user %d's row depends on user %d's", u, at)
			}
		}
	})
}
