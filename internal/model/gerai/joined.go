package gerai

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// joined holds the products of parameters that forward uses as joined linear maps.
type joined struct {
	first, self *autograd.Node // the MLP's first map and W1b, each with E_U (d, features)
	seen        *autograd.Node // W1a M3 (d, d)
	bias        *autograd.Node // b1 + W1a c3 (1, d)
}

// enter records all parameters on the tape, in the order in which forward reads them.
func (m *Model) enter(t *autograd.Tape) {
	first, second, last := m.Message.Layers[0], m.Message.Layers[1], m.Message.Layers[2]
	for _, p := range []*autograd.Param{m.Item, first.W, first.B, m.User, second.W, second.B, m.Seen.W, last.W,
		m.Self.B, last.B, m.Self.W,
		m.Weigh, m.Update.W, m.Update.B, m.OfUser.W, m.OfItem.W, m.OfItem.B, m.H} {
		t.Use(p)
	}
}

// join returns the joined maps.
func (m *Model) join(t *autograd.Tape) joined {
	first, last := m.Message.Layers[0], m.Message.Layers[2]
	user, seen := t.Use(m.User), t.Use(m.Seen.W)
	return joined{
		first: t.Use(first.W).MatMulT(user), self: t.Use(m.Self.W).MatMulT(user),
		seen: seen.MatMul(t.Use(last.W)), bias: t.Use(m.Self.B).Add(t.Use(last.B).MatMulT(seen)),
	}
}

// sumSq returns the sum of the squares of all parameters.
func (m *Model) sumSq() (sum float64) {
	for _, p := range m.Params() {
		sum += tensor.SumSq(p.Value.Data)
	}
	return sum
}
