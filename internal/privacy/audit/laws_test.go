package audit_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

func newCoins(t interface{ Fatal(...any) }, seed rng.Seed, n int) audit.Coins {
	coins, err := audit.NewCoins(seed.Stream("coins"), n)
	if err != nil {
		t.Fatal(err)
	}
	return coins
}

// A rule depends on the order of the scores alone: it guesses as many as it says,
// its ins are nowhere below what it abstains on nor that below its outs, and it
// follows the canaries through any renumbering and any increasing map.
func TestRulesFollowTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "canaries")
		scores := rapid.SliceOfNDistinct(rapid.Float64Range(-1e3, 1e3), n, n, func(x float64) float64 { return math.Round(x * 1e6) }).Draw(t, "scores")
		rule := audit.Rule{In: rapid.IntRange(0, n).Draw(t, "in")}
		rule.Out = rapid.IntRange(0, n-rule.In).Draw(t, "out")
		guess := func(r audit.Rule, scores []float64) []audit.Guess {
			g, err := r.Guess(scores)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		before := slices.Clone(scores)
		got := guess(rule, scores)
		if !slices.Equal(before, scores) {
			t.Fatal("the scores are changed")
		}
		low, high, counts := math.Inf(1), math.Inf(-1), map[audit.Guess]int{}
		for i, g := range got {
			counts[g]++
			if g == audit.In {
				low = math.Min(low, scores[i])
			}
			if g == audit.Out {
				high = math.Max(high, scores[i])
			}
		}
		if counts[audit.In] != rule.In || counts[audit.Out] != rule.Out || len(got) != n {
			t.Fatalf("%+v guesses %v", rule, counts)
		}
		for i, g := range got {
			if g != audit.In && scores[i] > low || g != audit.Out && scores[i] < high {
				t.Fatalf("%+v of %v: %v", rule, scores, got)
			}
		}
		order := rapid.Permutation(seq(n)).Draw(t, "order")
		moved, mapped, negated := make([]float64, n), make([]float64, n), make([]float64, n)
		for i, at := range order {
			moved[i], mapped[i], negated[i] = scores[at], math.Atan(scores[i]/100)*7-3, -scores[i]
		}
		turned := guess(audit.Rule{In: rule.Out, Out: rule.In}, negated)
		renumbered := guess(rule, moved)
		for i, at := range order {
			if renumbered[i] != got[at] || turned[i] != -got[i] {
				t.Fatalf("%+v: %v renumbered %v, turned around %v", rule, got, renumbered, turned)
			}
		}
		if other := guess(rule, mapped); !slices.Equal(other, got) {
			t.Fatalf("%+v: %v, after an increasing map %v", rule, got, other)
		}
		// The thresholds that lie between say the same.
		if rule.In > 0 && rule.Out > 0 && rule.In+rule.Out < n {
			same, err := audit.Threshold{Low: math.Nextafter(high, 2e3), High: low}.Guess(scores)
			if err != nil || !slices.Equal(same, got) {
				t.Fatalf("%+v: %v, by thresholds %v, %v", rule, got, same, err)
			}
		}
	})
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Guesses turned around are wrong where they were right; rates and counts tell of the
// same outcome if no guess abstains.
func TestCountsAndRatesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "canaries")
		coins := newCoins(t, rng.Seed(rapid.Uint64().Draw(t, "seed")), n)
		guesses := rapid.SliceOfN(rapid.SampledFrom([]audit.Guess{audit.In, audit.Out, audit.Abstain}), n, n).Draw(t, "guesses")
		turned, forced := make([]audit.Guess, n), make([]audit.Guess, n)
		for i, g := range guesses {
			if turned[i], forced[i] = -g, g; g == audit.Abstain {
				forced[i] = audit.Out
			}
		}
		c, err1 := coins.Count(guesses)
		d, err2 := coins.Count(turned)
		f, err3 := coins.Count(forced)
		r, err4 := coins.Rates(guesses)
		s, err5 := coins.Rates(forced)
		if err := errors.Join(err1, err2, err3, err4, err5, c.Validate()); err != nil {
			t.Fatal(err)
		}
		if c.Correct+d.Correct != c.Guesses || d.Guesses != c.Guesses || c.Canaries != int64(n) {
			t.Fatalf("%+v, turned around %+v", c, d)
		}
		if r != s || r.TruePositives+r.Negatives-r.FalsePositives != f.Correct || r.Positives+r.Negatives != int64(n) {
			t.Fatalf("rates %+v and %+v of %+v", r, s, f)
		}
	})
}

// Coins are values that many may read at once, and that the reading does not change.
func TestCoinsFromManySides(t *testing.T) {
	coins := newCoins(t, 12, 5000)
	want := make([]bool, coins.Len())
	for i := range want {
		want[i] = coins.In(i)
	}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range want {
				if at := (i*(worker+1)*7 + worker) % len(want); coins.In(at) != want[at] {
					t.Errorf("canary %d by worker %d", at, worker)
				}
			}
		})
	}
	all.Wait()
	// Another seed, name or index is other coins: two agree on half of the canaries, up
	// to 6.2 standard deviations of sqrt(5000)/2, probability 6e-10 each.
	for name, s := range map[string]rng.Stream{"seed": rng.Seed(13).Stream("coins"), "name": rng.Seed(12).Stream("coin"), "index": rng.Seed(12).Stream("coins", 1)} {
		other, err := audit.NewCoins(s, coins.Len())
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for i := range want {
			if other.In(i) == want[i] {
				same++
			}
		}
		if math.Abs(float64(same)-2500) > 6.2*math.Sqrt(5000)/2 {
			t.Errorf("another %s: %d of 5000 coins are the same", name, same)
		}
	}
}

// The largest of several bounds is one bound only if the level is shared: over 1500
// drawings of coins for scores that mean nothing, Best is above 0 no more often than
// its level allows, while the largest uncorrected bound is far more often. Binomial
// with mean 300 at most: more than 402 have probability 7e-11.
func TestBestPaysForItsRules(t *testing.T) {
	const runs, n, level = 1500, 40, 0.2
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = float64((i * 17) % n)
	}
	var rules []audit.Rule
	for k := 3; k <= 20; k++ {
		rules = append(rules, audit.Rule{In: k}, audit.Rule{Out: k}, audit.Rule{In: k, Out: k})
	}
	o := audit.Options{Level: level}
	type key struct {
		c     audit.Count
		tests int64
	}
	known := map[key]audit.Bound{} // few counts come up again and again
	bound := func(c audit.Count, o audit.Options) (b audit.Bound, err error) {
		if b, ok := known[key{c, o.Tests}]; ok {
			return b, nil
		}
		b, err = audit.OneRun(c, o)
		known[key{c, o.Tests}] = b
		return b, err
	}
	best, largest := 0, 0
	for run := range runs {
		coins := newCoins(t, rng.Seed(1000+run), n)
		_, b, err := audit.Best(coins, scores, rules, o, bound)
		if err != nil || b.Tests != int64(len(rules)) || b.Level != level {
			t.Fatal(b, err)
		}
		if b.Epsilon > 0 {
			best++
		}
		for _, r := range rules {
			guesses, err1 := r.Guess(scores)
			count, err2 := coins.Count(guesses)
			one, err3 := bound(count, o)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			if one.Epsilon > 0 {
				largest++
				break
			}
		}
	}
	t.Logf("of %d: best above 0 %d times, some uncorrected bound %d times", runs, best, largest)
	if best > 402 || largest <= 402 {
		t.Errorf("best is above 0 %d times, some uncorrected bound %d times, of %d at level %v", best, largest, runs, level)
	}
}

// One rule is no choice, and the rules may come in any order.
func TestBestOfOneAndOrder(t *testing.T) {
	coins := newCoins(t, 31, 400)
	s := rng.Seed(32).Stream("scores")
	scores := make([]float64, 400)
	for i := range scores {
		if scores[i] = s.NormFloat64(); coins.In(i) {
			scores[i] += 3
		}
	}
	o := audit.Options{Delta: 1e-6, Level: 0.05, Tests: 3}
	rules := []audit.Rule{{In: 10, Out: 10}, {In: 90, Out: 60}, {Out: 100}}
	forth, a, err1 := audit.Best(coins, scores, rules, o, audit.OneRun)
	back, b, err2 := audit.Best(coins, scores, []audit.Rule{rules[2], rules[1], rules[0]}, o, audit.OneRun)
	guesses, err3 := rules[1].Guess(scores)
	count, err4 := coins.Count(guesses)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if forth != back || !reflect.DeepEqual(a, b) || a.Tests != 9 {
		t.Errorf("%+v %+v, in the other order %+v %+v", forth, a, back, b)
	}
	direct, err1 := audit.OneRun(count, o)
	_, single, err2 := audit.Best(coins, scores, rules[1:2], o, audit.OneRun)
	if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(direct, single) {
		t.Errorf("%+v, best of one %+v, %v", direct, single, err)
	}
}

// What a report holds reads back as it was.
func TestJSONRoundTrip(t *testing.T) {
	o := audit.Options{Delta: 1e-5, Level: 0.05, Copies: 2, Tests: 3}
	count, rates := audit.Count{Canaries: 1000, Guesses: 200, Correct: 170}, audit.Rates{TruePositives: 90, Positives: 100, FalsePositives: 8, Negatives: 120}
	one, err1 := audit.OneRun(count, o)
	fdp, err2 := audit.OneRunFDP(count, o, accountant.Exact)
	two, err3 := audit.TwoRun(rates, o)
	gdp, err4 := audit.TwoRunGDP(rates, o, accountant.Exact)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for _, b := range []audit.Bound{one, fdp, two, gdp} {
		text, err := json.Marshal(b)
		var got audit.Bound
		if err := errors.Join(err, json.Unmarshal(text, &got)); err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%+v reads back as %+v, %v", b, got, err)
		}
		if (b.Count == nil) == (b.Rates == nil) || (b.Mu > 0) != (b.Method == "one-run-fdp" || b.Method == "two-run-gdp") || b.Copies != 2 || b.Confidence != 0.95 {
			t.Errorf("%+v", b)
		}
	}
	for _, v := range []any{audit.Rule{In: 3, Out: 4}, audit.Threshold{Low: -1.5, High: 2}, count, rates} {
		text, err := json.Marshal(v)
		got := reflect.New(reflect.TypeOf(v))
		if err := errors.Join(err, json.Unmarshal(text, got.Interface())); err != nil || got.Elem().Interface() != v {
			t.Errorf("%+v reads back as %+v, %v", v, got.Elem(), err)
		}
	}
}
