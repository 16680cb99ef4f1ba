package definition

import (
	"math"
	"slices"

	"privrec/internal/metrics"
)

// ours returns privrec's own definitions. Those of one user are the definitions of package metrics, see
// [metrics.Metric.Definition], and a user of the truth without a list counts 0. Coverage is over the known items, Gini
// is 0 if all of them are listed equally often, and novelty is the mean self-information of listed items (Vargas and
// Castells, Rank and Relevance in Novelty and Diversity Metrics for Recommender Systems, RecSys 2011).
func ours() Definition {
	d := Definition{
		Name: "privrec", Program: "privrec",
		Who:     "users with a relevant item; one without a list counts 0",
		Order:   "by rank, else by score; equal scores keep the order of the file",
		Repeats: "refused", RefusesRepeats: true,
		order: byRank, targets: once,
		counts: func(s *sample) bool { return s.relevant > 0 },
	}
	first := []metrics.Kind{metrics.Recall, metrics.Precision, metrics.NDCG, metrics.MAP, metrics.MRR, metrics.HR}
	others := slices.DeleteFunc(metrics.Kinds(), func(k metrics.Kind) bool {
		return k.Formula() == "" || slices.Contains(first, k)
	})
	for _, kind := range slices.Concat(first, others) {
		d.each = append(d.each, measure{
			name: kind.String(), formula: kind.Formula(),
			of: func(_ *run, k int) func(*sample) float64 {
				return func(s *sample) float64 { return metrics.Metric{Kind: kind, K: k}.OfSet(ranks(s)) }
			},
		})
	}
	d.each = append(d.each, measure{
		name: "Novelty", train: true,
		formula: "mean over the first K items of -log2(max(n_i, 1) / N), n_i of the N training users have item i; 0 " +
			"without a list",
		of: func(r *run, k int) func(*sample) float64 {
			n := float64(r.in.Train.Users)
			return func(s *sample) float64 {
				sum, top := 0.0, s.list[:min(k, len(s.list))]
				for _, i := range top {
					sum -= math.Log2(float64(max(r.in.Train.By[i], 1)) / n)
				}
				return share(sum, float64(len(top)))
			}
		},
	})
	d.whole = []overall{
		{
			name: "Coverage", train: true,
			formula: "items in the first K of any list / items of training rows, truth and lists",
			of: func(r *run, k int) float64 {
				return share(float64(len(r.frequencies(k))), float64(len(r.in.Items)))
			},
		},
		{
			name: "Gini", train: true,
			formula: "sum_j (2j-n-1) c_j / (n sum c), c_j: how often item j is in the first K, ascending, of the n " +
				"items of training rows, truth and lists",
			of: func(r *run, k int) float64 { return gini(r.frequencies(k), len(r.in.Items)) },
		},
	}
	return d
}

// beyond is a rank that no list reaches.
const beyond = 1 << 30

// ranks returns the ranks of a user's relevant items; unlisted ones have a rank beyond any list.
func ranks(s *sample) []int32 {
	out := make([]int32, 0, s.relevant)
	for i, g := range s.gain {
		if g > 0 {
			out = append(out, int32(i+1))
		}
	}
	for len(out) < s.relevant {
		out = append(out, beyond+int32(len(out)))
	}
	return out
}
