package results

import (
	"testing"

	"privrec/internal/compare"
	"privrec/internal/metrics"
	"privrec/internal/reproduce/grid"
)

// Scores of users stand beside a point only if they are those of its evaluation: their mean in
// every metric is the point's.
func TestPicksUsers(t *testing.T) {
	g := &grid.Grid{}
	for _, kind := range []metrics.Kind{metrics.Recall, metrics.MRR} {
		g.Metrics = append(g.Metrics, grid.Metric{Measure: metrics.Metric{Kind: kind, K: 20}})
	}
	scores := &compare.Scores{
		Users:  []string{"a", "b"},
		Values: map[string][]float64{"Recall@20": {0.1, 0.3}, "MRR@20": {0, 0.2}},
	}
	for _, c := range []struct {
		values []float64
		want   bool
	}{{[]float64{0.2, 0.1}, true}, {[]float64{0.2, 0.3}, false}, {[]float64{0.1, 0.1}, false}} {
		if got := agrees(g, scores, c.values); got != c.want {
			t.Errorf("%v: %v", c.values, got)
		}
	}
}
