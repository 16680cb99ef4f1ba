// Package fetch brings the files of a data set onto this machine and proves later
// that they are still the same:
//
//	terms -> download or copy -> compare with the published hash -> unpack -> receipt
//
// Where a set comes from, what its archive must hash to and which files are taken
// from it is said by data/sources.yaml, which the program carries ([Sources]).
//
// What holds:
//
//   - A file of a set appears whole or not at all, and receipt.json is written last.
//     A download grows in NAME.part; it goes on after any interruption, and only when
//     the server proves (validator, total length) that it still has the same bytes.
//   - Content that differs from the published hash, or from what the receipt of an
//     earlier fetch says, is refused with both hashes. [Options].PinNew accepts it and
//     says so in the receipt, and so does every result on such files. Their level of
//     evidence is that of their rows. A copy that is given may hold the rows of a published
//     split in another order.
//   - An archive is hostile until unpacked: names that leave the folder, links, devices
//     and archives that grow beyond the limits of their source are refused as a whole.
//   - Servers are too: lengths, ranges, redirects, web pages in place of a file and
//     silence are checked, see download.go.
//   - One process writes the folder of a set at a time; the lock ends with its holder.
//
// Errors that a person can do something about are [*dataset.Error] with a hint.
package fetch
