// Package reference prices ledgers from below, for tests. It shares no code with the
// accountants: each release is a law of its privacy loss, written down from its
// definition, rounded down to a grid, and composed by Fourier transforms. What comes
// out is at most the true epsilon, so an accountant that prints less has made a
// mistake.
//
// It knows what the units are: a user contains everything that is about them, so what
// is said of a user is charged to an edge, and what is said of edges to the user who
// holds them.
package reference
