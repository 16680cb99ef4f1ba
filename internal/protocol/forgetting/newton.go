package forgetting

import (
	"context"
	"math"
)

// conjugate returns x that solves (H + damping) x = b, by at most so many conjugate gradients. product computes H v
// into its second argument. It ends when the residual is a thousandth of b, or where the curvature is not positive,
// with the x so far: the first direction itself if there is none (Steihaug 1983, without a trust region). It returns
// the number of products.
func conjugate(ctx context.Context, b []float64, damping float64, steps int,
	product func(v, out []float64) error) (x []float64, products int, err error) {
	x = make([]float64, len(b))
	r, p, hp := append([]float64(nil), b...), append([]float64(nil), b...), make([]float64, len(b))
	rr := dot(r, r)
	for least := rr * 1e-6; rr > least && rr > 0 && products < steps; products++ {
		if err := ctx.Err(); err != nil {
			return nil, products, err
		}
		if err := product(p, hp); err != nil {
			return nil, products, err
		}
		for k, v := range p {
			hp[k] += damping * v
		}
		curvature := dot(p, hp)
		if curvature <= 0 {
			if products == 0 {
				for k, v := range b {
					x[k] = v / damping
				}
			}
			return x, products + 1, nil
		}
		a, was := rr/curvature, rr
		for k := range x {
			x[k] += a * p[k]
			r[k] -= a * hp[k]
		}
		rr = dot(r, r)
		for k := range p {
			p[k] = r[k] + rr/was*p[k]
		}
	}
	return x, products, nil
}

// dot returns the inner product of two vectors.
func dot(x, y []float64) float64 {
	sum := 0.0
	for k, v := range x {
		sum += v * y[k]
	}
	return sum
}

// norm returns the length of a vector.
func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }
