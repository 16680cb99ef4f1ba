// Package stream keeps a private stream of how often users have two items together: rows come in files, day after day,
// and after each of them the counts of items and the matrix of pairs can be released again. All releases of a stream
// together have one epsilon for a user.
//
// # What is released
//
// The catalogue, which of its items are in the matrix, and the weight w_i of each of those are fixed before the first
// row is added: public, or chosen once by noisy counts that the budget pays for. After step t the stream holds
//
//	c_i(t)    how many users contributed item i to the counts by then
//	G_ij(t)   the sum over the users u who contributed i and j to the matrix by then of f_u w_i w_j, i <= j
//
// and releases c(t) and G(t) with noise that a strategy correlates over the steps (package correlated).
//
// # A user who comes every day costs as much as one who came once
//
// An entry of a user's own matrix is set once. It is 0 until the user has both items, and f_u w_i w_j from that step
// on: w is fixed, and f_u, the user's factor, is fixed when the user first has an item of the matrix. Nothing is taken
// back. So of each entry (i, j) the user adds something to one step alone. Let x be what the user adds, a row for each
// step and a column for each entry, and C the strategy. Column (i, j) of x has one number v_ij, in the row of some step
// s(i, j), so column (i, j) of C x is v_ij times column s(i, j) of C, and
//
//	|C x|² = sum over i <= j of v_ij² |C e_s(i,j)|²  <=  (largest |C e_s|²) (sum over i <= j of v_ij²)
//
// The first factor is the square of the strategy's sensitivity for a unit that takes part once. The second is at most
// 1: the stream keeps the sum of the squares that a user has used up, in whole numbers, and leaves out an item that
// would carry it above 1. It does not matter in which steps, and in how many, the rows come. The counts are the same: a
// user sets at most k of them to 1, each once, so the second factor is k.
//
// One user more or less changes that user's x alone: factor, choice and order of the items depend on the user's rows,
// the user's id and what is public. The rows of others may depend on earlier releases, as of people who saw what was
// recommended: the release is Gaussian, for which that changes nothing (Denisov, McMahan, Rush, Smith, Thakurta,
// NeurIPS 2022, theorem 2.1).
//
// # The factor
//
// Let N(S) be the norm of the entries w_i w_j, i <= j, of the items S. A user with the items S at first gets the factor
// 1/max(N(S), N_E), where N_E = sqrt(E(E+1)/2) is the norm of E items of weight 1. Whoever begins with about E items or
// more uses up the whole share at once, as in a single release. Whoever begins with fewer adds items until it is used
// up. A user who began with fewer than E items has room for about E of them.
//
// # Secure streams
//
// In a secure stream the strategy's entries are multiples of 1/256 and users' entries whole steps of a grid, so C x is
// in whole steps of a finer grid. Discrete normal noise of whole steps from cryptographic bits is added to it, and what
// is released is computed from that sum alone. Its price is that of discrete normal noise.
//
// # The folder
//
// A folder holds a stream. Public are stream.json (what is fixed), items.csv, ledger.jsonl, which lists all releases of
// the whole stream before the first of them, and the files of released. Secret are state.safetensors and noise.key.
// The state is one file that is replaced whole: a command that is killed has happened, or has not. A release is drawn
// with the state of its step and written after it, so what was drawn and not kept was not shown.
//
// A stream states the path of its folder, and a copy elsewhere is refused: two folders that go on with other rows would
// be two streams for one epsilon. An older state that is put back at the same place is not noticed.
package stream
