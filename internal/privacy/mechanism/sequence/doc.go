// Package sequence perturbs users' sequences of items, cell by cell (the PriCDSR paper, section
// III). For each cell in turn it draws an id: the one in the cell with weight e^eps, and each
// other id that was not written yet with weight 1. If the drawn id is in another cell, the two
// change places. The items of a row stay distinct.
//
// SDPPaper is exactly the paper's mechanism. Its theorem 1 does not hold for rows with padding,
// where it costs twice its epsilon, and the ledger records that. RR perturbs every cell
// separately. The others are repairs, and the epsilon of each is that of a unit:
//
//	SDPFixed    one cell, or two exchanged: padding cells have names, and the theorem holds
//	SDPLengths  the same for cells with items, given where padding is
//	SDPUser     a user's whole row: draws share its epsilon
//	Set         one interaction added, removed, replaced or moved: order is not released
//
// Each variant's guarantee is proved where its law is written down, and checked by tests that
// enumerate the sampler's law for all neighbours among all rows of small sizes.
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
