package eval

import (
	"context"
	"fmt"

	"privrec/internal/metrics"
)

// Report is the outcome of a ranking with one target a sample.
type Report struct {
	Ranks  []int32         // by sample, in the order given
	Values []metrics.Value // means over samples
}

// Ranking ranks every sample's target and averages the metrics.
func Ranking(ctx context.Context, s Scorer, samples, targets []int32, ms []metrics.Metric, o Options) (*Report, error) {
	ranks, err := Ranks(ctx, s, samples, targets, o)
	if err != nil {
		return nil, err
	}
	return &Report{Ranks: ranks, Values: metrics.Summary(ms, ranks)}, nil
}

// UserScore is one user's mean over the samples that belong to them.
type UserScore struct {
	User    int32
	Samples int
	Score   float64
}

// PerUser averages values over each user's samples: users[i] is the user, in 0..n-1, of values[i]. Users
// without a sample are left out; the others come in ascending order. Sums are taken in sample order.
func PerUser(values []float64, users []int32, n int) ([]UserScore, error) {
	if len(values) != len(users) {
		return nil, fmt.Errorf("eval: %d values for %d users", len(values), len(users))
	}
	sums, counts := make([]float64, n), make([]int, n)
	for i, u := range users {
		if u < 0 || int(u) >= n {
			return nil, fmt.Errorf("eval: sample %d belongs to user %d of %d", i, u, n)
		}
		sums[u] += values[i]
		counts[u]++
	}
	var scores []UserScore
	for u, c := range counts {
		if c > 0 {
			scores = append(scores, UserScore{int32(u), c, sums[u] / float64(c)})
		}
	}
	return scores, nil
}

// Floors returns the results of the same protocol without a model: the expectation of a uniformly random
// ranking, and a ranking of items by counts, such as their occurrences in training, the same for every sample.
// The floors rank all items, so they match a ranking without Exclude and Candidates.
func Floors(ms []metrics.Metric, counts []int64, targets []int32) (random, popularity []metrics.Value, err error) {
	ranks, err := metrics.PopularityRanks(counts, targets)
	if err != nil {
		return nil, nil, fmt.Errorf("eval: %w", err)
	}
	random = metrics.RandomFloor(ms, len(counts))
	for i := range random {
		random[i].Count = len(targets)
	}
	return random, metrics.Summary(ms, ranks), nil
}
