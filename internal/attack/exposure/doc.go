// Package exposure is an attack on what a recommender shows: from the slate of items that a user is shown
// it guesses what the user clicked right before. A model is an encoder, which turns the T items of a slate
// into vectors, and a decoder, which turns those into ranked guesses of the L clicks, latest first.
//
//	slate -> encoder (mean, max, attention) -> decoder (point; gru, lstm, transformer) -> lists
//
// Source: Xin et al., "On the User Behavior Leakage from Recommender System Exposure" (TOIS 2023, arXiv
// 2210.08435), section 3: equations 2 and 3 are the pooling encoders, 4-7 the self-attention, 8-10 the
// point-wise decoder, 11-14 the sequence-wise ones. Many formulas are words only there. Where text and
// released program differ, or the text says nothing, each choice is a field of [Config], [Training],
// [Protocol] or slate.Options; [Paper] and [Code] are the two sets of values for a model.
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
// decoder all but symmetric: where x in a slate hints at a click on y, y hints at x as much. The other
// combinations have weights in between.
//
// The loss needs the softmax over the whole vocabulary; Tape.TiedSoftmax computes it tile by tile, so that
// no matrix of pairs by items ever exists, in training or in ranking.
//
// A number from here says nothing by itself: [Evaluate] puts the floors beside it, with the same number of
// guesses.
package exposure
