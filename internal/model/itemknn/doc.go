// Package itemknn recommends items like those that a user has: Sarwar, Karypis,
// Konstan, Riedl, "Item-based Collaborative Filtering Recommendation Algorithms",
// WWW 2001, on a 0/1 matrix. Every item keeps its K most similar others; the score of
// item j for user u is
//
//	s_uj = m_j + sum over i in N(j) of w_ji (x_ui - m_i)
//
// with w the similarities, if Normalise over their sum, and m the items' means over
// users, if MeanBias, else 0. There is no gradient and no seed. With cosine, K = 100,
// Normalise and MeanBias it is the "ItemCF" row of the BARS benchmark on Gowalla.
package itemknn

// Cite is the publication.
const Cite = "Sarwar, Karypis, Konstan, Riedl, Item-based Collaborative Filtering Recommendation Algorithms, WWW 2001"
