package exposure

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset/slate"
	"privrec/internal/metrics"
	"privrec/internal/progress"
	"privrec/internal/progress/progresstest"
	"privrec/internal/rng"
)

// script is a ranker that answers from a table, cut to the depth asked for.
type script struct {
	lists  int
	answer func(row int32) [][]int32
	spoil  func(row int32, lists [][]int32) (int32, [][]int32, bool) // a fault, and whether the row is left out
	long   bool                                                      // forget the depth
}

func (s script) Lists() int { return s.lists }

func (s script) Rank(_ context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(int32) []int32, visit func(int32, [][]int32) error) error {
	if rows == nil {
		rows = count(nil, p.Len(), 1)
	}
	for _, row := range rows {
		var lists [][]int32
		for _, l := range s.answer(row) {
			if !s.long {
				l = l[:min(depth, len(l))]
			}
			lists = append(lists, l)
		}
		if s.spoil != nil {
			var skip bool
			if row, lists, skip = s.spoil(row, lists); skip {
				continue
			}
		}
		if err := visit(row, lists); err != nil {
			return err
		}
	}
	return nil
}

func always(lists ...[]int32) script {
	return script{lists: len(lists), answer: func(int32) [][]int32 { return lists }}
}

func evaluate(t testing.TB, r Ranker, p *slate.Pairs, q Protocol) *Result {
	t.Helper()
	got, err := Evaluate(t.Context(), r, p, q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// mean is the average over pairs of a result.
func (r *Result) mean(t testing.TB, metric metrics.Metric) float64 {
	t.Helper()
	for m := range r.Metrics {
		if r.Metrics[m] == metric {
			sum := 0.0
			for _, v := range r.Values[m] {
				sum += v
			}
			return sum / float64(len(r.Values[m]))
		}
	}
	t.Fatalf("no metric %v", metric)
	return 0
}

// The golden of the definitions: clicks (7, 8), lists (7, 1, 2) and (3, 8, 7), shifted by 10 to be items.
func TestEvaluateGolden(t *testing.T) {
	p := tabled([][]int32{{4, 5}}, [][]int32{{17, 18}})
	r := evaluate(t, always([]int32{17, 11, 12}, []int32{13, 18, 17}), p, Protocol{Cutoffs: []int{1, 2, 3}})
	for k, want := range map[int][4]float64{1: {.5, .5, .5, 2}, 2: {1, .8155, .75, 4}, 3: {1, .8155, .75, 5}} {
		got := []float64{r.mean(t, metrics.Metric{Kind: metrics.Recall, K: k}), r.mean(t, metrics.Metric{Kind: metrics.NDCG, K: k}), r.mean(t, metrics.Metric{Kind: metrics.MRR, K: k}), r.MeanGuesses(k)}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 5e-5 {
				t.Errorf("k = %d: %v, want %v", k, got, want)
			}
		}
	}
}

// Scoring is reported pair by pair, floors that are held to another's guesses as well.
func TestScoringReports(t *testing.T) {
	p := tabled([][]int32{{4, 5}, {4, 6}, {5, 6}}, [][]int32{{17, 18}, {17, 18}, {17, 18}})
	var r progresstest.Recorder
	ctx := progress.With(t.Context(), &r)
	got, err := Evaluate(ctx, always([]int32{17, 11, 12}), p, Protocol{Cutoffs: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	r.Whole(t, "score pairs", 3)
	r.Stretches = nil
	if _, err := EvaluateLike(ctx, always([]int32{17, 11, 12}), p, got); err != nil {
		t.Fatal(err)
	}
	r.Whole(t, "score pairs", 3)
}

func TestBudgets(t *testing.T) {
	p := tabled([][]int32{{4, 5}}, [][]int32{{6, 7}})
	one := []int32{8, 9, 6, 10, 11, 7}
	// Dealt to two lists: 8 6 11 and 9 10 7: click 6 at rank 2, click 7 at rank 3.
	two := [][]int32{{8, 6, 9}, {8, 7, 10}}
	for _, c := range []struct {
		name, budget string
		ranker       Ranker
		k            int
		mrr          float64
		guesses      int
	}{
		{"one list, k*L", BudgetKL, always(one), 2, (1.0 / 2) / 2, 4},
		{"one list, k*L, deeper", "", always(one), 3, (1.0/2 + 1.0/3) / 2, 6},
		{"one list, k", BudgetK, always(one), 3, (1.0 / 3) / 2, 3},
		{"one list, of every list", BudgetList, always(one), 3, (1.0 / 3) / 2, 3},
		{"two lists, k*L", BudgetKL, always(two...), 2, (1.0/2 + 1.0/2) / 2, 3},
		{"two lists, k", BudgetK, always(two...), 2, (1.0 / 2) / 2, 2}, // 8 6 7 9 10
		{"two lists, k, deeper", BudgetK, always(two...), 3, (1.0/2 + 1.0/3) / 2, 3},
		{"two lists, of every list", BudgetList, always(two...), 2, (1.0/2 + 1.0/2) / 2, 3},
		{"three lists, of every list", BudgetList, always([]int32{9}, []int32{6}, []int32{10}), 2, 1.0 / 2, 3},
	} {
		r := evaluate(t, c.ranker, p, Protocol{Budget: c.budget, Cutoffs: []int{c.k}})
		if got := r.mean(t, metrics.Metric{Kind: metrics.MRR, K: c.k}); math.Abs(got-c.mrr) > 1e-15 || r.Guesses(0, c.k) != c.guesses {
			t.Errorf("%s: MRR %v with %d guesses, want %v with %d", c.name, got, r.Guesses(0, c.k), c.mrr, c.guesses)
		}
	}
}

// What is left out, or counts as a miss, field by field: pair 0 is whole, 1 has an unknown slate item, 2 an
// unknown click, 3 a repeated click, 4 ends early.
func TestWhatIsLeftOut(t *testing.T) {
	p := tabled([][]int32{{4, 5}, {4, slate.OOV}, {4, 5}, {4, 5}, {4, 5}},
		[][]int32{{6, 7}, {6, 7}, {slate.OOV, 6}, {6, 6}, {6, 7}})
	r := script{lists: 2, answer: func(row int32) [][]int32 {
		if row == 4 {
			return [][]int32{{6}, {}}
		}
		return [][]int32{{6}, {7}}
	}}
	recall := metrics.Metric{Kind: metrics.Recall, K: 1}
	for _, c := range []struct {
		name    string
		q       Protocol
		rows    []int32
		recall  []float64
		dropped Dropped
	}{
		{"nothing", Protocol{}, []int32{0, 1, 2, 3, 4}, []float64{1, 1, .5, .5, .5}, Dropped{}},
		{"incomplete", Protocol{CompleteOnly: true}, []int32{0, 3, 4}, []float64{1, .5, .5}, Dropped{Incomplete: 2}},
		{"repeated", Protocol{DistinctTargets: true}, []int32{0, 1, 2, 4}, []float64{1, 1, .5, .5}, Dropped{Repeated: 1}},
		{"ended", Protocol{DropEnded: true}, []int32{0, 1, 2, 3}, []float64{1, 1, .5, .5}, Dropped{Ended: 1}},
		{"all three", Protocol{CompleteOnly: true, DistinctTargets: true, DropEnded: true}, []int32{0}, []float64{1}, Dropped{2, 1, 1}},
	} {
		c.q.Cutoffs = []int{1}
		got := evaluate(t, r, p, c.q)
		if !slices.Equal(got.Rows, c.rows) || !slices.Equal(got.Users, c.rows) || !slices.Equal(got.Values[0], c.recall) || got.Metrics[0] != recall || got.Dropped != c.dropped {
			t.Errorf("%s: rows %v of users %v, recall %v, dropped %+v; want %v, %v, %+v", c.name, got.Rows, got.Users, got.Values[0], got.Dropped, c.rows, c.recall, c.dropped)
		}
	}
	// Guessing the unknown token finds no unknown click, and two unknown clicks are not known to repeat.
	unknown := tabled([][]int32{{4, 5}}, [][]int32{{slate.OOV, slate.OOV}})
	if got := evaluate(t, always([]int32{slate.OOV}), unknown, Protocol{DistinctTargets: true}); len(got.Rows) != 1 || got.Values[0][0] != 0 {
		t.Errorf("unknown clicks: %d rows, %v", len(got.Rows), got.Values)
	}
	// A single list has no end to come early: an empty one is a pair of misses.
	if got := evaluate(t, always([]int32{}), p, Protocol{DropEnded: true}); len(got.Rows) != 5 || got.mean(t, metrics.Metric{Kind: metrics.Recall, K: 5}) != 0 {
		t.Errorf("empty single lists: %d rows", len(got.Rows))
	}
}

func TestLoggedCandidates(t *testing.T) {
	p := tabled([][]int32{{4, 5}, {4, 5}}, [][]int32{{6, 7}, {8, slate.OOV}})
	logged := [][]int32{{9, 6, 9, 4, 5, 7, slate.OOV, 6}, {4, 5, 9}}
	var got [][]int32
	r := Ranker(NewRandom(12, 1))
	q := Protocol{Vocabulary: VocabularyLogged, Logged: logged, Cutoffs: []int{3}}
	rows, _ := q.rows(p)
	candidates, err := q.candidates(p, rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		got = append(got, candidates(row))
	}
	if !slices.EqualFunc(got, [][]int32{{9, 6, 4, 5, 7}, {4, 5, 9}}, slices.Equal[[]int32]) {
		t.Errorf("candidates %v", got)
	}
	res := evaluate(t, r, p, q) // six guesses: all candidates
	if recall := res.Values[0]; recall[0] != 1 || recall[1] != 0 || res.Outside != 1 || res.Guesses(0, 3) != 5 || res.Guesses(1, 3) != 3 {
		t.Errorf("recall %v, %d outside, %d and %d guesses", recall, res.Outside, res.Guesses(0, 3), res.Guesses(1, 3))
	}
	for _, bad := range [][][]int32{nil, {{4}}, {{4}, nil}} {
		q.Logged = bad
		if _, err := Evaluate(t.Context(), r, p, q); err == nil || !strings.Contains(err.Error(), "not known") {
			t.Errorf("logged %v: error %v", bad, err)
		}
	}
}

// A ranker that does not keep its contract is found out.
func TestEvaluateFindsFaults(t *testing.T) {
	p := pairsOf(4, 3, 2, 20, 1)
	good := always([]int32{4, 5}, []int32{6, 7})
	for name, c := range map[string]struct {
		ranker Ranker
		q      Protocol
		want   string
	}{
		"another row": {script{2, good.answer, func(row int32, l [][]int32) (int32, [][]int32, bool) { return 0, l, false }, false}, Protocol{}, "row 0 with 2 lists instead of number 1"},
		"left out":    {script{2, good.answer, func(row int32, l [][]int32) (int32, [][]int32, bool) { return row, l, row == 3 }, false}, Protocol{}, "3 of 4 rows"},
		"lost a list": {script{2, good.answer, func(row int32, l [][]int32) (int32, [][]int32, bool) { return row, l[:1], false }, false}, Protocol{}, "with 1 lists"},
		"too long":    {script{2, good.answer, nil, true}, Protocol{Cutoffs: []int{1}}, "a list of 2 items, 1 were asked for"},
		"three lists": {always([]int32{4}, []int32{5}, []int32{6}), Protocol{}, "3 lists for 2 clicks"},
		"budget":      {good, Protocol{Budget: "much"}, "budget"},
		"vocabulary":  {good, Protocol{Vocabulary: "half"}, "vocabulary"},
		"cutoffs":     {good, Protocol{Cutoffs: []int{5, 5}}, "cutoffs"},
		"cutoff 0":    {good, Protocol{Cutoffs: []int{0}}, "cutoffs"},
	} {
		if _, err := Evaluate(t.Context(), c.ranker, p, c.q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	like := evaluate(t, good, p, Protocol{})
	for name, c := range map[string]struct {
		ranker Ranker
		pairs  *slate.Pairs
		want   string
	}{
		"two lists":   {good, p, "want a single one"},
		"other pairs": {always([]int32{4}), p.Select([]int32{0}), "not of the same pairs"},
		"left out":    {script{1, always([]int32{4}).answer, func(row int32, l [][]int32) (int32, [][]int32, bool) { return row, l, row == 3 }, false}, p, "3 of 4 rows"},
		"too long":    {script{1, always(count(nil, 50, 1)).answer, nil, true}, p, "where number 0"},
	} {
		if _, err := EvaluateLike(t.Context(), c.ranker, c.pairs, like); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("like: %s: error %v, want %q", name, err, c.want)
		}
	}
}

// Two lists that agree at their top make fewer guesses than two of a floor, and EvaluateLike holds the floor
// to them, rank by rank.
func TestEvaluateLikeByHand(t *testing.T) {
	p := tabled([][]int32{{4, 5}}, [][]int32{{6, 7}})
	attack := evaluate(t, always([]int32{8, 9, 10}, []int32{8, 9, 6}), p, Protocol{Cutoffs: []int{1, 2, 3}}) // 1, 2, 4 distinct guesses
	floor, err := EvaluateLike(t.Context(), always([]int32{11, 12, 7, 6, 13, 14}), p, attack)                // ranks 1, 2, 3, 3
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]float64{1: 0, 2: 0, 3: (1.0/3 + 1.0/3) / 2} {
		if got := floor.mean(t, metrics.Metric{Kind: metrics.MRR, K: k}); math.Abs(got-want) > 1e-15 || floor.Guesses(0, k) != attack.Guesses(0, k) {
			t.Errorf("k = %d: MRR %v with %d guesses, want %v with %d", k, got, floor.Guesses(0, k), want, attack.Guesses(0, k))
		}
	}
	short, err := EvaluateLike(t.Context(), always([]int32{6}), p, attack)
	if err != nil || short.Guesses(0, 3) != 1 || short.Values[0][0] != 0.5 {
		t.Errorf("a list that runs out: %v, error %v", short, err)
	}
}

// Laws of the scores for any lists: the order of lists says nothing; a list more never lowers a score under
// the released budget; scores of a dealt ranker are those of its single list under k*L; a floor held to
// another's guesses makes exactly as many; a ranker held to its own dealt guesses has its own scores.
func TestScoreLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const vocab, l = 24, 3
		p := pairsOf(6, 4, l, vocab, rng.Seed(rapid.Uint64().Draw(rt, "seed")))
		lists := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.Int32Range(4, vocab-1), 0, 12, rapid.ID[int32]), l, l).Draw(rt, "lists")
		order := rapid.Permutation(lists).Draw(rt, "order")
		full := rapid.Permutation(count(nil, vocab, 1)[4:]).Draw(rt, "full")
		q := Protocol{Cutoffs: []int{1, 2, 4}}
		a, b := evaluate(t, always(lists...), p, q), evaluate(t, always(order...), p, q)
		same := func(what string, x, y *Result) {
			for m := range x.Values {
				for i := range x.Values[m] {
					if x.Values[m][i] != y.Values[m][i] {
						rt.Fatalf("%s: %v of pair %d is %v and %v", what, x.Metrics[m], i, x.Values[m][i], y.Values[m][i])
					}
				}
			}
			for i := range x.Rows {
				for k := 1; k <= 4; k++ {
					if x.Guesses(i, k) != y.Guesses(i, k) {
						rt.Fatalf("%s: pair %d has %d and %d guesses at %d", what, i, x.Guesses(i, k), y.Guesses(i, k), k)
					}
				}
			}
		}
		same("order of lists", a, b)
		fewer := evaluate(t, always(lists[:l-1]...), p, Protocol{Cutoffs: q.Cutoffs, Budget: BudgetList})
		for m := range a.Values {
			for i := range a.Values[m] {
				if a.Values[m][i] < fewer.Values[m][i] {
					rt.Fatalf("a list more lowers %v of pair %d", a.Metrics[m], i)
				}
			}
		}
		d, err := Deal(always(full), l)
		if err != nil {
			rt.Fatal(err)
		}
		single := evaluate(t, always(full), p, q)
		same("dealt", single, evaluate(t, d, p, q))
		own, err := EvaluateLike(t.Context(), always(full), p, single)
		if err != nil {
			rt.Fatal(err)
		}
		same("like itself", single, own)
		held, err := EvaluateLike(t.Context(), always(full), p, a)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range a.Rows {
			for k := 1; k <= 4; k++ {
				if held.Guesses(i, k) != a.Guesses(i, k) {
					rt.Fatalf("held to %d guesses: %d", a.Guesses(i, k), held.Guesses(i, k))
				}
			}
		}
		// The budget k: one list and three make k guesses, as far as they reach.
		q.Budget = BudgetK
		merged, alone := evaluate(t, always(lists...), p, q), evaluate(t, always(full), p, q)
		for k := 1; k <= 4; k++ {
			if alone.Guesses(0, k) != k || merged.Guesses(0, k) > k {
				rt.Fatalf("budget %d: %d and %d guesses", k, alone.Guesses(0, k), merged.Guesses(0, k))
			}
		}
	})
}

func TestSummaryAndDifferenceByHand(t *testing.T) {
	p := tabled([][]int32{{4, 5}, {4, 5}, {4, 5}}, [][]int32{{6, 7}, {6, 8}, {9, 10}})
	p.Users = []int32{3, 3, 8}
	q := Protocol{Budget: BudgetList, Cutoffs: []int{2}}
	a, b := evaluate(t, always([]int32{6, 7}), p, q), evaluate(t, always([]int32{9}), p, q) // recall 1, .5, 0 and 0, 0, .5
	s, err := a.Summary(Intervals{})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Scores[0]
	if r.Metric.String() != "Recall@2" || r.Pairs.Value != .5 || r.Users.Value != .375 || r.Guesses != 2 || s.PairCount != 3 || s.UserCount != 2 || s.Level != .95 {
		t.Errorf("%+v", s)
	}
	// Users 3 and 8 are drawn twice each with probability 1/4: the extremes are the 2.5 % quantiles.
	if r.Pairs.Lo != 0 || r.Pairs.Hi != .75 || r.Users.Lo != 0 || r.Users.Hi != .75 {
		t.Errorf("intervals %+v", r)
	}
	d, err := Difference(a, b, Intervals{Resamples: 200, Level: .5, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	if x := d.Scores[0]; math.Abs(x.Pairs.Value-1.0/3) > 1e-15 || x.Users.Value != .125 || x.Guesses != 1 || d.PairCount != 3 {
		t.Errorf("difference %+v", d)
	}
	again, err := Difference(a, b, Intervals{Resamples: 200, Level: .5, Seed: 4})
	if err != nil || again.Scores[0] != d.Scores[0] {
		t.Errorf("the same seed, another interval: %v %v", again, err)
	}
	zero, err := Difference(a, a, Intervals{}) // nothing varies, so that nothing is said of how far users spread
	if err != nil || zero.Scores[0].Pairs != (Estimate{0, -1, 1}) || zero.Scores[0].Users != (Estimate{0, -1, 1}) {
		t.Errorf("a ranker against itself: %+v, %v", zero, err)
	}
	q.CompleteOnly = true
	if _, err := evaluate(t, always([]int32{6}), p.Select(nil), q).Summary(Intervals{}); err == nil || !strings.Contains(err.Error(), "no pairs are left") {
		t.Errorf("no pairs: %v", err)
	}
}

// A difference is of the same pairs under the same protocol, and says for how many of them the two sides did not
// make as many guesses.
func TestDifferenceComparesLikeWithLike(t *testing.T) {
	p := tabled([][]int32{{4, 5}, {4, 5}, {4, 5}}, [][]int32{{6, 7}, {6, 8}, {9, 10}})
	logged := [][]int32{{4, 5, 6, 7, 9}, {6, 8}, {9, 10, 11}}
	q := Protocol{Budget: BudgetList, Cutoffs: []int{1, 2}}
	ended := script{lists: 2, answer: func(row int32) [][]int32 { return [][]int32{{6}, []int32{7}[:min(row, 1)]} }}
	a := evaluate(t, ended, p, q) // row 0 ends early: one guess for it
	other := *p
	other.Users = []int32{0, 1, 1}
	for name, c := range map[string]struct {
		b    *Result
		want string
	}{
		"budget":     {evaluate(t, always([]int32{6}), p, Protocol{Cutoffs: q.Cutoffs}), "protocols differ"},
		"vocabulary": {evaluate(t, always([]int32{6}), p, Protocol{Budget: q.Budget, Cutoffs: q.Cutoffs, Vocabulary: VocabularyLogged, Logged: logged}), "protocols differ"},
		"complete":   {evaluate(t, always([]int32{6}), p, Protocol{Budget: q.Budget, Cutoffs: q.Cutoffs, CompleteOnly: true}), "protocols differ"},
		"repeats":    {evaluate(t, always([]int32{6}), p, Protocol{Budget: q.Budget, Cutoffs: q.Cutoffs, DistinctTargets: true}), "protocols differ"},
		"ended":      {evaluate(t, always([]int32{6}), p, Protocol{Budget: q.Budget, Cutoffs: q.Cutoffs, DropEnded: true}), "protocols differ"},
		"cutoffs":    {evaluate(t, always([]int32{6}), p, Protocol{Budget: q.Budget, Cutoffs: []int{1, 3}}), "protocols differ"},
		"fewer":      {evaluate(t, always([]int32{6}), p.Select([]int32{0, 1}), q), "not the same pairs"},
		"other":      {evaluate(t, always([]int32{6}), &other, q), "not the same pairs: pair 2 belongs to user 2 and to user 1"},
	} {
		if _, err := Difference(a, c.b, Intervals{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	seen := Protocol{Budget: q.Budget, Cutoffs: q.Cutoffs, Vocabulary: VocabularyLogged, Logged: logged}
	x := evaluate(t, always([]int32{6}), p, seen)
	seen.Logged = slices.Clone(logged)
	seen.Logged[0] = []int32{4, 5, 6}
	if _, err := Difference(x, evaluate(t, always([]int32{6}), p, seen), Intervals{}); err == nil || !strings.Contains(err.Error(), "protocols differ") {
		t.Errorf("other logs: %v", err)
	}
	more := evaluate(t, always([]int32{6, 7}), p, q)                              // 1, then 2 guesses
	if d, err := Difference(a, more, Intervals{}); err != nil || d.Unequal != 3 { // rows 1 and 2 have 2 guesses at rank 1, row 0 has 1 at rank 2
		t.Errorf("%+v (%v), want 3 pairs with unequal numbers", d, err)
	}
	like, err := EvaluateLike(t.Context(), always([]int32{6, 7}), p, a)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := Difference(a, like, Intervals{}); err != nil || d.Unequal != 0 {
		t.Errorf("%+v (%v), want no pair with unequal numbers", d, err)
	}
}

func TestProtocolSaysWhatItIs(t *testing.T) {
	for _, c := range []struct {
		q    Protocol
		want string
	}{
		{Protocol{}, "full vocabulary, k*L guesses"},
		{Protocol{Budget: BudgetK}, "full vocabulary, k guesses"},
		{Protocol{Vocabulary: VocabularyLogged, Budget: BudgetList, CompleteOnly: true, DistinctTargets: true, DropEnded: true}, "logged candidates (the clicks are among them), k guesses of every list, without pairs with unknown items, without pairs with repeated clicks, without pairs whose decoding ended early"},
	} {
		if got := c.q.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Of one user nothing is known about how users differ: the interval is all that the mean could be.
func TestOneUserHasNoNarrowInterval(t *testing.T) {
	p := tabled([][]int32{{4, 5}, {4, 5}}, [][]int32{{6, 7}, {6, 8}})
	p.Users = []int32{3, 3}
	q := Protocol{Budget: BudgetList, Cutoffs: []int{2}}
	a, b := evaluate(t, always([]int32{6, 7}), p, q), evaluate(t, always([]int32{9}), p, q)
	s, err := a.Summary(Intervals{})
	if err != nil {
		t.Fatal(err)
	}
	if x := s.Scores[0]; x.Pairs != (Estimate{.75, 0, 1}) || x.Users != (Estimate{.75, 0, 1}) {
		t.Errorf("one user: %+v", x)
	}
	d, err := Difference(a, b, Intervals{})
	if err != nil {
		t.Fatal(err)
	}
	if x := d.Scores[0]; x.Pairs != (Estimate{.75, -1, 1}) || x.Users != (Estimate{.75, -1, 1}) {
		t.Errorf("difference of one user: %+v", x)
	}
}
