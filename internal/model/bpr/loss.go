package bpr

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// lossGrain is the number of positives that a core processes at a time.
const lossGrain = 128

// Loss returns the loss without its penalty (1, 1):
//
//	1/(count N) sum over k and j of softplus(-scale (u_k·p_k - u_k·n_kj))
//
// users (B, d) holds the rows u_k. items ((1+N)B, d) holds the positives p_k, then N times
// B negatives, in the order of [Triples]. The publications have N = 1; the terms of more
// negatives are averaged. Loss panics with an *autograd.Error on other shapes.
func Loss(users, items *autograd.Node, scale, count float64) *autograd.Node {
	b, t := users.Rows(), users.Tape()
	n := 1
	if b > 0 {
		n = items.Rows()/b - 1
	}
	if n < 1 || items.Rows() != (1+n)*b || items.Cols() != users.Cols() {
		panic(&autograd.Error{Op: "bpr",
			Message: "items are not a multiple, from twice, of the users, of the same width",
			Shapes:  [][2]int{{b, users.Cols()}, {items.Rows(), items.Cols()}}})
	}
	y := t.Fused("bpr", 1, 1, users, items)
	each, slope := t.Buffer(b, n), t.Buffer(b, n)
	terms := count * float64(n)
	tensor.Parallel(b, lossGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			u := tensor.Row(users.V, k)
			positive := tensor.Dot(u, tensor.Row(items.V, k))
			each, slope := tensor.Row(each, k), tensor.Row(slope, k)
			for j := range each {
				x := scale * float64(positive-tensor.Dot(u, tensor.Row(items.V, (1+j)*b+k)))
				e := math.Exp(-math.Abs(x))
				each[j] = tensor.Float(max(-x, 0) + math.Log1p(e))
				if x > 0 {
					slope[j] = tensor.Float(-scale * e / (1 + e) / terms)
				} else {
					slope[j] = tensor.Float(-scale / (1 + e) / terms)
				}
			}
		}
	})
	y.V.Data[0] = tensor.Float(tensor.Sum(each.Data) / terms)
	return t.Custom("bpr", y, func() {
		g := y.G.Data[0]
		var du, di tensor.Matrix
		if users.Needs() {
			du = users.AddGrad()
		}
		if items.Needs() {
			di = items.AddGrad()
		}
		tensor.Parallel(b, lossGrain, func(_, lo, hi int) {
			for k := lo; k < hi; k++ {
				for j, s := range tensor.Row(slope, k) {
					c, negative := g*s, (1+j)*b+k
					if users.Needs() {
						tensor.Axpy(c, tensor.Row(items.V, k), tensor.Row(du, k))
						tensor.Axpy(-c, tensor.Row(items.V, negative), tensor.Row(du, k))
					}
					if items.Needs() {
						tensor.Axpy(c, tensor.Row(users.V, k), tensor.Row(di, k))
						tensor.Axpy(-c, tensor.Row(users.V, k), tensor.Row(di, negative))
					}
				}
			}
		})
	})
}

// Penalty returns lambda/2 1/count times the sum of the squares of the rows (1, 1). It returns nil if lambda is 0 or
// there are no rows.
func Penalty(lambda, count float64, rows ...*autograd.Node) *autograd.Node {
	if lambda == 0 || len(rows) == 0 {
		return nil
	}
	sum := rows[0].SumSq()
	for _, x := range rows[1:] {
		sum = sum.Add(x.SumSq())
	}
	return sum.Scale(lambda / 2 / count)
}

// Encoder computes vectors of users and items. Their inner products are the scores.
type Encoder interface {
	// Params returns the parameters in a fixed order.
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

// Static is an encoder whose vectors after training depend only on its parameters.
type Static interface {
	Encoder
	// All computes the vectors of all users (users, d) and items (items, d). They are valid
	// until the next call of a method.
	All() (users, items tensor.Matrix, err error)
}

// Objective computes the loss that trains an encoder on the triples of a sampler.
type Objective struct {
	Encoder Encoder
	Sampler *Sampler
	Scale   float64 // factor of the scores, above 0; 1 in all publications
	L2      float64 // lambda of the penalty
}

// Loss returns the loss of a training step (1, 1) over samples, which are edges of the graph.
func (o *Objective) Loss(t *autograd.Tape, step int, samples []int32) (*autograd.Node, error) {
	return o.Of(t, step, o.Sampler.Draw(step, samples), o.Sampler.Count(len(samples)))
}

// Of returns the loss of a training step (1, 1) over drawn triples. It needs no Sampler: count is that of
// [Sampler.Count].
func (o *Objective) Of(t *autograd.Tape, step int, b Triples, count float64) (*autograd.Node, error) {
	x, err := o.Encoder.Encode(t, step, b.Users, b.Items)
	if err != nil {
		return nil, err
	}
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

// Close frees the memory of the vectors, which may be tables.
func (r *Ranking) Close() {
	tensor.Free(r.Users)
	tensor.Free(r.Goods)
	*r = Ranking{}
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
