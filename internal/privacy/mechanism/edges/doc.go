// Package edges protects adjacency matrices. A graph of users and items is
// given as their block of it (Adjacency), users in rows.
//
// Two kinds of mechanism release a matrix. EdgeRand chooses for every cell
// whether it changes; with a small epsilon most ones of the output were zeros before. LapGraph
// releases about as many ones as the matrix has, the cells that are largest after noise.
// Expected says before a run which share of the output is true edges. The law is that of noise
// on every cell, but noise is drawn only where it matters: the changed cells, where they are
// few, and the largest zeros. Perturb a graph once, before training; training on the result
// costs no more.
//
// The unit is an edge or an interaction, one cell: noise on cells does not hide a whole node.
package edges
