package doctor

import (
	"fmt"
	"math"

	"privrec/internal/tensor"
)

// shapes lists products by rows, columns and inner dimension, none a multiple of a tile.
var shapes = [][3]int{{1, 1, 1}, {3, 5, 7}, {17, 31, 13}, {33, 65, 100}, {100, 129, 150}, {7, 301, 50}, {129, 1, 63},
	{5, 9, 0}}

// products tests Gemm with every transposition, with and without an old result.
func products(j *judge) {
	for _, s := range shapes {
		m, n, k := s[0], s[1], s[2]
		for _, tA := range []bool{false, true} {
			for _, tB := range []bool{false, true} {
				a, b := matrix("a", m, k), matrix("b", k, n)
				if tA {
					a = matrix("a", k, m)
				}
				if tB {
					b = matrix("b", n, k)
				}
				beta := 0.5
				if tA == tB {
					beta = 0
				}
				c, old := matrix("c", m, n), matrix("c", m, n)
				tensor.Gemm(tA, tB, 0.75, a, b, tensor.Float(beta), c)
				want, size := make([]float64, m*n), make([]float64, m*n)
				for i := range m {
					for l := range n {
						sum := beta * at(old, false, i, l)
						terms := math.Abs(sum)
						for q := range k {
							p := 0.75 * at(a, tA, i, q) * at(b, tB, q, l)
							sum, terms = sum+p, terms+math.Abs(p)
						}
						want[i*n+l], size[i*n+l] = sum, terms
					}
				}
				j.near(fmt.Sprintf("%dx%dx%d, transposed %v %v", m, n, k, tA, tB), c.Data, want,
					func(i int) float64 { return size[i] })
			}
		}
	}
}

// sparse tests CSR.MulDense on rows of 0 to 6 entries.
func sparse(j *judge) {
	for _, d := range lengths[1:] {
		const rows, cols = 23, 11
		x := matrix("sparse", cols, d)
		var ri, ci []int32
		for i := range rows {
			for e := range i % 7 {
				ri, ci = append(ri, int32(i)), append(ci, int32((3*i+5*e)%cols))
			}
		}
		val := draws("entries", len(ri))
		m, err := tensor.FromTriplets(rows, cols, ri, ci, val)
		if err != nil {
			j.fail(err.Error())
			return
		}
		got := tensor.New(rows, d)
		m.MulDense(got, x)
		want, size := make([]float64, rows*d), make([]float64, rows*d)
		for e := range ri {
			for c := range d {
				p := float64(val[e]) * at(x, false, int(ci[e]), c)
				want[int(ri[e])*d+c] += p
				size[int(ri[e])*d+c] += math.Abs(p)
			}
		}
		j.near(fmt.Sprintf("width %d", d), got.Data, want, func(i int) float64 { return size[i] })
	}
}

// vectors tests kernels that add, scale and sum slices.
func vectors(j *judge) {
	for _, n := range lengths {
		x, y := draws("x", n), draws("y", n)
		elementwise := func(what string, kernel func(dst []tensor.Float), f func(x, y float64) float64) {
			got, want := draws("y", n), make([]float64, n)
			kernel(got)
			for i := range want {
				want[i] = f(float64(x[i]), float64(y[i]))
			}
			j.near(fmt.Sprintf("%s, %d", what, n), got, want, func(int) float64 { return 8 })
		}
		elementwise("add", func(d []tensor.Float) { tensor.Add(d, x) }, func(x, y float64) float64 { return x + y })
		elementwise("axpy", func(d []tensor.Float) { tensor.Axpy(0.75, x, d) },
			func(x, y float64) float64 { return 0.75*x + y })
		elementwise("mul", func(d []tensor.Float) { tensor.Mul(d, x, y) }, func(x, y float64) float64 { return x * y })
		elementwise("scale", func(d []tensor.Float) { tensor.Scale(-0.5, d) },
			func(_, y float64) float64 { return -0.5 * y })
		elementwise("scaleTo", func(d []tensor.Float) { tensor.ScaleTo(3, d, x) },
			func(x, _ float64) float64 { return 3 * x })
		elementwise("scaleAdd", func(d []tensor.Float) { tensor.ScaleAdd(2, x, 0.25, d) },
			func(x, y float64) float64 { return 2*x + 0.25*y })
		dot, sum, sq, size, most := 0.0, 0.0, 0.0, 0.0, math.Inf(-1)
		for i := range x {
			v, w := float64(x[i]), float64(y[i])
			dot, sum, sq, size, most = dot+v*w, sum+v, sq+v*v, size+math.Abs(v)+math.Abs(v*w)+v*v, max(most, v)
		}
		got := []tensor.Float{tensor.Dot(x, y), tensor.Float(tensor.Sum(x)), tensor.Float(tensor.SumSq(x))}
		j.near(fmt.Sprintf("sums, %d", n), got, []float64{dot, sum, sq}, func(int) float64 { return size })
		j.is(float64(tensor.Max(x)) == most, "max of %d: %v, want %v", n, tensor.Max(x), most)
		_, finite := tensor.Finite(x)
		j.is(finite, "finite, %d: finite values are reported as not finite", n)
		if n > 0 {
			x[n-1] = tensor.Float(math.NaN())
			where, finite := tensor.Finite(x)
			j.is(!finite && where == n-1, "finite, %d: NaN at %d is found at %d", n, n-1, where)
		}
	}
}

// functions tests exp, sigmoid and tanh from the far left to the far right.
func functions(j *judge) {
	for _, n := range lengths {
		x := draws("f", n)
		for i := range x {
			x[i] *= 10
		}
		for _, f := range []struct {
			name   string
			kernel func(dst, src []tensor.Float)
			plain  func(x float64) float64
		}{
			{"exp", tensor.Exp, math.Exp},
			{"sigmoid", tensor.Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
			{"tanh", tensor.Tanh, math.Tanh},
		} {
			got, want := make([]tensor.Float, n), make([]float64, n)
			f.kernel(got, x)
			for i := range want {
				want[i] = f.plain(float64(x[i]))
			}
			j.near(fmt.Sprintf("%s, %d", f.name, n), got, want, func(i int) float64 { return math.Abs(want[i]) })
		}
		got, total := make([]tensor.Float, n), 0.0
		sum := tensor.ExpSum(got, x, 20)
		for i := range x {
			total += math.Exp(float64(x[i]) - 20)
		}
		j.near(fmt.Sprintf("expSum, %d", n), []tensor.Float{tensor.Float(sum)}, []float64{total},
			func(int) float64 { return total })
	}
}

// rowNorms tests scaling rows to a norm, and that no row exceeds it: a guarantee of privacy
// rests on this.
func rowNorms(j *judge) {
	const rows, c = 9, 0.2
	for _, d := range lengths[1:] {
		src, norm, clip := matrix("norm", rows, d), tensor.New(rows, d), tensor.New(rows, d)
		clear(tensor.Row(src, 4))
		for k := range d {
			tensor.Row(src, 5)[k] *= 1e-3 // a short row: clipping leaves it
		}
		tensor.NormalizeRows(norm, src, c, 1e-12, nil)
		tensor.ClipRows(clip, src, c, nil)
		for i := range rows {
			length := 0.0
			for _, v := range tensor.Row(src, i) {
				length += float64(v) * float64(v)
			}
			length = math.Sqrt(length)
			wantNorm, wantClip := make([]float64, d), make([]float64, d)
			for k, v := range tensor.Row(src, i) {
				wantNorm[k] = float64(v) * c / max(length, 1e-12)
				wantClip[k] = float64(v) * min(1, c/max(length, 1e-300))
			}
			what := fmt.Sprintf("row %d of width %d", i, d)
			j.near("normalise, "+what, tensor.Row(norm, i), wantNorm, func(int) float64 { return c })
			j.near("clip, "+what, tensor.Row(clip, i), wantClip, func(int) float64 { return c })
			for _, m := range []tensor.Matrix{norm, clip} {
				sq := 0.0
				for _, v := range tensor.Row(m, i) {
					sq += float64(v) * float64(v)
				}
				bound := float64(tensor.Float(c))
				j.is(math.Sqrt(sq) <= bound*(1+1e-12), "%s has norm %v, above %v", what, math.Sqrt(sq), bound)
			}
		}
	}
}

// adam tests three steps of the optimiser.
func adam(j *judge) {
	const rate, b1, b2, eps, l2 = 0.01, 0.9, 0.999, 1e-8, 1e-3
	for _, n := range lengths {
		w, m, v := draws("w", n), make([]tensor.Float, n), make([]tensor.Float, n)
		want, m64, v64 := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range w {
			want[i] = float64(w[i])
		}
		for t := 1; t <= 3; t++ {
			g := draws(fmt.Sprint("g", t), n)
			for i := range g {
				if g[i] == 0 { // the floor of the moments is not tested here
					g[i] = 0.5
				}
				d := float64(g[i]) + l2*want[i]
				m64[i] = b1*m64[i] + (1-b1)*d
				v64[i] = b2*v64[i] + (1-b2)*d*d
				want[i] -= rate * (m64[i] / (1 - math.Pow(b1, float64(t)))) / (math.Sqrt(v64[i]/(1-math.Pow(b2, float64(t)))) + eps)
			}
			tensor.AdamStep(w, g, m, v, tensor.NewAdamCoef(rate, b1, b2, eps, l2, t))
		}
		j.near(fmt.Sprintf("adam, %d", n), w, want, func(i int) float64 { return math.Abs(want[i]) + 1 })
	}
}
