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
// An example is what privacy.unit says. A "sample" is one prefix with its label: nothing more is what is usually run,
// and the paper does not say what it takes. But an interaction is the label of one prefix and inside of all later ones of
// its user, up to 79 of them on ML-1M, so that the guarantee for an interaction is that for a group. A "user" is all
// samples of a user: the gradient of the sum of their losses is clipped as one vector. The account says what a sample,
// an interaction and a user cost.
//
// # The guarantee
//
// The noise covers the weights: labels, prefixes and readout enter training through clipped gradients alone. z is the
// least at which the exact account of all steps, that of the subsampled Gaussian mechanism, has the claimed epsilon. The
// account also names the z that Rényi divergences of integer orders ask for, as programs of the paper's time computed.
//
// A recommendation is computed from the user's own prefix in the clear. So the guarantee for lists is joint
// differential privacy: all that others see hardly depends on the unit; a user's own list does depend on the user's own
// items. User features are perturbed on their own, and their guarantee is apart.
//
// No row is held out, and no epoch is chosen: either would be one more access.
//
// # Lengths of gradients
//
// Package perexample has them. The item table is looked up and is the output too: with p the softmax, y the label, u the
// vector of the sample and G_in what the rows of the session get,
//
//	|dE|² = |p - y|² |u|² + 2 <(p - y) u', G_in> + |G_in|²
package dpsgd
