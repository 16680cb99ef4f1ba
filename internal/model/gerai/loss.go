package gerai

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/model/bpr"
	"privrec/internal/tensor"
)

// Objective sets what a step minimises over its B triples.
// With x = h·(q_uv - q_uv') the mean of f(x) is a polynomial of h in the Taylor form: linear·h + h' square h and a
// constant. linear is c1 times the mean of q_uv - q_uv', square is c2 times the mean of its products with itself, c1 =
// -1/2 and c2 = 1/8.
type Objective struct {
	Exact bool // f(x) = ln(1 + e^-x) and not its Taylor form
	// Coefficients, unless nil, adds noise to linear (d) and square (d, d), all ordered products. The noise affects
	// only the gradient of h: that of every other parameter is the same as without.
	Coefficients func(step int, linear, square []tensor.Float) error
	// Taylor, unless nil, adds noise to c1 and c2, which all gradients see. A negative c2 is
	// then taken as 0.
	Taylor func(step int, c []tensor.Float) error
	Gamma  float64 // of |Theta|²; of a sum over the training triples
	Sum    float64 // what the sum's penalty is divided by: the number of training triples, or B
	Alive  float64 // least share of the entries of q with a slope; below it Loss fails with a *DeadError
}

// DeadError is the error for a batch where almost no entry of q passes a gradient, so that nothing can be learned.
type DeadError struct {
	Step         int
	Share, Least float64
	Config       Config
}

// Error implements error.
func (e *DeadError) Error() string {
	return fmt.Sprintf("gerai: at step %d only %.2g %% of the entries of q pass a gradient (norm %s, initial values "+
		"%s), less than %.2g %%: nothing can be learned; take initial values %s with norm %s, a larger batch or a "+
		"smaller learning rate",
		e.Step, 100*e.Share, e.Config.Norm, e.Config.Init, 100*e.Least, Glorot, Rational)
}

// Loss returns the loss of a training step (1, 1) over triples with one negative each. It fails if Objective's noise
// does, and with a *DeadError. The model must not be used again before its backward has run.
func (m *Model) Loss(t *autograd.Tape, step int, triples bpr.Triples, o Objective) (*autograd.Node, error) {
	if b := len(triples.Users); b == 0 || len(triples.Items) != 2*b {
		return nil, fmt.Errorf("gerai: %d items for %d users, want a positive and a negative each", len(triples.Items),
			b)
	}
	m.turn++
	m.enter(t)
	var j joined
	squares := 0.0
	tensor.Parallel(3, 1, func(k, _, _ int) { // none reads what another makes
		switch k {
		case 0:
			m.plan.of(triples, m.c.Neighbours, m.draws.Sub(uint64(step)))
		case 1:
			j = m.join(t)
		default:
			if o.Gamma != 0 {
				squares = m.sumSq()
			}
		}
	})
	users, items := m.forward(t, &m.plan, j)
	l := &pairLoss{m: m, o: o, step: step, turn: m.turn, users: users, items: items, h: t.Use(m.H)}
	loss, err := l.node(t)
	if err != nil || o.Gamma == 0 {
		return loss, err
	}
	return loss.Add(m.penalty(t, o.Gamma/o.Sum, squares)), nil
}

// pairLoss computes the mean of f over triples as one operation.
type pairLoss struct {
	m               *Model
	o               Objective
	step, turn      int
	users, items, h *autograd.Node // W3a z*_u, W3b z*_v + b3, h

	diff   tensor.Matrix    // q_uv - q_uv' (B, d)
	up     [2]tensor.Matrix // derivative of norm and ReLU at the positives and at the negatives (B, d)
	slope  []tensor.Float   // f'(x)/B
	linear []tensor.Float   // with noise
	square tensor.Matrix    // with noise (d, d)
}

// tripleGrain is the number of triples that a core processes at a time.
const tripleGrain = 32

func (l *pairLoss) node(t *autograd.Tape) (*autograd.Node, error) {
	p, d := &l.m.plan, l.h.Cols()
	b := len(p.user)
	l.diff, l.slope = t.Buffer(b, d), t.Buffer(1, b).Data
	l.up = [2]tensor.Matrix{t.Buffer(b, d), t.Buffer(b, d)}
	other, each, alive := t.Buffer(b, d), t.Buffer(1, b).Data, make([]int32, b)
	c := []tensor.Float{-0.5, 0.125}
	if l.o.Taylor != nil {
		if err := l.o.Taylor(l.step, c); err != nil {
			return nil, err
		}
		c[1] = max(c[1], 0)
	}
	h := l.h.V.Data[:d]
	norm := norms[l.m.c.Norm]
	tensor.Parallel(b, tripleGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			q, r := tensor.Row(l.diff, k), tensor.Row(other, k)
			alive[k] = int32(l.q(norm, k, p.positive[k], q, l.up[0]) + l.q(norm, k, p.negative[k], r, l.up[1]))
			tensor.Axpy(-1, r, q)
			var f, slope float64
			x := float64(tensor.Dot(h, q))
			if l.o.Exact {
				e := math.Exp(-math.Abs(x))
				f, slope = max(-x, 0)+math.Log1p(e), -e/(1+e)
				if x <= 0 {
					slope = -1 / (1 + e)
				}
			} else {
				f, slope = math.Ln2+float64(c[0])*x+float64(c[1])*x*x, float64(c[0])+2*float64(c[1])*x
			}
			each[k], l.slope[k] = tensor.Float(f), tensor.Float(slope/float64(b))
		}
	})
	n := 0
	for _, a := range alive {
		n += int(a)
	}
	if share := float64(n) / float64(2*b*d); share < l.o.Alive {
		return nil, &DeadError{l.step, share, l.o.Alive, l.m.c}
	}
	value := tensor.Sum(each) / float64(b)
	if l.o.Coefficients != nil {
		noise, err := l.release(t)
		if err != nil {
			return nil, err
		}
		value += noise
	}
	y := t.Fused("geraiLoss", 1, 1, l.users, l.items, l.h)
	y.V.Data[0] = tensor.Float(value)
	return t.Custom("geraiLoss", y, func() { l.backward(y) }), nil
}

// q writes q of the k-th triple's user and an item into out, and its derivative into row k of up. It returns how many
// entries have a derivative other than 0.
func (l *pairLoss) q(norm func(x, slope []tensor.Float) int, k int, item int32, out []tensor.Float,
	up tensor.Matrix) int {
	copy(out, tensor.Row(l.users.V, int(l.m.plan.user[k])))
	tensor.Add(out, tensor.Row(l.items.V, int(item)))
	return norm(out, tensor.Row(up, k))
}

// release computes the coefficients of the batch and adds noise to them. It returns the change of the loss by the
// noise.
func (l *pairLoss) release(t *autograd.Tape) (float64, error) {
	b, d := l.diff.Rows, l.diff.Cols
	l.linear, l.square = t.BufferZero(1, d).Data, t.Buffer(d, d)
	for k := range b {
		tensor.Add(l.linear, tensor.Row(l.diff, k))
	}
	tensor.Scale(tensor.Float(-0.5/float64(b)), l.linear)
	tensor.Gemm(true, false, tensor.Float(0.125/float64(b)), l.diff, l.diff, 0, l.square)
	before := l.value()
	if err := l.o.Coefficients(l.step, l.linear, l.square.Data[:d*d]); err != nil {
		return 0, err
	}
	return l.value() - before, nil
}

// value returns linear·h + h' square h.
func (l *pairLoss) value() float64 {
	h := l.h.V.Data[:l.h.Cols()]
	v := float64(tensor.Dot(l.linear, h))
	for i, x := range h {
		v += float64(x) * float64(tensor.Dot(tensor.Row(l.square, i), h))
	}
	return v
}

// backward adds up by triple, in order: rows of users and items repeat.
func (l *pairLoss) backward(y *autograd.Node) {
	if l.turn != l.m.turn {
		panic(&autograd.Error{Op: "geraiLoss", Message: "backward after another step of the same model",
			Params: []string{l.m.H.Name}})
	}
	p, g, h := &l.m.plan, y.G.Data[0], l.h.V.Data[:l.h.Cols()]
	du, di := l.users.AddGrad(), l.items.AddGrad()
	for k, s := range l.slope {
		positive, negative, user := tensor.Row(l.up[0], k), tensor.Row(l.up[1], k), tensor.Row(du, int(p.user[k]))
		tensor.Mul(positive, positive, h)
		tensor.Mul(negative, negative, h)
		tensor.Axpy(g*s, positive, user)
		tensor.Axpy(-g*s, negative, user)
		tensor.Axpy(g*s, positive, tensor.Row(di, int(p.positive[k])))
		tensor.Axpy(-g*s, negative, tensor.Row(di, int(p.negative[k])))
	}
	dh := l.h.AddGrad().Data
	if l.o.Coefficients == nil {
		for k, s := range l.slope {
			tensor.Axpy(g*s, tensor.Row(l.diff, k), dh)
		}
		return
	}
	tensor.Axpy(g, l.linear, dh) // linear + (square + square') h
	for i, x := range h {
		dh[i] += g * tensor.Dot(tensor.Row(l.square, i), h)
		tensor.Axpy(g*x, tensor.Row(l.square, i), dh)
	}
}

// penaltyGrain is the number of values of a parameter that a core processes at a time: they stay in its nearest cache.
const penaltyGrain = 4096

// penalty returns c times squares, the sum of the squares of all parameters (1, 1).
func (m *Model) penalty(t *autograd.Tape, c, squares float64) *autograd.Node {
	var leaves []*autograd.Node
	for _, p := range m.Params() {
		leaves = append(leaves, t.Use(p))
	}
	y := t.Fused("geraiPenalty", 1, 1, leaves...)
	y.V.Data[0] = tensor.Float(c * squares)
	return t.Custom("geraiPenalty", y, func() {
		var to, from [][]tensor.Float
		grads := make([]tensor.Matrix, len(leaves))
		for i, x := range leaves {
			grads[i] = t.Buffer(x.Rows(), x.Cols())
			to = slices.AppendSeq(to, slices.Chunk(grads[i].Data, penaltyGrain))
			from = slices.AppendSeq(from, slices.Chunk(x.V.Data, penaltyGrain))
		}
		slope := 2 * tensor.Float(c) * y.G.Data[0]
		tensor.Parallel(len(to), 1, func(k, _, _ int) {
			clear(to[k])
			tensor.Axpy(slope, from[k], to[k])
		})
		for i, x := range leaves {
			x.GiveGrad(grads[i])
		}
	})
}
