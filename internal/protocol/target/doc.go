// Package target is what attacks on finished runs have in common: which run is attacked, or what
// is trained for it, its data with and without what was held out of the training
// (run.hold_out), what its model shows of pairs of users and items, and how results stand beside
// floors that see no model.
package target
