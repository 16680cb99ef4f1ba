package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
)

// Digest identifies the rows of a log that comes already split, in whatever order they
// stand: (user, item, part) of every row, by the ids of the source. It is empty for a log
// without parts. It tells apart what counts cannot: the same rows divided otherwise.
//
// It is the sum of the SHA-256 of the rows, modulo 2^256, in hex. A sum has no order, so
// that neither the order of lines nor of items matters. Unlike an exclusive or it does not
// cancel rows that come twice. Two different sets of rows that were not made for it agree
// with probability 2^-256. Someone who makes rows for it can do better (generalized
// birthdays): it finds accidents, and other splits, not forgers.
func (l *Log) Digest() string {
	if l.Parts == nil {
		return ""
	}
	var sum [sha256.Size / 8]uint64 // the first word is the highest
	var row []byte
	for k := range l.Users {
		row = l.appendRow(row[:0], k)
		h, carry := sha256.Sum256(row), uint64(0)
		for w := len(sum) - 1; w >= 0; w-- {
			sum[w], carry = bits.Add64(sum[w], binary.BigEndian.Uint64(h[8*w:]), carry)
		}
	}
	var out []byte
	for _, w := range sum {
		out = binary.BigEndian.AppendUint64(out, w)
	}
	return hex.EncodeToString(out)
}

// appendRow appends a row as "length:user length:item part", which no other row is.
func (l *Log) appendRow(b []byte, row int) []byte {
	for _, id := range []string{l.UserIDs[l.Users[row]], l.ItemIDs[l.Items[row]]} {
		b = append(append(strconv.AppendInt(b, int64(len(id)), 10), ':'), id...)
		b = append(b, ' ')
	}
	return append(b, l.Parts[row].String()...)
}

// SourceHash combines the SHA-256 digests of several files, in the order given.
func SourceHash(digests ...string) string {
	if len(digests) == 1 {
		return digests[0]
	}
	h := sha256.New()
	for _, d := range digests {
		fmt.Fprintln(h, d)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// origin says how the split of a recipe stands to the one that its authors published.
type origin uint8

const (
	splitOwn       origin = iota // the recipe makes a split; none was published
	splitUnknown                 // the source is split, and no digest says how the authors' split is
	splitOther                   // the source is split, otherwise than the authors published it
	splitPublished               // the rows and parts of the source are the published ones
)

// origin compares a log with the published split of the recipe.
func (r Recipe) origin(l *Log) origin {
	switch {
	case r.Split.Kind != SplitFixed:
		return splitOwn
	case r.Digest == "":
		return splitUnknown
	case l.Digest() != r.Digest:
		return splitOther
	}
	return splitPublished
}
