// Package edges protects adjacency matrices and sums over them. A graph of users and items is
// given as their block of it (Adjacency), users in rows.
//
// Two kinds of mechanism release a matrix. EdgeRand and GaussianEdgeRand choose for every cell
// whether it changes; with a small epsilon most ones of the output were zeros before. LapGraph
// releases about as many ones as the matrix has, the cells that are largest after noise.
// Expected says before a run which share of the output is true edges. The law is that of noise
// on every cell, but noise is drawn only where it matters: the changed cells, where they are
// few, and the largest zeros. Perturb a graph once, before training; training on the result
// costs no more.
//
// Aggregation leaves the matrix as it is and protects what is computed with it: the sums of
// embeddings over every node's neighbours, with normal noise (a channel of package channel). It
// derives the sensitivity from the norm of the embeddings, the weights and the unit, and
// normalises the embeddings itself. Where the unit is a user, BoundColumns and BoundRows bring
// the degrees within the limits of the guarantee.
//
// The unit of all but Aggregation is an edge or an interaction, one cell: noise on cells does
// not hide a whole node.
package edges
