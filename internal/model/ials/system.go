package ials

import (
	"math"

	"privrec/internal/tensor"
)

// wide is the number of columns of a factor that solveSystem makes together.
const wide = 4

// solveSystem replaces b by the x with A x = b, for a symmetric positive definite A (n, n) of some ten rows. a holds A,
// given by its lower triangle, and below it the row b. inverse (n) is memory. ok is false at the first row whose pivot
// is not above tensor.LeastPivot times its diagonal entry.
//
// It does the work of tensor.Cholesky and tensor.CholeskySolve with other rounding. Calls of kernels for vectors this
// short take longer than their sums. So it keeps eight sums in registers, of four columns and two rows. b is one more
// row of the factor, which solves L y = b.
func solveSystem(a, inverse []tensor.Float) (row int, ok bool) {
	n := len(inverse)
	for i := range n {
		inverse[i] = tensor.Float(tensor.LeastPivot) * a[i*n+i]
	}
	k := 0
	for ; k+wide <= n; k += wide {
		for i := k; i < k+wide; i++ {
			if !pivot(a, inverse, i, k) {
				return i, false
			}
		}
		i := k + wide
		for ; i+1 <= n; i += 2 {
			twoRows(a, inverse, i, k)
		}
		if i <= n {
			below(a, inverse, i, k, k+wide)
		}
	}
	for i := k; i < n; i++ {
		if !pivot(a, inverse, i, k) {
			return i, false
		}
	}
	below(a, inverse, n, k, n)
	b := a[n*n : (n+1)*n]
	for i := n - 1; i >= 0; i-- { // L' x = y
		v := b[i] * inverse[i]
		b[i] = v
		y := b[:i]
		for k, w := range a[i*n : i*n+i] {
			y[k] -= v * w
		}
	}
	return 0, true
}

// below finishes columns k to end of row i of the factor, given the rows k to end and the columns left of k.
func below(a, inverse []tensor.Float, i, k, end int) {
	n := len(inverse)
	x := a[i*n : i*n+end]
	for j := k; j < end; j++ {
		sum := x[j]
		for l, v := range a[j*n : j*n+j] {
			sum -= x[l] * v
		}
		x[j] = sum * inverse[j]
	}
}

// pivot finishes row i of the factor from column k on and its inverse. It reports whether there is one.
func pivot(a, inverse []tensor.Float, i, k int) bool {
	n := len(inverse)
	below(a, inverse, i, k, i)
	p := a[i*n+i]
	for _, v := range a[i*n : i*n+i] {
		p -= v * v
	}
	if !(p > 0 && p > inverse[i]) || math.IsInf(float64(p), 1) {
		return false
	}
	inverse[i] = 1 / tensor.Float(math.Sqrt(float64(p)))
	return true
}

// twoRows does the work of below for four columns from k on of rows i and i+1.
func twoRows(a, inverse []tensor.Float, i, k int) {
	n := len(inverse)
	x, y := a[i*n:i*n+k], a[(i+1)*n:(i+1)*n+k]
	p, q, r, s := a[k*n:k*n+k+wide], a[(k+1)*n:(k+1)*n+k+wide], a[(k+2)*n:(k+2)*n+k+wide], a[(k+3)*n:(k+3)*n+k+wide]
	u, v := a[i*n+k:i*n+k+wide], a[(i+1)*n+k:(i+1)*n+k+wide]
	u0, u1, u2, u3 := u[0], u[1], u[2], u[3]
	v0, v1, v2, v3 := v[0], v[1], v[2], v[3]
	y, p, q, r, s = y[:len(x)], p[:len(x)+wide], q[:len(x)+wide], r[:len(x)+wide], s[:len(x)+wide]
	for l, e := range x {
		f := y[l]
		u0 -= e * p[l]
		v0 -= f * p[l]
		u1 -= e * q[l]
		v1 -= f * q[l]
		u2 -= e * r[l]
		v2 -= f * r[l]
		u3 -= e * s[l]
		v3 -= f * s[l]
	}
	w := inverse[k : k+wide]
	q, r, s = q[k:], r[k:], s[k:]
	u0, v0 = u0*w[0], v0*w[0]
	u1, v1 = (u1-u0*q[0])*w[1], (v1-v0*q[0])*w[1]
	u2, v2 = (u2-u0*r[0]-u1*r[1])*w[2], (v2-v0*r[0]-v1*r[1])*w[2]
	u3, v3 = (u3-u0*s[0]-u1*s[1]-u2*s[2])*w[3], (v3-v0*s[0]-v1*s[1]-v2*s[2])*w[3]
	u[0], u[1], u[2], u[3] = u0, u1, u2, u3
	v[0], v[1], v[2], v[3] = v0, v1, v2, v3
}
