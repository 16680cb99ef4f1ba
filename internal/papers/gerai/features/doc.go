// Package features makes the user features of GERAI and perturbs them: Zhang, Yin, Chen, Huang, Cui,
// Zhang, "Graph embedding for recommendation against attribute inference attacks", WWW 2021.
//
//	Table 1                 Kinds, Statistics, Clear: 21 features, 44 values
//	Algorithms 1 and 2      local.FeatureSampler, through Config.Release
//	Lemma 4.1, theorem 4.1  Config.Cost, which says more: what a single attribute costs
//
// Statistics are of training ratings only. The paper says that features are normalised to [-1, 1],
// and not how; here every number has a fixed public range, and the least and the greatest value of
// all users (min-max) is an option that its account calls a leak. A user draws zeta of the 21
// features once; they are never drawn again, and a resumed run gets the same rows.
//
// Departures. Numbers come out on a grid of 2^-20: the digits of a float64 would show the input. The
// algorithm's box writes the condition for a set bit on the output; it is on the input. Form
// "attributes" is not the paper's: it leaves the statistics out, which are functions of ratings that
// the recommender has anyway, and every user sends each of the three attributes under a budget of
// its own.
//
// File perturbs the features of users in files of one's own by the same mechanism.
package features
