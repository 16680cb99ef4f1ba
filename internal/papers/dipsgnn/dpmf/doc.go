// Package dpmf is the private matrix factorisation in DIPSGNN's Table 2 (Hu & Fang, arXiv 2309.11515, section 5.1), of
// explicit and of implicit feedback: DPMF_exp and DPMF_imp. It is Jingyu Hua, Chang Xia, Sheng Zhong, "Differentially
// private matrix factorization", IJCAI 2015 (we had only the abstract), in the form that the authors of DIPSGNN have of
// it in another program of theirs (github.com/wentao-hu/HDPMF). With a value m for some cells of users and items,
// users' vectors u of length at most 1, and K columns:
//
//	J(U, V) = sum over cells [(m_ij - u_i.v_j)² + lambda (|u_i|² + |v_j|²)] + sum_j eta_j.v_j      (1)
//
//	eta_j has K independent Laplace coordinates of scale 2 D sqrt(K)/epsilon                       (2)
//
// DPMF_exp has the training rows with a rating of 1 to 5, and D = 4. DPMF_imp has 1 for every item that a user has, 0
// for as many others, drawn uniformly as BPRMF draws them, and D = 1.
//
// Training is theirs: in each epoch items' vectors go down the gradient of (1), cell by cell, and then users' do, which
// are cut to length 1 after each cell ([factors.train]). A cell of item j carries eta_j/n_j, where n_j is the number of
// cells of the item. Users' vectors stay with them, and rank by u_i.v_j, the same list for all that a user does next.
//
// # What the noise covers
//
// Let users' vectors be fixed. Where the value of one cell (i, j) changes by at most D, the gradient of (1) by v_j
// changes by 2 D u_i, at every v_j alike, and no other gradient changes. Its length in L1 is at most 2 D |u_i|_1 <= 2 D
// sqrt(K) |u_i| <= 2 D sqrt(K) ([Sensitivity]). At the minimum over v_j the gradient is 0, so
//
//	eta_j = 2 sum_i m_ij u_i - 2 A_j v_j,     A_j = sum_i (u_i u_i' + lambda I)
//
// A_j does not depend on the value. So a minimum V belongs to one eta on either of two neighbouring data, the two
// differ by at most 2 D sqrt(K) in L1, and the densities by a factor of at most exp(epsilon): V is epsilon-private,
// with delta 0, for the value of one cell. Two neighbours both have the cell.
//
// # What it does not cover
//
// That claim does not hold for a run. The accounted epsilon is infinite:
//
//  1. Users' vectors are fitted to the same cells without noise, and items' vectors to these: a value
//     moves them, and with them A_j and every gradient.
//  2. (1) is not convex in both, and epochs of gradient steps end at no exact minimum.
//  3. A_j is a sum over the users who have the cell. If a cell appears or vanishes, the Hessian changes
//     and no density ratio bounds that. For DPMF_imp this is everything: a cell of 1 is an
//     interaction, which is a secret by being there, and the drawn cells of 0 depend on which items
//     the user has.
//
// # Departures from their program
//
// It draws the noise anew in every epoch, and has one h for all items (eta = scale sqrt(2 h) c, h exponential, c
// normal): that is no objective perturbation, and what it spends adds up, while epochs average the noise out. Here eta
// is drawn once, item by item; the mixture is the Laplace law. With privacy.draws epoch it is drawn in every epoch, to
// see what that is worth. Values of ratings are not scaled by weights of users and items, which belong to its own
// method. Order of cells is drawn for each user and item. Negatives of DPMF_imp are drawn once, since (1) is one
// function.
package dpmf
