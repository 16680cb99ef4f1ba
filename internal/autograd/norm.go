package autograd

import (
	"math"

	"privrec/internal/tensor"
)

// LayerNormEps is what LayerNorm adds to the variance.
const LayerNormEps = 1e-5

// NormalizeRows is c·x/max(|x|, eps) for each row: norm exactly c, except for rows shorter than
// eps, which are only scaled by c/eps.
func (x *Node) NormalizeRows(c, eps float64) *Node {
	return x.scaleRows("normalizeRows", func(norm float64) (f float64, fixed bool) {
		return c / max(norm, eps), norm <= eps
	})
}

// ClipRows is min(1, c/|x|)·x for each row. On the bound it counts as unclipped.
func (x *Node) ClipRows(c float64) *Node {
	return x.scaleRows("clipRows", func(norm float64) (f float64, fixed bool) {
		if norm <= c {
			return 1, true
		}
		return c / norm, false
	})
}

// scaleRows multiplies each row by a factor f of its norm: either a fixed one, or one proportional
// to 1/|x|, for which dx = f·(dy - x̂(x̂·dy)), x̂ = x/|x|.
func (x *Node) scaleRows(op string, factor func(norm float64) (f float64, fixed bool)) *Node {
	w := x.Cols()
	y := x.t.node(op, x.Rows(), w, x)
	f := x.t.Buffer(2, x.Rows()) // factor; 1/|x|² where it depends on the norm, else 0
	xs := x.flat()
	for i := range x.Rows() {
		sq := tensor.SumSq(xs[i*w : (i+1)*w])
		s, fixed := factor(math.Sqrt(sq))
		f.Data[i], f.Data[x.Rows()+i] = tensor.Float(s), 0
		if !fixed {
			f.Data[x.Rows()+i] = tensor.Float(1 / sq)
		}
	}
	x.t.each(x.Rows(), w, job{kernel: mulColKernel, dst: y.V.Data, a: xs, b: f.Data, w: w})
	if y.need {
		y.back = func() {
			d := x.t.Buffer(x.Rows(), w)
			x.t.each(x.Rows(), w, job{kernel: scaleRowsBack, dst: d.Data, a: y.dy(), b: f.Data, c: f.Data[x.Rows():], d: xs, w: w})
			x.give(d)
		}
	}
	return y.checked()
}

func scaleRowsBack(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		dx, dy, x := j.dst[i*j.w:(i+1)*j.w], j.a[i*j.w:(i+1)*j.w], j.d[i*j.w:(i+1)*j.w]
		copy(dx, dy)
		if j.c[i] != 0 {
			tensor.Axpy(-tensor.Dot(x, dy)*j.c[i], x, dx)
		}
		tensor.Scale(j.b[i], dx)
	}
}

// LayerNorm is gain ∘ (x-mean)/sqrt(var+LayerNormEps) + shift over each row, with the biased
// variance. gain and shift are (1, d).
func (x *Node) LayerNorm(gain, shift *Node) *Node { return x.LayerNormWith(gain, shift, LayerNormEps) }

// LayerNormWith is LayerNorm with another eps.
func (x *Node) LayerNormWith(gain, shift *Node, eps float64) *Node {
	w := x.Cols()
	if gain.Rows() != 1 || gain.Cols() != w || shift.Rows() != 1 || shift.Cols() != w {
		fail("layerNorm", "gain and shift are not one row of the same width", x, gain, shift)
	}
	t := x.t
	y := t.node("layerNorm", x.Rows(), w, x, gain, shift)
	xhat, inv := t.Buffer(x.Rows(), w), t.Buffer(x.Rows(), 1)
	t.each(x.Rows(), w, job{kernel: layerNormKernel, dst: y.V.Data, a: x.flat(), b: gain.flat(), c: shift.flat(),
		d: xhat.Data, e: inv.Data, w: w, s: tensor.Float(eps)})
	if y.need {
		y.back = func() {
			if shift.need {
				t.colSums(y.G, shift)
			}
			if gain.need {
				d := t.Buffer(x.Rows(), w)
				t.each(len(d.Data), 1, job{kernel: mulKernel, dst: d.Data, a: y.dy(), b: xhat.Data})
				t.colSums(d, gain)
			}
			if x.need {
				d := t.Buffer(x.Rows(), w)
				t.each(x.Rows(), w, job{kernel: layerNormBack, dst: d.Data, a: y.dy(), b: gain.flat(), d: xhat.Data, e: inv.Data, w: w})
				x.give(d)
			}
		}
	}
	return y.checked()
}

func layerNormKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		x, xhat, y := j.a[i*j.w:(i+1)*j.w], j.d[i*j.w:(i+1)*j.w], j.dst[i*j.w:(i+1)*j.w]
		mean := tensor.Float(tensor.Sum(x) / float64(j.w))
		for k, v := range x {
			xhat[k] = v - mean
		}
		j.e[i] = tensor.Float(1 / math.Sqrt(tensor.SumSq(xhat)/float64(j.w)+float64(j.s)))
		tensor.Scale(j.e[i], xhat)
		tensor.Mul(y, xhat, j.b)
		tensor.Add(y, j.c)
	}
}

// layerNormBack: with g = dy ∘ gain, dx = inv·(g - mean(g) - xhat·mean(g ∘ xhat)).
func layerNormBack(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		dx, xhat := j.dst[i*j.w:(i+1)*j.w], j.d[i*j.w:(i+1)*j.w]
		tensor.Mul(dx, j.a[i*j.w:(i+1)*j.w], j.b)
		mean := tensor.Float(tensor.Sum(dx) / float64(j.w))
		proj := tensor.Dot(dx, xhat) / tensor.Float(j.w)
		for k := range dx {
			dx[k] = j.e[i] * (dx[k] - mean - xhat[k]*proj)
		}
	}
}
