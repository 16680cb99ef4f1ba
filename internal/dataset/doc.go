// Package dataset is what a data set is, from rows to what a model trains on:
//
//	log -> filter -> split -> reindex
//
// It reads no file and knows no set by name. Rooms beneath it do.
//
// # Words
//
// A [Log] is a table of interactions, one row an interaction, rows ordered by user, then
// time, stable, so that ties keep the order of the file. A [Recipe] filters a log (rating
// threshold, k-core, last-N), splits it and renumbers its items. The result is a
// [Sequential], the sequence of every user, or [Interactions], the pairs of every user
// without order, or a [Cross], two domains with the same users. Every step appends a
// [Rung] to a [Ladder] of counts. A recipe that reproduces a paper carries the counts that
// the paper prints ([Want]), so that a run can say at which [Level] of evidence its data
// stand: A for the authors' own split, B for equal counts, C for other rows, D for
// synthetic ones.
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
//   - Everything wrong with a file or a set is an [*Error] that names file, line and field.
//   - Nothing here is random except through a [rng.Stream] or [rng.Seed] the caller passes.
//   - A function never writes to a Log it is given; filters return new logs.
//
// # How the packages meet
//
//	bytes --format--> Log, Features --Recipe--> Sequential, Interactions, Cross
//	         |                          |
//	standin --> Log, Features        registry: which files, which recipe, which counts
//
// Each package imports those above it in this list and no other:
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
