package crossdomain

import (
	"math"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/tensor"
)

// floors returns what the protocol gives without a model, sampled and among all items: the
// expectation of a random order, and items by how often they are in the rows.
func (x *Experiment) floors(p *Rows) (sampled, full []experiment.Scores) {
	n := x.Data.Domains[0].Items
	counts := make([]tensor.Float, n)
	for _, i := range p.Cells[0] {
		if i != 0 {
			counts[i-1]++
		}
	}
	ms := x.metrics()
	popular, popularAll := make(ranks, len(x.test.users)), make(ranks, len(x.test.users))
	random, randomAll := map[string]float64{}, map[string]float64{}
	others, scores := []tensor.Float{}, make([]tensor.Float, n)
	for k, u := range x.test.users {
		item := x.test.items[k]
		if !p.Known[item] {
			popular[k], popularAll[k] = math.Inf(1), math.Inf(1)
			continue
		}
		others = others[:0]
		for _, j := range x.test.lists[u] {
			others = append(others, counts[j-1])
		}
		popular[k], _ = placeOf(counts[item-1], others)
		copy(scores, counts)
		popularAll[k] = placeAmong(scores, item, x.test.seen[u])
		for _, m := range ms {
			random[m.String()] += m.Random(1+len(others), 1) / float64(len(x.test.users))
			randomAll[m.String()] += m.Random(n-len(x.test.seen[u]), 1) / float64(len(x.test.users))
		}
	}
	return []experiment.Scores{{Name: "random", Values: random}, newScores("popularity", ms, popular)},
		[]experiment.Scores{{Name: "random", Values: randomAll}, newScores("popularity", ms, popularAll)}
}

// newScores returns the means of some places.
func newScores(name string, ms []metrics.Metric, r ranks) experiment.Scores {
	s := experiment.Scores{Name: name, Values: map[string]float64{}}
	for _, m := range ms {
		s.Values[m.String()] = r.mean(m)
	}
	return s
}
