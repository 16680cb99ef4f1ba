package gram

import (
	"context"
	"math"

	"privrec/internal/tensor"
)

// Values of MatrixConfig.Shrink.
const (
	ShrinkNone      = "none"
	ShrinkPositive  = "positive"  // the nearest positive semidefinite matrix
	ShrinkCut       = "cut"       // eigenvalues above the edge of the noise, as they are
	ShrinkFrobenius = "frobenius" // the least expected squared error
	ShrinkOperator  = "operator"  // the eigenvalues that the matrix had before the noise
)

// Values of MatrixConfig.Diagonal.
const (
	DiagonalShrunk = "shrunk"
	DiagonalKept   = "kept"
)

// fits is the number of times that DiagonalKept fits the low-rank part.
const fits = 5

// shrunk returns the replacement of an eigenvalue y, where the noise reaches up to edge.
func shrunk(how string, y, edge float64) float64 {
	if how == ShrinkPositive {
		return math.Max(0, y)
	}
	if y <= edge {
		return 0
	}
	root := math.Sqrt((y - edge) * (y + edge))
	switch how {
	case ShrinkFrobenius:
		return root
	case ShrinkOperator:
		return (y + root) / 2
	}
	return y
}

// denoised holds a matrix after its noise was reduced.
type denoised struct {
	square
	rank int // eigenvalues that are not 0
}

// denoise returns the matrix g, which has normal noise of this deviation in every entry, denoised as the setting says.
// It overwrites g.
func (c MatrixConfig) denoise(ctx context.Context, g square, deviation float64) (denoised, error) {
	cut := c.Threshold * deviation
	diagonal := make([]float64, g.n)
	for i := range g.n {
		row := g.row(i)
		diagonal[i] = math.Max(row[i], deviation)
		for j, v := range row {
			if i != j && math.Abs(v) < cut {
				row[j] = 0
			}
		}
	}
	if c.Shrink == ShrinkNone {
		for i := range g.n {
			g.row(i)[i] = diagonal[i]
		}
		return denoised{g, g.n}, nil
	}
	edge := 2 * deviation * math.Sqrt(float64(g.n))
	if c.Diagonal != DiagonalKept {
		return low(ctx, c.Shrink, g, edge)
	}
	var d denoised
	guess := make([]float64, g.n)
	for range fits {
		from := square{g.n, append([]float64(nil), g.x...)}
		for i, v := range guess {
			from.row(i)[i] = v
		}
		var err error
		if d, err = low(ctx, c.Shrink, from, edge); err != nil {
			return d, err
		}
		for i := range guess {
			guess[i] = math.Min(d.row(i)[i], diagonal[i])
		}
	}
	for i, v := range diagonal {
		d.row(i)[i] = math.Max(d.row(i)[i], v)
	}
	return d, nil
}

// rowChunk is the number of rows that a core replaces at a time.
const rowChunk = 32

// low returns g with its eigenvalues replaced. It overwrites g.
func low(ctx context.Context, how string, g square, edge float64) (denoised, error) {
	values, vectors, err := eigen(ctx, g)
	if err != nil {
		return denoised{}, err
	}
	var rows [][]float64
	var keep []float64
	for k, y := range values {
		if v := shrunk(how, y, edge); v > 0 {
			keep, rows = append(keep, v), append(rows, vectors.row(k))
		}
	}
	out := newSquare(g.n)
	tensor.Parallel(g.n, rowChunk, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := out.row(i)
			for k, v := range keep {
				q := rows[k]
				f := v * q[i]
				for j := i; j < len(q); j++ {
					row[j] += f * q[j]
				}
			}
		}
	})
	for i := range out.n {
		for j := i + 1; j < out.n; j++ {
			out.row(j)[i] = out.row(i)[j]
		}
	}
	return denoised{out, len(keep)}, nil
}
