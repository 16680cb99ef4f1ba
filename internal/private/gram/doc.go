// Package gram trains the private recommenders that need one noisy release of how often users have two items
// together: DP popularity, DP-EASE and DP-ItemKNN. Each has one finite epsilon for a whole user, see package release
// for the promise and the neighbours (add or remove one user).
//
// # What is released
//
//  1. Counts c_j, the number of users who contributed item j. DP popularity ranks by them, and that
//     is its only release.
//  2. The matrix G = sum over users u of t_u z_u z_u', on the m items of the largest released counts.
//     z_u has s_i for every item i that the user contributes, else 0; s_i is the item's released count
//     to the power -item_weight/2. Entries on and above the diagonal get independent normal noise;
//     below it they are mirrored.
//
// Everything else is computed from these two: EASE (Steck, "Embarrassingly shallow autoencoders for
// sparse data", WWW 2019) or cosine neighbours (Sarwar et al., WWW 2001). A user's list applies the
// released model to the user's own whole row.
//
// # Sensitivity of the matrix
//
// The released vector has each entry off the diagonal once. Let N be the norm of a user's z z' there:
//
//	N² = sum over i <= j of (z_i z_j)² = (|z|⁴ + sum of z_i⁴)/2
//
// A user's term gets the factor t = N^-a, a in [0, 1], so its norm is N^(1-a). N is largest with the k
// largest weights. So one user more or less moves the released vector by at most
//
//	D = (largest N)^(1-a),    1 for a = 1
//
// Without item weights the largest N is sqrt(k(k+1)/2). The norm of the whole matrix, in which
// entries off the diagonal appear twice, gives the bound |z|² = k and terms z z'/n^a; that is
// D = k^(1-a), which is true as well. The same term then has up to sqrt(2) times less norm than is
// paid for: at a = 1 and n items sqrt((n+1)/(2n)). Here every user's term has norm 1 at a = 1.
//
// Which items a user contributes depends on that user's row and on released counts, so no term
// depends on another user. Weights and the choice of the m items are functions of released counts.
// Releases that depend on earlier ones compose as releases do that do not (see package release).
//
// # Sums that are exact
//
// An entry is rounded towards 0 to whole steps of a grid, about D 2^-20. The sum of the squared steps of
// a user's term is computed in integers and compared with D²; the factor t is lowered until it is
// within. Sums of whole steps are exact in 53 bits, in any order. So D holds for the numbers in the
// machine, and the same sum has the secure form, with exactly sampled discrete noise.
//
// # Rows elsewhere
//
// Elsewhere makes the same releases where a Source adds up users' terms, which are whole numbers of steps, so
// that they can be added in any order on any machines. The Source adds no noise: the ledger, what was
// declared, the noise and the files are those of a run on one machine, which then computes the model.
//
// # After the release
//
// The noise is known: a symmetric matrix of normal noise of deviation sigma has eigenvalues within
// 2 sigma sqrt(m) of 0, and below that edge an eigenvalue of G says nothing. An eigenvalue x of G above
// sigma sqrt(m) is seen at y = x + m sigma²/x, and its vector has the squared cosine 1 - m sigma²/x²
// with the true one (Benaych-Georges and Nadakuditi, "The eigenvalues and eigenvectors of finite, low
// rank perturbations of large random matrices", Advances in Mathematics 2011). The best replacement of y
// depends on the loss (Donoho, Gavish, Johnstone, "Optimal shrinkage of eigenvalues in the spiked
// covariance model", Annals of Statistics 2018; Gavish and Donoho, "Optimal shrinkage of singular
// values", IEEE Transactions on Information Theory 2017, for rectangular noise):
//
//	frobenius  sqrt(y² - 4 m sigma²)              = x times the squared cosine
//	operator   (y + sqrt(y² - 4 m sigma²))/2      = x
//	cut        y
//
// each 0 below the edge.
//
// The diagonal of G is large and has its own meaning, how often an item is there at all. With
// model.diagonal "kept", the low-rank part is fitted to the entries off the diagonal (the diagonal is
// replaced by the fit's own, several times: Zhang, Cai, Wu, "Heteroskedastic PCA", Annals of Statistics
// 2022), and the released diagonal stands beside it. "shrunk" treats it as any other entry.
//
// # Public rows
//
// With public.data, users who are not protected have rows of some of the same items, matched by id or by title. The
// results have a row "public, epsilon 0": the model of the public rows alone, with the same settings. No row of a
// protected user has a part in it, but a user's own row in that user's own list.
//
// With model.public "prior" their matrix P is added to the denoised one on the items of both, without the items'
// weights, and their counts to the released counts:
//
//	A (G + f P) A,    f = sigma / (g (apart + e))
//
// g is the root mean square of P's values at the released entries, in the weights of the release, and sigma the
// deviation of their noise. e is the relative variance that P has because its users are few: the sum of the squared
// norms of their terms over the sum of its squared entries. A is diagonal, 1 for items that public users lack and one
// number for all others, so that the released diagonal keeps its sum on the items that both have: else those that
// public users lack would be small beside them. Without noise f is 0 and A is 1. If the released counts on the public
// items sum to no more than two deviations of their noise, the releases say nothing, and the model is that of the
// public rows alone. The plan of the release does not depend on public rows. All of this is computed from what is
// released and from public rows, so the guarantee is the same (post-processing).
//
// The rule is that of two estimates weighted by their precisions. c P estimates G with the squared error
// tau² = (c g)² (distance + e), where c is the ratio of the two sums, and distance is how far the groups of users are
// apart. Let v be the squared error of the denoised G; the mean of the two is then in proportion to G + (v/tau²) c P.
// v is not sigma²: the removal of noise leaves the noise in r directions, about 2 r m sigma² over all m² entries, and
// loses the eigenvalues below sigma sqrt(m). Where the k-th eigenvalue falls like x/k, r is x/(sigma sqrt(m)), and what
// is lost has r m sigma² too. So v grows like sigma c g, not like its square, c cancels, and apart holds the distance
// and what is constant in v.
//
// apart is one public number for all data. It was chosen on training rows of MovieLens 100K: groups of its users were
// public to the others (a random group, those who came first, the oldest; with all films, without those of 1997 and
// later, or with half of them), at noise that is to the others what epsilon 0.5 to 32 are to the users of MovieLens 1M,
// by Recall@20 of rows held out.
package gram
