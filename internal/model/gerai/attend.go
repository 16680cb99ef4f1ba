package gerai

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// tileRows is how many edges a core computes at a time: their hidden layer stays in its cache.
const tileRows = 32

// attention is one call of attend.
type attention struct {
	own, seen, message, weigh, y *autograd.Node

	to, back tensor.CSR // with alpha in Val
	across   []int32
	act      func(x []tensor.Float)          // sigma, in place
	slope    func(x, scratch []tensor.Float) // sigma' from sigma, in place
	grad     []tensor.Float                  // of the scores, in the order of back
}

// attend returns sum_k alpha_ck m_k of every centre c (centres, d): equations 5, 7 and 8 over
// the entries k of row c of to. own is W1b z_c + b1 (centres, d), seen is W1a m_k (nodes, d),
// message m_k (nodes, d), weigh w2 (1, d). back is the transpose of to and across the place in
// it of every entry.
//
// A score and an alpha are kept for an edge, and its hidden layer is computed again on the way
// back. Every sum is made by one core in a fixed order, so that the number of workers does not
// show.
func attend(own, seen, message, weigh *autograd.Node, to, back tensor.CSR, across []int32, hidden string) *autograd.Node {
	t, d := own.Tape(), own.Cols()
	if own.Rows() != to.Rows || seen.Rows() != to.Cols || message.Rows() != to.Cols || seen.Cols() != d || message.Cols() != d || weigh.Rows() != 1 || weigh.Cols() != d {
		panic(&autograd.Error{Op: "geraiAttend", Message: "centres, messages, weights and edges do not fit together",
			Shapes: [][2]int{{own.Rows(), d}, {seen.Rows(), seen.Cols()}, {message.Rows(), message.Cols()}, {weigh.Rows(), weigh.Cols()}, {to.Rows, to.Cols}}})
	}
	a := &attention{own: own, seen: seen, message: message, weigh: weigh, to: to, back: back, across: across}
	a.act, a.slope = func(x []tensor.Float) { tensor.Sigmoid(x, x) }, func(x, scratch []tensor.Float) { // s (1-s)
		tensor.Mul(scratch, x, x)
		tensor.Axpy(-1, scratch, x)
	}
	if hidden == ReLU {
		a.act, a.slope = func(x []tensor.Float) {
			for k, v := range x {
				x[k] = max(v, 0)
			}
		}, func(x, _ []tensor.Float) {
			for k, v := range x {
				if v > 0 {
					x[k] = 1
				}
			}
		}
	}
	a.y = t.Fused("geraiAttend", to.Rows, d, own, seen, message, weigh)
	a.to.Val = t.Buffer(1, len(to.Idx)).Data
	a.forward(t)
	return t.Custom("geraiAttend", a.y, func() { a.backward(t) })
}

// centreGrain is how many centres a core takes at a time.
const centreGrain = 8

// tiles returns scratch memory for the chunks of a loop over n in steps of grain: k tiles for
// each.
func tiles(t *autograd.Tape, n, grain, k, d int) func(chunk, i int) []tensor.Float {
	size := tileRows * d
	all := t.Buffer((n+grain-1)/grain*k, size)
	return func(chunk, i int) []tensor.Float { return all.Data[(chunk*k+i)*size : (chunk*k+i+1)*size] }
}

func (a *attention) forward(t *autograd.Tape) {
	n, d := a.to.Rows, a.y.Cols()
	w2, tile := a.weigh.V.Data[:d], tiles(t, n, centreGrain, 1, d)
	tensor.Parallel(n, centreGrain, func(chunk, lo, hi int) {
		x := tile(chunk, 0)
		for c := lo; c < hi; c++ {
			from, end := int(a.to.Ptr[c]), int(a.to.Ptr[c+1])
			own := tensor.Row(a.own.V, c)
			for e := from; e < end; e += tileRows {
				rows := a.to.Idx[e:min(e+tileRows, end)]
				for i, k := range rows {
					copy(x[i*d:(i+1)*d], own)
					tensor.Add(x[i*d:(i+1)*d], tensor.Row(a.seen.V, int(k)))
				}
				a.act(x[:len(rows)*d])
				for i := range rows {
					a.to.Val[e+i] = tensor.Dot(x[i*d:(i+1)*d], w2)
				}
			}
			scores := a.to.Val[from:end]
			sum := tensor.ExpSum(scores, scores, tensor.Max(scores))
			tensor.Scale(tensor.Float(1/sum), scores)
		}
	})
	a.to.MulDense(a.y.V, a.message.V)
}

// parts is into how many parts of about as many edges the way back cuts the nodes. Each has
// sums of its own for all centres; they are added up in order.
const parts = 8

func (a *attention) backward(t *autograd.Tape) {
	n, edges := a.to.Rows, len(a.to.Idx)
	a.grad, a.back.Val = t.Buffer(1, edges).Data, t.Buffer(1, edges).Data
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

// softmaxBack puts the gradients of the scores of a centre into grad, and its alphas into
// back.
func (a *attention) softmaxBack(c int) {
	from, end := int(a.to.Ptr[c]), int(a.to.Ptr[c+1])
	g, mean := tensor.Row(a.y.G, c), 0.0
	for e := from; e < end; e++ {
		x := tensor.Dot(g, tensor.Row(a.message.V, int(a.to.Idx[e]))) // of alpha
		a.grad[a.across[e]] = x
		mean += float64(a.to.Val[e]) * float64(x)
	}
	for e := from; e < end; e++ {
		k, alpha := a.across[e], a.to.Val[e]
		a.back.Val[k] = alpha
		a.grad[k] = alpha * (a.grad[k] - tensor.Float(mean))
	}
}

// hiddenBack adds the gradients of seen, own and weigh from those of the scores.
func (a *attention) hiddenBack(t *autograd.Tape) {
	n, nodes, d := a.to.Rows, a.to.Cols, a.y.Cols()
	w2 := a.weigh.V.Data[:d]
	dSeen, dOwn, dWeigh := t.Buffer(nodes, d), t.BufferZero(parts*n, d), t.BufferZero(parts, d)
	tile := tiles(t, parts, 1, 2, d)
	tensor.Parallel(parts, 1, func(part, _, _ int) {
		own, weigh := tensor.RowsView(dOwn, part*n, (part+1)*n), tensor.Row(dWeigh, part)
		for k, end := a.cut(part), a.cut(part+1); k < end; k++ {
			a.nodeBack(k, own, tensor.Row(dSeen, k), weigh, tile(part, 0), tile(part, 1))
			tensor.Mul(tensor.Row(dSeen, k), tensor.Row(dSeen, k), w2)
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

// nodeBack computes the hidden layer of the edges of a node again. It sets seen, and adds to
// weigh and to the rows of own; seen and own lack the factor w2.
func (a *attention) nodeBack(k int, own tensor.Matrix, seen, weigh, x, scratch []tensor.Float) {
	d := len(seen)
	clear(seen)
	from, end := int(a.back.Ptr[k]), int(a.back.Ptr[k+1])
	at := tensor.Row(a.seen.V, k)
	for e := from; e < end; e += tileRows {
		centres := a.back.Idx[e:min(e+tileRows, end)]
		for i, c := range centres {
			copy(x[i*d:(i+1)*d], at)
			tensor.Add(x[i*d:(i+1)*d], tensor.Row(a.own.V, int(c)))
		}
		m := len(centres) * d
		a.act(x[:m])
		for i := range centres {
			tensor.Axpy(a.grad[e+i], x[i*d:(i+1)*d], weigh)
		}
		a.slope(x[:m], scratch[:m])
		for i, c := range centres {
			tensor.Axpy(a.grad[e+i], x[i*d:(i+1)*d], seen)
			tensor.Axpy(a.grad[e+i], x[i*d:(i+1)*d], tensor.Row(own, int(c)))
		}
	}
}
