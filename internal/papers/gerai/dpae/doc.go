// Package dpae is DPAE, a private baseline in the tables of GERAI (Zhang, Yin, Chen, Huang, Cui,
// Zhang, "Graph embedding for recommendation against attribute inference attacks", WWW 2021):
// an autoencoder of users' rows that is trained by stochastic gradient descent with normal noise.
// GERAI cites Liu et al. for it, and says no more than that Gaussian noise is combined with the
// gradient descent of an autoencoder. We take the work to be Xiaoqian Liu, Qianmu Li, Zhen Ni, Jun
// Hou, "Differentially private recommender system with autoencoders", iThings 2019; that title is
// from memory, and we have not read it. It is not the autoencoder of Phan, Wang, Wu, Dou,
// "Differential privacy preservation for deep auto-encoders" (AAAI 2016), which has noise in the
// coefficients of its objective.
//
// With a user's row x in {0,1}^I of the training items, and d hidden units:
//
//	h = sigmoid(W1' x + b1)          W1 (I, d)
//	s = W2 h + b2                    W2 (I, d)
//	L = -sum_i [w x_i ln sigmoid(s_i) + (1 - x_i) ln(1 - sigmoid(s_i))]
//
// Items are ranked by s. Width, weight w, optimiser and length of training are ours. GERAI prints
// no budget for its baselines: their papers' best settings were used. Ours is the sum of what GERAI
// claims for itself, 0.4 + 20, at a delta of 1e-5, so that no baseline has less.
//
// # The guarantee
//
// A step takes every user with the same probability, clips each one's gradient to C, and releases
// the sum with noise: algorithm 1 of Abadi et al. (CCS 2016) with a user as the example. The total
// over all steps is that of the subsampled Gaussian mechanism, for one user more or less. With
// train.sampling=allocation a user is in one step of each epoch, drawn at random, and the total is
// that of such epochs. One
// rating more or less exchanges a user's row for another, which may cost more and is shown beside.
//
// It covers the weights. A user's list is s of that user's own row, in the clear. So the guarantee
// for lists is joint differential privacy (Kearns, Pai, Roth, Ullman, ITCS 2014): all that other
// users see, their own lists included, hardly depends on a user's row. A user's own list does, and
// who reads it learns about that row what no epsilon bounds. Hidden vectors that a run writes are
// such too.
//
// # Lengths of gradients
//
// With e = dL/ds and f = dL/dh o h o (1-h), a user's gradient has the parts e h', e, x f' and f. So
// the square of its length is |e|²(|h|²+1) + |f|²(|x|²+1), and the clipped gradients of a batch sum
// to products of matrices: no gradient exists for a user alone (Goodfellow, "Efficient per-example
// gradient computations", 2015).
package dpae
