// Package als factorises by alternating least squares with one finite epsilon for a whole user: Chien, Jain,
// Krichene, Rendle, Song, Thakurta, Zhang, "Private Alternating Least Squares: Practical Private Matrix Completion
// with Tighter Rates", ICML 2021, arXiv 2107.09802, with weights within a user's row as in Krichene, Jain, Song,
// Sundararajan, Thakurta, Zhang, "Multi-Task Differential Privacy Under Distribution Skew", ICML 2023, arXiv
// 2302.07975. We have checked their titles, authors and abstracts; the form of the rounds is from memory of them. The
// sensitivities are derived here.
//
// Counts of items are released first, once (package release). The m items of the largest counts get vectors of length
// d, V; the others are left to popularity, and come after them. The counts also give weights w_uj within a user's row,
// with sum of squares at most 1 for each user, so that rare items count more. A user contributes at most k of them.
// Then there are T rounds:
//
//	users, on their own rows (vector)      u = argmin sum over O_u of (r_uj - u·v_j)² + w0 sum_j (u·v_j)² + lambda |u|²
//	                                       then u is shortened to |u| <= G
//	items, released with noise (round)     A_j = sum w_uj u u',  b_j = sum w_uj r_uj u,  K = sum of u u' over all users
//	items' vectors (solveItems)            v_j = ((A_j + w0 K)+ + lambda' I)^-1 b_j
//
// (M)+ is the nearest positive semidefinite matrix. These are the cells "observed". The values r_uj are 1, or ratings
// less 3; all are within [-G_r, G_r].
//
// # All cells
//
// With the cells "all" a pair that is not there is a 0 like any other: the objective is the sum over users of |p_u - V
// u|², p_u the user's row of weights. There is no matrix of an item then: A_j is the same for all, and no budget goes
// into m d² numbers. And V counts only by what it spans, since u = (V'V)^-1 V'p_u predicts by the projection on that.
// So V is made orthonormal, u = V'p_u, and b = sum of p_u u' is one step of subspace iteration on C = sum of p_u p_u'.
// What popularity predicts has been released: V is beside that direction, where users' vectors are shorter and so is
// the noise. After the last round the sums of all rounds but the first are averaged by their noise (basis.add),
// directions that are noise are left out, and those of small eigenvalues count less, as by the penalty lambda of users'
// vectors (basis.factors). All this is computed from what was released.
//
// # What the guarantee is, and why it holds
//
// Two data sets are neighbours if one has a user more, with all rows of that user. All outputs that others see, the
// counts and all A, b and K, are (epsilon, delta)-private for that user. Proof, for data D and D with a user x more:
//
//  1. Fix what was released before a round. It fixes V, the weights of items, G and the draws of all
//     users: all are functions of released values, public settings and the seed. The vector of a
//     user z is a function of V and the row of z, and of nothing else (userStep.vector gets no other row). So
//     users other than x have the same vectors on both sides, and contribute the same terms: on the
//     two sides the sums A, b and K differ by the term of x alone. V of the next round depends on x
//     by the released values alone.
//
//  2. With w = (w_xj) of norm at most 1, |r_xj| <= G_r and |u| <= G, the term of x has
//
//     |b_x|² = sum_j w_xj² r_xj² |u|²   <= (G G_r)²
//     |A_x|² = sum_j w_xj² |u u'|²      <= G⁴            (Frobenius norms, |u u'| = |u|²)
//     |K_x|  = |u u'|                   <= G²
//
//     The released lower triangles have no larger norms. These are the sensitivities. They hold for whatever row
//     x has: weights are scaled, values and vectors clipped, and terms are cut to multiples of a power of
//     two towards 0 (cut), which shortens them and makes sums exact, in any order and for any
//     number of users up to 2^23.
//
//  3. A sum with noise of a multiplier s (deviation over sensitivity) is 1/s-Gaussian-DP, given what was
//     released before. By adaptive composition all T rounds and the counts are mu-Gaussian-DP with mu² = sum of
//     1/s² (Dong, Roth, Su, JRSS-B 2022, corollary 3.3): they cost what one normal release costs. release.Privacy.Split
//     takes the mu that is exactly (epsilon, delta)-DP. Nothing is sampled, and nothing amplifies.
//
//  4. A user's list is a function of the released values and of that user's own row (ranking.user). So towards all
//     others the guarantee is that of the released values (the billboard lemma, see package release).
//
// In the first round of "all", V is a random basis that no data entered. There a user's vector is a random projection
// of p_u to d of m dimensions, of length about sqrt(d/m), and G is no more than that.
//
// # Departures
//
// How the budget is shared between counts, rounds, A, b and K is a setting, and lambda' is in units of the noise. "All
// cells", averages and the rule for directions are ours.
//
// RMSE of ratings is not measured: the protocol keeps no ratings of test rows.
package als
