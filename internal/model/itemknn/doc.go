// Package itemknn recommends items like those that a user has: Sarwar, Karypis,
// Konstan, Riedl, "Item-based Collaborative Filtering Recommendation Algorithms",
// WWW 2001, on the 0/1 matrix x of users and items. Every item j keeps the K items N(j)
// that are most similar to it (section 3.1 there, the cosine). The score of item j for
// user u is the weighted sum of section 3.2.1 over what u has:
//
//	sim(j, i) = |users with both| / (sqrt(|users with j| |users with i|) + shrink)
//	s_uj = m_j + sum over i in N(j) of w_ji (x_ui - m_i)
//
// The weights w_ji are the similarities, divided by their sum if Normalise is set. m is an
// item's mean over users if MeanBias is set, else 0. There is no gradient and no seed.
//
// Departures: the paper rates on a scale and keeps neighbours by the cosine, the
// correlation or the adjusted cosine; here are the cosine and the plain count. The paper
// always divides by the sum of the absolute weights and has neither shrink nor means in
// this sum. With cosine, K = 100, Normalise and MeanBias the model is the "ItemCF" row of
// the BARS benchmark on Gowalla.
package itemknn

// Cite names the publication.
const Cite = "Sarwar, Karypis, Konstan, Riedl, Item-based Collaborative Filtering Recommendation Algorithms, WWW 2001"
