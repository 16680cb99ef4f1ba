package crossdomain

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset/standin"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// loaded is the stand-in, cut without auxiliary rows.
func loaded(t *testing.T) *Experiment {
	t.Helper()
	x, err := Load(t.Context(), run.Rehearse(1), Data{Name: standin.CrossName, Target: "left", Auxiliary: "right", Length: 14}, Eval{K: []int{5, 10}, Negatives: 20, NegativesSeed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Cut(nil); err != nil {
		t.Fatal(err)
	}
	return x
}

// mixed scores items by a hash of user and item, so that every score can be taken by itself.
type mixed struct{ items int }

func mix(user, item int32) tensor.Float { return tensor.Float((user*7919 + item*104729) % 1009) }

func (mixed) Params() []*autograd.Param                                { return nil }
func (mixed) Loss(*autograd.Tape, train.Batch) (*autograd.Node, error) { return nil, nil }
func (mixed) Steps() int                                               { return 1 }
func (mixed) Samples() [2]int                                          { return [2]int{} }
func (mixed) Optimizer() Optimizer                                     { return nil }
func (mixed) Rehearsed(int) int32                                      { return 0 }
func (m mixed) Items() int                                             { return m.items }

func (mixed) Sampled(_ *autograd.Tape, _ *Rows, users, items, of []int32) []tensor.Float {
	out := make([]tensor.Float, len(items))
	for k, i := range items {
		out[k] = mix(users[of[k]], i)
	}
	return out
}

func (m mixed) All(_ *autograd.Tape, _ *Rows, users []int32, scores tensor.Matrix) {
	for k, u := range users {
		for j := range m.items {
			tensor.Row(scores, k)[j] = mix(u, int32(j+1))
		}
	}
}

// Sampled and full places agree with scores taken one by one; recommendations too.
func TestRankingAgrees(t *testing.T) {
	x := loaded(t)
	r := x.on(mixed{x.Data.Domains[0].Items}, x.final)
	sampled, _, err := r.sampled(t.Context(), x.test)
	if err != nil {
		t.Fatal(err)
	}
	full, err := r.full(t.Context(), x.test)
	if err != nil {
		t.Fatal(err)
	}
	place := func(u, item int32, among []int32) float64 {
		rank := 1.0
		for _, j := range among {
			switch s := mix(u, j); {
			case j == item:
			case s > mix(u, item):
				rank++
			case s == mix(u, item):
				rank += 0.5
			}
		}
		return rank
	}
	for k, u := range x.test.users {
		item := x.test.items[k]
		var all []int32
		for j := range int32(r.Items()) {
			if j+1 == item || !slices.Contains(x.test.seen[u], j+1) {
				all = append(all, j+1)
			}
		}
		if !r.rows.Known[item] {
			if !math.IsInf(sampled[k], 1) || !math.IsInf(full[k], 1) {
				t.Errorf("user %d: an item out of reach has places %v and %v", u, sampled[k], full[k])
			}
			continue
		}
		if want := place(u, item, x.test.lists[u]); sampled[k] != want {
			t.Errorf("user %d: place %v among sampled items, want %v", u, sampled[k], want)
		}
		if want := place(u, item, all); full[k] != want {
			t.Errorf("user %d: place %v among all, want %v", u, full[k], want)
		}
	}
	a := &answers{x}
	x.Model, x.Training.Refit = mixed{r.Items()}, true
	answer, err := a.Recommend(t.Context(), experiment.Question{Users: []string{x.Data.UserIDs[3]}, K: r.Items()})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := answer.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, i := range x.test.seen[3] {
		if strings.Contains(b.String(), "  "+x.Data.Domains[0].ItemIDs[i]+"  ") {
			t.Errorf("item %s, which the user has, is recommended:\n%s", x.Data.Domains[0].ItemIDs[i], b.String())
		}
	}
}

// Places and their metrics by hand, ties half; out of reach counts as a miss.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		score  tensor.Float
		others []tensor.Float
		want   float64
		tied   bool
	}{
		{3, []tensor.Float{1, 2}, 1, false},
		{3, []tensor.Float{4, 2, 5}, 3, false},
		{3, []tensor.Float{3, 3, 1}, 2, true},
		{0, []tensor.Float{0}, 1.5, true},
		{3, nil, 1, false},
	} {
		if r, tied := placeOf(c.score, c.others); r != c.want || tied != c.tied {
			t.Errorf("%v among %v: %v, %v", c.score, c.others, r, tied)
		}
	}
	if r := placeAmong([]tensor.Float{5, 3, 4, 3, 9}, 2, []int32{5}); r != 3.5 {
		t.Errorf("place %v, want 3.5: 5 and 4 are above, one ties, 9 was seen", r)
	}
	hr, ndcg := metrics.Metric{Kind: metrics.HR, K: 2}, metrics.Metric{Kind: metrics.NDCG, K: 2}
	r := ranks{1, 2, 2.5, 1.5, math.Inf(1)}
	if got := r.mean(hr); math.Abs(got-3.0/5) > 1e-12 {
		t.Errorf("HR@2 %v", got)
	}
	if got, want := r.mean(ndcg), (1+1/math.Log2(3)+1/math.Log2(2.5))/5; math.Abs(got-want) > 1e-12 {
		t.Errorf("NDCG@2 %v, want %v", got, want)
	}
	for k := 1; k < 4; k++ { // whole places: the metrics of the package
		for rank := 1; rank < 6; rank++ {
			for _, kind := range []metrics.Kind{metrics.HR, metrics.NDCG} {
				m := metrics.Metric{Kind: kind, K: k}
				if value(m, float64(rank)) != m.Of(int32(rank)) {
					t.Errorf("%v of place %d", m, rank)
				}
			}
		}
	}
}
