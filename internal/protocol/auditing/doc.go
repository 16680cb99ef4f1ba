// Package auditing measures privacy from outside: lower bounds on the epsilon of models that other
// tasks train, from what they show of canaries that were planted into their data.
//
// A canary is a unit that no user made: an edge, which is a user of the data and an item that the user
// has in no part, or a user with random items. The package trains models of a task with them
// (run.plant), asks the models for what the auditor is allowed to see, takes off what models without
// canaries show, and lets package privacy/audit make the bound.
//
//	source                                                      here
//	Steinke, Nasr, Jagielski, NeurIPS 2023: one training, many  AuditConfig.oneRun
//	  canaries, guesses with abstention
//	Jagielski, Ullman, Oprea, NeurIPS 2020: many trainings      AuditConfig.twoRun
//	  with and without one canary, Clopper-Pearson
//
// Two controls belong to every audit. The positive one is the same with the noise off: what the
// auditor finds at all. The negative one has no canary, and is held against coins that were never
// used: its bound is 0 and the interval of its advantage contains 0, but for chance.
//
// The account of the audited run stands beside the bound. A promise for users covers edges; a promise
// for edges says nothing of users without the privacy of groups, and is not compared. Many private
// recommenders promise what all others see, and compute a user's own list from the user's own row in
// the clear. Their account says so ("users' own" among what is public), and the auditor is then shown
// nothing that was computed from a canary's own row: scores are asked with histories that do not
// depend on the coins, and of vectors only those of items are read.
package auditing
