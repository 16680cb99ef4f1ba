// Package audit measures privacy from outside: lower bounds on epsilon that hold with a stated
// confidence, from how well an attacker guesses which canaries were in the data. An accountant says
// what a mechanism leaks at most; an audit says what it leaks at least, as observed. If the audit
// is above the account there is a mistake: in the mechanism, in the accountant, or in the canaries.
//
// # One run
//
// Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training run" (NeurIPS 2023): m canaries
// are in or out by independent fair coins (Coins), and one training sees those that are in. The
// attacker scores all of them, guesses r by a rule fixed beforehand (Rule) and abstains on the
// rest; v guesses are right.
//
//	coins, err := audit.NewCoins(rng.Seed(7).Stream("canaries"), 10000)
//	// train with the canaries for which coins.In(i), score all
//	guesses, err := audit.Rule{In: 500, Out: 500}.Guess(scores)
//	count, err := coins.Count(guesses)
//	bound, err := audit.OneRun(count, audit.Options{Delta: 1e-5, Level: 0.05})
//
// OneRunPValue is their theorem 5.2, with the term of delta multiplied by all m canaries and not by
// the r guesses: many canaries and a large delta leave no bound. OneRunMu is by Mahloujifar, Melis,
// Chaudhuri, "Auditing f-differential privacy in one run" (2024): the same counts against a
// Gaussian trade-off curve, a stronger hypothesis and a larger bound. OneRunRejects takes any
// curve.
//
// # Many runs
//
// TwoRun is by Jagielski, Ullman, Oprea, "Auditing differentially private machine learning"
// (NeurIPS 2020) and Nasr et al. (S&P 2021): models with and without a canary, Clopper-Pearson
// bounds on both error rates, in both directions. TwoRunMu is the bound on mu of Gaussian DP. With
// k copies of a canary every bound is one on a group of k, and is converted to one unit by group
// privacy.
//
// # What makes a bound false
//
// A bound holds if the canaries are units of the neighbouring relation, in or out independently of
// each other and of everything that the attacker chose: the rule, its thresholds, the number of
// guesses. A choice that depends on which canaries were in must be paid for. Split chooses on one
// subset of the canaries and counts on the other; Options.Tests divides the level among as many
// bounds as were computed (Bonferroni). The largest of many uncorrected bounds is no bound.
//
// Every Bound has its ceiling: what the same experiment would have returned if all guesses had been
// right. A bound at its ceiling says that the experiment was too small, not what the mechanism
// leaks.
//
// All results err to the low side: no rounding makes a bound larger than the counts support. The
// conversion from mu to epsilon is a parameter, since an audit must not share the arithmetic of the
// accountant that it checks; pass accountant.Exact.
package audit
