package metrics

import "slices"

// OfSet returns the metric of one sample with several targets at the given ranks, distinct and in any order.
// A sample without targets counts 0. The slice is not changed.
func (m Metric) OfSet(ranks []int32) float64 {
	n := len(ranks)
	switch n {
	case 0:
		return 0
	case 1:
		return m.Of(ranks[0])
	}
	if m.Sampled() { // each target alone: ranks may repeat
		return m.Mean(ranks)
	}
	if !slices.IsSorted(ranks) {
		ranks = slices.Sorted(slices.Values(ranks))
	}
	hits, dcg, precisions := 0, 0.0, 0.0
	for i, r := range ranks {
		if r < 1 || (i > 0 && r == ranks[i-1]) {
			panic("metrics: a set of ranks holds a repeated rank or one below 1")
		}
		if int(r) > m.K {
			break
		}
		hits++
		dcg += discount(int(r))
		precisions += float64(hits) / float64(r)
	}
	if hits == 0 {
		return 0
	}
	switch m.Kind {
	case Recall:
		return float64(hits) / float64(n)
	case HR:
		return 1
	case MRR:
		return 1 / float64(ranks[0])
	case NDCG:
		return dcg / idealDCG(min(n, m.K))
	case Precision:
		return float64(hits) / float64(m.K)
	case MAP:
		return precisions / float64(min(n, m.K))
	}
	panic("metrics: unknown kind " + m.Kind.String())
}

// idealDCG returns the gain of n targets on the first n ranks.
func idealDCG(n int) float64 {
	sum := 0.0
	for r := 1; r <= n; r++ {
		sum += discount(r)
	}
	return sum
}
