// Package bprmf is matrix factorisation trained by Bayesian personalised ranking:
// Rendle et al., UAI 2009, arXiv 1205.2618, section 4.3.1. A user and an item have a
// row each; the score is the inner product (eq. 5 there, without biases, as the
// comparisons of NGCF and LightGCN run it).
package bprmf

import (
	"privrec/internal/autograd"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Model is the two tables.
type Model struct {
	User *autograd.Param // E_U (users, d)
	Item *autograd.Param // E_P (items, d)
}

// New makes a model whose tables init fills by name.
func New(users, items, dim int, init nn.Init) *Model {
	return &Model{
		User: nn.NewTableParam("user", users, dim, init),
		Item: nn.NewTableParam("item", items, dim, init),
	}
}

// Params lists the tables, users first.
func (m *Model) Params() []*autograd.Param { return []*autograd.Param{m.User, m.Item} }

// Encode implements bpr.Encoder: rows as they are, all penalised.
func (m *Model) Encode(t *autograd.Tape, _ int, users, items []int32) (bpr.Encoded, error) {
	u, p := t.Rows(m.User, users), t.Rows(m.Item, items) // (B, d), (2B, d)
	return bpr.Encoded{Users: u, Items: p, Penalised: []*autograd.Node{u, p}}, nil
}

// All returns the vectors of all users (users, d) and items (items, d): the tables
// themselves.
func (m *Model) All() (users, items tensor.Matrix) { return m.User.Value, m.Item.Value }
