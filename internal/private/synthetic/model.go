package synthetic

import (
	"context"
	"errors"
	"math"

	"privrec/internal/private/gram"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Public constants of the law. They were chosen on validation rows of MovieLens 100K.
const (
	meanShare  = 0.6  // a user's mean number of items, over the released mean that counts each item of a user
	fewest     = 5.0  // that mean, at least
	mostCommon = 0.9  // the largest probability of an item
	mostShared = 0.95 // the largest share of an item's variance that factors have
	mostRank   = 200  // of factors
	// the smallest probability of two items, over that of items that know nothing of each other: noise makes it less
	leastTogether = 0.05
)

// Model is the law of a synthetic user's items: item i is there if loadings_i · f + rest_i e_i is above threshold_i,
// where the factors f and the e_i are independent standard normal numbers.
type Model struct {
	Items       []int32   // as indices of the catalogue, ascending
	Probability []float64 // of each item
	Mean        float64   // items of a user, on average
	Factors     int

	loadings  [][]float64
	rest      []float64
	threshold []float64
}

// NewModel returns the law whose probabilities of items and of pairs of items are in proportion to those of a released
// matrix, as near as a few factors allow. It is computed from the release alone.
func NewModel(ctx context.Context, k *gram.Kept) (*Model, error) {
	m := len(k.Items)
	if m == 0 || len(k.Pairs) != m || len(k.Diagonal) != m {
		return nil, errors.New("synthetic users: the released matrix has no items, or its parts do not fit together")
	}
	pairs, single := 0.0, 0.0
	for i, row := range k.Pairs {
		single += k.Diagonal[i]
		for j, v := range row {
			if i != j {
				pairs += v
			}
		}
	}
	out := &Model{Items: k.Items, Probability: make([]float64, m), loadings: make([][]float64, m),
		rest: make([]float64, m), threshold: make([]float64, m)}
	mean := math.Min(math.Max(meanShare*(1+pairs/single), fewest), float64(m)/2)
	scale := mean / single
	for i, d := range k.Diagonal {
		out.Probability[i] = math.Min(scale*d, mostCommon)
		out.Mean += out.Probability[i]
		out.threshold[i] = threshold(out.Probability[i])
	}
	rank := min(k.Rank, mostRank)
	if rank > 0 {
		var err error
		if out.loadings, err = gram.Factors(ctx, out.correlations(k.Pairs, scale), rank, mostShared); err != nil {
			return nil, err
		}
	}
	for i, row := range out.loadings {
		left := 1.0
		for _, v := range row {
			left -= v * v
		}
		out.rest[i] = math.Sqrt(math.Max(0, left))
		out.Factors = len(row)
	}
	return out, nil
}

// correlations returns the correlation of every two items' normal numbers at which the items are together as often as
// the released matrix says.
func (m *Model) correlations(pairs [][]float64, scale float64) [][]float64 {
	n := len(m.Items)
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
	}
	tensor.Parallel(n, 1, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := i + 1; j < n; j++ {
				least := leastTogether * m.Probability[i] * m.Probability[j]
				out[i][j] = correlation(m.threshold[i], m.threshold[j], math.Max(scale*pairs[i][j], least))
			}
		}
	})
	for i := range out {
		for j := range i {
			out[i][j] = out[j][i]
		}
	}
	return out
}

// User draws the items of a user, as indices of the catalogue, in random order. s is the stream of that user.
func (m *Model) User(s rng.Stream) (items []int32) {
	f := make([]float64, m.Factors)
	for k := range f {
		f[k] = s.NormFloat64()
	}
	for i, row := range m.loadings {
		z := m.rest[i] * s.NormFloat64()
		for k, v := range row {
			z += v * f[k]
		}
		if z > m.threshold[i] {
			items = append(items, m.Items[i])
		}
	}
	s.Shuffle(len(items), func(a, b int) { items[a], items[b] = items[b], items[a] })
	return items
}

// Users draws the items of users 0 to n-1. They depend on the seed and on nothing that ran before.
func (m *Model) Users(ctx context.Context, seed rng.Seed, n int) ([][]int32, error) {
	root, out := seed.Stream("synthetic.user"), make([][]int32, n)
	const atOnce = 1 << 12 // users between two looks at the context
	for from := 0; from < n; from += atOnce {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tensor.Parallel(min(atOnce, n-from), 16, func(_, lo, hi int) {
			for u := from + lo; u < from+hi; u++ {
				out[u] = m.User(root.Sub(uint64(u)))
			}
		})
	}
	return out, nil
}
