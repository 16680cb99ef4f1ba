// Package bpr is Bayesian personalised ranking: Rendle, Freudenthaler, Gantner,
// Schmidt-Thieme, "BPR: Bayesian Personalized Ranking from Implicit Feedback",
// UAI 2009, arXiv 1205.2618. It trains a model that gives every user and every item a
// vector (an [Encoder]) to score an item i that user u has above an item j that u does not
// have. Section 4.1 maximises, over all such triples (u, i, j),
//
//	BPR-OPT = sum ln sigmoid(x_u,i - x_u,j) - lambda |parameters|²
//
// and this package minimises, over the B triples of a batch,
//
//	loss = 1/B sum softplus(-scale (z_u·z_i - z_u·z_j)) + lambda/2 1/B sum |raw rows|²
//
// The first terms agree, since softplus(-x) = -ln sigmoid(x). Departures: the loss is a mean;
// scale, 1 in all publications, multiplies the scores; the penalty is the one that the
// released programs of NGCF and LightGCN compute, half the squares of the batch's rows,
// repeats counted.
//
// A sample of a training step is an edge (u, i) of the graph. [Sampler] draws j anew each
// time. What it draws depends only on the seed, the step and the place in the batch.
package bpr

// Cite names the publication.
const Cite = "Rendle et al., BPR: Bayesian Personalized Ranking from Implicit Feedback, UAI 2009, arXiv 1205.2618"
