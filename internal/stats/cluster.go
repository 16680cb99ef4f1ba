package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// ClusterBootstrap returns the percentile intervals of ratios of sums over resampled clusters. Scores of one
// user depend on each other, so whole users are drawn with replacement (Davison and Hinkley, "Bootstrap Methods
// and their Application", 1997, section 3.8, strategy 1). Statistic j is
//
//	sum over clusters of num[j] / sum over clusters of den[j]
//
// with one value a cluster in each row. For a mean over scores, num holds the sum of a user's scores and den
// their number. For a mean over users, num holds the user's mean and den 1. All statistics see the same
// resamples, which src decides. ClusterBootstrap fails on fewer than 100 resamples, on a denominator that is
// not positive, and on a single cluster, since all its resamples are the same and the interval would have no
// width.
func ClusterBootstrap(num, den [][]float64, resamples int, level float64, src rand.Source) ([]Interval, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	if len(num) == 0 || len(num) != len(den) {
		return nil, fmt.Errorf("cluster bootstrap: %d numerators, %d denominators", len(num), len(den))
	}
	clusters := len(num[0])
	if clusters < 2 || resamples < 100 {
		return nil, fmt.Errorf("cluster bootstrap: %d clusters, %d resamples; at least 2 and 100 are needed", clusters, resamples)
	}
	for j := range num {
		if len(num[j]) != clusters || len(den[j]) != clusters {
			return nil, fmt.Errorf("cluster bootstrap: statistic %d has %d and %d clusters, the first has %d", j, len(num[j]), len(den[j]), clusters)
		}
		for u, v := range num[j] {
			if d := den[j][u]; !(d > 0) || math.IsInf(d, 0) || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("cluster bootstrap: statistic %d, cluster %d: %v / %v", j, u, v, d)
			}
		}
	}
	values := make([][]float64, len(num))
	for j := range values {
		values[j] = make([]float64, resamples)
	}
	r, times := rand.New(src), make([]float64, clusters)
	for i := range resamples {
		clear(times)
		for range clusters {
			times[r.IntN(clusters)]++
		}
		for j := range num {
			above, below := 0.0, 0.0
			for u, n := range times {
				above += n * num[j][u]
				below += n * den[j][u]
			}
			values[j][i] = above / below
		}
	}
	out := make([]Interval, len(num))
	for j, v := range values {
		slices.Sort(v)
		out[j] = Interval{Quantile(v, (1-level)/2), Quantile(v, (1+level)/2), level}
	}
	return out, nil
}
