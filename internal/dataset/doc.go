// Package dataset defines a data set, from rows to the form that a model trains on:
//
//	log -> filter -> split -> reindex
//
// It reads no file and knows no data set by name. The packages in its folder do.
//
// # Words
//
// A [Log] is a table of interactions: one row an interaction, rows ordered by user, then by
// time, ties in the order of the file. A [Recipe] filters a log (rating threshold, k-core, last
// n rows), splits it and renumbers its items. The result is a [Sequential] (the sequence of
// every user), an [Interactions] (the pairs of every user, without order) or a [Cross] (two
// domains with the same users). Every step appends a [Rung], its counts, to a [Ladder]. A
// recipe that reproduces a paper has the counts that the paper prints ([Want]). So a run can
// say which [Level] of evidence its data have: A for the authors' own split, B for equal
// counts, C for other rows, D for synthetic ones.
//
// # Conventions
//
//   - Ids of users and items are strings as the file spells them. Dense user
//     indices 0..U-1 follow the ids in ascending order: numeric order when every
//     id is a 64-bit integer, byte order otherwise (see [LessIDs]). Inside a Log
//     items are numbered the same way; inside a Sequential items are 1..V in order
//     of first appearance in the training part, users ascending, and 0 is no item.
//   - Sequences are never copied into prefixes: a training sample is a pair
//     (user, length), see [Samples].
//   - Every fault of a file or a set is an [*Error] that names file, line and field.
//   - Randomness comes only from a [rng.Stream] or [rng.Seed] of the caller.
//   - A function never writes to a Log of its caller; filters return new logs.
//
// # How the packages meet
//
//	bytes --format--> Log, Features --Recipe--> Sequential, Interactions, Cross
//	         |                          |
//	standin --> Log, Features        registry: which files, which recipe, which counts
//
// Each package imports only those above it in this list:
//
//   - dataset: this one. Logs, features, recipes, splits, samples, counts, evidence.
//   - format: files to logs and back, row by row or whole, plain or compressed.
//   - standin: synthetic data matched to the statistics of a real set.
//   - registry: the sets by name, the readers of the files that they are published in,
//     loading with a cache.
//   - slate: logs of what was shown and clicked, to pairs of slate and behaviour.
//
// A data set is added in package registry.
package dataset
