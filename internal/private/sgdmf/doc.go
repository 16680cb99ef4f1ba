// Package sgdmf factorises a matrix by DP-SGD over users: a recommender with one finite epsilon for a whole user.
//
// Items have vectors w_j = (p_j, v_j). p_j is the root of item j's released count, scaled to at most 1, and V, the rows
// v_j of length d, is learned. A user who has the items O has the vector that solves, in closed form,
//
//	u = argmin sum_{j in O} (1 - u·w_j)² + w0 sum_{j not in O} (u·w_j)² + lambda |u - prior e_0|²       (1)
//
// over the m items of the largest released counts. This is implicit matrix factorisation (Hu, Koren, Volinsky, ICDM
// 2008) with a first column that popularity fixes: while V says nothing, users' lists are those of the counts. With u
// held fixed, minus half the gradient of (1) by V is, at the user's own items and at all others,
//
//	(1 - u·w_j) u'      and      -w0 (u·w_j) u'                                                          (2)
//
// where u' is u without its first value. By the envelope theorem it is also the whole gradient of the minimum of (1). A
// step of the run, t = 1..T:
//
//  1. takes every user independently with probability q (Poisson sample);
//  2. computes u of each from V and the user's own row, and (2) over at most k of the user's items, drawn anew for
//     each step, and over negatives: all items of the table, or some that are drawn without looking at data;
//  3. clips (2) as one vector over all its rows to length S, sums over the sample, adds N(0, (z S)²) to every
//     coordinate of V, and divides by the expected number of users q n;
//  4. moves V along the result, by gradient descent or by Adam.
//
// After the last step every user's vector is (1) for the last V, or for the mean of V over the later half of the steps,
// and items are ranked by u·w_j. Items outside of the table come after all others, by their released counts.
//
// # The guarantee
//
// Two data sets are neighbours if one has all rows of one user more (add or remove one). Released are:
//
//   - The counts of contributions of at most k items of each user. One user moves them by at most sqrt(k) in
//     Euclidean norm, and the noise is N(0, (s sqrt(k))²) on each: a Gaussian release of multiplier s (package release).
//   - The noisy sum of each step. Everything that is computed before a step is a function of releases before it (V,
//     the table of items, moments of Adam, draws of negatives), but for each user's own u, contributed items and
//     gradient, which are functions of these and of that user's row alone. So, given all releases before, the sums of
//     two neighbours on the same sample of the others differ by nothing, or, if the sample takes the one user, by one
//     vector of length at most S: whatever (2) is, it is clipped as one vector. Negatives and the user's own items
//     among them need no bound of their own. The sample takes the one user with probability q, independently of the
//     others. So the step is a Poisson-sampled Gaussian of multiplier z and rate q (Abadi et al., CCS 2016), also where
//     the sample is empty: noise alone is released.
//
// With train.sampling=allocation a user draws, by itself, one of the T = ceil(1/q) steps of every epoch and is in no
// other. Given all releases before, the sums of two neighbours then differ by at most S in that one step of each epoch:
// an epoch is a random allocation (privacy.AllocatedGaussian). It is paid whole, also where the run ends within it.
// Means divide by n/T.
//
// The rows of V that no user of the sample touched get noise too: a row without noise would say so. Adaptive
// composition of one Gaussian and T sampled Gaussians is exact (internal/privacy/accountant, contour), and z is the
// least with which it is within (epsilon, delta); the counts have their share of mu². Dividing by q n takes the number
// of users as public.
//
// V is thus (epsilon, delta)-private for a user. Users' lists are computed from V, the counts, and the user's own row.
// Towards all others the lists are private by the billboard lemma (Hsu, Huang, Roth, Roughgarden, Wu, STOC 2014): joint
// differential privacy. A user's own list shows its reader something of that user's row, which no epsilon here bounds.
//
// # Steps that read few rows
//
// (1) has all items, so a step reads all of V. With train.others=drawn the second sum of (1) runs, within steps, over
// the negatives that were drawn and that the user does not have, each weighted for all of them: the mean over draws is
// that of (1). u is still a function of releases before the step and of the user's own row, so the guarantee is the
// same. After the last step u is (1) over all items.
//
// A step then reads the negatives and the items of its users. With train.noise=deferred a row of V gets the noise of
// all steps since it was last read when it is read next, and every row does before users are ranked (descent.Deferred):
// one normal draw with the sum of the variances. What is read, and the final V, have the law that noise in every step
// gives them. So the account is the same, and so is the ledger, which has a step before its batch is drawn. Bytes
// differ. A step costs what it reads, not what the table holds. Adam, and a mean of V over steps, read every row in
// every step, and are refused. Between its steps a run has rows that lack noise. So do its checkpoints, which say which
// noise each row has: they are for whoever runs it, as the users' rows are. What is released at the end has the
// guarantee.
//
// # Departures
//
// Published matrix factorisations by DP-SGD protect a rating; users' vectors are then released with noise too. Here
// they are never released to others. Noise is drawn in floating point from a seed, for research. In single precision it
// is added to rounded sums. Rounding moves these by a little more than S, 2e-7 of it where 6,040 users pull in one
// direction, which the account leaves out.
//
// # Noise for a model that is published
//
// With run.secure=true nothing is left out. Who is in a step's sample, and all noise, are from cryptographic bits, and
// sums are exact (package secure). The counts have noise on a grid of 2^-16 and are stated as a release over a sample
// of all users, so that counts and steps have one account. The seed draws first vectors and negatives, which depend on
// no data, and which items a user contributes, which the guarantee holds for whatever the draws are. ReleasedFile has
// what is released. The first checkpoint, which has the counts, is written before the first step; a run that was
// stopped before it does not begin anew. Steps that were drawn after the last checkpoint stay in the ledger and move
// nothing.
package sgdmf
