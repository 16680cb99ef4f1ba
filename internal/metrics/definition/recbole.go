package definition

import "math"

// recbole returns the definitions of RecBole 1.2.1, recbole/evaluator/metrics.py. RecBole ranks all items itself and
// reads no lists, so that every user of the test rows has K items, each once. Of the six metrics of a user, MAP alone
// parts from privrec's in code, and then not in value:
//
//	Recall@K    sum_{i<=K} h_i / |T|                                  (class Recall)
//	Precision@K sum_{i<=K} h_i / K                                    (class Precision)
//	NDCG@K      sum_{i<=K} h_i/log2(i+1) / sum_{i<=min(|T|,K)} 1/log2(i+1)   (class NDCG)
//	MAP@K       sum_{i<=K} h_i P(i) / min(|T|, K)                     (class MAP)
//	MRR@K       1 / position of the first hit, 0 beyond K             (class MRR)
//	HR@K        1 where there is a hit                                (class Hit)
//
// Its item 0 stands for padding and counts among the items: Coverage@K (class ItemCoverage) and Gini@K (class
// GiniIndex) divide by one item more than the data have. A list with fewer than K items is filled with it here, as
// RecBole itself would have to; then it is one more item that is recommended. Novelty is AveragePopularity, the mean
// number of training rows of the first K items: the smaller, the more novel. RecBole rounds to four digits
// (metric_decimal_place); these numbers are not rounded. It leaves equal scores in the order that torch.topk finds,
// which torch does not define.
func recbole() Definition {
	return Definition{
		Name: "recbole", Program: "RecBole 1.2.1",
		Who:     "users with a relevant item; one without a list counts 0",
		Order:   "by rank, else by score; equal scores keep the order of the file, in RecBole that of torch.topk",
		Repeats: "refused: RecBole ranks every item once", RefusesRepeats: true,
		order: byRank, targets: once,
		counts: func(s *sample) bool { return s.relevant > 0 },
		each: []measure{
			{name: "Recall", formula: "hits in the first K / |T|", of: recallOfTruth},
			{name: "Precision", formula: "hits in the first K / K", of: precisionOfCut},
			{name: "NDCG", formula: "sum of h_i/log2(i+1) over i <= K, divided by its value for min(|T|,K) hits on top",
				of: gainOfBest},
			{name: "MAP", formula: "sum of h_i P(i) over i <= K, divided by min(|T|,K)",
				of: func(_ *run, k int) func(*sample) float64 {
					return func(s *sample) float64 { return s.precisions(k) / float64(min(s.relevant, k)) }
				}},
			{name: "MRR", formula: "1/position of the first hit, 0 beyond K", of: reciprocal},
			{name: "HR", formula: "1 with a hit in the first K", of: hit},
			{name: "Novelty", train: true,
				formula: "AveragePopularity: training rows of the first K items / K; the smaller, the more novel",
				of: func(r *run, k int) func(*sample) float64 {
					return func(s *sample) float64 {
						sum := 0.0
						for _, i := range s.list[:min(k, len(s.list))] {
							sum += float64(r.in.Train.Rows[i])
						}
						return sum / float64(k)
					}
				}},
		},
		whole: []overall{
			{name: "Coverage", train: true,
				formula: "items in the first K of any list / (items + 1 for padding); short lists are filled with " +
					"padding", of: func(r *run, k int) float64 {
					return share(float64(len(r.padded(k))), float64(len(r.in.Items)+1))
				}},
			{name: "Gini", train: true,
				formula: "sum_j (2j-n-1) c_j / (n sum c), c_j: how often item j is in the first K, ascending, of n = " +
					"items + 1 for padding", of: func(r *run, k int) float64 {
					return gini(r.padded(k), len(r.in.Items)+1)
				}},
		},
	}
}

// padded returns the frequencies of items; places that lists leave empty count for the padding, item -1.
func (r *run) padded(k int) map[int32]int64 {
	counts := r.frequencies(k)
	if empty := int64(k)*int64(len(r.averaged)) - total(counts); empty > 0 {
		counts[-1] = empty
	}
	return counts
}

// log2plus1 returns the discount 1/log2(1+i) of RecBole, Elliot, ranx and trec_eval.
func log2plus1(i int) float64 { return 1 / math.Log2(1+float64(i)) }

// recallOfTruth returns sum_{i<=k} h_i / |T|.
func recallOfTruth(_ *run, k int) func(*sample) float64 {
	return func(s *sample) float64 { return s.hits(k) / float64(s.relevant) }
}

// gainOfBest returns the discounted gain of the first k over that of the best list, with weights 1/log2(i+1).
func gainOfBest(_ *run, k int) func(*sample) float64 {
	return func(s *sample) float64 {
		return share(discounted(s.gain, k, log2plus1), discounted(s.ideal, k, log2plus1))
	}
}

// precisionOfCut returns sum_{i<=k} h_i / k, whatever the length of the list.
func precisionOfCut(_ *run, k int) func(*sample) float64 {
	return func(s *sample) float64 { return s.hits(k) / float64(k) }
}

// reciprocal returns 1 over the position of the first hit, 0 beyond the cut-off.
func reciprocal(_ *run, k int) func(*sample) float64 {
	return func(s *sample) float64 {
		if i := s.first(k); i > 0 {
			return 1 / float64(i)
		}
		return 0
	}
}

// hit returns 1 if there is a hit among the first k, else 0.
func hit(_ *run, k int) func(*sample) float64 {
	return func(s *sample) float64 { return min(1, s.hits(k)) }
}
