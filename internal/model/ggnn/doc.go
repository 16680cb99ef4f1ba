// Package ggnn holds the two parts that the gated graph networks for sessions
// share: the gated [Cell], which moves the node states, and the [Readout] by
// soft attention. SR-GNN (Wu et al., AAAI 2019), A-PGNN (Zhang et al., 2020)
// and DIPSGNN (Hu & Fang, arXiv 2309.11515) differ in what they aggregate over
// edges before the cell, not in these parts.
//
// Shapes: N nodes and B sessions in a packed batch, d the item width.
package ggnn
