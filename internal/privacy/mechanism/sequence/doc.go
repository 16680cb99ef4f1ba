// Package sequence perturbs users' sequences of items, cell by cell (the PriCDSR paper, section
// III). For each cell in turn it draws an id: the one in the cell with weight e^eps, and each
// other id that was not written yet with weight 1. If the drawn id is in another cell, the two
// change places. The items of a row stay distinct.
//
// There are three variants. SDPPaper is exactly the paper's. Its theorem 1 does not hold for
// rows with padding, where it costs twice its epsilon, and the ledger records that. SDPFixed
// gives each padding cell a name of its own, and the theorem holds. RR perturbs every cell
// separately.
//
// Perturb takes all rows at once. Mechanism.Open opens a Run for rows that come one after the
// other: users are numbers, and each goroutine takes a Sampler for a range of them.
// Mechanism.OpenUsers opens a Run for users with ids, who come in any order, each once. It
// remembers the users in memory and in a Spill. Finish fails if a user came twice, since the
// noise of a user must be drawn only once.
//
// All choices are exact (see mechanism.Bits), and the row of a user depends only on the stream
// and the user's key. A run checks at the end that as many cells were kept, and such ids drawn
// in their place, as the law says.
package sequence
