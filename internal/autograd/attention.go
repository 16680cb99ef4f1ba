package autograd

import (
	"math"

	"privrec/internal/tensor"
)

// AttentionShape says which rows attend to which. Queries and keys are packed: rows Query[s] to Query[s+1] of q attend
// only to rows Key[s] to Key[s+1] of k and v.
type AttentionShape struct {
	Query, Key []int32 // offsets of the segments; Key nil means the same as Query
	Heads      int     // at least 1; must divide the widths
	Causal     bool    // position i of a segment sees only positions 0..i; needs equal lengths
}

// Attention returns softmax(q·kᵀ/sqrt(d/heads))·v within each segment and head (Vaswani et al. 2017,
// equation 1). For q (n, d), k (m, d) and v (m, e) it is (n, e), the heads side by side.
func (t *Tape) Attention(q, k, v *Node, s AttentionShape) *Node {
	if s.Key == nil {
		s.Key = s.Query
	}
	a := &attention{t: t, q: q, k: k, v: v, AttentionShape: s}
	a.check()
	a.y = t.node("attention", q.Rows(), v.Cols(), q, k, v)
	a.scale = tensor.Float(1 / math.Sqrt(float64(q.Cols()/s.Heads)))
	a.at = make([]int, len(s.Query))
	for i := range a.at[1:] {
		a.at[i+1] = a.at[i] + s.Heads*a.len(s.Query, i)*a.len(s.Key, i)
	}
	n := len(s.Query) - 1
	a.p = t.arena.take(a.at[n])
	grain := max(1, n*2048/max(1, a.at[n]))
	tensor.Parallel(n, grain, func(_, lo, hi int) { a.each(lo, hi, a.forward) })
	if a.y.need {
		a.y.back = func() {
			a.dp = t.arena.take(a.at[n])
			a.dq, a.dk, a.dv = t.Buffer(q.Rows(), q.Cols()), t.Buffer(k.Rows(), k.Cols()), t.Buffer(v.Rows(), v.Cols())
			tensor.Parallel(n, grain, func(_, lo, hi int) { a.each(lo, hi, a.backward) })
			t.giveBack(a.p)
			t.giveBack(a.dp)
			for _, g := range [...]struct {
				x *Node
				d tensor.Matrix
			}{{q, a.dq}, {k, a.dk}, {v, a.dv}} {
				if g.x.need {
					g.x.give(g.d)
				}
			}
		}
	}
	return a.y.checked()
}

type attention struct {
	AttentionShape
	t          *Tape
	q, k, v, y *Node
	scale      tensor.Float
	at         []int          // where a segment's probabilities start in p
	p, dp      []tensor.Float // per segment and head (queries, keys)
	dq, dk, dv tensor.Matrix
}

func (a *attention) check() {
	const op = "attention"
	q, k, v := a.q, a.k, a.v
	if q.Cols() != k.Cols() || k.Rows() != v.Rows() {
		fail(op, "queries, keys and values do not fit together", q, k, v)
	}
	if a.Heads < 1 || q.Cols()%a.Heads != 0 || v.Cols()%a.Heads != 0 {
		failf(op, []*Node{q, k, v}, "%d heads do not divide the widths", a.Heads)
	}
	if checkOffsets(op, q, a.Query, q.Rows()) != checkOffsets(op, k, a.Key, k.Rows()) {
		fail(op, "queries and keys have different numbers of segments", q, k)
	}
	for i := range len(a.Query) - 1 {
		if a.Causal && a.len(a.Query, i) != a.len(a.Key, i) {
			failf(op, []*Node{q, k}, "causal, but segment %d has other lengths in queries and keys", i)
		}
	}
}

func (a *attention) len(offsets []int32, s int) int { return int(offsets[s+1] - offsets[s]) }

// each calls f for every head of segments [lo, hi), with its probabilities (and, in the backward pass, their gradient),
// the segment and the head.
func (a *attention) each(lo, hi int, f func(p, dp tensor.Matrix, s, head int)) {
	for s := lo; s < hi; s++ {
		n, m := a.len(a.Query, s), a.len(a.Key, s)
		for h := range a.Heads {
			at := a.at[s] + h*n*m
			p := tensor.From(n, m, a.p[at:at+n*m])
			dp := tensor.Matrix{}
			if a.dp != nil {
				dp = tensor.From(n, m, a.dp[at:at+n*m])
			}
			f(p, dp, s, h)
		}
	}
}

// cut returns the part of m that belongs to a segment and a head.
func (a *attention) cut(m tensor.Matrix, offsets []int32, s, head int) tensor.Matrix {
	w := m.Cols / a.Heads
	return tensor.ColsView(tensor.RowsView(m, int(offsets[s]), int(offsets[s+1])), head*w, (head+1)*w)
}

// seen returns the number of keys to which query i attends.
func (a *attention) seen(p tensor.Matrix, i int) int {
	if a.Causal {
		return i + 1
	}
	return p.Cols
}

func (a *attention) forward(p, _ tensor.Matrix, s, h int) {
	tensor.Gemm(false, true, a.scale, a.cut(a.q.V, a.Query, s, h), a.cut(a.k.V, a.Key, s, h), 0, p)
	for i := range p.Rows {
		row, n := tensor.Row(p, i), a.seen(p, i)
		softmax(row[:n], row[:n])
		clear(row[n:])
	}
	tensor.Gemm(false, false, 1, p, a.cut(a.v.V, a.Key, s, h), 0, a.cut(a.y.V, a.Query, s, h))
}

func (a *attention) backward(p, dp tensor.Matrix, s, h int) {
	dy := a.cut(a.y.G, a.Query, s, h)
	tensor.Gemm(true, false, 1, p, dy, 0, a.cut(a.dv, a.Key, s, h))
	tensor.Gemm(false, true, 1, dy, a.cut(a.v.V, a.Key, s, h), 0, dp)
	for i := range p.Rows {
		y, g := tensor.Row(p, i), tensor.Row(dp, i)
		dot := tensor.Dot(y, g)
		for k, v := range y { // zero where masked, because y is
			g[k] = v * (g[k] - dot)
		}
	}
	tensor.Gemm(false, false, a.scale, dp, a.cut(a.k.V, a.Key, s, h), 0, a.cut(a.dq, a.Query, s, h))
	tensor.Gemm(true, false, a.scale, dp, a.cut(a.q.V, a.Query, s, h), 0, a.cut(a.dk, a.Key, s, h))
}
