// Package graph builds the graphs that recommenders propagate on.
//
// A session graph is the graph of one item sequence: its nodes are the distinct
// items, its edges the consecutive pairs with their multiplicity. Sessions keeps
// the sequences of all users once. A training sample is a prefix of one of them,
// and Packed holds the graphs of a batch of prefixes side by side in flat arrays,
// without padding and without an n x n adjacency. Prefix graphs are not stored:
// with nodes numbered by first appearance, the graph of a prefix is a prefix of
// the graph of its sequence.
//
// Bipartite is the graph of users and items. A Normalizer weighs its edges for a
// propagation and computes how far one edge moves the propagated rows, in any graph
// (Sensitivity) and in a given one (Shifts).
package graph
