package eval

import (
	"context"
	"fmt"

	"privrec/internal/tensor"
)

// RanksAmong returns the rank of every target among candidates of its own. The rank of targets[i][k] for samples[i] is
// 1 plus the number of its candidates that score at least as high. Equal scores count against the target, so that a
// constant scorer hits nothing.
//
// among returns, for sample i, a function that lists the candidates of target k: distinct items, without the target.
// Each list may use the memory of the one before. RanksAmong calls among from several goroutines, and scores every
// sample once.
func RanksAmong(ctx context.Context, s Scorer, samples []int32, targets [][]int32,
	among func(i int) func(k int) []int32, o Options) ([][]int32, error) {
	if len(samples) != len(targets) {
		return nil, fmt.Errorf("eval: %d samples for %d target sets", len(samples), len(targets))
	}
	if o.Candidates != nil || o.Exclude != nil {
		return nil, fmt.Errorf("eval: Candidates and Exclude do not go with items of every target's own")
	}
	ranks, items := make([][]int32, len(samples)), s.Items()
	for i, t := range targets {
		ranks[i] = make([]int32, len(t))
		for _, y := range t {
			if y < 0 || int(y) >= items {
				return nil, fmt.Errorf("eval: sample %d: target %d is outside the %d items", samples[i], y, items)
			}
		}
	}
	return ranks, chunks(ctx, s, samples, o, func(i int, scores []tensor.Float) string {
		of := among(i)
		for k, y := range targets[i] {
			own, above := scores[y], int32(0)
			for _, j := range of(k) {
				if scores[j] >= own {
					above++
				}
			}
			ranks[i][k] = 1 + above
		}
		return ""
	})
}
