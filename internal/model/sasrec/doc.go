// Package sasrec is SASRec: Kang and McAuley, "Self-Attentive Sequential
// Recommendation", ICDM 2018, arXiv 1808.09781. A transformer that looks back only
// reads the items of a sequence in order; its output after an item scores what comes
// next by inner products with the same item table:
//
//	X = dropout(sqrt(d) E[s] + P)                   section III-A
//	X = block(X), b times                           III-B to III-D
//	F = LayerNorm(X);  r(i after s) = F_last · E_i  eq. 6
//
// A block is causal attention and a point-wise network of two layers (eq. 2 to 5), each
// with dropout, layer normalisation and a residual. The paper's formula and the
// authors' program place the last two differently, see [Config].
//
// Sequences are packed: the rows of a batch are real positions only, so padding costs
// nothing and cannot leak into a result. The position embedding counts from the end, as
// the left padding of the authors' program has it: the latest item is always at the
// last position, whatever the length of the sequence.
//
// Departures: attention drops elements of its output, as the paper's formula says, where
// the program drops weights; there is no dropout between the two layers of the
// point-wise network other than the program's, after its ReLU.
package sasrec

// Cite is the publication.
const Cite = "Kang and McAuley, Self-Attentive Sequential Recommendation, ICDM 2018, arXiv 1808.09781"
