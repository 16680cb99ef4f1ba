// Package fetch brings the files of a data set onto this machine and can prove later that they
// are still the same:
//
//	terms -> download or copy -> compare with the published hash -> unpack -> receipt
//
// data/sources.yaml, which is part of the program ([Sources]), says where a set comes from,
// which hash its archive must have and which files to take from it.
//
// The package guarantees:
//
//   - A file of a set is written whole or not at all, and receipt.json is written last.
//     A download grows in NAME.part. It continues after any interruption, but only if
//     the server proves (validator, total length) that it still has the same bytes.
//   - Content that differs from the published hash, or from the receipt of an earlier
//     fetch, is an error that shows both hashes. [Options].PinNew accepts it; the
//     receipt and every result on such files say so. Their level of evidence is that
//     of their rows. A copy from the user may hold the rows of a published split in
//     another order.
//   - An archive is hostile until unpacked. Names that leave the folder, links, devices
//     and growth beyond the limits of its source are errors, and nothing of it is used.
//   - Servers are hostile too. Lengths, ranges, redirects, web pages in place of a file
//     and silence are checked, see download.go.
//   - One process writes the folder of a set at a time; the lock ends with its process.
//
// Errors that a user can act on are [*dataset.Error] with a hint.
package fetch
