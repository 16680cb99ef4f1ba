package gerai

import (
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// attention holds one call of attend.
type attention struct {
	own, seen, message, weigh, y *autograd.Node

	p        *plan
	to, back tensor.CSR    // of the plan, with alpha in Val
	x, z     tensor.Matrix // operands of scores: seen and own, or their exponentials
	// scores sets dst to w2·sigma(x + y) of edges, with one x and rows y. down adds the gradients that follow from g,
	// those of the scores: g sigma to dw, and g sigma', without the factor w2, to dx and rows of dy.
	scores func(dst, x []tensor.Float, y tensor.Matrix, rows []int32, w []tensor.Float)
	down   func(g, x []tensor.Float, y tensor.Matrix, rows []int32, dx []tensor.Float, dy tensor.Matrix,
		dw []tensor.Float)
	grad  []tensor.Float // of the scores, in the order of back
	slope []tensor.Float // of the alphas, in the order of to
}

// attend returns sum_k alpha_ck m_k of every centre c (centres, d): equations 5, 7 and 8 over the entries k of row c of
// the plan's to. own is W1b z_c + b1 (centres, d), seen is W1a m_k (nodes, d), message m_k (nodes, d), weigh w2 (1, d).
// If a gradient is wanted it fills the plan's back and across.
//
// It keeps a score and an alpha for each edge; backward computes the edge's hidden layer again. Every sum is made by
// one core in a fixed order, so results do not depend on the number of workers.
func attend(own, seen, message, weigh *autograd.Node, p *plan, hidden string) *autograd.Node {
	t, d, to := own.Tape(), own.Cols(), p.to
	if own.Rows() != to.Rows || seen.Rows() != to.Cols || message.Rows() != to.Cols || seen.Cols() != d ||
		message.Cols() != d || weigh.Rows() != 1 || weigh.Cols() != d {
		panic(&autograd.Error{Op: "geraiAttend", Message: "centres, messages, weights and edges do not fit together",
			Shapes: [][2]int{{own.Rows(), d}, {seen.Rows(), seen.Cols()}, {message.Rows(), message.Cols()},
				{weigh.Rows(), weigh.Cols()}, {to.Rows, to.Cols}}})
	}
	a := &attention{own: own, seen: seen, message: message, weigh: weigh, p: p, to: to}
	a.x, a.z, a.scores, a.down = seen.V, own.V, byEdge(tensor.SigmoidDot), byEdgeBack(tensor.SigmoidBack)
	if hidden == ReLU {
		a.scores, a.down = byEdge(reluDot), byEdgeBack(reluBack)
	} else if x, ok := exponentials(t, seen.V); ok {
		if z, ok := exponentials(t, own.V); ok {
			a.x, a.z, a.scores, a.down = x, z, tensor.RatioDotRows, tensor.RatioBackRows
		}
	}
	a.y = t.Fused("geraiAttend", to.Rows, d, own, seen, message, weigh)
	a.to.Val = t.Buffer(1, len(to.Idx)).Data
	a.forward()
	return t.Custom("geraiAttend", a.y, func() { a.backward(t) })
}

// byEdge returns a function for the scores of edges from one for a single edge.
func byEdge(score func(x, y, w []tensor.Float) tensor.Float) func(dst, x []tensor.Float, y tensor.Matrix, rows []int32,
	w []tensor.Float) {
	return func(dst, x []tensor.Float, y tensor.Matrix, rows []int32, w []tensor.Float) {
		for e, k := range rows {
			dst[e] = score(x, tensor.Row(y, int(k)), w)
		}
	}
}

// byEdgeBack returns a function for the gradients of edges from one for a single edge.
func byEdgeBack(down func(g tensor.Float, x, y, dx, dy, dw []tensor.Float)) func(g, x []tensor.Float, y tensor.Matrix,
	rows []int32, dx []tensor.Float, dy tensor.Matrix, dw []tensor.Float) {
	return func(g, x []tensor.Float, y tensor.Matrix, rows []int32, dx []tensor.Float, dy tensor.Matrix,
		dw []tensor.Float) {
		for e, k := range rows {
			down(g[e], x, tensor.Row(y, int(k)), dx, tensor.Row(dy, int(k)), dw)
		}
	}
}

// far bounds numbers, in size, whose exponentials have a finite product.
const far = 40

// exponentials returns exp(-x) of all numbers, so that the sigmoid of an edge needs no exponential of its own. It
// returns false if a number is not within far.
func exponentials(t *autograd.Tape, x tensor.Matrix) (tensor.Matrix, bool) {
	const grain = 64
	y, beyond := t.Buffer(x.Rows, x.Cols), make([]bool, (x.Rows+grain-1)/grain)
	tensor.Parallel(x.Rows, grain, func(chunk, lo, hi int) {
		step := 1
		if x.Stride == x.Cols { // the rows of a chunk are one slice
			step = hi - lo
		}
		for i := lo; i < hi; i += step {
			from, to := x.Data[i*x.Stride:i*x.Stride+step*x.Cols], y.Data[i*y.Stride:i*y.Stride+step*y.Cols]
			tensor.ScaleTo(-1, to, from)
			beyond[chunk] = beyond[chunk] || tensor.Max(from) > far || tensor.Max(to) > far
			tensor.Exp(to, to)
		}
	})
	return y, !slices.Contains(beyond, true)
}

// centreGrain is the number of centres that a core processes at a time.
const centreGrain = 8

// forward computes the alphas and the sums. One core makes the transpose for backward while the others begin with the
// alphas.
func (a *attention) forward() {
	n, turn := a.to.Rows, 0
	if a.y.Needs() {
		turn = 1
	}
	tensor.Parallel(turn+(n+centreGrain-1)/centreGrain, 1, func(k, _, _ int) {
		if k < turn {
			a.p.transpose()
			return
		}
		lo := (k - turn) * centreGrain
		for c := lo; c < min(n, lo+centreGrain); c++ {
			a.softmax(c)
		}
	})
	a.to.MulDense(a.y.V, a.message.V)
}

// softmax computes the alphas of a centre.
func (a *attention) softmax(c int) {
	from, end := a.to.Ptr[c], a.to.Ptr[c+1]
	scores := a.to.Val[from:end]
	a.scores(scores, tensor.Row(a.z, c), a.x, a.to.Idx[from:end], a.weigh.V.Data[:a.y.Cols()])
	sum := tensor.ExpSum(scores, scores, tensor.Max(scores))
	tensor.Scale(tensor.Float(1/sum), scores)
}

// parts is the number of parts, with about equally many edges, into which backward cuts the nodes. Each has sums of its
// own for all centres; they are added up in order.
const parts = 8

func (a *attention) backward(t *autograd.Tape) {
	n, edges := a.to.Rows, len(a.to.Idx)
	a.back = a.p.back
	a.grad, a.slope, a.back.Val = t.Buffer(1, edges).Data, t.Buffer(1, edges).Data, t.Buffer(1, edges).Data
	tensor.Parallel(n, centreGrain, func(_, lo, hi int) {
		for c := lo; c < hi; c++ {
			a.softmaxBack(c)
		}
	})
	if a.message.Needs() {
		g := t.Buffer(a.message.Rows(), a.message.Cols())
		a.back.MulDense(g, a.y.G)
		a.message.GiveGrad(g)
	}
	a.hiddenBack(t)
}

// softmaxBack writes the gradients of a centre's scores into grad, and its alphas into back.
func (a *attention) softmaxBack(c int) {
	from, end := a.to.Ptr[c], a.to.Ptr[c+1]
	slopes, alphas, mean := a.slope[from:end], a.to.Val[from:end], 0.0
	tensor.DotRows(slopes, tensor.Row(a.y.G, c), a.message.V, a.to.Idx[from:end])
	for e, x := range slopes {
		mean += float64(alphas[e]) * float64(x)
	}
	for e, k := range a.p.across[from:end] {
		a.back.Val[k] = alphas[e]
		a.grad[k] = alphas[e] * (slopes[e] - tensor.Float(mean))
	}
}

// hiddenBack adds the gradients of seen, own and weigh, computed from those of the scores.
func (a *attention) hiddenBack(t *autograd.Tape) {
	n, nodes, d := a.to.Rows, a.to.Cols, a.y.Cols()
	w2 := a.weigh.V.Data[:d]
	dSeen, dOwn, dWeigh := t.Buffer(nodes, d), t.Buffer(parts*n, d), t.Buffer(parts, d)
	tensor.Parallel(parts, 1, func(part, _, _ int) {
		own, weigh := tensor.RowsView(dOwn, part*n, (part+1)*n), tensor.Row(dWeigh, part)
		clear(own.Data)
		clear(weigh)
		for k, end := a.cut(part), a.cut(part+1); k < end; k++ {
			seen := tensor.Row(dSeen, k)
			a.nodeBack(k, own, seen, weigh)
			tensor.Mul(seen, seen, w2)
		}
	})
	tensor.Parallel(n, centreGrain, func(_, lo, hi int) {
		for c := lo; c < hi; c++ {
			row := tensor.Row(dOwn, c)
			for part := 1; part < parts; part++ {
				tensor.Add(row, tensor.Row(dOwn, part*n+c))
			}
			tensor.Mul(row, row, w2)
		}
	})
	for part := 1; part < parts; part++ {
		tensor.Add(tensor.Row(dWeigh, 0), tensor.Row(dWeigh, part))
	}
	for _, x := range []struct {
		node *autograd.Node
		g    tensor.Matrix
	}{{a.own, tensor.RowsView(dOwn, 0, n)}, {a.seen, dSeen}, {a.weigh, tensor.RowsView(dWeigh, 0, 1)}} {
		if x.node.Needs() {
			x.node.GiveGrad(x.g)
		}
	}
}

// cut returns the first node of a part: the first with its share of the edges before it.
func (a *attention) cut(part int) int {
	want := int64(len(a.back.Idx)) * int64(part) / parts
	if part == parts {
		return a.back.Rows
	}
	lo, hi := 0, a.back.Rows
	for lo < hi {
		if mid := (lo + hi) / 2; a.back.Ptr[mid] >= want {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// nodeBack recomputes the hidden layer of a node's edges. It sets seen, and adds to weigh and to the rows of own; seen
// and own lack the factor w2.
func (a *attention) nodeBack(k int, own tensor.Matrix, seen, weigh []tensor.Float) {
	clear(seen)
	from, end := a.back.Ptr[k], a.back.Ptr[k+1]
	a.down(a.grad[from:end], tensor.Row(a.x, k), a.z, a.back.Idx[from:end], seen, own, weigh)
}

// reluDot returns tensor.SigmoidDot with ReLU in place of the sigmoid.
func reluDot(x, y, w []tensor.Float) (sum tensor.Float) {
	for i, v := range x {
		sum += w[i] * max(v+y[i], 0)
	}
	return sum
}

// reluBack adds the gradients of tensor.SigmoidBack with ReLU in place of the sigmoid.
func reluBack(g tensor.Float, x, y, dx, dy, dw []tensor.Float) {
	for i, v := range x {
		if s := v + y[i]; s > 0 {
			dw[i] += g * s
			dx[i] += g
			dy[i] += g
		}
	}
}
