package autograd

import "privrec/internal/tensor"

// SegmentSum sums consecutive rows: y[k] = Σ x[i] for offsets[k] <= i < offsets[k+1]. offsets rise
// from 0 to the number of rows; an empty segment sums to zero.
func (x *Node) SegmentSum(offsets []int32) *Node { return x.segments("segmentSum", offsets, false) }

// SegmentMean returns the mean of the rows of each segment; an empty segment has mean zero. See
// SegmentSum for offsets.
func (x *Node) SegmentMean(offsets []int32) *Node { return x.segments("segmentMean", offsets, true) }

func (x *Node) segments(op string, offsets []int32, mean bool) *Node {
	n := checkOffsets(op, x, offsets, x.Rows())
	w := x.Cols()
	y := x.t.node(op, n, w, x)
	width := max(1, w*x.Rows()/max(1, n)) // of an average segment
	x.t.each(n, width, job{kernel: segmentKernel, dst: y.V.Data, a: x.flat(), idx: offsets, w: w, flag: mean})
	if y.need {
		y.back = func() {
			d := x.t.Buffer(x.Rows(), w)
			x.t.each(n, width, job{kernel: spreadKernel, dst: d.Data, a: y.dy(), idx: offsets, w: w, flag: mean})
			x.give(d)
		}
	}
	return y.checked()
}

func segmentKernel(j *job, lo, hi int) {
	for k := lo; k < hi; k++ {
		sum := j.dst[k*j.w : (k+1)*j.w]
		clear(sum)
		for i := int(j.idx[k]); i < int(j.idx[k+1]); i++ {
			tensor.Add(sum, j.a[i*j.w:(i+1)*j.w])
		}
		if n := j.idx[k+1] - j.idx[k]; j.flag && n > 1 {
			tensor.Scale(1/tensor.Float(n), sum)
		}
	}
}

func spreadKernel(j *job, lo, hi int) {
	for k := lo; k < hi; k++ {
		n := j.idx[k+1] - j.idx[k]
		for i := int(j.idx[k]); i < int(j.idx[k+1]); i++ {
			row := j.dst[i*j.w : (i+1)*j.w]
			copy(row, j.a[k*j.w:(k+1)*j.w])
			if j.flag && n > 1 {
				tensor.Scale(1/tensor.Float(n), row)
			}
		}
	}
}

// SegmentSoftmax returns the softmax within each segment of a column x (n, 1). See SegmentSum for
// offsets.
func (x *Node) SegmentSoftmax(offsets []int32) *Node {
	if x.Cols() != 1 {
		fail("segmentSoftmax", "not one column", x)
	}
	n := checkOffsets("segmentSoftmax", x, offsets, x.Rows())
	y := x.t.node("segmentSoftmax", x.Rows(), 1, x)
	width := 8 * max(1, x.Rows()/max(1, n)) // of an average segment, exponentials being dear
	x.t.each(n, width, job{kernel: segmentSoftmaxKernel, dst: y.V.Data, a: x.flat(), idx: offsets})
	y.shared = true
	if y.need {
		y.back = func() {
			d := x.t.Buffer(x.Rows(), 1)
			x.t.each(n, width, job{kernel: segmentSoftmaxBack, dst: d.Data, a: y.V.Data, b: y.dy(), idx: offsets})
			x.give(d)
		}
	}
	return y.checked()
}

func segmentSoftmaxKernel(j *job, lo, hi int) {
	for k := lo; k < hi; k++ {
		softmax(j.dst[j.idx[k]:j.idx[k+1]], j.a[j.idx[k]:j.idx[k+1]])
	}
}

func segmentSoftmaxBack(j *job, lo, hi int) {
	for k := lo; k < hi; k++ {
		from, to := j.idx[k], j.idx[k+1]
		softmaxBack(j.dst[from:to], j.a[from:to], j.b[from:to])
	}
}
