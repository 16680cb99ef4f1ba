// Package dpsgd is DPSGD, a private baseline in Table 2 of DIPSGNN (Hu and Fang, arXiv 2309.11515): "a differentially
// private version of stochastic gradient descent", with citations of Song, Chaudhuri, Sarwate (GlobalSIP 2013) and
// Abadi et al. (CCS 2016), and nothing else. It is DIPSGNN's network without noise on its messages, on the same
// perturbed user features, whose gradients have the noise.
//
// With g_x the gradient of example x over all parameters, z the noise multiplier and q the rate, a step is algorithm 1
// of Abadi et al.:
//
//	each x in the batch with probability q, independently
//	sum = sum over the batch of g_x min(1, S/|g_x|) + N(0, z² S²) on every coordinate
//	Adam takes sum / (q examples)
//
// With train.sampling=allocation every x draws one of the ceil(1/q) steps of each epoch and is in no other, as the
// examples of shuffled batches are, but for their sizes, which vary. An epoch has an account of its own
// (privacy.AllocatedGaussian), for an example added or removed.
//
// privacy.unit defines an example. A "sample" is one prefix with its label, as is usual; the paper does not say what it
// uses. But an interaction is the label of one prefix and inside of all later ones of its user, up to 79 of them on
// ML-1M, so that the guarantee for an interaction is that for a group. A "user" is all samples of a user: the gradient
// of the sum of their losses is clipped as one vector. The account says what a sample, an interaction and a user cost.
//
// An "interaction" is a sample whose items were released before training, see Released items.
//
// # The guarantee
//
// The noise covers the weights: labels, prefixes and readout enter training through clipped gradients alone. z is the
// least at which the exact account of all steps, that of the subsampled Gaussian mechanism, has the claimed epsilon.
// The account also names the z that Rényi divergences of integer orders ask for, as programs of the paper's time
// computed.
//
// A recommendation is computed from the user's own prefix in the clear. So the guarantee for lists is joint
// differential privacy: all that others see hardly depends on the unit; a user's own list does depend on the user's own
// items. User features are perturbed on their own, and their guarantee is apart.
//
// No row is held out, and no epoch is chosen: either would be one more access.
//
// # Released items
//
// A repair of DIPSGNN that was proposed keeps embeddings fixed and adds noise to each message once. It takes as public
// which row a message goes to. But the item at a position is that row's identity, and it is read again as a state, in
// the readout and as a label, so that nothing is protected. The nearest form with a guarantee is privacy.unit:
// interaction.
//
//   - Every position p of a sequence v is released once, before training: x_p = c(v_p) + N(0, sigma² I), c a fixed code
//     of length C for every item, which does not depend on the data. Messages, states and readout are computed from the x_p.
//     The nodes of a session are its positions, since merging those of one item would show which are the same.
//   - The label v_p is in one sample, that of the prefix v_1 .. v_{p-1}, and is learned by DP-SGD over samples.
//
// Neighbours: the item at one position is another one, or none; how many rows a user has is public. The release moves
// by 2 C at most, or by C. Given the release, one sample has another label, so that the sum of clipped gradients moves
// by 2 S at most, or by S. A test finds both over all neighbours of small data. The steps depend on what was released,
// which adaptive composition allows. Test sequences are released too: lists are post-processing, and need no joint
// guarantee.
//
// privacy.inputs is the release's share: sigma = 2 C / (mu sqrt(inputs)), mu that of one normal release with the same
// epsilon and delta. z is the least at which the exact account of the release and all steps, for exchanging one
// interaction, has the claimed epsilon.
//
// With run.secure=true samples and noise are from cryptographic bits, and sums are exact (package secure): the weights
// may be published. Gradients are then computed one by one. User features, and a release of items, have no secure form.
//
// # Lengths of gradients
//
// Package perexample has them. The item table is looked up and is the output too: with p the softmax, y the label, u
// the vector of the sample and G_in what the rows of the session get,
//
//	|dE|² = |p - y|² |u|² + 2 <(p - y) u', G_in> + |G_in|²
package dpsgd
