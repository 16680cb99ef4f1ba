// Package reference computes lower bounds of the epsilon of ledgers, for tests. It shares no
// code with the accountants: each release is a law of its privacy loss, written down from its
// definition, rounded down to a grid, and composed by Fourier transforms. The result is at most
// the true epsilon, so an accountant that prints less is wrong.
//
// It knows how the units contain each other. A user contains all data about the user. So a
// release about users is charged to an edge, and a release about edges to the user who holds
// them.
package reference
