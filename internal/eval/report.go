package eval

import (
	"fmt"
)

// UserScore holds one user's mean over their samples.
type UserScore struct {
	User    int32
	Samples int
	Score   float64
}

// PerUser returns the mean of values over each user's samples: users[i] is the user, in 0..n-1, of values[i]. Users
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
