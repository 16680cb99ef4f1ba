package dataset

import (
	"fmt"
	"slices"

	"privrec/internal/stats"
)

// Stats holds statistics of a log or of sequences made from it.
type Stats struct {
	Users   int     `json:"users"`
	Items   int     `json:"items"`
	Rows    int     `json:"rows"`
	Density float64 `json:"density"` // rows / (users * items)
	Gini    float64 `json:"gini"`    // of rows per item, 0 even, towards 1 skewed
	Mean    float64 `json:"mean_length"`
	// Lengths holds quantiles of rows per user, by linear interpolation between order
	// statistics, at 0, 5, 25, 50, 75, 95 and 100 %.
	Lengths [7]float64 `json:"length_quantiles"`
}

// StatsQuantiles holds the probabilities of Stats.Lengths.
var StatsQuantiles = [7]float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1}

// Stats returns the statistics of the log.
func (l *Log) Stats() Stats {
	users, items := l.Counts()
	return Describe(users, items)
}

// Counts returns the number of rows of every user and of every item.
func (l *Log) Counts() (users, items []int) {
	return count(l.Users, len(l.UserIDs)), count(l.Items, len(l.ItemIDs))
}

// Stats returns the statistics of all parts together.
func (s *Sequential) Stats() Stats {
	users, items := make([]int, s.Users), make([]int, s.Items+1)
	for _, part := range [][][]int32{s.Train, s.Valid, s.Test} {
		for u, seq := range part {
			users[u] += len(seq)
			for _, i := range seq {
				items[i]++
			}
		}
	}
	return Describe(users, items[1:])
}

// count returns how often each of n ids occurs in a column.
func count(col []int32, n int) []int {
	c := make([]int, n)
	for _, i := range col {
		c[i]++
	}
	return c
}

// Describe returns the statistics of rows from the number of rows of every user and of every
// item. It sorts users.
func Describe(users, items []int) Stats {
	s := Stats{Users: len(users), Items: len(items), Gini: gini(items)}
	for _, n := range users {
		s.Rows += n
	}
	if s.Users > 0 && s.Items > 0 {
		s.Density = float64(s.Rows) / (float64(s.Users) * float64(s.Items))
		s.Mean = float64(s.Rows) / float64(s.Users)
	}
	slices.Sort(users)
	for i, p := range StatsQuantiles {
		s.Lengths[i] = stats.Quantile(users, p)
	}
	return s
}

// gini returns sum_i (2i-n-1) x_(i) / (n sum x) over the sorted counts, i from 1, and 0 when
// all are 0.
func gini(counts []int) float64 {
	sorted := slices.Sorted(slices.Values(counts))
	n, sum, weighted := float64(len(sorted)), 0.0, 0.0
	for i, x := range sorted {
		sum += float64(x)
		weighted += (2*float64(i+1) - n - 1) * float64(x)
	}
	if sum == 0 {
		return 0
	}
	return weighted / (n * sum)
}

// String returns one line for display.
func (s Stats) String() string {
	return fmt.Sprintf("%d users, %d items, %d rows, density %.4f %%, gini %.3f, length %g to %g, median %g, mean %.2f",
		s.Users, s.Items, s.Rows, 100*s.Density, s.Gini, s.Lengths[0], s.Lengths[6], s.Lengths[3], s.Mean)
}
