// Package link measures link stealing under one protocol: an attacker says which pairs of a user and an item are
// edges of the graph that a recommender was trained on.
//
// The attacker is asked three times. Edges from random pairs: an attacker who knows taste wins
// without the graph. Edges from held-out interactions: those are of the same users' taste and not
// in the graph, so that taste alone does not win. Edges among all pairs of some users, at the rate
// at which edges are there: most guesses are wrong then, and the budget of guesses is a multiple
// of the number of edges, as LinkTeller's density belief. Floors that see no model, the popularity
// of the item, the degree of the user and their product, stand beside every attack; what is left
// beyond the best of them is the measure, with an interval over users.
//
// Three kinds of evidence:
//
//	kind       the attacker                                              where
//	scores     sees the scores of all items for the user                 every model of protocol top-n
//	vectors    sees the vectors of users and items                       models that release them
//	influence  changes the input of a user, and sees how the scores of   models that are trained by epochs,
//	           the other users change, and with vectors those too        which the run's checkpoint makes again
//
// An input is the user's row of layer 0, which LightGCN and NGCF have in the place of features, or
// the features themselves. The service holds the graph and computes each answer from it.
//
//	source                                                        here
//	Wu, Long, Zhang, Li, "LinkTeller: Recovering Private Edges    influence.go
//	  from Graph Neural Networks via Influence Analysis", S&P
//	  2022, arXiv 2108.06504, algorithm 1
//	the same, section IV: density belief                          attack.budgets
//	He, Jia, Backes, Gong, Zhang, "Stealing Links from Graph      similarity.go
//	  Neural Networks", USENIX Security 2021, arXiv 2005.02131,
//	  attack 0 with the distances of its Table 11
//
// Session graphs (SR-GNN, DIPSGNN) are another thing: each user has one of their own, whose edges
// join items that follow each other. They are not asked about here.
//
// Departures: nodes are of two kinds and pairs have one of each, so that the influence of a user
// is looked for at an item, in its scores for other users; LinkTeller compares two nodes of one
// kind. The change is another direction of the same length where LinkTeller scales the features by
// 1 + delta (attack.change: scaled): models that divide rows by their length do not see a scaling.
// Delta is 1 where LinkTeller takes 1e-4, too small for single precision. The squared Euclidean
// distance of He et al. orders pairs as the Euclidean one, and is left out.
package link
