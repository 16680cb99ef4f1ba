// Package dipsgnn reproduces Wentao Hu and Hui Fang, "Towards Differential
// Privacy in Sequential Recommendation: A Noisy Graph Neural Network Approach",
// arXiv 2309.11515: a recommender for item sequences whose graph aggregation is
// noisy and whose user features are perturbed on the user's device.
//
// Where each part of the paper stands here:
//
//	section 4.2, Algorithms 1-2   local.FeatureSampler, called by perturbUsers
//	eq. 4 (counts)                graph.Packed
//	eq. 6 (norm C)                Network.bound
//	eq. 5, 7 (noisy sums)         Network.sum, aggregationNoise
//	eq. 8-9 (gated cell)          ggnn.Cell
//	eq. 10-11 (readout)           ggnn.Readout
//	eq. 12-13 (scores, loss)      nextitem.Sessions: softmax cross-entropy over all items
//	Theorem 4.2 (calibration)     Claim
//	section 5.1 (protocol)        package nextitem
//	Table 2                       Table2; EdgeRand is here, DPSGD in dpsgd, the others in package baseline
//
// Departures, each a field of Config where it is a choice: the loss is the
// published program's softmax cross-entropy, since eq. 13 prints a binary one on
// softmax outputs; the attention and W3 have one bias each; user vectors join
// the states raw in every step; candidates are raw item rows; no noise rows are
// drawn for items outside a session, which nothing reads; the number of epochs is
// chosen on a held-out tenth of the training samples, not on test, and a second
// training takes all of them for so long (both are accounted); and evaluation is done twice from the same weights,
// with the noise of training and, as the published program does, without.
//
// What does not hold as printed: Theorem 4.2 prices one release of one matrix,
// while training releases two matrices, again in every prefix and epoch; the
// backward pass, the labels and the readout use the data in the clear, so no
// finite epsilon follows for the published loop; and the published program adds
// noise of standard deviation sigma squared. Accounting prints all of it beside
// the claim.
//
// # Settings with a guarantee
//
// Config.Privacy.Transitions.Count sets the noise so that the theorem's formula covers all releases of a run. That
// alone guarantees nothing: the labels and the last items of a sequence's prefixes are its items in their order, and no
// noise covers them (TestWhatIsReadInTheClear). So training sequences are cut into windows that share no row, each one
// sample. Of a window the items, the last one and the label are public, and the order of the others is private.
// Messages are all that reads it, once the backward pass stops before them (StopGradient). The neighbours are two
// windows in which two neighbouring items have changed places; ofMessages has the sensitivity, 18 C², which
// TestSwapSensitivity finds to be the largest distance over all short sequences. Rows of a release are in the order of
// the nodes, and sums over nodes round in that order; noise in floating point hides that no better than anything else,
// see privacy.Research.
//
// Guarantees for an interaction or a user need noise on gradients, which package dpsgd has.
package dipsgnn
