// Package inference measures attribute inference under one protocol (Zhang et al., "Graph Embedding for
// Recommendation against Attribute Inference Attacks", WWW 2021, section 4): an attacker knows an attribute of some
// users, such as their gender, and what these and others had and were recommended; it predicts the attribute of the
// others.
//
// What the attacker sees is named in every result: interactions and top-K lists together, as in
// the paper, lists alone, interactions alone, or the user vectors of the recommender. Most of
// what it finds is in the interactions, which no recommender can protect. So the primary
// measure is the gain of an attacker over the same attacker, trained and tested on the same
// users, that sees interactions alone. The class that most users have is the floor beneath
// both. Both floors are always measured.
//
// Users are split, stratified by class, several times. The splits depend on the seed and the
// attribute alone, so that all targets, inputs and attackers meet the same users, and each
// difference is paired. F1 of the paper is micro F1, the share of right answers: its numbers
// are multiples of one over the number of test users.
//
// Intervals are those of the corrected resampled t test ([privrec/internal/stats.ResampledT]):
// what other users, in train and in test, and other trainings of the attacker would change.
// The means of several splits of the same users are not independent. Where the truth is a gain
// of 0, since both inputs are drawn alike, Student's interval of 95 % over five splits missed
// it in 6 to 14 of 100 simulations, and a bootstrap over users, which knows no other training,
// in 4 to 9; this one in 1 to 5 (three attackers, two strengths of the signal, 200 draws
// each). It is the wider, too: more splits make it narrower.
package inference
