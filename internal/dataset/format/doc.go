// Package format reads and writes files of interactions, of user features and of lists of ids.
// It goes by the form of a file, never by the data set that it belongs to.
//
// # Three ways to read
//
// Whole: ReadInter, Table.Read, Table.ReadKnown, ReadAdjacency and ReadSequences return a
// dataset.Log; ReadUserAtomic and Table.ReadFeatures return dataset.Features. At its peak,
// reading takes 70 to 100 bytes a kept row, ids included, where a user has eight rows. It takes
// twenty where nine rows of ten are dropped. Fields that are not read cost nothing.
//
// A user at a time: Stream gives interactions in the order of the file, Rows gives rows of
// any columns. Their memory does not grow with the file.
//
// With a parser of the caller: ReadFile opens a file and hands an Input to a function. The
// function asks for rows (Input.EachRow, Input.EachObject), turns fields into ids, numbers and
// times (Input.ID, Input.Token, Input.Rating, Input.Timestamp), collects them in a
// dataset.Builder, and ends with Input.Finish. A reader that drops rows at once, because a file
// is too large to hold whole, counts them in a Funnel and ends with Input.FinishFunnel: the log
// then begins with a ladder of the dropped rows.
//
// # Promises
//
//   - A file is plain, gzip or zstd. Its first bytes say which, not its name.
//   - Text is UTF-8. A byte order mark is skipped; UTF-16, zero bytes, a blank line
//     inside and a compressed file that was cut short are errors.
//   - No row is skipped and nothing is guessed. Every fault is a *dataset.Error with
//     file, line, field and, where one is known, a remedy.
//   - The hash of a log is that of the bytes on disk, so a compressed copy has another
//     hash.
//   - Reading stops when its context ends, also from a pipe.
//   - WriteAtomic writes a data set whole or not at all, and the files read back as
//     the same log. Beside synthetic rows it writes a card, which tells every later
//     reader that they are synthetic (HasCard).
//
// # Where things are
//
//   - input.go, share.go: bytes to lines; hashing and progress.
//   - fields.go, parse.go, jsonline.go: lines to fields, fields to values.
//   - table.go, recbole.go, adjacency.go, sequences.go, ids.go: whole files.
//   - featurebuilder.go, funnel.go: what readers collect beside rows.
//   - stream.go, rows.go: files of any length.
//   - write.go, card.go, compress.go, field.go: logs and fields to files.
//
// Package formattest has helpers for the tests of readers.
package format
