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
// the key data.name, write metrics.json as an experiment.Outcome and, where it has a
// budget, privacy.json as an experiment.Account. Definitions of metrics must equal those of
// package metrics (of several lists a sample where the grid says so).
//
// A table holds nothing that differs between two runs with equal results, no time
// and no machine, so that a table made after any number of kills has the bytes of
// one made in peace. What the runs took is in a file beside it.
package reproduce
