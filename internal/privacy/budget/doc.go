// Package budget keeps one privacy budget on a file that several runs spend from. A run reserves what it will release
// at most before its first release, and a run that would overdraw the budget is refused.
//
// # The file
//
// The first line states the budget: epsilon, delta, the unit, the data, and the rule by which costs add up. Each
// further line is a reservation, an attempt at one by a run that goes on, how many releases such an attempt shows, or
// how a reservation ended. Lines are only appended, each under a kernel lock and synced to disk before the caller goes
// on. A checksum in each line covers all lines before it, so that a line changed or lost by accident is found (package
// chain). A line is accepted only if the writer would write exactly these bytes, and if it can follow those before it.
// A process that is killed while it writes leaves half a line: it has released nothing for it, and the next writer
// removes it.
//
// Whoever can write the file can recompute all checksums, and can cut whole lines off its end. No budget detects that.
//
// # What a run keeps
//
// A reservation stays whatever happens to its run: interrupted, failed or killed, since a part of what it released may
// have been seen, and it may go on. Only a run that ended without any release gives its reservation back. Under a Rényi
// rule a run that ended keeps the divergence of what it released; under the other rules it keeps what it reserved,
// because the place where a run stopped may depend on its releases, and then the epsilon of the releases that were made
// does not hold for them.
//
// # Why a copy of a run does not release twice
//
// Noise without a seed is drawn anew by every copy of a run's directory that goes on. So the budget says which of them
// may. Every attempt of a run, the first one too, has a mark of 128 random bits. The directory holds the mark of the
// attempt before it and its own, on disk before the budget has the own one. The budget holds the mark of the last
// attempt, a check in the run's ledger from which that attempt went on, and how many releases the ledger is known to
// list. Each of these rules is kept under the budget's lock:
//
//  1. An attempt is taken by a directory that holds the mark of the last one, and whose ledger has that check and
//     lists at least as many releases. It gets a new mark.
//  2. A release is in the ledger, on disk, before the budget counts it, and the budget counts it before anything made
//     from it is shown. It counts those of the last mark only.
//  3. After the end of a reservation no attempt is taken and no release is counted.
//
// By 1 and 2 the ledgers of all releases ever shown form one line: say that attempt k shows n releases. Attempt k+1 is
// taken by a directory with the mark of k, which only attempt k wrote, so it is that of attempt k or a copy made since,
// and its ledger is that of k at some moment. It lists at least n releases, and k shows no more, because its mark is
// the last no longer. So the ledger of k+1 holds all that k showed, and goes on from there; what the ledger holds
// counts against the plan that was reserved. By induction the last ledger holds every release, and they are within the
// plan.
//
// A directory that was killed goes on whatever the moment. Before the reservation is on file, the budget knows none of
// its marks, and it reserves. Between the mark in the directory and the attempt in the budget, the mark before holds;
// after it, its own. Between the ledger's line and the budget's count, the ledger lists more, which is enough. Between
// the last release and the end, it goes on and ends; the manifest says that a run is done before the budget does, and a
// run that is done and resumed says it again. Only where a kill or a crash tears a write of the ledger in two, so that
// releases which were counted are lost there, the directory is like an older copy. Where the two cannot be told apart,
// the run is refused.
//
// Seeded noise is the same again wherever a copy goes on with the same configuration and data, and both are compared.
// The rules hold for it all the same, so that nothing rests on that.
//
// # Why the sum is a guarantee
//
// Which run comes next, and with how much noise, is chosen after the results of those before. Composition theorems fix
// all of that beforehand, and guarantee nothing here. A filter does (package classic):
//
//   - Sum: epsilons and deltas add up to at most the budget's (Rogers, Roth, Ullman, Vadhan, "Privacy
//     odometers and filters", NeurIPS 2016).
//   - Approximate: sqrt(2 ln(1/slack) sum epsilon_i²) + sum epsilon_i²/2 is at most epsilon, and the deltas
//     with slack at most delta (Whitehouse, Ramdas, Rogers, Wu, "Fully-adaptive composition in differential
//     privacy", ICML 2023).
//   - Renyi: divergences at one order, fixed when the budget is made, add up to at most what that order
//     allows (Feldman and Zrnic, "Individual privacy accounting via a Rényi filter", NeurIPS 2021).
//
// Their conditions, which this package keeps: the rule, its order and its slack are fixed before the first run; a run
// is refused before it releases anything, by what it may cost at most; that cost holds whatever the results before it
// were, for neighbours of the budget's unit and relation. Runs at the same time, each of which shows results while
// others go on, are concurrent composition: every filter in epsilon and delta, or in Rényi divergence of a fixed order,
// is valid there too (Haney et al., "Concurrent composition for interactive differential privacy with adaptive
// privacy-loss parameters", CCS 2023).
//
// The guarantee is the whole budget, for all runs together. The part spent so far is not a guarantee: a half-spent
// budget still guarantees only the whole epsilon.
package budget
