package crossdomain

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/progress"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// ranks holds the places of held-out rows, from 1. A tie counts half, so a place may lie between two whole numbers. An
// item outside the training rows is out of reach: its place is infinite, and its row counts.
type ranks []float64

// value returns a metric of a place. On whole places it equals metrics.Metric.
func value(m metrics.Metric, rank float64) float64 {
	switch {
	case rank > float64(m.K):
		return 0
	case m.Kind == metrics.NDCG:
		return 1 / math.Log2(1+rank)
	}
	return 1
}

// each returns a metric of every row.
func (r ranks) each(m metrics.Metric) []float64 {
	out := make([]float64, len(r))
	for i, x := range r {
		out[i] = value(m, x)
	}
	return out
}

// mean returns a metric's mean over the rows.
func (r ranks) mean(m metrics.Metric) float64 {
	sum := 0.0
	for _, x := range r {
		sum += value(m, x)
	}
	return sum / float64(len(r))
}

// ties returns the share of rows whose place is shared.
func ties(shared int, r ranks) float64 { return float64(shared) / float64(len(r)) }

// held holds the rows of the target domain to rank: the items of some users.
type held struct {
	name  string
	users []int32
	items []int32
	lists [][]int32 // by user of the data: what each is ranked among
	seen  [][]int32 // by user of the data: items left out of the full ranking
}

func newHeld(name string, items []int32, lists, seen [][]int32) *held {
	h := &held{name: name, lists: lists, seen: seen}
	for u, i := range items {
		if i != 0 {
			h.users, h.items = append(h.users, int32(u)), append(h.items, i)
		}
	}
	return h
}

// rankUsers is the number of users scored at once.
const rankUsers = 128

// scored calls score for consecutive chunks [lo, hi) of the users of h.
func (h *held) scored(ctx context.Context, score func(lo, hi int) error) error {
	shown := progress.Begin(ctx, "rank "+h.name+" rows", len(h.users))
	defer shown.End()
	for lo := 0; lo < len(h.users); lo += rankUsers {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: rank %s rows: %w", run.ErrInterrupted, h.name, context.Cause(ctx))
		}
		if err := score(lo, min(lo+rankUsers, len(h.users))); err != nil {
			return fmt.Errorf("rank %s rows: %w", h.name, err)
		}
		shown.Add(min(rankUsers, len(h.users)-lo))
	}
	return nil
}

// ranking ranks by a model whose users stand at the end of rows.
type ranking struct {
	model Model
	rows  *Rows
	tape  *autograd.Tape
}

// on returns a ranking by a model at the end of rows.
func (x *Experiment) on(m Model, rows *Rows) ranking { return ranking{m, rows, x.tape} }

// sampled returns the rank of every row among its candidates. shared counts the rows with a tie.
func (t ranking) sampled(ctx context.Context, h *held) (r ranks, shared int, err error) {
	r = make(ranks, len(h.users))
	err = h.scored(ctx, func(lo, hi int) error {
		var items, of []int32
		for i := lo; i < hi; i++ {
			items, of = append(items, h.items[i]), append(of, int32(i-lo))
			for _, j := range h.lists[h.users[i]] {
				items, of = append(items, j), append(of, int32(i-lo))
			}
		}
		scores, err := t.score(func() []tensor.Float {
			return t.model.Sampled(t.tape, t.rows, h.users[lo:hi], items,
				of)
		})
		if err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			n := 1 + len(h.lists[h.users[i]])
			var tied bool
			if r[i], tied = placeOf(scores[0], scores[1:n]); tied {
				shared++
			}
			scores = scores[n:]
			if !t.rows.Known[h.items[i]] {
				r[i] = math.Inf(1)
			}
		}
		return nil
	})
	return r, shared, err
}

// full returns the rank of every row among all items that its user does not have in earlier rows.
func (t ranking) full(ctx context.Context, h *held) (ranks, error) {
	r, n := make(ranks, len(h.users)), t.model.Items()
	all := tensor.New(rankUsers, n)
	err := h.scored(ctx, func(lo, hi int) error {
		scores := tensor.RowsView(all, 0, hi-lo)
		_, err := t.score(func() []tensor.Float {
			t.model.All(t.tape, t.rows, h.users[lo:hi], scores)
			return scores.Data[:(hi-lo)*n]
		})
		if err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			r[i] = placeAmong(tensor.Row(scores, i-lo), h.items[i], h.seen[h.users[i]])
			if !t.rows.Known[h.items[i]] {
				r[i] = math.Inf(1)
			}
		}
		return nil
	})
	return r, err
}

// score runs f on a clean tape without gradients. It returns an error for scores that are not finite and for a panic of
// the tape.
func (t ranking) score(f func() []tensor.Float) (scores []tensor.Float, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*autograd.Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	t.tape.Reset()
	t.tape.NoGrad = true
	t.tape.SetTraining(false)
	scores = f()
	if i, ok := tensor.Finite(scores); !ok {
		return nil, fmt.Errorf("score %d is %v", i, scores[i])
	}
	return scores, nil
}

// placeOf returns the place of a score among others.
func placeOf(score tensor.Float, others []tensor.Float) (rank float64, tied bool) {
	rank = 1
	for _, s := range others {
		switch {
		case s > score:
			rank++
		case s == score:
			rank += 0.5
			tied = true
		}
	}
	return rank, tied
}

// placeAmong returns the place of an item (from 1) among all items but those seen. It overwrites the scores of the seen
// ones.
func placeAmong(scores []tensor.Float, item int32, seen []int32) float64 {
	for _, j := range seen {
		if j != item {
			scores[j-1] = tensor.Float(math.Inf(-1))
		}
	}
	rank := 0.5 // the item ties with itself
	for _, s := range scores {
		switch {
		case s > scores[item-1]:
			rank++
		case s == scores[item-1]:
			rank += 0.5
		}
	}
	return rank
}

// floors returns the scores without a model, sampled and among all items: the expectation of a random order, and items
// by their number of occurrences in the rows.
func (x *Experiment) floors(p *Rows) (sampled, full []experiment.Scores) {
	n := x.Data.Domains[0].Items
	counts := make([]tensor.Float, n)
	for _, i := range p.Cells[0] {
		if i != 0 {
			counts[i-1]++
		}
	}
	ms := x.metrics()
	popular, popularAll := make(ranks, len(x.test.users)), make(ranks, len(x.test.users))
	random, randomAll := map[string]float64{}, map[string]float64{}
	others, scores := []tensor.Float{}, make([]tensor.Float, n)
	for k, u := range x.test.users {
		item := x.test.items[k]
		if !p.Known[item] {
			popular[k], popularAll[k] = math.Inf(1), math.Inf(1)
			continue
		}
		others = others[:0]
		for _, j := range x.test.lists[u] {
			others = append(others, counts[j-1])
		}
		popular[k], _ = placeOf(counts[item-1], others)
		copy(scores, counts)
		popularAll[k] = placeAmong(scores, item, x.test.seen[u])
		for _, m := range ms {
			random[m.String()] += m.Random(1+len(others), 1) / float64(len(x.test.users))
			randomAll[m.String()] += m.Random(n-len(x.test.seen[u]), 1) / float64(len(x.test.users))
		}
	}
	return []experiment.Scores{{Name: "random", Values: random}, newScores("popularity", ms, popular)},
		[]experiment.Scores{{Name: "random", Values: randomAll}, newScores("popularity", ms, popularAll)}
}

// newScores returns the means of some places.
func newScores(name string, ms []metrics.Metric, r ranks) experiment.Scores {
	s := experiment.Scores{Name: name, Values: map[string]float64{}}
	for _, m := range ms {
		s.Values[m.String()] = r.mean(m)
	}
	return s
}
