// Package reproduce makes a paper's table: it trains what stands behind each row,
// and sets the results beside the printed numbers, the floors and the budgets.
//
// A grid file says which runs those are (Grid). A run is a task, a configuration
// and a seed; its directory is named after the hash of all three, so that a
// finished one is found again and never repeated, a broken one goes on from its
// checkpoint, and several processes share the work by the lock that every run
// directory has. A run that fails is reported in its cell and does not stop the
// others.
//
// What a task must do to appear in a grid: take the name of its data set under
// the key data.name, and write metrics.json with
//
//	setting               how the configuration stands to the paper's, for a note; optional
//	data.evidence_level   A, B, C or D
//	definitions           metric name -> what it means, equal to package metrics (of
//	                      several lists a sample where the grid says so)
//	floors                [{name, values}], values by metric name, as shares
//	evaluations           [{name, values}]
//	epochs, selection     a record an epoch, of the reported training and of the
//	                      one that chose its length
//
// and, where it has a budget, privacy.json with claimed {eps, unit, theorem},
// units [{unit, neighbouring, delta, accounted {eps_exact}, eps_total, unbounded}],
// unbounded [{what, why}] and features {eps1, eps_total, unbounded}. An epsilon
// without bound is the string "infinity".
//
// A table holds nothing that differs between two runs with equal results, no time
// and no machine, so that a table made after any number of kills has the bytes of
// one made in peace. What the runs took is in a file beside it.
package reproduce
