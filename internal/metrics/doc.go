// Package metrics turns ranks and decisions into the numbers a paper prints.
//
// Conventions, kept by every function here:
//
//   - A rank is 1 for the best item. Ties are settled by index: the rank of item y under scores s is
//     1 + #{j : s_j > s_y} + #{j < y : s_j = s_y}, so that equal scores favour the lower index and a
//     constant scorer gets no free hit. Package eval computes ranks.
//   - A metric is a fraction in [0,1]. Papers print percent; reports multiply by 100.
//   - Averages are taken in float64 in the order of the samples, so they do not depend on workers.
//   - The mean over no samples is 0, with Count 0 beside it.
//
// The name of a metric does not say what was computed: four libraries disagree about "Recall@10" and
// "Precision@10". [Metric.Definition] says it, for one target a sample and for a set of targets.
//
// Every ranking number has a floor: [Metric.Random] returns its exact expectation under a uniformly random
// ranking, and [PopularityRanks] ranks by counts under the same tie rule.
package metrics
