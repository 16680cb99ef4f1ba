// Package slate reads logs of what a recommender showed and what users clicked, and cuts them into pairs: a slate of
// T items shown after some moment, and the L clicks right before it (the behaviour). The exposure attack guesses the
// behaviour from the slate.
//
//	log -> pairs -> split by user -> vocabulary -> tokens
//
// Source: Xin et al., "On the User Behavior Leakage from Recommender System Exposure" (TOIS
// 2023), sections 3 and 5.1, and the program that its authors published. Where the two differ,
// or the program does something that the text does not say, [Options] has a field.
//
// Conventions:
//
//   - Tokens 0..3 are [Pad], [OOV], [Start] and [End]. Items are numbered from
//     [FirstItem] on by falling frequency in the training pairs, slates and behaviours
//     counted together, so a smaller token is a more popular item.
//   - A slate is in the order shown. A behaviour is latest click first.
//   - Users are strings as the files spell them; [Pairs].Users are indices into
//     [Set].Users.
//   - Every fault of a file is a [*dataset.Error] that names file, line and field.
//     The ladder of the set counts everything that is dropped.
//   - Randomness comes only from [Options].Seed, which [Load] takes from its view.
package slate
