package bpr

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Encoder gives users and items their vectors; the inner products of these are the scores.
type Encoder interface {
	// Params lists the parameters in a fixed order.
	Params() []*autograd.Param
	// Encode returns the vectors of the given users (len(users), d) and items
	// (len(items), d), repeats allowed, and the rows to be penalised. Random numbers, if
	// it draws any, depend on the training step.
	Encode(t *autograd.Tape, step int, users, items []int32) (Encoded, error)
}

// Encoded holds the vectors of a batch, and the rows that [Penalty] takes.
type Encoded struct {
	Users, Items *autograd.Node
	Penalised    []*autograd.Node
}

// Objective is the loss that trains an encoder on the triples of a sampler.
type Objective struct {
	Encoder Encoder
	Sampler *Sampler
	Scale   float64 // factor of the scores, above 0; 1 in all publications
	L2      float64 // lambda of the penalty
}

// Loss builds the loss of a training step (1, 1) over samples, which are edges of the graph.
func (o *Objective) Loss(t *autograd.Tape, step int, samples []int32) (*autograd.Node, error) {
	b := o.Sampler.Draw(step, samples)
	x, err := o.Encoder.Encode(t, step, b.Users, b.Items)
	if err != nil {
		return nil, err
	}
	count := o.Sampler.Count(len(samples))
	loss := Loss(x.Users, x.Items, o.Scale, count)
	if p := Penalty(o.L2, count, x.Penalised...); p != nil {
		loss = loss.Add(p)
	}
	return loss, nil
}

// Ranking scores all items for users by inner products. It implements eval.Scorer, with
// users as samples.
type Ranking struct {
	Users tensor.Matrix // (users, d)
	Goods tensor.Matrix // (items, d)

	rows tensor.Matrix
}

// Items returns the number of items that are ranked.
func (r *Ranking) Items() int { return r.Goods.Rows }

// Score fills scores (len(users), Items()) with the inner products of users and items.
func (r *Ranking) Score(_ *autograd.Tape, users []int32, scores tensor.Matrix) error {
	if r.rows.Rows < len(users) {
		r.rows = tensor.New(len(users), r.Users.Cols)
	}
	x := tensor.RowsView(r.rows, 0, len(users)) // (B, d)
	for i, u := range users {
		copy(tensor.Row(x, i), tensor.Row(r.Users, int(u)))
	}
	tensor.Gemm(false, true, 1, x, r.Goods, 0, scores)
	return nil
}
