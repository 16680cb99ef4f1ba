// Package sasrec is SASRec: Kang and McAuley, "Self-Attentive Sequential
// Recommendation", ICDM 2018, arXiv 1808.09781. A transformer reads the items of a sequence
// in order, and every position looks only at itself and back. Its output after an item
// scores the next item by inner products with the same item table:
//
//	X = sqrt(d) E[s] + P                                    eq. 1, with dropout
//	Attention(Q, K, V) = softmax(Q K' / sqrt(d)) V          eq. 2, over earlier rows
//	SA(X) = Attention(X Wq, X Wk, X Wv)                     eq. 3
//	FFN(x) = ReLU(x W1 + b1) W2 + b2                        eq. 4
//	X = X + dropout(SA(LN(X))), then X + dropout(FFN(LN(X)))    eq. 5, section III-C, b times
//	r(i after s) = LN(X)_last · E_i                         eq. 6
//	loss = - sum log sigmoid(r_next) + log(1 - sigmoid(r_negative))    eq. 7
//
// Sequences are packed: the rows of a batch are real positions, so padding costs nothing
// and cannot leak into a result. The position embedding counts from the end, as the left
// padding of the authors' program has it: the latest item is always at the last position,
// for a sequence of any length.
//
// Departures: the factor sqrt(d), the normalisation of the last output, the biases of
// attention and, with [NormCode], the place of normalisation are those of the authors'
// program, as is a dropout after the ReLU. A large batch is learned in parts of about 384 rows,
// with dropout masks of their own. With several heads, the d of eq. 2 is the width
// of a head. Attention drops elements of its output, as the paper's formula says, where the
// program drops weights. The loss is a mean ([Model.Sampled]); [Model.CrossEntropy] is
// another one.
package sasrec

// Cite names the publication.
const Cite = "Kang and McAuley, Self-Attentive Sequential Recommendation, ICDM 2018, arXiv 1808.09781"
