package autograd

import (
	"math"

	"privrec/internal/tensor"
)

// LayerNormEps is the number that LayerNorm adds to the variance.
const LayerNormEps = 1e-5

// NormalizeRows returns c·x/max(|x|, eps) for each row x. The result has norm c up to rounding and never more; rows
// shorter than eps are multiplied by c/eps.
func (x *Node) NormalizeRows(c, eps float64) *Node {
	return x.scaleRows("normalizeRows", normalizeKernel, c, eps)
}

// ClipRows returns min(1, c/|x|)·x for each row x, with a norm that is never more than c, rounding
// included. A row of norm c counts as not clipped.
func (x *Node) ClipRows(c float64) *Node { return x.scaleRows("clipRows", clipKernel, c, 0) }

// scaleRows returns x with each row multiplied by a factor f of its norm: either a fixed one, or one proportional to
// 1/|x|, for which dx = f·(dy - x̂(x̂·dy)), x̂ = x/|x|. The kernel writes the factor to b. To c it writes 1/|x|² if the
// factor depends on the norm, else 0, and farBelow if 1/|x|² would overflow.
func (x *Node) scaleRows(op string, kernel func(j *job, lo, hi int), c, eps float64) *Node {
	w := x.Cols()
	y := x.t.node(op, x.Rows(), w, x)
	f := x.t.Buffer(2, x.Rows())
	rows := job{kernel: kernel, dst: y.V.Data, a: x.flat(), b: f.Data[:x.Rows()], c: f.Data[x.Rows():], w: w, x: c,
		y: eps}
	x.t.each(x.Rows(), 2*w, rows)
	if y.need {
		y.back = func() {
			d := x.t.Buffer(x.Rows(), w)
			x.t.each(x.Rows(), 2*w, job{kernel: scaleRowsBack, dst: d.Data, a: y.dy(), b: f.Data, c: f.Data[x.Rows():],
				d: x.flat(), w: w})
			x.give(d)
		}
	}
	return y.checked()
}

func normalizeKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		x := j.a[i*j.w : (i+1)*j.w]
		sq := tensor.SumSq(x)
		norm := math.Sqrt(sq)
		j.c[i] = 0
		if norm > j.y {
			j.c[i] = inverse(sq)
		}
		j.b[i] = tensor.ScaleWithin(min(j.x/max(norm, j.y), math.MaxFloat32), j.x, j.dst[i*j.w:(i+1)*j.w], x)
	}
}

func clipKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		x := j.a[i*j.w : (i+1)*j.w]
		sq := tensor.SumSq(x)
		y := j.dst[i*j.w : (i+1)*j.w]
		if norm := math.Sqrt(sq); norm > j.x {
			j.b[i], j.c[i] = tensor.ScaleWithin(j.x/norm, j.x, y, x), inverse(sq)
		} else {
			j.b[i], j.c[i] = 1, 0
			copy(y, x)
		}
	}
}

// farBelow stands for the inverse of a squared norm under tiniest.
const (
	farBelow = -1
	tiniest  = 1e-30
)

func inverse(sq float64) tensor.Float {
	if sq < tiniest {
		return farBelow
	}
	return tensor.Float(1 / sq)
}

func scaleRowsBack(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		dx, dy, x := j.dst[i*j.w:(i+1)*j.w], j.a[i*j.w:(i+1)*j.w], j.d[i*j.w:(i+1)*j.w]
		copy(dx, dy)
		switch {
		case j.c[i] == farBelow:
			dot, sq := 0.0, tensor.SumSq(x)
			for k, v := range x {
				dot += float64(v) * float64(dy[k])
			}
			for k, v := range x {
				dx[k] = tensor.Float(float64(dy[k]) - float64(v)*(dot/sq))
			}
		case j.c[i] != 0:
			tensor.Axpy(-tensor.Dot(x, dy)*j.c[i], x, dx)
		}
		tensor.Scale(j.b[i], dx)
	}
}

// LayerNorm returns gain ∘ (x-mean)/sqrt(var+LayerNormEps) + shift over each row, with the biased
// variance. gain and shift are (1, d).
func (x *Node) LayerNorm(gain, shift *Node) *Node { return x.LayerNormWith(gain, shift, LayerNormEps) }

// LayerNormWith returns the result of LayerNorm with another eps.
func (x *Node) LayerNormWith(gain, shift *Node, eps float64) *Node {
	w := x.Cols()
	if gain.Rows() != 1 || gain.Cols() != w || shift.Rows() != 1 || shift.Cols() != w {
		fail("layerNorm", "gain and shift are not one row of the same width", x, gain, shift)
	}
	t := x.t
	y := t.node("layerNorm", x.Rows(), w, x, gain, shift)
	xhat, inv := t.Buffer(x.Rows(), w), t.Buffer(x.Rows(), 1)
	t.each(x.Rows(), w, job{kernel: layerNormKernel, dst: y.V.Data, a: x.flat(), b: gain.flat(), c: shift.flat(),
		d: xhat.Data, e: inv.Data, w: w, x: eps})
	if y.need {
		y.back = func() {
			if shift.need {
				t.colSums(y.G, shift)
			}
			if gain.need {
				d := t.Buffer(x.Rows(), w)
				t.each(len(d.Data), 1, job{kernel: mulKernel, dst: d.Data, a: y.dy(), b: xhat.Data})
				t.colSums(d, gain)
				t.giveBack(d.Data)
			}
			if x.need {
				d := t.Buffer(x.Rows(), w)
				t.each(x.Rows(), w, job{kernel: layerNormBack, dst: d.Data, a: y.dy(), b: gain.flat(), d: xhat.Data,
					e: inv.Data, w: w})
				x.give(d)
			}
			t.giveBack(xhat.Data)
		}
	}
	return y.checked()
}

func layerNormKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		x, xhat, y := j.a[i*j.w:(i+1)*j.w], j.d[i*j.w:(i+1)*j.w], j.dst[i*j.w:(i+1)*j.w]
		mean := tensor.Float(tensor.Sum(x) / float64(j.w))
		tensor.Shift(xhat, x, mean)
		j.e[i] = tensor.Float(1 / math.Sqrt(tensor.SumSq(xhat)/float64(j.w)+j.x))
		tensor.Scale(j.e[i], xhat)
		tensor.Mul(y, xhat, j.b)
		tensor.Add(y, j.c)
	}
}

// layerNormBack computes, with g = dy ∘ gain, dx = inv·(g - mean(g) - xhat·mean(g ∘ xhat)).
func layerNormBack(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		dx, xhat := j.dst[i*j.w:(i+1)*j.w], j.d[i*j.w:(i+1)*j.w]
		tensor.Mul(dx, j.a[i*j.w:(i+1)*j.w], j.b)
		mean := tensor.Float(tensor.Sum(dx) / float64(j.w))
		proj := tensor.Dot(dx, xhat) / tensor.Float(j.w)
		tensor.NormBack(j.e[i], mean, proj, xhat, dx)
	}
}
