package nearest

import (
	"fmt"
	"math"
)

// Similarity names a measure of the similarity of two rows of a 0/1 matrix.
type Similarity string

const (
	// Cosine is c/(sqrt(a b) + shrink), for rows with a and b columns and c in common.
	Cosine Similarity = "cosine"
	// Dot is c/(1 + shrink), for rows with c columns in common.
	Dot Similarity = "dot"
)

// Options sets how the neighbours of a row are chosen and weighted.
type Options struct {
	Similarity Similarity
	Neighbours int     // K, kept for each row, at least 1; fewer where fewer share a column
	Shrink     float64 // at least 0; lowers similarities that few columns support
	Normalise  bool    // divide the weights of a row by their sum
}

// Validate returns an error for the first option out of its range.
func (o Options) Validate() error {
	switch {
	case o.Similarity != Cosine && o.Similarity != Dot:
		return fmt.Errorf("similarity is %q, want %q or %q", string(o.Similarity), string(Cosine), string(Dot))
	case o.Neighbours < 1:
		return fmt.Errorf("neighbours is %d, want at least 1", o.Neighbours)
	case !(o.Shrink >= 0) || math.IsInf(o.Shrink, 1):
		return fmt.Errorf("shrink is %v, want at least 0 and finite", o.Shrink)
	}
	return nil
}

// Weight returns the similarity of two rows with a and b columns, common of them shared.
func (o Options) Weight(common int32, a, b int) float64 {
	size := 1.0
	if o.Similarity == Cosine {
		size = math.Sqrt(float64(a) * float64(b))
	}
	return float64(common) / (size + o.Shrink)
}

// Similar returns a worker for Lists that finds the neighbours of rows 0..n-1 of a matrix by their similarity.
func (o Options) Similar(x Matrix, n int) (worker func() func(j int) []Neighbour) {
	return func() func(j int) []Neighbour {
		c := NewCommon(x, n)
		return func(j int) []Neighbour {
			return Keep(c.Neighbours(j, func(i, common int32) float64 {
				return o.Weight(common, len(x.Columns(j)), len(x.Columns(int(i))))
			}), o.Neighbours, o.Normalise)
		}
	}
}
