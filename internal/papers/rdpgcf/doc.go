// Package rdpgcf reproduces Kun Wang, Yong Wang, Jinyuan Liu, Jiangzhou Deng, "Graph
// Convolutional Collaborative Filtering Recommendation Algorithm Based on Rényi
// Differential Privacy", Journal of Software (in Chinese) 2024,
// jos.org.cn/1000-9825/7165: LightGCN whose layers are noisy and whose rows have
// length 1, with a claim of edge-level privacy by sampling. The baselines of its
// Table 2 and Figure 2 run on the same rows and protocol.
//
// Where each part of the paper stands here:
//
//	eq. 6-7 (propagation)           nn.Propagation, graph.Normalizer
//	eq. 8 (noise on layers)         layerNoise
//	eq. 9 (rows of length 1)        nn.Propagation.NormalizeRows
//	eq. 10-11 (vectors, scores)     lightgcn.Model, bpr.Ranking
//	eq. 12 (loss)                   bpr.Loss, bpr.Penalty
//	Algorithm 1 (one propagation)   perturbed
//	Algorithm 2 (training)          topn.Experiment, open
//	Theorems 3 and 5 (calibration)  Calibration
//	section 4.1 (protocol)          package topn
//	Tables 2-4                      PaperValue
//	Figure 2 (EdgeRand, LapGraph)   perturbGraph
//
// Departures, each a field of a configuration where it is a choice: Algorithm 1
// prints item rows where eq. 6 needs user rows; the penalty is that of LightGCN's
// published program; layer weights are 1/(1+L) from layer 0 on, as eq. 10's sum says
// and its text does not; delta, the standard deviation of the noise, the sampler, and
// which vectors are given out after training are stated nowhere. Unit rows bound every
// score by 1, under which the loss hardly teaches anything: model.scale multiplies the
// scores. A release "avg" is the mean of further noisy propagations of the model that
// was chosen, not of the last steps of training, which validation may not have chosen;
// each is accounted for.
//
// Protocol: all items are ranked for every user with a test row, those without a
// training row too, but the user's training and validation items. Recall@20 is over
// the user's number of test rows, the ideal of NDCG@20 over at most 20 of them; means
// are over users. On Gowalla and Yelp2018 the published split is the primary one: the
// paper's rows of BPRMF, NGCF and LightGCN there are others' published numbers.
//
// What does not hold as printed: sampling does not amplify, since every step
// propagates over the whole graph; a layer releases two views, not one; labels, the
// backward pass and layer 0 get no noise. The accounted epsilon of the published
// procedure is infinite, and that of its noise alone is shown beside the claim.
//
// # A repaired method
//
// Rows that do not depend on edges are propagated once with noise, under degrees
// clamped at a public number; a small map of the cached rows is trained by DP-SGD over
// Poisson samples of the edges, with negatives among all items and nothing chosen on
// held-out edges. Both parts have one finite epsilon together, for one training row more
// or less. The number of those rows is taken as public, since it sets the sampling rate
// and the number of steps, and so are the filters, the settings and what a report measures.
package rdpgcf
