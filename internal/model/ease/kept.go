package ease

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/progress"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Kept holds what a fitted EASE is corrected from when rows of users leave: both matrices are items x items.
type Kept struct {
	Lambda  float64
	Gram    tensor.Matrix // X'X, whole numbers
	Inverse tensor.Matrix // P = (X'X + lambda I)^-1
}

// Count returns the Gram matrix of a graph, whose inverse Invert computes. It fails as Fit does.
func Count(ctx context.Context, g *graph.Bipartite, lambda float64) (*Kept, error) {
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		return nil, fmt.Errorf("ease: lambda is %v, want positive and finite", lambda)
	}
	if g.Users == 0 || g.Items == 0 {
		return nil, errors.New("ease: no users or no items")
	}
	k := &Kept{Lambda: lambda, Gram: tensor.NewTable(g.Items, g.Items), Inverse: tensor.NewTable(g.Items, g.Items)}
	if err := gram(ctx, k.Gram, g.UsersOf, g.ItemsOf, 0); err != nil {
		k.Close()
		return nil, fmt.Errorf("ease: %w", err)
	}
	mirror(k.Gram)
	return k, nil
}

// Close frees both matrices. Models of them must not be used afterwards.
func (k *Kept) Close() {
	tensor.Free(k.Gram)
	tensor.Free(k.Inverse)
	k.Gram, k.Inverse = tensor.Matrix{}, tensor.Matrix{}
}

// Take subtracts the rows of users who leave from the Gram matrix, which stays a matrix of whole numbers. It leaves the
// inverse as it is.
func (k *Kept) Take(rows [][]int32) {
	for _, items := range rows {
		for _, i := range items {
			row := tensor.Row(k.Gram, int(i))
			for _, j := range items {
				row[j]--
			}
		}
	}
}

// Renumber moves the items to other numbers: item i of the matrices becomes to[i], or is dropped if that is -1. n is
// the number of items that remain, and their numbers are those below n.
func (k *Kept) Renumber(to []int32, n int) {
	if same(to, n) {
		return
	}
	gram, inverse := tensor.NewTable(n, n), tensor.NewTable(n, n)
	for i, a := range to {
		if a < 0 {
			continue
		}
		for _, m := range [][2]tensor.Matrix{{k.Gram, gram}, {k.Inverse, inverse}} {
			from, into := tensor.Row(m[0], i), tensor.Row(m[1], int(a))
			for j, b := range to {
				if b >= 0 {
					into[b] = from[j]
				}
			}
		}
	}
	k.Close()
	k.Gram, k.Inverse = gram, inverse
}

// same reports whether a renumbering of n items changes nothing.
func same(to []int32, n int) bool {
	for i, a := range to {
		if int(a) != i {
			return false
		}
	}
	return len(to) == n
}

// Invert computes the inverse from the Gram matrix, to the bits of Fit on the same rows.
func (k *Kept) Invert(ctx context.Context) error {
	for i := range k.Gram.Rows {
		copy(tensor.Row(k.Inverse, i), tensor.Row(k.Gram, i))
		tensor.Row(k.Inverse, i)[i] += tensor.Float(k.Lambda)
	}
	if err := Invert(ctx, k.Inverse); err != nil {
		return fmt.Errorf("ease: %w", err)
	}
	return nil
}

// Correct corrects the inverse for users who leave, one after the other, without inverting again: for a row x,
//
//	(A - x x')^-1 = P + y y' / (1 - x'y),  y = P x
//
// after Sherman and Morrison. It takes 2 n² operations a user, and is exact but for rounding, which Within bounds. It
// fails if rounding has eaten the divisor.
func (k *Kept) Correct(ctx context.Context, rows [][]int32) error {
	n := k.Inverse.Rows
	s := progress.Begin(ctx, "correct the inverse", len(rows))
	defer s.End()
	y, sum := make([]tensor.Float, n), make([]float64, n)
	for u, items := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		clear(sum)
		for _, i := range items { // P is symmetric: row i is column i
			for j, v := range tensor.Row(k.Inverse, int(i)) {
				sum[j] += float64(v)
			}
		}
		left := 1.0
		for _, i := range items {
			left -= sum[i]
		}
		if !(left > 0) {
			return fmt.Errorf("ease: correct the inverse for row %d of %d: rounding leaves %g, want a positive number",
				u+1, len(rows), left)
		}
		for j, v := range sum { // one vector for both sides: the inverse stays symmetric to the bit
			y[j] = tensor.Float(v / math.Sqrt(left))
		}
		tensor.Parallel(n, 64, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				tensor.Axpy(y[i], y, tensor.Row(k.Inverse, i))
			}
		})
		s.Add(1)
	}
	return nil
}

// probes is the number k of normal vectors of Within, and miss the chance of a bound that is too small.
const (
	probes = 24
	miss   = 1e-6
)

// least returns a number that a sum of k squares of normal numbers is below with a chance of at most p: kx, where
// (x e^(1-x))^(k/2) is p. This is Chernoff's bound.
func least(k int, p float64) float64 {
	want, lo, hi := 2/float64(k)*math.Log(p), 0.0, 1.0
	for range 60 {
		if x := (lo + hi) / 2; math.Log(x)+1-x < want {
			lo = x
		} else {
			hi = x
		}
	}
	return float64(k) * lo
}

// Within bounds how far the weights B of the inverse P are from the exact ones, in any entry. Let A = X'X + lambda I,
// R = A P - I, and b = -p_j/P_jj the weights of item j. They solve A b = -(e_j + r_j)/P_jj, the exact ones solve it
// without r_j, and both are 0 at j. Off j their difference solves a system with a part of A, whose inverse has norm at
// most 1/lambda, so it is at most |r_j| / (lambda P_jj). The norms of the columns of R are estimated from the products
// P A z - z with normal vectors z, in double precision. The bound is too small with a chance of at most one in a
// million; it is infinite if nothing can be said.
func (k *Kept) Within(s rng.Stream) float64 {
	n := k.Gram.Rows
	z, az, r := make([]float64, n*probes), make([]float64, n*probes), make([]float64, n*probes)
	for i := range z {
		z[i] = s.NormFloat64()
	}
	tensor.Parallel(n, 16, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			at := i * probes
			accumulate(az[at:at+probes], tensor.Row(k.Gram, i), z)
			for p := range probes {
				az[at+p] += k.Lambda * z[at+p]
			}
		}
	})
	tensor.Parallel(n, 16, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			accumulate(r[i*probes:(i+1)*probes], tensor.Row(k.Inverse, i), az)
		}
	})
	worst, c := 0.0, least(probes, miss/float64(n))
	for j := range n {
		sum := 0.0
		for p := range probes {
			d := r[j*probes+p] - z[j*probes+p]
			sum += d * d
		}
		own := float64(tensor.Row(k.Inverse, j)[j])
		if !(own > 0) {
			return math.Inf(1)
		}
		worst = max(worst, math.Sqrt(sum/c)/(k.Lambda*own))
	}
	return worst
}

// accumulate adds the products of a row of a matrix with the columns of x (len(row), probes) to sum.
func accumulate(sum []float64, row []tensor.Float, x []float64) {
	var acc [probes]float64
	for j, v := range row {
		f := float64(v)
		for p, w := range x[j*probes : (j+1)*probes] {
			acc[p] += f * w
		}
	}
	for p := range sum {
		sum[p] += acc[p]
	}
}

// Model returns the model of the inverse for the rows of a graph, which are those of the Gram matrix. It shares the
// inverse with k.
func (k *Kept) Model(g *graph.Bipartite) (*Model, error) {
	if g.Items != k.Inverse.Rows {
		return nil, fmt.Errorf("ease: the kept matrix is of %d items, the rows have %d", k.Inverse.Rows, g.Items)
	}
	m := &Model{graph: g, inverse: k.Inverse, scale: make([]float64, g.Items)}
	if err := m.weigh(context.Background(), k.Lambda); err != nil {
		return nil, fmt.Errorf("ease: %w", err)
	}
	return m, nil
}
