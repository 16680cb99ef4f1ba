// Package release adds normal noise to sums over users, for private recommenders: it bounds how much a user
// contributes, divides one budget among several releases, and writes the account.
//
// A private recommender here has one finite epsilon for a whole user: two data sets are
// neighbours if one has all rows of one user more. What is released to all (counts, matrices,
// vectors of items) is (epsilon, delta)-private for that user. A user's own list is computed from
// what is released and from the user's own row. So it is private towards all others, and the list
// shows its reader something of that one row. This is joint differential privacy (Kearns, Pai,
// Roth, Ullman, "Mechanism design in large games", ITCS 2014); that it holds for such lists is the
// billboard lemma (Hsu, Huang, Roth, Roughgarden, Wu, "Private matchings and allocations", STOC
// 2014).
//
// # Contributions
//
// A user contributes at most k items (Draw). Which ones is drawn from the user's own row, the
// user's id and weights that are public or released before. Other users' rows have no part in it.
// So for every outcome of the draws, one user more or less changes a sum over users by that
// user's own term, and the guarantee needs no secret draws.
//
// # Sums
//
// A sum over users whose terms have an l2 norm of at most D moves by at most D between
// neighbours (add or remove). Releaser adds normal noise of a standard deviation of a multiple of
// D, and the ledger has the event before a value changes. Sums that are multiples of a grid are
// exact: no rounding of floating-point addition enters, which depends on the order of the terms
// and moves a sum by more than D (Casacuberta et al., "Widespread underestimation of sensitivity
// in differentially private libraries and how to fix it", CCS 2022). Only such sums have the
// secure form, discrete normal noise from cryptographic bits.
//
// Counts are such a sum: c_j is the number of users who contributed item j. A user's term has at
// most k ones, so D = sqrt(k).
//
// # Seeded noise
//
// Without the secure form the guarantee is as if the noise were exact. Its key is secret (run.Env.Noise), or follows
// from run.noise_seed, and then the guarantee is as if that number were unknown. Rows that differ get noise that
// shares nothing. The epsilons of several runs on the same rows add up: nothing keeps a ledger over runs but a budget
// that they spend from.
//
// # One budget
//
// A normal release of multiplier s (its standard deviation over D) is 1/s-Gaussian-DP, and
// releases of multipliers s_1, s_2, ... together are mu-Gaussian-DP with mu² = sum of 1/s_i² (Dong,
// Roth, Su, "Gaussian differential privacy", JRSS-B 2022, corollary 3.3), also where a later
// release depends on the results of earlier ones. Multipliers finds the mu that is exactly
// (epsilon, delta)-DP and gives each release its share of mu².
package release
