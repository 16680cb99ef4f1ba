package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
)

// Digest returns a hash of the (user, item, part) of all rows of a log that comes already split, with the ids of the
// source, in any order of the rows. It returns "" for a log without parts. Unlike counts, it tells apart two splits of
// the same rows.
//
// The digest is the sum of the SHA-256 of the rows, modulo 2^256, in hexadecimal. A sum does not depend on the order of
// lines or items. Unlike an exclusive or it does not cancel rows that come twice. Two different sets of rows that were
// not made to agree do so with probability 2^-256. Rows can be made to agree with less work (generalized birthdays), so
// the digest finds accidents and other splits, not forgeries.
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

// appendRow appends a row as "length:user length:item part". No two different rows give the
// same bytes.
func (l *Log) appendRow(b []byte, row int) []byte {
	for _, id := range []string{l.UserIDs[l.Users[row]], l.ItemIDs[l.Items[row]]} {
		b = append(append(strconv.AppendInt(b, int64(len(id)), 10), ':'), id...)
		b = append(b, ' ')
	}
	return append(b, l.Parts[row].String()...)
}

// SourceHash returns one hash of the SHA-256 digests of several files in the given order.
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
