package topn

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// sampling is an experiment that ranks among n sampled items.
func sampling(t testing.TB, d *dataset.Interactions, seed rng.Seed, n int, k ...int) (*Experiment, error) {
	t.Helper()
	m := Method{Name: "made", Eval: EvalConfig{K: k, Candidates: n}}
	m.Train.Select = SelectLast
	return prepare(run.Rehearse(seed), m, d)
}

// Where all other items are candidates, ranks and means are those by hand. Ties count against
// the row.
func TestSampledByHand(t *testing.T) {
	d := interactions(5, [][]int32{{0}, {4}}, nil, [][]int32{{1, 3}, {2}})
	x, err := sampling(t, d, 1, 3, 1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.rankTest(t.Context(), eval.Same{0.9, 0.5, 0.7, 0.5, 0.1})
	if err != nil {
		t.Fatal(err)
	}
	// User 0: item 1 among 2, 3, 4 is below 2 and ties with 3; item 3 likewise. User 1: item 2 is
	// below 0 alone.
	if want := [][]int32{{3, 3}, {2}}; !slices.EqualFunc(r.sampled, want, slices.Equal) {
		t.Fatalf("ranks %v, want %v", r.sampled, want)
	}
	if want := [][]int32{{2, 3}, {2}}; !slices.EqualFunc(r.full, want, slices.Equal) { // there ties favour the lower number
		t.Errorf("ranks among all %v, want %v", r.full, want)
	}
	third := 1 / math.Log2(3)
	want := map[string]float64{
		"sampled Hit@1": 0, "sampled Hit@2": 1. / 3, "sampled Hit@3": 1,
		"sampled NDCG@1": 0, "sampled NDCG@2": third / 3, "sampled NDCG@3": (0.5 + 0.5 + third) / 3,
	}
	for _, v := range x.values(r)[6:] {
		if w, ok := want[v.Metric.String()]; !ok || math.Abs(v.Value-w) > 1e-15 || v.Count != 3 {
			t.Errorf("%v over %d, want %v over 3 rows", v, v.Count, w)
		}
	}
	random, popular, err := x.floors(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.25, 0.5, 0.75} {
		if got := random[6+i]; got.Metric.Kind != metrics.SampledHit || got.Value != want {
			t.Errorf("random %v, want %v", got, want)
		}
	}
	// Train has items 0 and 4 once: user 0's rows tie with each other and lose to 4; user 1's row
	// loses to 0 and ties with 1 and 3.
	if got := []float64{popular[6].Value, popular[7].Value, popular[8].Value}; !slices.Equal(got, []float64{0, 0, 0}) {
		t.Errorf("popularity hits %v, want none in 3 of 4 places", got)
	}
}

// Candidates are as many as asked for, distinct, outside what the user has and not the row's
// own. They are the same for another method on the same seed, and ranks are those of a plain
// count among them, on any number of workers.
func TestCandidates(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn(rt)
		most := d.Items
		for u := range d.Users {
			if len(d.Test[u]) > 0 {
				most = min(most, d.Items-len(d.Train[u])-len(d.Valid[u])-1)
			}
		}
		if most < 1 {
			rt.Skip("a user without another item") // this draw alone: rapid fails when too many are
		}
		n, seed := rapid.IntRange(1, most).Draw(rt, "candidates"), rng.Seed(rapid.Uint64().Draw(rt, "seed"))
		x, err := sampling(t, d, seed, n, 1)
		if err != nil {
			rt.Fatal(err)
		}
		other, err := sampling(t, d, seed, n, 1, 2)
		if err != nil {
			rt.Fatal(err)
		}
		scores := make(eval.Same, d.Items)
		for i := range scores {
			scores[i] = tensor.Float(rapid.IntRange(0, 3).Draw(rt, "score"))
		}
		want := make([][]int32, len(x.test.users))
		for k := len(want) - 1; k >= 0; k-- { // another order than that of ranking
			u := x.test.users[k]
			for j, item := range x.test.find[k] {
				list, again := slices.Clone(x.candidates(x.test)(k)(j)), other.candidates(other.test)(k)(j)
				if !slices.Equal(list, again) {
					rt.Fatalf("user %d, row %d: candidates %v and %v of one seed", u, item, list, again)
				}
				r := int32(1)
				for _, c := range list {
					if c == item || slices.Contains(d.Train[u], c) || slices.Contains(d.Valid[u], c) {
						rt.Fatalf("user %d, row %d: candidate %d", u, item, c)
					}
					if scores[c] >= scores[item] {
						r++
					}
				}
				slices.Sort(list)
				if len(slices.Compact(list)) != n {
					rt.Fatalf("user %d, row %d: candidates %v, want %d distinct ones", u, item, list, n)
				}
				want[k] = append(want[k], r)
			}
		}
		for _, workers := range []int{1, 4} {
			tensor.SetWorkers(workers)
			if got, err := x.rankSampled(t.Context(), scores, x.test); err != nil || !slices.EqualFunc(got, want, slices.Equal) {
				rt.Fatalf("%d workers: ranks %v, want %v (%v)", workers, got, want, err)
			}
		}
	})
}

// The candidates of a seed never change: results among them would.
func TestCandidatesStay(t *testing.T) {
	x, err := sampling(t, interactions(12, [][]int32{{0, 4}, {}}, nil, [][]int32{{2, 8}, {11}}), 1, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int32
	for k := range x.test.users {
		for j := range x.test.find[k] {
			got = append(got, slices.Clone(x.candidates(x.test)(k)(j)))
		}
	}
	if want := [][]int32{{9, 7, 8}, {1, 3, 9}, {3, 9, 5}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("candidates %v, want %v", got, want)
	}
}

// Every item outside is drawn equally often, over seeds and rows. Bernstein's inequality over 12
// counts of 2000 independent draws: false alarms below 1e-9.
func TestCandidatesAreUniform(t *testing.T) {
	const items, n, seeds = 9, 3, 1000
	d := interactions(items, [][]int32{{0, 4}}, nil, [][]int32{{2, 8}})
	counts := map[[2]int32]int{}
	for seed := range seeds {
		x, err := sampling(t, d, rng.Seed(seed), n, 1)
		if err != nil {
			t.Fatal(err)
		}
		draw := x.candidates(x.test)(0)
		for j := range 2 {
			for _, c := range draw(j) {
				counts[[2]int32{int32(j), c}]++
			}
		}
	}
	p, l := float64(n)/6, math.Log(2*12*1e9)
	allowed := math.Sqrt(2*seeds*p*(1-p)*l) + 2*l/3
	for j, own := range []int32{2, 8} {
		for i := range int32(items) {
			got, want := float64(counts[[2]int32{int32(j), i}]), p*seeds
			if i == own || i == 0 || i == 4 {
				want = 0
			}
			if want == 0 && got != 0 || want > 0 && math.Abs(got-want) > allowed {
				t.Errorf("row of item %d: item %d drawn %v times of %d, want %v within %v", own, i, got, seeds, want, allowed)
			}
		}
	}
}

// A row that too few items are outside of, and a cutoff beyond the last place, are refused.
func TestCandidatesRefused(t *testing.T) {
	d := interactions(6, [][]int32{{0, 1}, {0}}, [][]int32{{2}, {}}, [][]int32{{3}, {1, 2}})
	if _, err := sampling(t, d, 1, 2, 1); err != nil {
		t.Errorf("the 2 items left of 6: %v", err)
	}
	_, err := sampling(t, d, 1, 3, 1)
	if usage := (*run.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), `eval.candidates: user "a" of made has 2 items`) || usage.Fix != "take at most 2" {
		t.Errorf("3 items of 2: %v", err)
	}
	for _, c := range []struct {
		e    EvalConfig
		want string
	}{
		{EvalConfig{K: []int{5, 21}, Candidates: 20}, ""},
		{EvalConfig{K: []int{5, 22}, Candidates: 20}, "eval.k: cutoff 22 is above the 21 places"},
		{EvalConfig{K: []int{5}, Candidates: -1}, "eval.candidates"},
		{EvalConfig{K: []int{}, Candidates: 3}, "eval.k"},
	} {
		v := config.NewChecker(nil)
		v.Declared(struct {
			Eval EvalConfig `yaml:"eval"`
		}{c.e})
		c.e.Check(v)
		if err := v.Err(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.e, err, c.want)
		}
	}
}

func TestRankSampledInterrupted(t *testing.T) {
	x, err := sampling(t, interactions(4, [][]int32{{0}}, nil, [][]int32{{3}}), 1, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errors.New("no time"))
	if _, err := x.rankSampled(ctx, make(eval.Same, 4), x.test); !errors.Is(err, run.ErrInterrupted) {
		t.Errorf("%v", err)
	}
}

// BenchmarkRankSampled ranks 20,000 rows of 943 users among 200 of 1,682 items, the size of
// MovieLens 100K.
func BenchmarkRankSampled(b *testing.B) {
	train, test := make([][]int32, 943), make([][]int32, 943)
	for u := range train {
		stream := rng.Seed(1).Stream("rows", uint64(u))
		order := stream.Perm(1682)
		for k, i := range order[:106] {
			if k < 85 {
				train[u] = append(train[u], int32(i))
			} else {
				test[u] = append(test[u], int32(i))
			}
		}
		slices.Sort(train[u])
		slices.Sort(test[u])
	}
	d := &dataset.Interactions{Name: "made", Users: 943, Items: 1682, Train: train, Test: test, UserIDs: make([]string, 943), ItemIDs: make([]string, 1682)}
	x, err := sampling(b, d, 1, 200, 5)
	if err != nil {
		b.Fatal(err)
	}
	s := inner(tensor.New(943, 60), tensor.New(1682, 60))
	for b.Loop() {
		if _, err := x.rankSampled(b.Context(), s, x.test); err != nil {
			b.Fatal(err)
		}
	}
}
