// Package dataset turns published interaction files into what models train on:
//
//	read -> filter -> split -> reindex
//
// A reader makes a [Log], one row an interaction, rows ordered by user, then
// time, stable, so that ties keep the order of the file. A [Recipe] filters the
// log (rating threshold, k-core, last-N), splits it and renumbers its items; the
// result is a [Sequential], the per-user sequences a model sees. Every step
// appends a [Rung] to a [Ladder] of counts, and a recipe that reproduces a paper
// carries the counts that the paper prints ([Want]), so a run can say at which
// evidence [Level] its data stand.
//
// Conventions:
//
//   - Ids of users and items are strings as the file spells them. Dense user
//     indices 0..U-1 follow the ids in ascending order: numeric order when every
//     id is a 64-bit integer, byte order otherwise (see [LessIDs]). Inside a Log
//     items are numbered the same way; inside a Sequential items are 1..V in order
//     of first appearance in the training part, users ascending, and 0 is nobody.
//   - Sequences are never copied into prefixes: a training sample is a pair
//     (user, length), see [Samples].
//   - Everything wrong with a file is an [*Error] that names file, line and field.
//   - A stand-in ([Profile]) is generated, takes the same recipes and is evidence of
//     level D wherever its files go.
//   - Nothing here is random except through a [rng.Stream] or [rng.Seed] the caller passes.
//   - A function never writes to a Log it is given; filters return new logs.
//
// A reader that drops rows at once, because a file is too large to hold whole, begins
// the ladder itself ([Log.Ladder]). Reading takes 70 to 100 bytes a kept row at its peak
// where a user has eight rows, ids included, and twenty where nine rows of ten are
// dropped, whatever is between the fields that are read.
//
// A data set is added by a function in sets.go or sets_logs.go that names its layouts and recipes, a
// line in [All], and an entry in data/sources.yaml; a test keeps the last two equal.
package dataset
