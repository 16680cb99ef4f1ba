package mechanism

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// Content returns a key of what a row holds: half of the SHA-256 of its values. A local randomiser draws under the
// row's own key and this one. So the noise of a user whose row is another one is another one too, also under the
// same seed, and beside the output of an earlier row nothing can be subtracted. Rows of others have no part in it:
// leaving one user out moves nobody else.
func Content[T ~int32 | ~float64](row []T) [2]uint64 {
	h := sha256.New()
	var b [8]byte
	for _, v := range row {
		binary.BigEndian.PutUint64(b[:], math.Float64bits(float64(v)))
		h.Write(b[:])
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return [2]uint64{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])}
}
