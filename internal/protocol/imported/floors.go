package imported

import (
	"slices"

	"privrec/internal/metrics"
)

// The floors' names.
const (
	RandomFloor     = "random"
	PopularityFloor = "popularity"
)

// Metrics returns the metrics of an imported model at some cut-offs.
func Metrics(cutoffs []int) []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.Recall, metrics.NDCG}, cutoffs)
}

// Floors computes the two floors of one user after another: random order, in expectation, and popularity in training.
// Several goroutines may use it.
type Floors struct {
	Metrics []metrics.Metric
	popular []int32 // items, the most popular first
	depth   int     // the largest cut-off
}

// NewFloors returns floors for items with the given numbers of training rows.
func NewFloors(ms []metrics.Metric, count []int64) *Floors {
	f := &Floors{Metrics: ms, popular: make([]int32, len(count))}
	for i, r := range metrics.RanksByCount(count) {
		f.popular[r-1] = int32(i)
	}
	for _, m := range ms {
		f.depth = max(f.depth, m.K)
	}
	return f
}

// Of returns, for one user, the expected metrics of a random order and the ranks of the user's truth by popularity.
// Both leave out the user's training items, except those of the truth. train and truth are ascending.
func (f *Floors) Of(train, truth []int32) (random []float64, popular []int32) {
	left := make(map[int32]bool, len(train)) // out
	for _, i := range train {
		if _, sought := slices.BinarySearch(truth, i); !sought {
			left[i] = true
		}
	}
	for _, m := range f.Metrics {
		random = append(random, m.Random(len(f.popular)-len(left), len(truth)))
	}
	var list []int32
	for _, i := range f.popular {
		if len(list) == f.depth {
			break
		}
		if !left[i] {
			list = append(list, i)
		}
	}
	return random, metrics.RanksIn(list, truth)
}
