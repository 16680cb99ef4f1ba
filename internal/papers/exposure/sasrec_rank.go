package exposure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/model/sasrec"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// sasrecPrimary selects the epoch, as in the reproductions.
var sasrecPrimary = metrics.Metric{Kind: metrics.NDCG, K: 10}

func (c SASRecConfig) metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.HR, metrics.NDCG, metrics.MRR}, c.Eval.K)
}

// sasrecRanking ranks the held-out items of one side among all items. It serves one
// goroutine.
type sasrecRanking struct {
	sasrecPart
	scorer eval.Scorer
	items  int
	mask   bool
	tape   *autograd.Tape
}

// ranking ranks by the model.
func (f *sasrecFit) ranking(p sasrecPart) *sasrecRanking {
	return f.rankingBy(p, &sasrecScorer{model: f.model, contexts: p.contexts})
}

func (f *sasrecFit) rankingBy(p sasrecPart, s eval.Scorer) *sasrecRanking {
	return &sasrecRanking{sasrecPart: p, scorer: s, items: f.data.Items, mask: f.config.Eval.MaskSeen, tape: autograd.NewTape()}
}

// seen lists the item indices that are no candidates of a sample, ascending: what its
// history holds, but never the target.
func (r *sasrecRanking) seen(sample int32) []int32 {
	if !r.mask {
		return nil
	}
	var out []int32
	for _, item := range r.contexts[sample] {
		if item-1 != r.targets[sample] {
			out = append(out, item-1)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ranks returns the rank of every held-out item, those of users in order and then, worse
// than any cutoff, those of items that training does not know.
func (r *sasrecRanking) ranks(ctx context.Context) ([]int32, error) {
	samples := make([]int32, len(r.users))
	for i := range samples {
		samples[i] = int32(i)
	}
	ranks, err := eval.Ranks(ctx, r.scorer, samples, r.targets, eval.Options{Tape: r.tape, Exclude: r.seen})
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
		}
		return nil, err
	}
	for range r.unknown {
		ranks = append(ranks, math.MaxInt32)
	}
	return ranks, nil
}

// random is what a uniformly random order of the candidates gives, in expectation.
func (r *sasrecRanking) random(ms []metrics.Metric) []metrics.Value {
	values := make([]metrics.Value, len(ms))
	n := len(r.users) + r.unknown
	for i, m := range ms {
		sum := 0.0
		for k := range r.users {
			sum += m.Random(r.items-len(r.seen(int32(k))), 1)
		}
		values[i] = metrics.Value{Metric: m, Value: sum / float64(n), Count: n}
	}
	return values
}

// sasrecScorer scores all items after the context of each sample.
type sasrecScorer struct {
	model    *sasrec.Model
	contexts [][]int32
	batch    sasrec.Batch
}

// Items implements eval.Scorer.
func (s *sasrecScorer) Items() int { return s.model.Items() }

// Score implements eval.Scorer.
func (s *sasrecScorer) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	s.batch.Reset(s.model.Config.Length)
	for _, i := range samples {
		if err := s.batch.Add(s.contexts[i]); err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
	}
	s.model.Score(t, &s.batch, scores)
	return nil
}

// sasrecCounts scores items by how often training has them: the popularity floor.
type sasrecCounts []tensor.Float

func newSASRecCounts(train [][]int32, items int) sasrecCounts {
	n := make(sasrecCounts, items)
	for _, sequence := range train {
		for _, item := range sequence {
			n[item-1]++
		}
	}
	return n
}

// Items implements eval.Scorer.
func (n sasrecCounts) Items() int { return len(n) }

// Score implements eval.Scorer.
func (n sasrecCounts) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	for i := range samples {
		copy(tensor.Row(scores, i), n)
	}
	return nil
}
