// Package target makes commands of attacks on finished runs. An Attack says how candidates are scored. The package
// trains or opens the run that is attacked, loads its data with and without what was held out of the training
// (run.hold_out), and asks its model for scores of users and items. It compares every attack with floors that see no
// model, over resamples of whole users, and writes metrics, cells, an account and pages. docs/add-an-attack.md shows
// one whole.
package target
