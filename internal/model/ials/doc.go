// Package ials is implicit alternating least squares: Hu, Koren, Volinsky, "Collaborative
// Filtering for Implicit Feedback Datasets", ICDM 2008, in the form of Rendle, Krichene, Zhang,
// Koren, "Revisiting the Performance of iALS on Item Recommendation Benchmarks", RecSys 2022,
// arXiv 2110.14037. With users' vectors w_u, items' vectors h_i of length d, and S the pairs of
// users and items that have each other, it minimises (section 3 of the latter)
//
//	sum over S (w_u·h_i - 1)²  +  alpha0 sum over all pairs (w_u·h_i)²
//	+ lambda ( sum_u (|S_u| + alpha0 |I|)^nu |w_u|²  +  sum_i (|S_i| + alpha0 |U|)^nu |h_i|² )
//
// where S_u are the items of user u, S_i the users of item i, and |I| and |U| the numbers of
// items and users. With items' vectors fixed, every user's vector has normal equations of its
// own, and alpha0 sum_i h_i h_i' is the same in all of them:
//
//	w_u = (sum over S_u of h_i h_i'  +  alpha0 H'H  +  lambda (|S_u| + alpha0 |I|)^nu I)^-1 sum over S_u of h_i
//
// A round solves them for all users and then, with the roles exchanged, for all items. The
// exponent nu = 1 makes the penalty grow with a row's number of pairs. Vectors start normal with
// mean 0 and standard deviation std/sqrt(d).
//
// Hu et al. weigh a pair of S by 1 + alpha and any other by 1, with targets 1 and 0. Their objective has
// the same minimisers as this one with alpha0 = 1/alpha and targets (1 + alpha)/alpha, which scales all
// scores by one number, and with nu = 0.
//
// The normal equations are solved in the base of the eigenvectors of alpha0 H'H, found once for all rows. There D, that
// matrix plus a row's penalty, is diagonal. A user with fewer than d pairs, whose items' vectors are the rows of H_u,
// needs no system of d equations, but one of as many as there are pairs:
//
//	(D + H_u'H_u)^-1 H_u' 1 = D^-1 H_u' (I + H_u D^-1 H_u')^-1 1
//
// After the last round users' vectors are solved once more, so that each is the exact minimiser
// for the items' vectors that rank it. That is a departure of half a round.
package ials

// Cite names the publications.
const Cite = "Hu, Koren, Volinsky, Collaborative Filtering for Implicit Feedback Datasets, ICDM 2008; Rendle et al., " +
	"Revisiting the Performance of iALS on Item Recommendation Benchmarks, RecSys 2022, arXiv 2110.14037"
