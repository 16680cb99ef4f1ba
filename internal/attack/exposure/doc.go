// Package exposure is an attack on what a recommender shows: from the slate of items that a user is shown
// it guesses what the user clicked right before. A model is an encoder, which turns the T items of a slate
// into vectors, and a decoder, which turns those into ranked guesses of the L clicks, latest first.
//
//	slate -> encoder (mean, max, attention) -> decoder (point; gru, lstm, transformer) -> lists
//
// Source: Xin et al., "On the User Behavior Leakage from Recommender System Exposure" (TOIS 2023, arXiv
// 2210.15277), section 3: equations 2 and 3 are the pooling encoders, 4-7 the self-attention, 8-10 the
// point-wise decoder, 11-14 the sequence-wise ones. Many formulas are words only there. Where text and
// released program differ, or the text says nothing, each choice is a field of [Config]; [Paper] and [Code]
// are the two sets of values.
//
// The loss needs the softmax over the whole vocabulary; Tape.TiedSoftmax computes it tile by tile, so that
// no matrix of pairs by items ever exists, in training or in ranking.
//
// A number from here says nothing by itself: [Evaluate] puts the floors beside it, with the same number of
// guesses.
package exposure
