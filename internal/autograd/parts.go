package autograd

import (
	"sync"

	"privrec/internal/tensor"
)

// parts holds the results of the parts of a step, and the tapes on which they run, as many as run at the same time.
type parts struct {
	shards []*shard
	n      int // shards in use
	mu     sync.Mutex
	idle   []*Tape
}

// shard holds the loss and the gradients of a part, in memory of its own.
type shard struct {
	loss  float64
	grads []shardGrad
	rows  []int32
	arena arena
}

// shardGrad holds a part's gradient of a parameter.
type shardGrad struct {
	p      *Param
	sparse bool
	rows   []int32 // sparse
	g      tensor.Matrix
	node   *Node // node that takes it: the whole parameter, or a look-up of rows
}

// Parts returns the sum of n losses (1, 1), accumulated in float64. part computes the k-th of them, a scalar, on the
// tape that it is given, and uses nothing of t. Parts run side by side, each forward and backward on one worker. So the
// values of a part stay in a core's near cache, and workers wait for each other once a batch, not once an operation.
// Gradients are added up in the order of the parts. Random draws of a part must depend on k. Every part keeps a copy of
// its gradients, so a whole table that all parts use costs memory for each.
//
// The tapes of parts have the settings of t. Several may call BeforeRead at the same time; if BeforeRead has much to
// do, call it for all rows beforehand. Parts panics if examples are to be kept Apart.
func (t *Tape) Parts(n int, part func(t *Tape, k int) *Node) *Node {
	y := t.node("parts", 1, 1)
	if t.Apart {
		fail(y.name(), "parts of a batch cannot keep examples apart")
	}
	shards := t.parts.take(n)
	tensor.Parallel(n, 1, func(k, _, _ int) {
		own := t.parts.tape()
		defer t.parts.giveBack(own)
		own.NoGrad, own.GuardNaN, own.BeforeRead, own.training = t.NoGrad, t.GuardNaN, t.BeforeRead, t.training
		loss := part(own, k)
		if loss.t != own {
			fail(y.name(), "the loss of a part lives on another tape", loss)
		}
		if !t.NoGrad {
			own.Backward(loss)
		}
		shards[k].keep(own, loss)
	})
	var sum float64
	for _, s := range shards {
		sum += s.loss
		for i := range s.grads {
			t.stand(&s.grads[i])
			y.need = true
		}
	}
	y.V.Data[0] = tensor.Float(sum)
	if y.need {
		y.back = func() { addShards(shards, y.G.Data[0]) }
	}
	return y.checked()
}

// take returns n shards.
func (p *parts) take(n int) []*shard {
	p.n += n
	for len(p.shards) < p.n {
		p.shards = append(p.shards, new(shard))
	}
	return p.shards[p.n-n : p.n]
}

// tape returns an empty tape.
func (p *parts) tape() *Tape {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		t := p.idle[n-1]
		p.idle = p.idle[:n-1]
		t.Reset()
		return t
	}
	return NewTape()
}

func (p *parts) giveBack(t *Tape) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, t)
}

// keep copies the loss and the gradients of a tape, before its memory is used again.
func (s *shard) keep(t *Tape, loss *Node) {
	s.loss = loss.Scalar()
	s.grads, s.rows = s.grads[:0], s.rows[:0]
	s.arena.reset()
	for i := range t.grads.n {
		e := &t.grads.entries[i]
		from, start := e.dense, len(s.rows)
		if e.state == gradSparse {
			from, s.rows = e.vals, append(s.rows, e.rows...)
		}
		if e.state == gradNone {
			continue
		}
		g := tensor.Matrix{Rows: from.Rows, Cols: from.Cols, Stride: max(1, from.Cols),
			Data: s.arena.take(from.Rows * from.Cols)}
		copy(g.Data, from.Data)
		s.grads = append(s.grads, shardGrad{p: e.p, sparse: e.state == gradSparse, rows: s.rows[start:], g: g})
	}
}

// stand records on the tape the node that takes a gradient, without reading its values.
func (t *Tape) stand(g *shardGrad) {
	e := t.grads.entry(g.p)
	if g.sparse {
		g.node = t.leaf("rows", tensor.Matrix{Rows: g.g.Rows, Cols: g.g.Cols, Stride: g.g.Stride})
		e.lookups = append(e.lookups, lookup{g.rows, g.node})
	} else {
		if e.leaf == nil {
			e.leaf = t.leaf("param", g.p.Value)
			e.leaf.leaf = true
		}
		g.node = e.leaf
	}
	g.node.param, g.node.need = g.p, true
}

// addShards adds scale times the gradients of all parts. Those of a whole parameter are added in the order of the
// parts, look-ups by row together with all others of the step.
func addShards(shards []*shard, scale tensor.Float) {
	type sum struct {
		to    tensor.Matrix
		fresh bool // to holds nothing yet
		from  []tensor.Matrix
	}
	var order []*Node
	sums := map[*Node]*sum{}
	for _, s := range shards {
		for _, g := range s.grads {
			if g.sparse {
				if g.node.G, g.node.hasG = g.g, true; scale == 1 {
					continue
				}
			}
			if sums[g.node] == nil {
				to, beta := g.node.acc()
				order, sums[g.node] = append(order, g.node), &sum{to: to, fresh: beta == 0}
			}
			if !g.sparse {
				sums[g.node].from = append(sums[g.node].from, g.g)
			}
		}
	}
	type block struct {
		*sum
		lo, hi int
	}
	var blocks []block
	for _, x := range order {
		for lo, n := 0, len(x.G.Data); lo < n; lo += eachGrain {
			blocks = append(blocks, block{sums[x], lo, min(n, lo+eachGrain)})
		}
	}
	tensor.Parallel(len(blocks), 1, func(k, _, _ int) {
		b := blocks[k]
		to, from := b.to.Data[b.lo:b.hi], b.from
		if len(from) == 0 { // of a look-up
			tensor.Scale(scale, to)
		}
		if len(from) > 0 && b.fresh {
			tensor.ScaleTo(scale, to, from[0].Data[b.lo:b.hi])
			from = from[1:]
		}
		for _, m := range from {
			tensor.Axpy(scale, m.Data[b.lo:b.hi], to)
		}
	})
}
