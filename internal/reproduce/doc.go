// Package reproduce makes a paper's table: it trains what stands behind each row, and sets
// the results beside the printed numbers, the floors and the account of privacy.
//
// A grid file says which runs those are (package grid), and the list of them how far each is (roster). A Plan makes
// them, each once, and a Queue those first that add most to the evidence. What they take is known beforehand (costs).
// Several processes share the work by the lock of every run directory. A run that fails is reported in its table cell
// and does not stop the others. The tables, figures and verdicts come from finished runs alone (results).
//
// A task can appear in a grid if it takes the name of its data set under the key data.name,
// writes metrics.json as an experiment.Outcome and, where it states an epsilon,
// privacy.json as an experiment.Account. Its definitions of metrics must equal those of
// package metrics (for several lists a sample where the grid says so).
package reproduce
