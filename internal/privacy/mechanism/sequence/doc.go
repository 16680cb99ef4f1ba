// Package sequence perturbs users' sequences of items, cell by cell (the PriCDSR paper,
// section III): in each cell in turn an id is drawn, the one that stands there with
// weight e^eps, each other that was not written yet with weight 1, and the drawn id
// changes places with the one that stood there. The items of a row stay distinct.
//
// There are three variants. SDPPaper is the paper's to the letter, whose theorem 1 does
// not hold for rows with padding: it costs twice its epsilon, and so it is recorded.
// SDPFixed names the padding, and the theorem holds. RR answers every cell alone.
//
// Perturb takes all rows at once. Mechanism.Open opens a Run for rows that come one
// after the other: users are numbers, and each goroutine takes a Sampler for a range of
// them. Mechanism.OpenUsers opens one for users with ids, who come in any order, each
// once: what came is remembered in memory and in a Spill, and Finish says if a user came
// twice, since the noise of a user is drawn once.
//
// All choices are exact (see mechanism.Bits), the row of a user depends on the stream
// and the user's key alone, and a run checks in the end that as many cells were kept,
// and such ids drawn in their place, as the law says.
package sequence
