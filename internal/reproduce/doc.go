// Package reproduce makes a paper's table: it trains what stands behind each row, and sets
// the results beside the printed numbers, the floors and the account of privacy.
//
// A grid file says which runs those are (Grid). A run is a task, a configuration and a
// seed, and the name of its directory holds the hash of the configuration. So a finished
// run is found again and never repeated, and one that stopped goes on from its checkpoint.
// Several processes share the work by the lock of every run directory. A run that fails is
// reported in its table cell and does not stop the others.
//
// A task can appear in a grid if it takes the name of its data set under the key data.name,
// writes metrics.json as an experiment.Outcome and, where it states an epsilon,
// privacy.json as an experiment.Account. Its definitions of metrics must equal those of
// package metrics (for several lists a sample where the grid says so).
//
// A table holds nothing that differs between two runs with equal results: no time and no
// machine. So a table made after any number of kills has the same bytes as one made without
// interruption. A file beside it says what the runs took.
package reproduce
