// Package bprmf is matrix factorisation trained by Bayesian personalised ranking:
// Rendle et al., UAI 2009, arXiv 1205.2618, section 4.3.1. A user u has the row w_u, an
// item i has the row h_i, and the score is their inner product:
//
//	x_ui = sum over f of w_uf h_if
//
// The loss over the differences x_ui - x_uj is that of package bpr (section 4.1 there).
// There are no biases, as in the comparisons that the papers of NGCF and LightGCN make.
package bprmf

import (
	"privrec/internal/autograd"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Model holds the two tables.
type Model struct {
	User *autograd.Param // W, rows w_u (users, d)
	Item *autograd.Param // H, rows h_i (items, d)
}

// New returns a model with tables of width dim, which init fills by name.
func New(users, items, dim int, init nn.Init) *Model {
	return &Model{
		User: nn.NewTableParam("user", users, dim, init),
		Item: nn.NewTableParam("item", items, dim, init),
	}
}

// Params returns the tables, users first.
func (m *Model) Params() []*autograd.Param { return []*autograd.Param{m.User, m.Item} }

// Encode implements bpr.Encoder: it returns the rows unchanged and penalises all of them.
func (m *Model) Encode(t *autograd.Tape, _ int, users, items []int32) (bpr.Encoded, error) {
	u, p := t.Rows(m.User, users), t.Rows(m.Item, items) // (B, d), (2B, d)
	return bpr.Encoded{Users: u, Items: p, Penalised: []*autograd.Node{u, p}}, nil
}

// All returns the vectors of all users (users, d) and items (items, d): the tables
// themselves.
func (m *Model) All() (users, items tensor.Matrix) { return m.User.Value, m.Item.Value }
