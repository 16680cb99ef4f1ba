package topn

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// rankChunk is the number of users whose scores are in memory at once: 21 MB on Gowalla. More do not make ranking
// faster.
const rankChunk = 128

// rank returns, for every user of a part, the ranks of the rows to predict among all items but those seen. Ranks beyond
// depth all count as beyond. It needs memory for a chunk of scores, and for depth items a user.
func (x *Experiment) rank(ctx context.Context, s eval.Scorer, p *part, depth int) ([][]int32, error) {
	lists, err := eval.Top(ctx, s, p.users, min(depth, x.Data.Items), eval.Options{
		Tape: x.tape, Chunk: rankChunk, Exclude: func(user int32) []int32 { return p.seen[user] },
	})
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, fmt.Errorf("rank %s rows: %w", p.name, err)
	}
	ranks := make([][]int32, len(p.users))
	for k, list := range lists {
		ranks[k] = metrics.RanksIn(eval.Indices(list), p.find[k])
	}
	return ranks, nil
}

// depth returns the deepest cutoff of some metrics.
func depth(ms []metrics.Metric) int {
	k := 0
	for _, m := range ms {
		k = max(k, m.K)
	}
	return k
}

// score ranks a part by a release of the model.
func (x *Experiment) score(ctx context.Context, p *part, kind string, call Call,
	ms []metrics.Metric) ([][]int32, error) {
	v, err := x.release(kind, call)
	if err != nil {
		return nil, fmt.Errorf("rank %s rows: %w", p.name, err)
	}
	s, err := x.scorer(v)
	if err != nil {
		return nil, err
	}
	return x.rank(ctx, s, p, depth(ms))
}

// inner scores by inner products.
func inner(users, items tensor.Matrix) *bpr.Ranking { return &bpr.Ranking{Users: users, Goods: items} }

// squashed scores by the sigmoid of an inner product, in 32 bits.
type squashed struct{ *bpr.Ranking }

// Score implements eval.Scorer.
func (s squashed) Score(t *autograd.Tape, users []int32, scores tensor.Matrix) error {
	if err := s.Ranking.Score(t, users, scores); err != nil {
		return err
	}
	tensor.Parallel(scores.Rows, 1, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := tensor.Row(scores, i)
			for j, v := range row {
				row[j] = tensor.Float(1 / (1 + float32(math.Exp(-float64(v)))))
			}
		}
	})
	return nil
}

// floors returns the metrics without a model. random is the expectation of a random order of the items that a user has
// not seen. popular ranks those items by popularity. Among sampled items a random order has no ties, and popularity's
// ties count against the row.
func (x *Experiment) floors(ctx context.Context) (random, popular []metrics.Value, err error) {
	for _, m := range x.metrics() {
		sum := 0.0
		for k, u := range x.test.users {
			sum += m.Random(x.Data.Items-len(x.test.seen[u]), len(x.test.find[k]))
		}
		random = append(random, metrics.Value{Metric: m, Value: sum / float64(len(x.test.users)),
			Count: len(x.test.users)})
	}
	for _, m := range x.sampledMetrics() {
		random = append(random, metrics.Value{Metric: m, Value: m.Random(x.Method.Eval.Candidates+1, 1),
			Count: x.test.rows()})
	}
	counts := make(eval.Same, x.Data.Items)
	for i := range counts {
		counts[i] = tensor.Float(x.Graph.ItemDegree(i))
	}
	ranks, err := x.rankTest(ctx, counts)
	if err != nil {
		return nil, nil, err
	}
	return random, x.values(ranks), nil
}
