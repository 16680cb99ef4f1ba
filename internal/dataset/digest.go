package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
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
	sum, term := new(big.Int), new(big.Int)
	var row []byte
	for k := range l.Users {
		row = l.appendRow(row[:0], k)
		h := sha256.Sum256(row)
		sum.Add(sum, term.SetBytes(h[:]))
	}
	sum.And(sum, digestMask)
	var out [sha256.Size]byte
	return hex.EncodeToString(sum.FillBytes(out[:]))
}

// digestMask is 2^256 - 1.
var digestMask = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 8*sha256.Size), big.NewInt(1))

// appendRow appends a row as "length:user length:item part", which no other row is.
func (l *Log) appendRow(b []byte, row int) []byte {
	for _, id := range []string{l.UserIDs[l.Users[row]], l.ItemIDs[l.Items[row]]} {
		b = append(append(strconv.AppendInt(b, int64(len(id)), 10), ':'), id...)
		b = append(b, ' ')
	}
	return append(b, l.Parts[row].String()...)
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
