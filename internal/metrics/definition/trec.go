package definition

import "math"

// trecEval returns the definitions of trec_eval 9.0.8, as pytrec_eval (pytrec_eval-terrier 0.5.11) calls it: users with
// both a list and truth are averaged.
//
//	Recall@K    sum_{i<=K} h_i / |T|                          (m_recall.c, recall_K)
//	Precision@K sum_{i<=K} h_i / K                            (m_P.c, P_K)
//	NDCG@K      sum_{i<=K} g_i/log2(i+1) / its value for the min(|T|,K) largest gains   (m_ndcg_cut.c, ndcg_cut_K)
//	MAP@K       sum_{i<=K} h_i P(i) / |T|                     (m_map_cut.c, map_cut_K)
//	MRR         1 / position of the first hit in the whole list    (m_recip_rank.c, recip_rank)
//	HR@K        1 where there is a hit                        (m_success.c, success_K)
//
// MRR has no cut-off. Ranks in a file are not looked at: scores order, and of equal ones the id that is last in the
// order of bytes comes first. trec_eval averages over all users of the truth with its flag -c, which pytrec_eval lacks.
func trecEval() Definition {
	return Definition{
		Name: "trec_eval", Program: "trec_eval 9.0.8",
		Who:     "users with a list who are in the truth",
		Order:   "by score as a 32-bit float, else by rank; of equal scores the larger id comes first",
		Repeats: "refused", RefusesRepeats: true,
		Graded:  true,
		Without: []string{"Coverage", "Gini", "Novelty"},
		order:   byScoreAndName, targets: once,
		counts: func(s *sample) bool { return s.listed && s.judged },
		each: []measure{
			{name: "Recall", formula: "hits in the first K / |T|", of: func(_ *run, k int) func(*sample) float64 {
				return func(s *sample) float64 { return share(s.hits(k), float64(s.relevant)) }
			}},
			{name: "Precision", formula: "hits in the first K / K", of: precisionOfCut},
			{name: "NDCG", formula: "sum of g_i/log2(i+1) over i <= K, divided by its value for the K largest gains " +
				"on top", of: gainedNDCG},
			{name: "MAP", formula: "sum of h_i P(i) over i <= K, divided by |T|", of: averagePrecision},
			{name: "MRR", uncut: true, formula: "1/position of the first hit in the whole list",
				of: func(r *run, _ int) func(*sample) float64 {
					return reciprocal(r, math.MaxInt)
				}},
			{name: "HR", formula: "1 with a hit in the first K", of: hit},
		},
	}
}
