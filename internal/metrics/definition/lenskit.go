package definition

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// lenskit returns the definitions of LensKit 2025.8.1, lenskit/metrics/ranking, with the means of
// RunAnalysis.measure(...).list_summary(). It averages over lists: a user without one is left out, and one without
// truth counts 0.
//
//	Recall@K    sum_{i<=K} h_i / min(|T|, K)                  (_pr.py, Recall)
//	Precision@K sum_{i<=K} h_i / min(|L|, K)                  (_pr.py, Precision)
//	NDCG@K      sum_{i<=K} h_i w(i) / sum_{i<=min(|T|,K)} w(i), w(i) = 1/max(log2 i, 1)   (_dcg.py, _weighting.py)
//	MAP@K       sum_{i<=K} h_i P(i) / min(|T|, |L|, K)        (_map.py, AveragePrecision)
//	MRR@K       1 / position of the first hit, 0 beyond K     (_recip.py, RecipRank)
//	HR@K        1 where there is a hit                        (_hit.py, Hit)
//	Gini@K      as privrec's, over all lists                  (_gini.py, ListGini; lenskit/stats.py, gini)
//	Novelty@K   MeanPopRank: mean over the list of the rank of an item's number of training users among items that
//	            have any, as a share, 1 for the most popular and 0 for an item without users    (_pop.py)
//
// The discount is the one of Järvelin and Kekäläinen (2002): the first two positions weigh the same. An item that a
// list holds twice is a hit twice, so that Recall can pass 1; a row of the truth that comes twice is two relevant
// items. Where a user has a list and no truth, AveragePrecision ends with a division by zero and there is no MAP.
//
// LensKit 0.14 (lenskit/metrics/topn.py) has no AveragePrecision and no Gini. A user without truth has no recall and no
// ndcg there, so that means leave them out, and counts 0 in the others. Its bulk precision divides by K for short
// lists.
func lenskit() Definition {
	return Definition{
		Name: "lenskit", Program: "LensKit 2025.8.1",
		Who: "users with a list; one without truth counts 0, one without a list is left out",
		Order: "by rank, else by score; equal scores keep the order of the file, in LensKit that of numpy's " +
			"unstable sort",
		Repeats: "each counts",
		Without: []string{"Coverage"},
		order:   byRank,
		targets: func(t []Target) []Target { return t },
		counts:  func(s *sample) bool { return s.listed },
		each: []measure{
			{name: "Recall", formula: "hits in the first K / min(|T|,K)",
				of: func(_ *run, k int) func(*sample) float64 {
					return func(s *sample) float64 { return share(s.hits(k), float64(min(s.relevant, k))) }
				}},
			{name: "Precision", formula: "hits in the first K / min(|L|,K)",
				of: func(_ *run, k int) func(*sample) float64 {
					return func(s *sample) float64 { return share(s.hits(k), float64(min(len(s.list), k))) }
				}},
			{name: "NDCG", formula: "sum of h_i/max(log2 i,1) over i <= K, divided by its value for min(|T|,K) hits " +
				"on top", of: func(_ *run, k int) func(*sample) float64 {
				return func(s *sample) float64 {
					return share(discounted(s.gain, k, log2), discounted(s.ideal, k, log2))
				}
			}},
			{name: "MAP", formula: "sum of h_i P(i) over i <= K, divided by min(|T|,|L|,K)", fails: withoutTruth,
				of: func(_ *run, k int) func(*sample) float64 {
					return func(s *sample) float64 {
						return share(s.precisions(k), float64(min(s.relevant, len(s.list), k)))
					}
				}},
			{name: "MRR", formula: "1/position of the first hit, 0 beyond K", of: reciprocal},
			{name: "HR", formula: "1 with a hit in the first K", of: hit},
			{name: "Novelty", train: true,
				formula: "MeanPopRank: mean over the first K items of the rank of their training users among items " +
					"that have any, as a share; the smaller, the more novel",
				of: func(r *run, k int) func(*sample) float64 {
					rank := popularityRanks(r.in.Train.By)
					return func(s *sample) float64 {
						sum, top := 0.0, s.list[:min(k, len(s.list))]
						for _, i := range top {
							sum += rank[i]
						}
						return share(sum, float64(len(top)))
					}
				}},
		},
		whole: []overall{
			{name: "Gini", train: true,
				formula: "sum_j (2j-n-1) c_j / (n sum c), c_j: how often item j is in the first K, ascending, of the " +
					"n items of training rows, truth and lists", of: func(r *run, k int) float64 {
					return gini(r.frequencies(k), len(r.in.Items))
				}},
		},
	}
}

// log2 returns the discount 1/max(log2 i, 1).
func log2(i int) float64 { return 1 / max(math.Log2(float64(i)), 1) }

// withoutTruth returns why LensKit fails on users that have a list and no truth.
func withoutTruth(r *run) string {
	n := 0
	for _, s := range r.averaged {
		if s.relevant == 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("LensKit divides by zero for users with a list and no truth, of which there are %d", n)
}

// popularityRanks returns the rank of each item among those with a count, ascending, as a share of their number; equal
// counts share their mean rank. Items without a count have 0.
func popularityRanks(counts []int64) map[int32]float64 {
	of := map[int64]float64{} // items by count
	n := 0.0
	for _, c := range counts {
		if c > 0 {
			of[c]++
			n++
		}
	}
	below := 0.0
	rank := map[int64]float64{}
	for _, c := range slices.SortedFunc(maps.Keys(of), cmp.Compare[int64]) {
		rank[c] = below + (of[c]+1)/2
		below += of[c]
	}
	out := map[int32]float64{}
	for i, c := range counts {
		if c > 0 {
			out[int32(i)] = rank[c] / n
		}
	}
	return out
}
