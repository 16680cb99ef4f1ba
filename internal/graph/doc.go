// Package graph builds the graphs that recommenders propagate on.
//
// A session graph is the graph of one item sequence: its nodes are the distinct
// items, its edges the consecutive pairs with their multiplicity. Sessions keeps
// the sequences of all users once; a training sample is a prefix of one of them,
// and Packed holds the graphs of a batch of prefixes side by side in flat arrays:
// no padding, no n x n adjacency. Prefix graphs are never stored, because the
// graph of a prefix is a prefix of the graph of its sequence when nodes are
// numbered by first appearance.
//
// Bipartite is the graph of users and items. A Normalizer weighs its edges for a
// propagation and knows how far one edge moves what is propagated, in any graph
// (Sensitivity) and in a given one (Shifts).
package graph
