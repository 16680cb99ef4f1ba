package definition

// ranx returns the definitions of ranx 0.3.21, ranx/metrics, with evaluate(..., make_comparable=True): users of the
// truth are averaged, and one without a list counts 0.
//
//	Recall@K    sum_{i<=K} h_i / |T|                          (recall.py)
//	Precision@K sum_{i<=K} h_i / K                            (precision.py)
//	NDCG@K      sum_{i<=K} g_i/log2(i+1) / its value for the min(|T|,K) largest gains   (ndcg.py)
//	MAP@K       sum_{i<=K} h_i P(i) / |T|                     (average_precision.py)
//	MRR@K       1 / position of the first hit, 0 beyond K     (reciprocal_rank.py)
//	HR@K        1 where there is a hit                        (hit_rate.py)
//
// MAP divides by all relevant items, also where K of them cannot fit. Gains of the truth count in NDCG. A user of the
// truth without a relevant item counts 0.
func ranx() Definition {
	return Definition{
		Name: "ranx", Program: "ranx 0.3.21",
		Who:     "users of the truth; one without a list or without a relevant item counts 0",
		Order:   "by score, else by rank; equal scores as numba's quicksort leaves them",
		Repeats: "the last score counts, once",
		Graded:  true,
		Without: []string{"Coverage", "Gini", "Novelty"},
		order:   byQuicksort, targets: once,
		counts: func(s *sample) bool { return s.judged },
		each: []measure{
			{name: "Recall", formula: "hits in the first K / |T|", of: func(_ *run, k int) func(*sample) float64 {
				return func(s *sample) float64 { return share(s.hits(k), float64(s.relevant)) }
			}},
			{name: "Precision", formula: "hits in the first K / K", of: precisionOfCut},
			{name: "NDCG", formula: "sum of g_i/log2(i+1) over i <= K, divided by its value for the K largest gains " +
				"on top", of: gainedNDCG},
			{name: "MAP", formula: "sum of h_i P(i) over i <= K, divided by |T|", of: averagePrecision},
			{name: "MRR", formula: "1/position of the first hit, 0 beyond K", of: reciprocal},
			{name: "HR", formula: "1 with a hit in the first K", of: hit},
		},
	}
}

// gainedNDCG returns the discounted sum of gains over that of the largest gains of the truth.
func gainedNDCG(_ *run, k int) func(*sample) float64 {
	return func(s *sample) float64 {
		return share(discounted(s.gain, k, log2plus1), discounted(s.ideal, k, log2plus1))
	}
}

// averagePrecision returns the sum of the precisions at hits divided by the number of all relevant items.
func averagePrecision(_ *run, k int) func(*sample) float64 {
	return func(s *sample) float64 { return share(s.precisions(k), float64(s.relevant)) }
}
