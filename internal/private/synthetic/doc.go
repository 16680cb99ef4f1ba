// Package synthetic draws users from the released matrix of a private run, so that one release feeds any model. It
// computes from what was released and from public lists alone (post-processing), so the guarantee of the run covers its
// users, and no further epsilon is spent.
//
// # The law
//
// Let G be the released matrix of the run's m items, without what its noise hides (package gram), and d its diagonal. A
// user's term there is divided by about the user's number of items, so G is in proportion to the probabilities of items
// and of pairs of items in a population where a real user counts the less the more items the user has:
//
//	P(i) = c d_i,    P(i and j) = c G_ij
//
// Both give the ratio of the mean of the squared number of items to its mean, r = 1 + sum over i != j of G_ij / sum of
// d_i. The mean itself is not in G. It is set to the share 0.6 of r: then the number of items varies about as much as
// an exponential number does, with a long tail. c follows from it.
//
// A synthetic user has item i if z_i > t_i, where z is normal and P(i) fixes t_i: a Gaussian copula, whose margins are
// those released. For every pair the correlation is solved for at which both are there with probability P(i and j).
// These correlations are not the correlations of any z, and most of what is in them is noise. So they are replaced by L
// L' off the diagonal, with as many columns of L as G has eigenvalues beyond 2 sigma sqrt(m), the edge of the noise. No
// threshold is chosen by looking at data.
//
// What is kept is how often items are there, and how often together, as far as the release shows it. Items outside the
// matrix have no rows. Structure that the noise hides is lost, and what three items do together is what a normal law
// says. There are no times, and the order of a user's rows is random.
//
// # Randomness
//
// User u draws from the stream "synthetic.user" of the seed at index u. So the first users of a larger set are those of
// a smaller one, and workers do not matter.
package synthetic
