// Package pricdsr adds the privacy layer of "Privacy-preserving cross-domain sequential recommendation" (PriCDSR) to
// any model of two domains: the histories of one domain are perturbed once, and the model stays as it is.
//
//	paper                               here
//	definition 1, sequential data       histories.Reader: in order of time, the first
//	matrix                              occurrence of an item, the last L, padding in front
//	figure 2 and equation 1, the        sequence.Mechanism, variant sdp-paper
//	mechanism M
//	definition 2, eps-SDP               Report: one cell, or two cells exchanged
//	figure 3                            the toy of the mechanism's tests
//
// Departures:
//
//   - Theorem 1 is false where zeros are about: exchanging two cells can show with
//     e^(2 eps). The default is sdp-fixed, where zeros have names (sequence.SDPFixed)
//     and the proof is right; sdp-paper is reported with 2 eps.
//   - What definition 2 protects is a cell or an order. Three more repairs protect something else,
//     or need less noise (promiseOf): sdp-lengths, set and sdp-user.
//   - The authors' program takes the catalogue from the data it protects, which gives
//     away who is the only one to have an item. Here its size or its ids are stated
//     for files; a run takes those of the data set as public, unless auxiliary.items states a size.
//   - An equal time is broken by the order of the file, not by an unstable sort.
//   - A draw costs O(1) and not O(m): keep or not first, then one of the others.
package pricdsr
