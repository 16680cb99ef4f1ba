// Package ggnn holds the parts that the gated graph networks for sessions
// share: the gated cell with one weight a direction, and the soft-attention
// readout. SR-GNN (Wu et al., AAAI 2019), A-PGNN (Zhang et al., 2020) and
// DIPSGNN (Hu & Fang, arXiv 2309.11515) differ in what they aggregate, not in
// these.
//
// Shapes: N nodes and B sessions in a packed batch, d the item width, dx the
// width of what a direction's weight reads.
package ggnn
