package rdpgcf

import (
	"context"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// rank returns, for every user of a part, the ranks of the items to find among all
// items but those seen. Ranks beyond depth are not told apart: they only count as
// beyond. Memory is a chunk of scores and depth items a user.
func (x *experiment) rank(ctx context.Context, s eval.Scorer, p *part, depth int) ([][]int32, error) {
	lists, err := eval.Top(ctx, s, p.users, min(depth, x.data.Items), eval.Options{
		Tape: x.tape, Exclude: func(user int32) []int32 { return p.seen[user] },
	})
	if err != nil && ctx.Err() != nil { // whatever cause the context gives
		err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	}
	if err != nil {
		return nil, fmt.Errorf("rank %s rows: %w", p.name, err)
	}
	place := make([]int32, x.data.Items) // rank of an item in the list at hand, 0: not there
	ranks := make([][]int32, len(p.users))
	for k, list := range lists {
		for r, item := range list {
			place[item.Index] = int32(r + 1)
		}
		beyond := int32(depth)
		for _, item := range p.find[k] {
			r := place[item]
			if r == 0 {
				beyond++
				r = beyond
			}
			ranks[k] = append(ranks[k], r)
		}
		for _, item := range list {
			place[item.Index] = 0
		}
	}
	return ranks, nil
}

// depth is the deepest cutoff of some metrics.
func depth(ms []metrics.Metric) int {
	k := 0
	for _, m := range ms {
		k = max(k, m.K)
	}
	return k
}

// score ranks a part by a release of the model.
func (x *experiment) score(ctx context.Context, p *part, kind string, call int, ms []metrics.Metric) ([][]int32, error) {
	users, items, err := x.model.Release(kind, call)
	if err != nil {
		return nil, fmt.Errorf("rank %s rows: %w", p.name, err)
	}
	return x.rank(ctx, inner(users, items), p, depth(ms))
}

// popularity scores items by how often they occur in train.
type popularity []tensor.Float

func (p popularity) Items() int { return len(p) }

func (p popularity) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	for i := range samples {
		copy(tensor.Row(scores, i), p)
	}
	return nil
}

// floors are what the protocol gives without a model: the expectation of a random
// order of the items that a user has not seen, and those items by popularity.
func (x *experiment) floors(ctx context.Context, ms []metrics.Metric) (random, popular []metrics.Value, err error) {
	for _, m := range ms {
		sum := 0.0
		for k, u := range x.test.users {
			sum += m.Random(x.data.Items-len(x.test.seen[u]), len(x.test.find[k]))
		}
		random = append(random, metrics.Value{Metric: m, Value: sum / float64(len(x.test.users)), Count: len(x.test.users)})
	}
	counts := make(popularity, x.data.Items)
	for i := range counts {
		counts[i] = tensor.Float(x.graph.ItemDegree(i))
	}
	ranks, err := x.rank(ctx, counts, x.test, depth(ms))
	if err != nil {
		return nil, nil, err
	}
	return random, metrics.SummarySet(ms, ranks), nil
}
