// Package bpr is Bayesian personalised ranking: Rendle, Freudenthaler, Gantner,
// Schmidt-Thieme, "BPR: Bayesian Personalized Ranking from Implicit Feedback",
// UAI 2009, arXiv 1205.2618. It trains whatever gives users and items a vector (an
// [Encoder]) to score an item that the user has above one that they have not:
//
//	loss = 1/B sum softplus(-scale (z_u.z_p - z_u.z_n)) + lambda/2 1/B sum |raw rows|^2
//
// with the penalty that the released programs of NGCF and LightGCN compute: half the
// squares of the rows of the batch, repeats counted, over the batch.
//
// The sample of a training step is an edge of the graph ([Sampler]); the negative is
// drawn anew each time. What is drawn depends on the seed, the step and the place in
// the batch alone.
package bpr

// Cite is the publication.
const Cite = "Rendle et al., BPR: Bayesian Personalized Ranking from Implicit Feedback, UAI 2009, arXiv 1205.2618"
