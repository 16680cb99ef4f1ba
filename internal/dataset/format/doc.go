// Package format reads and writes files of interactions, of user features and of lists of
// ids. It tells a file by its form, never by the data set that it belongs to.
//
// # Three ways to read
//
// Whole: ReadInter, ReadTable, Table.Read, ReadAdjacency and ReadSequences make a
// dataset.Log, ReadUserAtomic and Table.ReadFeatures make dataset.Features. Reading takes
// 70 to 100 bytes a kept row at its peak where a user has eight rows, ids included, and
// twenty where nine rows of ten are dropped, whatever is between the fields that are read.
//
// A user at a time: Stream gives interactions in the order of the file, Rows gives rows of
// any columns. Their memory does not grow with the file.
//
// With a parser of one's own: ReadFile opens a file and hands an Input to a function. The
// function asks for rows (Input.EachRow, Input.EachObject), turns fields into ids, numbers
// and times (Input.ID, Input.Token, Input.Rating, Input.Timestamp), collects them in a
// dataset.Builder, and ends with Input.Finish. A reader that drops rows at once, because
// a file is too large to hold whole, counts them in a Funnel and ends with
// Input.FinishFunnel: the log then begins with a ladder of what was dropped.
//
// # Promises
//
//   - A file is plain, gzip or zstd. Its first bytes say which, not its name.
//   - Text is UTF-8. A byte order mark is passed over; UTF-16, zero bytes, a blank line
//     inside and a compressed file that was cut short are errors.
//   - No row is skipped and nothing is guessed. What is wrong is a *dataset.Error with
//     file, line, field and, where one is known, a remedy.
//   - The hash of a log is that of the bytes on disk, so that a compressed copy is another
//     file.
//   - Reading stops when its context ends, in a pipe too.
//   - WriteAtomic makes a data set whole or not at all, and what it wrote reads back as
//     the same log. Beside synthetic rows it writes a card, by which every later reader
//     knows them for what they are (HasCard).
//
// # Where things are
//
//   - input.go, share.go: bytes to lines; hashing and progress.
//   - fields.go, parse.go, jsonline.go: lines to fields, fields to values.
//   - table.go, recbole.go, adjacency.go, sequences.go, ids.go: whole files.
//   - featurebuilder.go, funnel.go: what readers collect beside rows.
//   - stream.go, rows.go: files of any length.
//   - write.go, card.go, compress.go, field.go: the way back.
//
// Package formattest has what the tests of readers share.
package format
