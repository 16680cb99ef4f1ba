package gerai

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Vectors returns copies of W3a z*_u of all users (users, d) and W3b z*_v + b3 of all items (items, d). With h they
// score every pair. All neighbours take part.
func (m *Model) Vectors() (users, items tensor.Matrix) {
	p, t := newPlan(m.Graph), autograd.NewTape()
	t.NoGrad = true
	p.all()
	m.enter(t)
	u, i := m.forward(t, &p, m.join(t))
	return u.V, i.V
}

// Ranking scores all items for users. It implements eval.Scorer, with users as samples.
type Ranking struct {
	Users tensor.Matrix // W3a z*_u (users, d)
	Goods tensor.Matrix // W3b z*_v + b3 (items, d)
	H     tensor.Matrix // (1, d)
	Norm  string
}

// Items returns the number of items that are ranked.
func (r *Ranking) Items() int { return r.Goods.Rows }

// rankBlock is the number of pairs turned into q at a time: they stay in a core's nearest cache.
const rankBlock = 64

// Score fills scores (len(users), Items()) with s_uv = h·q_uv.
func (r *Ranking) Score(_ *autograd.Tape, users []int32, scores tensor.Matrix) error {
	d, norm := r.H.Cols, values[r.Norm]
	h := r.H.Data[:d]
	rows := make([]int32, rankBlock)
	for k := range rows {
		rows[k] = int32(k)
	}
	tensor.Parallel(len(users), 1, func(_, lo, hi int) {
		q := tensor.New(rankBlock, d)
		for k := lo; k < hi; k++ {
			u, out := tensor.Row(r.Users, int(users[k])), tensor.Row(scores, k)
			for from := 0; from < len(out); from += rankBlock {
				some := out[from:min(from+rankBlock, len(out))]
				for i := range some {
					tensor.SumTo(tensor.Row(q, i), u, tensor.Row(r.Goods, from+i))
				}
				norm(q.Data[:len(some)*q.Stride])
				tensor.DotRows(some, h, q, rows[:len(some)])
			}
		}
	})
	return nil
}
