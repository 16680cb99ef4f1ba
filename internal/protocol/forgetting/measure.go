package forgetting

import (
	"context"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// shown holds what a way leaves: the vectors that rank, and those of the items of each of its models.
type shown struct {
	bpr.Ranking
	models []tensor.Matrix
}

// show returns copies of the vectors of a model.
func show(m *network) (*shown, error) {
	users, items, err := m.All()
	if err != nil {
		return nil, err
	}
	x := &shown{Ranking: bpr.Ranking{Users: copied(users), Goods: copied(items)}}
	x.models = []tensor.Matrix{x.Goods}
	return x, nil
}

func copied(m tensor.Matrix) tensor.Matrix {
	c := tensor.New(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(tensor.Row(c, i), tensor.Row(m, i))
	}
	return c
}

// showShards returns the vectors of the models of all shards side by side, so that the score of an item is the sum of
// theirs. The vectors of users are fitted to their rows in every shard.
func (s *study) showShards(x *sharded) (*shown, error) {
	out, d := &shown{}, 0
	for _, m := range x.models {
		if m == nil {
			continue
		}
		_, items, err := m.All()
		if err != nil {
			return nil, err
		}
		out.models = append(out.models, copied(items))
		d += items.Cols
	}
	out.Users, out.Goods = tensor.New(s.data.Users, d), tensor.New(s.data.Items, d)
	at := 0
	for _, items := range out.models {
		f, err := newFolder(items, s.Attack)
		if err != nil {
			return nil, err
		}
		for i := range s.data.Items {
			copy(tensor.Row(out.Goods, i)[at:], tensor.Row(f.items, i))
		}
		err = f.each(len(s.remaining), func(k int, m *memory) error {
			u := s.remaining[k]
			err := f.fit(s.data.Train[u], m.a, m.w)
			copy(tensor.Row(out.Users, int(u))[at:], m.w)
			return err
		})
		if err != nil {
			return nil, err
		}
		at += items.Cols
	}
	return out, nil
}

// The metrics of the lists of the remaining users.
var (
	recall = metrics.Metric{Kind: metrics.Recall, K: 20}
	gain   = metrics.Metric{Kind: metrics.NDCG, K: 20}
)

// rankChunk is the number of users whose scores are in memory at once.
const rankChunk = 128

// rank returns the metrics of the remaining users with rows to find, among all items that they have in no other given
// part.
func (s *study) rank(ctx context.Context, by eval.Scorer, find, other [][]int32) ([]metrics.Value, error) {
	var users []int32
	var items [][]int32
	for _, u := range s.remaining {
		if len(find[u]) > 0 {
			users, items = append(users, u), append(items, find[u])
		}
	}
	lists, err := eval.Top(ctx, by, users, min(20, s.data.Items), eval.Options{Tape: autograd.NewTape(),
		Chunk: rankChunk, Exclude: func(u int32) []int32 {
			if other == nil {
				return s.data.Train[u]
			}
			return slices.Concat(s.data.Train[u], other[u])
		}})
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, err
	}
	ranks := make([][]int32, len(users))
	for k, list := range lists {
		ranks[k] = metrics.RanksIn(eval.Indices(list), items[k])
	}
	return metrics.SummarySet([]metrics.Metric{recall, gain}, ranks), nil
}

// apart returns how far two ways' scores of all items are apart, as 1 less the correlation of a user's scores: means
// over remaining users, by the vectors that rank, and over the forgotten, by vectors that are fitted to their rows.
func (s *study) apart(x, y *shown) (remaining, forgotten float64, err error) {
	users := dataset.NewLots(s.env.Seed.Stream("forgetting compared")).Some(s.data.UserIDs, s.remaining, s.Eval.Users)
	each := make([]float64, len(users))
	tensor.Parallel(len(users), foldGrain, func(_, lo, hi int) {
		a, b := make([]tensor.Float, s.data.Items), make([]tensor.Float, s.data.Items)
		for k := lo; k < hi; k++ {
			for i := range a {
				a[i] = tensor.Dot(tensor.Row(x.Users, int(users[k])), tensor.Row(x.Goods, i))
				b[i] = tensor.Dot(tensor.Row(y.Users, int(users[k])), tensor.Row(y.Goods, i))
			}
			each[k] = 1 - correlation(a, b)
		}
	})
	xs, err := s.foldedScores(x)
	if err != nil {
		return 0, 0, err
	}
	ys, err := s.foldedScores(y)
	if err != nil {
		return 0, 0, err
	}
	for k := range xs {
		forgotten += (1 - correlation(xs[k], ys[k])) / float64(len(xs))
	}
	for _, v := range each {
		remaining += v / float64(len(each))
	}
	return remaining, forgotten, nil
}

// foldedScores returns the scores of all items for each forgotten user, by vectors that are fitted to their rows.
func (s *study) foldedScores(x *shown) ([][]tensor.Float, error) {
	all := make([][]tensor.Float, len(s.forgotten))
	for k := range all {
		all[k] = make([]tensor.Float, s.data.Items)
	}
	for _, items := range x.models {
		f, err := newFolder(items, s.Attack)
		if err != nil {
			return nil, err
		}
		err = f.each(len(s.forgotten), func(k int, m *memory) error {
			err := f.score(s.data.Train[s.forgotten[k]], m)
			tensor.Add(all[k], m.scores)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// correlation returns Pearson's correlation; 0 where one side does not vary.
func correlation(x, y []tensor.Float) float64 {
	var sx, sy, xx, yy, xy float64
	for k := range x {
		a, b := float64(x[k]), float64(y[k])
		sx, sy, xx, yy, xy = sx+a, sy+b, xx+a*a, yy+b*b, xy+a*b
	}
	n := float64(len(x))
	vx, vy := xx-sx*sx/n, yy-sy*sy/n
	if !(vx > 0 && vy > 0) {
		return 0
	}
	return (xy - sx*sy/n) / math.Sqrt(vx*vy)
}
