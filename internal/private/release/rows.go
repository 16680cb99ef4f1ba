package release

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// RowsSum identifies the rows of users, in any order of users: the sum of the SHA-256 of each user's row, as a number
// of 256 bits. Sums of disjoint groups of users can be added. It detects rows that differ by mistake, not by design.
type RowsSum [4]uint64

// Add adds a user with these items, ascending. A user without items adds nothing.
func (s *RowsSum) Add(user string, items []int32) {
	if len(items) == 0 {
		return
	}
	b := append(binary.AppendUvarint(nil, uint64(len(user))), user...)
	b = binary.AppendUvarint(b, uint64(len(items)))
	for _, i := range items {
		b = binary.AppendUvarint(b, uint64(i))
	}
	h := sha256.Sum256(b)
	var x RowsSum
	for k := range x {
		x[k] = binary.LittleEndian.Uint64(h[8*k:])
	}
	s.Join(x)
}

// Join adds the sum of other users.
func (s *RowsSum) Join(x RowsSum) {
	carry := uint64(0)
	for k := range s {
		s[k], carry = bits.Add64(s[k], x[k], carry)
	}
}

// Of returns the hexadecimal SHA-256 of the sum and of the ids of all items, in their order.
func (s *RowsSum) Of(items []string) string {
	h := sha256.New()
	var b []byte
	for _, id := range items {
		b = append(binary.AppendUvarint(b[:0], uint64(len(id))), id...)
		h.Write(b)
	}
	b = b[:0]
	for _, x := range s {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}
