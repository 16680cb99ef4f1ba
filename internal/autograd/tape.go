package autograd

import (
	"privrec/internal/tensor"
)

const slabNodes = 64

// Tape records one step: nodes in order of creation, their buffers and their gradients. Use NewTape; the zero value is
// not ready. One goroutine at a time may use a tape.
type Tape struct {
	NoGrad   bool // evaluation: no closures, no gradients kept. Set it right after Reset
	GuardNaN bool // check every value and gradient, and name the operation that made a bad one

	// Apart makes Backward keep the factors of the parameters' gradients, see Factors, instead of the gradients. So
	// those of single examples can be told apart. Set it right after Reset. Backward panics after an operation that has
	// no factors.
	Apart bool

	// BeforeRead, if set, is called before a parameter enters the tape, with the rows looked up, or
	// nil for all of them. A lazy optimiser brings the rows up to date here.
	BeforeRead func(p *Param, rows []int32)

	training bool
	arena    arena
	slabs    [][]Node
	n        int // nodes in use
	grads    Grads
	factors  []Factor
	done     bool    // Backward has run
	tieds    []*tied // softmax states, used again
	nTied    int
	job      job
	runJob   func(chunk, lo, hi int)
	pair     [2]product
	runPair  func(chunk, lo, hi int)
	parts    parts
}

// NewTape returns an empty tape in training mode.
func NewTape() *Tape {
	t := &Tape{training: true}
	t.grads.byParam = map[*Param]int{}
	t.runJob = func(_, lo, hi int) { t.job.kernel(&t.job, lo, hi) }
	t.runPair = func(k, _, _ int) { t.pair[k].run() }
	return t
}

// Reset discards the step and reuses its memory. Nodes, buffers and gradients handed out before become invalid.
func (t *Tape) Reset() {
	t.n, t.nTied, t.done = 0, 0, false
	t.parts.n = 0
	t.job = job{}
	t.arena.reset()
	t.grads.reset()
	t.factors = t.factors[:0]
}

// SetTraining switches between training and evaluation: dropout acts only in training.
func (t *Tape) SetTraining(on bool) { t.training = on }

// Training reports whether the tape is in training mode.
func (t *Tape) Training() bool { return t.training }

// Len returns the number of nodes recorded since Reset.
func (t *Tape) Len() int { return t.n }

// Buffer returns a matrix of undefined content that lives until Reset. Under GuardNaN it is filled
// with NaN, so that an element read before it is written is noticed.
func (t *Tape) Buffer(rows, cols int) tensor.Matrix {
	m := tensor.Matrix{Rows: rows, Cols: cols, Stride: max(1, cols), Data: t.arena.take(rows * cols)}
	if t.GuardNaN {
		poison(m.Data)
	}
	return m
}

// BufferZero returns a zero matrix that lives until Reset.
func (t *Tape) BufferZero(rows, cols int) tensor.Matrix {
	m := tensor.Matrix{Rows: rows, Cols: cols, Stride: max(1, cols), Data: t.arena.take(rows * cols)}
	clear(m.Data)
	return m
}

// Use returns a node with the whole parameter. Its gradient is dense. A second use in a step returns the same node.
func (t *Tape) Use(p *Param) *Node {
	e := t.grads.entry(p)
	if e.leaf != nil {
		return e.leaf
	}
	if t.BeforeRead != nil {
		t.BeforeRead(p, nil)
	}
	e.leaf = t.leaf("param", p.Value)
	e.leaf.param, e.leaf.leaf = p, true
	e.leaf.need = !t.NoGrad
	return e.leaf.checked()
}

// Rows returns rows of a parameter: y[i] = p[idx[i]] (len(idx), cols). Its gradient is row-sparse.
func (t *Tape) Rows(p *Param, idx []int32) *Node {
	if t.BeforeRead != nil && len(idx) > 0 { // nil would stand for all rows
		t.BeforeRead(p, idx)
	}
	y := t.leaf("rows", tensor.Matrix{})
	y.V, y.param = p.Value, p // for the error message
	checkIndex(y.op, y, idx, p.Value.Rows)
	w := p.Value.Cols
	y.V = t.Buffer(len(idx), w)
	t.each(len(idx), w, job{kernel: gatherKernel, dst: y.V.Data, a: p.Value.Data, idx: idx, w: w, n: p.Value.Stride,
		k: p.Value.Rows})
	if !t.NoGrad {
		y.need = true
		e := t.grads.entry(p)
		e.lookups = append(e.lookups, lookup{idx, y})
	}
	return y.checked()
}

// Const returns a node with a fixed matrix, which is not copied and has no gradient.
func (t *Tape) Const(m tensor.Matrix) *Node { return t.leaf("const", m).checked() }

// Backward computes the gradients of all parameters that loss, a scalar, depends on.
func (t *Tape) Backward(loss *Node) {
	switch {
	case loss.t != t:
		fail("backward", "the loss lives on another tape", loss)
	case t.done:
		fail("backward", "called twice without Reset", loss)
	case t.NoGrad:
		fail("backward", "the tape records no gradients (NoGrad)", loss)
	case loss.V.Rows != 1 || loss.V.Cols != 1:
		fail("backward", "the loss is not a scalar", loss)
	case loss.taken:
		fail("backward", "the loss was overwritten by AddNoise", loss)
	}
	t.done = true
	if loss.need {
		g, _ := loss.acc()
		g.Data[0] = 1
		for i := loss.id; i >= 0; i-- {
			if y := t.at(i); y.back != nil && y.hasG {
				y.back()
				if t.GuardNaN {
					y.guardBack()
				}
				y.release()
			}
		}
	}
	if t.Apart {
		t.keepLookups()
		return
	}
	t.grads.finish(t)
}

// Grads returns the gradients that Backward computed. They belong to the tape and are valid until Reset.
func (t *Tape) Grads() *Grads { return &t.grads }

func (t *Tape) at(i int) *Node { return &t.slabs[i/slabNodes][i%slabNodes] }

func (t *Tape) fresh(op string) *Node {
	if t.n == len(t.slabs)*slabNodes {
		t.slabs = append(t.slabs, make([]Node, slabNodes))
	}
	y := t.at(t.n)
	*y = Node{t: t, op: op, id: t.n, more: y.more[:0]}
	t.n++
	return y
}

func (t *Tape) leaf(op string, v tensor.Matrix) *Node {
	y := t.fresh(op)
	y.V, y.shared = v, true
	return y
}

// link returns a node without a value over its operands. A nil operand stands for one left out.
func (t *Tape) link(op string, in ...*Node) *Node {
	y := t.fresh(op)
	t.join(y, in...)
	return y
}

// join appends operands to those of y.
func (t *Tape) join(y *Node, in ...*Node) {
	for _, x := range in {
		if x == nil {
			continue
		}
		if x.t != t {
			fail(y.name(), "operand of another tape", x)
		}
		if x.taken {
			fail(y.name(), "operand "+x.name()+" was overwritten by AddNoise", x)
		}
		x.shared = true
		y.need = y.need || x.need
		if y.nin < len(y.in) {
			y.in[y.nin] = x
		} else {
			y.more = append(y.more, x)
		}
		y.nin++
	}
}

// node returns a node like link, with a value buffer of undefined content.
func (t *Tape) node(op string, rows, cols int, in ...*Node) *Node {
	y := t.link(op, in...)
	y.V = t.Buffer(rows, cols)
	return y
}
