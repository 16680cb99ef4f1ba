// Package exposure attacks what a recommender shows: from the slate of items that a user is shown it guesses what the
// user clicked right before. A model is an encoder, which turns the T items x_t of a slate into vectors, and a
// decoder, which turns those into ranked guesses of the L clicks b_1, b_2, ..., latest first.
//
//	slate -> encoder (mean, max, attention) -> decoder (point; gru, lstm, transformer) -> lists
//
// Source: Xin et al., "On the User Behavior Leakage from Recommender System Exposure" (TOIS 2023, arXiv
// 2210.08435), section 3:
//
//	c = mean over t of x_t                                        eq. 2
//	c_j = max over t of x_tj                                      eq. 3
//	Attention(Q, K, V) = softmax(Q K' / sqrt(d)) V                eq. 4, of every head; eq. 5 joins the heads
//	X' = LN(X + drop(MHA(X))),  Z = LN(X' + drop(FFN(X')))        eq. 6, 7; c is Z's row of the start token
//	p = softmax(W c + a)                                          eq. 8, point-wise
//	q_v = 1/L for a click v, smoothing for another item           eq. 9
//	loss = - sum over v of q_v log p_v                            eq. 10
//	p_1 .. p_(L+1) = decoder(c; Start, b_1 .. b_L)                eq. 11, sequence-wise
//	h_t = LSTM([b_(t-1) ; c], h_(t-1)),  p_t = softmax(W h_t + a) eq. 12; the GRU is eq. 13
//	loss = - sum over t of log p_t at b_t, b_(L+1) = End          eq. 14
//
// Many of these formulas are words in the paper; the examples have them as loops. Where text and released
// program differ, or the text says nothing, each choice is a field of [Config], [Training], [Protocol] or
// slate.Options; [Paper] and [Code] are the two sets of values for a model.
//
// Departures from both:
//
//   - Dropout acts on the parts of a block and on what a sequence-wise decoder is fed (after its positions, in a
//     transformer); the program's layers also drop attention weights and hidden units of the feed-forward
//     network, and its recurrent decoders drop nothing.
//   - Biases start at zero.
//   - A pooled vector is the one row that a transformer decoder attends to; the program repeats it T times,
//     which gives the same.
//   - The sequence-wise loss is the mean over steps, as in the program; the text has the sum.
//   - Unknown targets count neither in the loss nor as a class of their own.
//
// One matrix for encoder and output ([TiePaper]) makes the scores of a pooling encoder with the point-wise
// decoder nearly symmetric: where x in a slate hints at a click on y, y hints at x as much. The other
// combinations have weights in between.
//
// The loss needs the softmax over the whole vocabulary. Tape.TiedSoftmax computes it tile by tile, so that
// no matrix of pairs by items exists, in training or in ranking.
//
// A score of an attack says nothing by itself: [Evaluate] puts the floors beside it, with the same number of
// guesses.
package exposure
