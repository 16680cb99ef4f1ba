// Package budget keeps one privacy budget on a file that several runs spend from. A run reserves what it
// will release at most before its first release, and a run that would overdraw the budget is refused.
//
// # The file
//
// The first line says the budget: epsilon, delta, what one unit is, the data, and the rule by which costs
// add up. Each further line is a reservation or says how one ended. Lines are only appended, each under a
// kernel lock and synced to disk before the caller goes on. A check in each line covers all lines before
// it, so that a line changed or lost by accident is found. A process that is killed while it writes leaves
// half a line: its reservation never was, so it has released nothing, and the next writer removes it.
//
// # What a run keeps
//
// A reservation stays whatever happens to its run: interrupted, failed or killed, since a part of what it
// released may have been seen, and it may go on. Only a run that ended without any release gives its
// reservation back. Under a Rényi rule a run that ended keeps the divergence of what it released; under the
// other rules it keeps what it reserved, because where a run stopped may depend on what it had released,
// and then the epsilon of the releases that were made is none of theirs.
//
// # Why the sum is a guarantee
//
// Which run comes next, and with how much noise, is chosen after the results of those before. Composition
// theorems fix all of that beforehand, and guarantee nothing here. A filter does (package classic):
//
//   - Sum: epsilons and deltas add up to at most the budget's (Rogers, Roth, Ullman, Vadhan, "Privacy
//     odometers and filters", NeurIPS 2016).
//   - Approximate: sqrt(2 ln(1/slack) sum epsilon_i²) + sum epsilon_i²/2 is at most epsilon, and the deltas
//     with slack at most delta (Whitehouse, Ramdas, Rogers, Wu, "Fully-adaptive composition in differential
//     privacy", ICML 2023).
//   - Renyi: divergences at one order, fixed when the budget is made, add up to at most what that order
//     allows (Feldman and Zrnic, "Individual privacy accounting via a Rényi filter", NeurIPS 2021).
//
// Their conditions, which this package keeps: the rule, its order and its slack are fixed before the first
// run; a run is refused before it releases anything, by what it may cost at most; that cost holds whatever
// the results before it were, for neighbours of the budget's unit and relation. Runs at the same time, each
// of which shows results while others go on, are concurrent composition: every filter in epsilon and delta,
// or in Rényi divergence of a fixed order, is valid there too (Haney et al., "Concurrent composition for
// interactive differential privacy with adaptive privacy-loss parameters", CCS 2023).
//
// The guarantee is the whole budget, for all runs together. What is spent so far is no guarantee: a budget
// that is half spent is still one of the whole epsilon.
package budget
