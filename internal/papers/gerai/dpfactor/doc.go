// Package dpfactor is two private baselines in the tables of GERAI (Zhang et al., "Graph embedding
// for recommendation against attribute inference attacks", WWW 2021), DPMF and DPNE. Both factor a
// matrix of users and items, with noise in the objective. A third form has a guarantee that holds.
//
// DPMF is Jingyu Hua, Chang Xia, Sheng Zhong, "Differentially private matrix factorization", IJCAI
// 2015: ratings, with objective perturbation so that the items' vectors are private. DPNE is
// Depeng Xu, Shuhan Yuan, Xintao Wu, HaiNhat Phan, "DPNE: differentially private network
// embedding", PAKDD 2018: objective perturbation of a factorisation of a matrix that is derived
// from a graph's adjacency. We have checked these titles, and that much of their abstracts. The
// formulas below, the density of the noise and what one unit is are from memory of the two papers.
// GERAI adds nothing to them, and prints no budget.
//
// With a matrix m over some cells, users' vectors u of length at most 1, and d columns:
//
//	F(U, V) = sum over cells (m_ui - u.v)² + lambda |U|² + lambda |V|² + sum_i n_i.v_i
//
//	n_i with density proportional to exp(-eps |n|/(2 D))
//
// DPMF has the ratings, and only cells with one. DPNE has the adjacency, over all cells: 1 where
// there is an edge. Here H of the DPNE paper are the users' vectors and W the items'; an edge of a
// graph of users and items is one cell. Where one matrix of all nodes is factored, an edge is two
// cells, each with noise, and the same noise is worth twice the epsilon. The paper's other
// matrices, of walks of several steps, are not here: one edge moves many of their cells.
//
// # What the noise covers
//
// For fixed users' vectors, the minimiser over an item's vector is unique, and linear in
//
//	b_i = sum_u m_ui u - n_i/2      v_i = (A + lambda I)⁻¹ b_i      A = sum_u u u'
//
// Let A not depend on the secret. Then V is a fixed one-to-one map of b, and releasing V is
// releasing b. If one cell changes by at most D, one row of b moves by at most D |u| <= D, and n_i/2
// has the density exp(-eps |z|/D). So the density at any output changes by a factor of at most
// exp(eps), and V is eps-private for that cell: nothing else is needed, neither a bound on V nor a
// term for the curvature, which does not change. (Chaudhuri, Monteleoni, Sarwate, JMLR 2011,
// theorem 9, and Kifer, Smith, Thakurta, COLT 2012, need both, since their secrets move the
// curvature.) Over all cells, A is a sum over all users. So a cell may be there or not: D = 1 for the
// adjacency, one edge more or less. Over the cells with a rating, A shows which cells these are: the
// claim is for the value of a rating, D = 4 for ratings of 1 to 5, and which items have one from a
// user is taken as known.
//
// # What it does not cover
//
// The published methods alternate: users' vectors are fitted to the same cells, without noise, and
// then the items' to these. Three things fail, and the accounted epsilon is infinite.
//
//  1. Users' vectors depend on the secret. One cell moves its user's vector, with it A and every row
//     of b, and in the next round all users' vectors. No noise is for that.
//  2. F is not convex in both. Let G(V) be its least value over U. At an output V the noise must be
//     -dG/dV, and V the point where descent from the given start ends. On neighbouring data the
//     same noise may end elsewhere: the sets of reachable outputs differ, and so no ratio of
//     densities is bounded. Where both reach V, the ratio has the determinants of two Hessians of
//     G, and one of these may be as near to 0 as one likes.
//  3. A number of rounds ends at no exact minimiser, which the argument by densities needs.
//
// # Users' vectors that are public
//
// With privacy.users public, users' vectors are drawn without looking at the data, and items' vectors
// are fitted once, over all cells. Then the argument above is a proof, as it stands: A is public, one
// edge moves one row of b by at most 1, and V is eps-private for one edge more or less. Each user's
// vector for ranking is then fitted to V and to that user's own cells, as in the published methods,
// where it stays with the user. So a user's list shows that user's row to its reader, and for all
// others the guarantee is that of V (joint differential privacy: Kearns, Pai, Roth, Ullman, ITCS
// 2014). In other words V is a random projection of the columns of m, from users to d numbers, with
// noise.
//
// A user with k edges is a group of k: k eps. That is shown for the largest k.
package dpfactor
