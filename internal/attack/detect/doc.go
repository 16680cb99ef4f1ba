// Package detect measures how well scores tell positives from others, beside floors that see no
// model, and what is left of an attack beyond the best floor. A candidate is a user, an
// interaction or a pair; a positive was in the training data, or is an edge of its graph. The
// package sees numbers alone, so that anything can be attacked; what they mean is said above it.
//
//	source                                                            here
//	Carlini et al., "Membership Inference Attacks From First          metrics.ROC
//	  Principles", S&P 2022, section III: rates at low false
//	  positive rates
//	Davison and Hinkley, "Bootstrap Methods and their Application",   Compare
//	  1997, section 3.8, strategy 1
//
// A floor may look at the answers to choose its direction, so that what is left of an attack
// beyond it errs downward.
package detect
