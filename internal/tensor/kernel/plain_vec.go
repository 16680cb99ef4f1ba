package kernel

import (
	"math"
	"unsafe"
)

func axpyPlain(alpha Float, x, y []Float) {
	for i, v := range x {
		y[i] += alpha * v
	}
}

func scaleAddPlain(alpha Float, x []Float, beta Float, y []Float) {
	for i, v := range x {
		y[i] = alpha*v + beta*y[i]
	}
}

func scaleToPlain(alpha Float, x, y []Float) {
	for i, v := range x {
		y[i] = alpha * v
	}
}

func addPlain(x, y []Float) {
	for i, v := range x {
		y[i] += v
	}
}

func sumToPlain(x, y, z []Float) {
	for i, v := range x {
		z[i] = v + y[i]
	}
}

func shiftPlain(c Float, x, y []Float) {
	for i, v := range x {
		y[i] = v - c
	}
}

func normBackPlain(inv, mean, proj Float, x, y []Float) {
	for i, v := range x {
		y[i] = inv * (y[i] - mean - proj*v)
	}
}

func mulPlain(x, y, z []Float) {
	for i, v := range x {
		z[i] = v * y[i]
	}
}

// gatePlain is Gate in plain Go. It has no branch, because random signs would be mispredicted half of the time.
func gatePlain(x, y, z []Float) {
	for i, v := range y {
		b := bits(x[i])
		if !(v > 0) {
			b = 0
		}
		z[i] = fromBits(b)
	}
}

func positivePlain(x, y []Float) {
	for i, v := range x {
		y[i] = max(v, 0)
	}
}

// rationalPlain is Rational in plain Go, without a branch like gatePlain.
func rationalPlain(x, y []Float) {
	for i, v := range x {
		b := bits(v)
		if !(v > 0) {
			b = 0
		}
		r := fromBits(b)
		y[i] = r * (1 / (1 + r))
	}
}

// dotPlain returns the inner product from four partial sums, which makes it faster and
// the rounding error smaller.
func dotPlain(x, y []Float) Float {
	var s [4]Float
	for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
		s[0] += x[0] * y[0]
		s[1] += x[1] * y[1]
		s[2] += x[2] * y[2]
		s[3] += x[3] * y[3]
	}
	for i, v := range x {
		s[0] += v * y[i]
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

func sumPlain(x []Float) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}

func sumSqPlain(x []Float) float64 {
	var s float64
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return s
}

func maxPlain(x []Float) Float {
	m := Float(math.Inf(-1))
	for _, v := range x {
		if v > m {
			m = v
		}
	}
	return m
}

func expSumPlain(shift Float, x, y []Float) Float {
	var s Float
	for i, v := range x {
		e := expOne(v - shift)
		y[i] = e
		s += e
	}
	return s
}

func sigmoidPlain(x, y []Float) {
	for i, v := range x {
		y[i] = sigmoidOne(v)
	}
}

func sigmoidDotPlain(x, y, w []Float) (sum Float) {
	for i, v := range x {
		sum += w[i] * sigmoidOne(v+y[i])
	}
	return sum
}

func sigmoidBackPlain(g Float, x, y, dx, dy, dw []Float) {
	for i, v := range x {
		s := sigmoidOne(v + y[i])
		dw[i] += g * s
		d := g * s * (1 - s)
		dx[i] += d
		dy[i] += d
	}
}

func ratioDotPlain(x, y, w []Float) (sum Float) {
	for i, v := range x {
		sum += w[i] / (1 + v*y[i])
	}
	return sum
}

func ratioBackPlain(g Float, x, y, dx, dy, dw []Float) {
	for i, v := range x {
		s := 1 / (1 + v*y[i])
		dw[i] += g * s
		d := g * s * (1 - s)
		dx[i] += d
		dy[i] += d
	}
}

// row returns n elements of row i of a matrix whose rows are ld elements apart.
func row(m *Float, ld int, i int32, n int) []Float { return unsafe.Slice(at(m, int(i)*ld), n) }

func dotRowsPlain(x []Float, y *Float, ldy int, idx []int32, out []Float) {
	for e, i := range idx {
		out[e] = dotPlain(x, row(y, ldy, i, len(x)))
	}
}

func ratioDotRowsPlain(x []Float, y *Float, ldy int, idx []int32, w, out []Float) {
	for e, i := range idx {
		out[e] = ratioDotPlain(x, row(y, ldy, i, len(x)), w)
	}
}

func ratioBackRowsPlain(g, x []Float, y *Float, ldy int, dx []Float, dy *Float, lddy int, dw []Float, idx []int32) {
	for e, i := range idx {
		ratioBackPlain(g[e], x, row(y, ldy, i, len(x)), dx, row(dy, lddy, i, len(x)), dw)
	}
}

// Slices of equal length spare the loop its bounds checks.
func gruBackPlain(swap bool, dy, h, s, gh, dgi, dgh, dh []Float) {
	d := len(dy)
	h, dh = h[:len(dy)], dh[:len(dy)]
	sr, sz, sc := s[:len(dy)], s[d:][:len(dy)], s[2*d:][:len(dy)]
	ir, iz, ic := dgi[:len(dy)], dgi[d:][:len(dy)], dgi[2*d:][:len(dy)]
	hr, hz, hc := dgh[:len(dy)], dgh[d:][:len(dy)], dgh[2*d:][:len(dy)]
	hn := gh[2*d:][:len(dy)]
	for k, g := range dy {
		r, z, c := sr[k], sz[k], sc[k]
		dz, dc := g*(c-h[k]), g*z
		past := g - dc
		if swap {
			dz, dc, past = -dz, past, dc
		}
		dn := dc * (1 - c*c)
		ar, az := dn*hn[k]*r*(1-r), dz*z*(1-z)
		dh[k] = past
		ir[k], iz[k], ic[k] = ar, az, dn
		hr[k], hz[k], hc[k] = ar, az, dn*r
	}
}

func copyRowsPlain(dst []Float, w int, x *Float, ldx int, idx []int32) {
	for e, i := range idx {
		copy(dst[e*w:(e+1)*w], row(x, ldx, i, w))
	}
}

func tanhPlain(x, y []Float) {
	for i, v := range x {
		y[i] = tanhOne(v)
	}
}

func finitePlain(x []Float) bool {
	for _, v := range x {
		if v-v != 0 { // NaN for infinities and NaN
			return false
		}
	}
	return true
}

func adamPlain(w, g, m, v []Float, c *AdamCoef) {
	for i, d := range g {
		d += c.L2 * w[i]
		mm := c.Beta1*m[i] + c.OneMinusBeta1*d
		vv := c.Beta2*v[i] + c.OneMinusBeta2*(d*d)
		if mm < tinyFirst && mm > -tinyFirst {
			mm = 0
		}
		if vv < tinySecond {
			vv = 0
		}
		m[i], v[i] = mm, vv
		w[i] -= c.Step * mm / (Float(math.Sqrt(float64(vv)))*c.RootScale + c.Eps)
	}
}
