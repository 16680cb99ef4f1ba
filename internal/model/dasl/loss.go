package dasl

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Batch holds b samples of one domain. Windows lie step by step: Own[t*b+i] is column t of
// sample i, an item id, or 0 for padding.
type Batch struct {
	User       []int32 // (b)
	Own, Cross []int32 // (w*b); Cross is not read by DASL-single
	Pos, Neg   []int32 // (b); not read by Encode
}

// encode returns p (b, d) and the users' vectors (b, d/2).
func (m *Model) encode(t *autograd.Tape, domain int, b *Batch) (p, user *autograd.Node) {
	own, n := m.sides[domain], len(b.User)
	mask := m.cfg.Mask == MaskZeros
	user = t.Rows(own.User, b.User)
	states := own.unit.read(t, t.Rows(own.Item, b.Own), user, b.Own, mask)
	readings := []reading{{states: states, energy: own.energies(t, states), ids: b.Own, summed: true}}
	factor := 1.0
	switch {
	case m.cfg.Attention == AttentionConstant:
		factor = m.cfg.GateValue
	case !m.single:
		other := m.sides[1-domain]
		beside := user
		if m.cfg.CrossUser == CrossUserOther {
			beside = t.Rows(other.User, b.User)
		}
		states := other.unit.read(t, t.Rows(other.Item, b.Cross), beside, b.Cross, mask)
		readings = append(readings, reading{states: states, energy: own.energies(t, states), ids: b.Cross,
			summed: m.cfg.Attention == AttentionFull})
	}
	return pool(t, n, factor, mask, readings...), user
}

// logits returns the scores (n, 1) of items for the rows of p (n, d) and of user (n, d/2);
// users holds the indices of these users.
func (m *Model) logits(t *autograd.Tape, domain int, p, user *autograd.Node, items, users []int32) *autograd.Node {
	s := m.sides[domain]
	q := t.Rows(s.Item, items).ConcatCols(user) // (n, d)
	var y *autograd.Node                        // (n, 1)
	if m.cfg.Head == HeadCode {
		y = s.out.Forward(t, s.hidden.Forward(t, p.Mul(q)).Sigmoid())
	} else {
		y = p.RowDot(q)
	}
	y = y.Add(t.Rows(s.ItemBias, items))
	if s.UserBias != nil {
		y = y.Add(t.Rows(s.UserBias, users))
	}
	return y
}

// Loss returns the mean over a batch of -log sigmoid(positive) - log(1 - sigmoid(negative))
// (1, 1), the binary cross-entropy of the PriCDSR paper. The step decides the dropout.
func (m *Model) Loss(t *autograd.Tape, domain, step int, b *Batch) *autograd.Node {
	p, user := m.encode(t, domain, b)
	p = p.Dropout(m.cfg.Dropout, m.seed.Stream("dasl.dropout", uint64(step)))
	pos := m.logits(t, domain, p, user, b.Pos, b.User).LogSigmoid()
	neg := m.logits(t, domain, p, user, b.Neg, b.User).Scale(-1).LogSigmoid()
	return pos.Add(neg).MeanAll().Scale(-1)
}

// Alignment returns the loss of the dual embedding (1, 1): the mean over all users of the
// distance between their vector in the target domain and their mapped vector of the other,
// plus the penalty of a mapping that is not orthogonal.
func (m *Model) Alignment(t *autograd.Tape) *autograd.Node {
	x := t.Use(m.X)
	first, second := t.Use(m.sides[0].User), t.Use(m.sides[1].User).MatMul(x) // (users, d/2)
	if m.XB != nil {
		second = second.AddRow(t.Use(m.XB))
	}
	if m.cfg.Align.Distance == DistanceCosine {
		first, second = first.NormalizeRows(1, unitEps), second.NormalizeRows(1, unitEps)
	}
	one := t.BufferZero(1, 1)
	one.Data[0] = 1
	loss := t.Const(one).Sub(first.RowDot(second).MeanAll())
	if m.cfg.Align.Orthogonal == 0 {
		return loss
	}
	d := m.X.Value.Cols
	id := t.BufferZero(d, d)
	for i := range d {
		tensor.Row(id, i)[i] = 1
	}
	tiny := t.BufferZero(1, 1) // the root has no slope at 0
	tiny.Data[0] = 1e-12
	squares := transposed(x).MatMul(x).Sub(t.Const(id)).SumSq().Add(t.Const(tiny))
	return loss.Add(squares.Log().Scale(0.5).Exp().Scale(m.cfg.Align.Orthogonal))
}

// unitEps avoids a division by zero for vectors of zeros.
const unitEps = 1e-12

// transposed returns x', as a product with the identity.
func transposed(x *autograd.Node) *autograd.Node {
	t, d := x.Tape(), x.Rows()
	id := t.BufferZero(d, d)
	for i := range d {
		tensor.Row(id, i)[i] = 1
	}
	return t.Const(id).MatMulT(x)
}
