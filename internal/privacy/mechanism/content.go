package mechanism

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// Content returns a key of a row's contents: half of the SHA-256 of its values. A local randomiser draws under the
// row's own key and this one. So a user whose row changes gets new noise, also under the same seed, and subtracting the
// output for an earlier row reveals nothing. Rows of others have no influence: leaving one user out changes nobody
// else's noise.
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
