package dasl

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Sampled returns the scores of items[k] for sample of[k] of the batch, for every k.
func (m *Model) Sampled(t *autograd.Tape, domain int, b *Batch, items, of []int32) []tensor.Float {
	p, user := m.encode(t, domain, b)
	users := make([]int32, len(of))
	for k, i := range of {
		users[k] = b.User[i]
	}
	return m.logits(t, domain, p.Gather(of), user.Gather(of), items, users).V.Data[:len(items)]
}

// All fills scores (b, items) with the scores of every item of a domain, item i in column
// i-1.
func (m *Model) All(t *autograd.Tape, domain int, b *Batch, scores tensor.Matrix) {
	s := m.sides[domain]
	p, user := m.encode(t, domain, b)
	half := m.cfg.Dim / 2
	n := m.items[domain]
	if t.BeforeRead != nil {
		for _, q := range []*autograd.Param{s.Item, s.ItemBias} {
			t.BeforeRead(q, nil)
		}
	}
	table := tensor.RowsView(s.Item.Value, 1, n+1)
	bias := t.Buffer(1, n).Data
	for i := range bias {
		bias[i] = tensor.Row(s.ItemBias.Value, i+1)[0]
	}
	own := make([]tensor.Float, len(b.User)) // of the user alone
	if s.UserBias != nil {
		copy(own, t.Rows(s.UserBias, b.User).V.Data)
	}
	if m.cfg.Head == HeadInner {
		tensor.Gemm(false, true, 1, tensor.ColsView(p.V, 0, half), table, 0, scores)
		for i := range b.User {
			own[i] += tensor.Dot(tensor.Row(p.V, i)[half:], tensor.Row(user.V, i))
		}
	} else {
		m.allHidden(t, s, p.V, user.V, table, scores)
	}
	tensor.Parallel(len(b.User), 1, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := tensor.Row(scores, i)
			tensor.Add(row, bias)
			for j := range row {
				row[j] += own[i]
			}
		}
	})
}

// allHidden computes head code for every item. Only the item's half of p*q differs between
// items, so a user needs one product of the table with a narrow matrix.
func (m *Model) allHidden(t *autograd.Tape, s *side, p, user, table, scores tensor.Matrix) {
	w, wb := t.Use(s.hidden.W).V, t.Use(s.hidden.B).V
	v, vb := t.Use(s.out.W).V.Data, t.Use(s.out.B).V.Data[0]
	half, hidden := m.cfg.Dim/2, w.Rows
	tensor.Parallel(p.Rows, 1, func(_, lo, hi int) {
		mine := tensor.New(hidden, half) // the layer's weights times p
		act := tensor.New(table.Rows, hidden)
		offset := make([]tensor.Float, hidden)
		for i := lo; i < hi; i++ {
			pi, ui := tensor.Row(p, i), tensor.Row(user, i)
			for k := range hidden {
				tensor.Mul(tensor.Row(mine, k), tensor.Row(w, k)[:half], pi[:half])
				o := wb.Data[k]
				for j, x := range tensor.Row(w, k)[half:] {
					o += x * pi[half+j] * ui[j]
				}
				offset[k] = o
			}
			tensor.Gemm(false, true, 1, table, mine, 0, act)
			row := tensor.Row(scores, i)
			for j := range row {
				a := tensor.Row(act, j)
				tensor.Add(a, offset)
				tensor.Sigmoid(a, a)
				row[j] = vb + tensor.Dot(a, v)
			}
		}
	})
}
