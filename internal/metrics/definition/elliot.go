package definition

import "math"

// elliot returns the definitions of Elliot 0.3.1, elliot/evaluation/metrics, for lists that its ProxyRecommender reads
// and truth without ratings. It averages over users with a list and a relevant item.
//
//	Recall@K    sum_{i<=K} h_i / |T|                          (accuracy/recall/recall.py)
//	Precision@K sum_{i<=K} h_i / K                            (accuracy/precision/precision.py)
//	NDCG@K      sum_{i<=K} h_i/log2(i+1) / sum_{i<=min(|T|,K)} 1/log2(i+1)    (accuracy/ndcg/ndcg.py)
//	MAP@K       1/K sum_{i<=K} P(i)                           (accuracy/map/map.py)
//	MRR@K       1 / position of the first hit, 0 beyond K     (accuracy/mrr/mrr.py)
//	HR@K        1 where there is a hit                        (accuracy/hit_rate/hit_rate.py)
//	Coverage@K  items in the first K of any list: a number, no share    (coverage/item_coverage/item_coverage.py)
//	Gini@K      1 - sum_j (2j-n-1) c_j / ((n-1) sum c), n the items of training rows: 1 where all are listed equally
//	            often                                         (diversity/gini_index/gini_index.py)
//	Novelty@K   EFD: sum_{i<=K} h_i w(i) -log2(n_i/R) / sum_{i<=min(|L|,K)} w(i), w(i) = 1/log2(i+1), n_i users have
//	            item i of the R pairs of a user and an item in training; an item without users has the largest
//	            self-information of any                       (novelty/EFD/efd.py)
//	EPC@K       the same of 1 - n_i/N, N training users; 1 for an item without users    (novelty/EPC/epc.py)
//
// MAP is the mean of the precision at all positions, hit or not, and divides by nothing else; its comment says
// min(m, N). An item that a list holds twice is a hit twice. Elliot takes out of a list, after the cut, items of the
// user's own training rows; lists that hold such items have other numbers there.
func elliot() Definition {
	return Definition{
		Name: "elliot", Program: "Elliot 0.3.1",
		Who:     "users with a list and a relevant item",
		Order:   "by score, else by rank; equal scores keep the order of the file",
		Repeats: "each counts",
		order:   byScoreFirst, targets: once,
		counts: func(s *sample) bool { return s.listed && s.relevant > 0 },
		each: []measure{
			{name: "Recall", formula: "hits in the first K / |T|", of: recallOfTruth},
			{name: "Precision", formula: "hits in the first K / K", of: precisionOfCut},
			{name: "NDCG", formula: "sum of h_i/log2(i+1) over i <= K, divided by its value for min(|T|,K) hits on top",
				of: gainOfBest},
			{name: "MAP", formula: "mean of P(i) over i = 1 to K, hit or not",
				of: func(_ *run, k int) func(*sample) float64 {
					return func(s *sample) float64 {
						sum := 0.0
						for i := 1; i <= k; i++ {
							sum += s.hits(i) / float64(i)
						}
						return sum / float64(k)
					}
				}},
			{name: "MRR", formula: "1/position of the first hit, 0 beyond K", of: reciprocal},
			{name: "HR", formula: "1 with a hit in the first K", of: hit},
			{name: "Novelty", train: true,
				formula: "EFD: sum of h_i w(i) -log2(n_i/R) over i <= K, divided by the sum of w(i) = 1/log2(i+1); " +
					"n_i users have item i, of R pairs in training", of: discovery},
			{name: "EPC", train: true,
				formula: "sum of h_i w(i) (1 - n_i/N) over i <= K, divided by the sum of w(i) = 1/log2(i+1); n_i of " +
					"N training users have item i", of: complement},
		},
		whole: []overall{
			{name: "Coverage", formula: "items in the first K of any list, a number", of: func(r *run, k int) float64 {
				return float64(len(r.frequencies(k)))
			}},
			{name: "Gini", train: true,
				formula: "1 - sum_j (2j-n-1) c_j / ((n-1) sum c), c_j: how often item j is in the first K, " +
					"ascending, of the n items of training rows", fails: func(r *run) string {
					if r.in.Train.Items < 2 {
						return "Elliot divides by the items of training rows less one"
					}
					return ""
				}, of: func(r *run, k int) float64 {
					counts, n := r.frequencies(k), r.in.Train.Items
					return 1 - share(tilt(counts, n), float64(n-1)*float64(total(counts)))
				}},
		},
	}
}

// discovery returns the EFD of a user's list.
func discovery(r *run, k int) func(*sample) float64 {
	pairs, least := int64(0), int64(math.MaxInt64)
	for _, n := range r.in.Train.By {
		pairs += n
		if n > 0 {
			least = min(least, n)
		}
	}
	return seen(k, func(item int32) float64 {
		n := r.in.Train.By[item]
		if n == 0 {
			n = least
		}
		return -math.Log2(float64(n) / float64(pairs))
	})
}

// complement returns the EPC of a user's list.
func complement(r *run, k int) func(*sample) float64 {
	return seen(k, func(item int32) float64 { return 1 - float64(r.in.Train.By[item])/float64(r.in.Train.Users) })
}

// seen returns the discounted mean over a list of the worth of its hits.
func seen(k int, worth func(item int32) float64) func(*sample) float64 {
	return func(s *sample) float64 {
		sum, norm := 0.0, 0.0
		for i, item := range s.list[:min(k, len(s.list))] {
			w := log2plus1(i + 1)
			if s.gain[i] > 0 {
				sum += w * worth(item)
			}
			norm += w
		}
		return share(sum, norm)
	}
}
