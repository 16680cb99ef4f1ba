// Package slate turns logs of what a recommender showed and what was clicked into
// pairs (slate, behaviour): T items shown right after a moment and the L clicks right
// before it. The exposure attack guesses the second from the first.
//
//	log -> pairs -> split by user -> vocabulary -> tokens
//
// Source: Xin et al., "On the User Behavior Leakage from Recommender System Exposure"
// (TOIS 2023), sections 3 and 5.1, and the program that its authors released; where the
// two differ, or the program does what the text does not say, there is a field of
// [Options].
//
// Conventions:
//
//   - Tokens 0..3 are [Pad], [OOV], [Start] and [End]; items are numbered from
//     [FirstItem] on by falling frequency in the training pairs, slates and behaviours
//     counted together, so that a smaller token is a more popular item.
//   - A slate is in show order. A behaviour is latest click first.
//   - Users are strings as the files spell them; [Pairs].Users are indices into
//     [Set].Users.
//   - Everything wrong with a file is a [*dataset.Error] that names file, line and
//     field; everything dropped is counted in the ladder of the set.
//   - Nothing is random except through [Options].Seed.
package slate
