package forgetting

import (
	"context"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// influencePart is the number of pairs that one tape differentiates.
const influencePart = 1 << 16

// triplesOf draws one negative for every edge of a graph and returns all triples, in parts.
func triplesOf(g *graph.Bipartite, seed rng.Seed) ([]bpr.Triples, error) {
	s, err := bpr.NewSampler(g, bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: influencePart,
		Seed: seed})
	if err != nil {
		return nil, err
	}
	var parts []bpr.Triples
	for from := 0; from < g.Edges(); from += influencePart {
		edges := make([]int32, min(influencePart, g.Edges()-from))
		for k := range edges {
			edges[k] = int32(from + k)
		}
		t := s.Draw(len(parts), edges)
		parts = append(parts, bpr.Triples{Users: slices.Clone(t.Users), Items: slices.Clone(t.Items)})
	}
	return parts, nil
}

// slope computes gradients of the summed loss over triples, as vectors of all parameters.
type slope struct {
	l2   float64
	tape *autograd.Tape
	read *int64 // pairs that were read
}

// width returns the number of a model's parameters, as values.
func width(params []*autograd.Param) (n int) {
	for _, p := range params {
		n += p.Value.Rows * p.Value.Cols
	}
	return n
}

// add adds scale times the gradient of the summed loss of a model over triples to g, in the order of its parameters.
func (s *slope) add(ctx context.Context, m bpr.Encoder, triples []bpr.Triples, scale float64, g []float64) error {
	o := bpr.Objective{Encoder: m, Scale: 1, L2: s.l2}
	for k, part := range triples {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.tape.Reset()
		loss, err := o.Of(s.tape, k, part, 1)
		if err != nil {
			return err
		}
		s.tape.Backward(loss)
		s.gather(m, scale, g)
		*s.read += int64(len(part.Users))
	}
	return nil
}

// gather adds scale times the gradient on the tape to g.
func (s *slope) gather(m bpr.Encoder, scale float64, g []float64) {
	for _, p := range m.Params() {
		cols := p.Value.Cols
		if dense, ok := s.tape.Grads().Dense(p); ok {
			for r := range p.Value.Rows {
				addRow(g[r*cols:], tensor.Row(dense, r), scale)
			}
		} else if rows, values, ok := s.tape.Grads().Sparse(p); ok {
			for n, r := range rows {
				addRow(g[int(r)*cols:], tensor.Row(values, n), scale)
			}
		}
		g = g[p.Value.Rows*cols:]
	}
}

func addRow(to []float64, row []tensor.Float, scale float64) {
	for j, v := range row {
		to[j] += scale * float64(v)
	}
}

// moved sets the parameters to those of at, plus scale times a vector.
func moved(params []*autograd.Param, at []tensor.Matrix, scale float64, v []float64) {
	for k, p := range params {
		for r := range p.Value.Rows {
			row, from := tensor.Row(p.Value, r), tensor.Row(at[k], r)
			for j := range row {
				row[j] = from[j] + tensor.Float(scale*v[j])
			}
			v = v[len(row):]
		}
	}
}

// copies returns copies of the values of parameters.
func copies(params []*autograd.Param) []tensor.Matrix {
	out := make([]tensor.Matrix, len(params))
	for k, p := range params {
		out[k] = tensor.New(p.Value.Rows, p.Value.Cols)
		for r := range p.Value.Rows {
			copy(tensor.Row(out[k], r), tensor.Row(p.Value, r))
		}
	}
	return out
}

// stride is the length of the differences that products with the curvature are taken over, as a share of the length of
// the parameters.
const stride = 1e-3

// curvature returns the products of the Gauss-Newton matrix of the summed loss with vectors at the parameters at hand:
// J'WJ v, where J holds the derivatives of the differences x of scores, and W the second derivatives of their loss,
// s(x)(1-s(x)) for the sigmoid s; likewise for the rows of the penalty, with l2. J v is a central difference over a
// step of stride times the length of the parameters, and J' a gradient. Unlike the Hessian it has no negative
// curvature, along which a Newton step would lead away from the minimum; where x is linear in the parameters the two
// are the same.
func (s *slope) curvature(ctx context.Context, m bpr.Encoder, triples []bpr.Triples) func(v, out []float64) error {
	params := m.Params()
	at, size := copies(params), 0.0
	for _, x := range at {
		size += tensor.SumSq(x.Data)
	}
	return func(v, out []float64) error {
		clear(out)
		length := norm(v)
		if length == 0 {
			return nil
		}
		h := stride * math.Sqrt(size) / length
		defer moved(params, at, 0, v)
		for k, part := range triples {
			if err := ctx.Err(); err != nil {
				return err
			}
			moved(params, at, h, v)
			up, err := s.look(m, k, part)
			if err != nil {
				return err
			}
			moved(params, at, -h, v)
			down, err := s.look(m, k, part)
			if err != nil {
				return err
			}
			moved(params, at, 0, v)
			if err := s.back(m, k, part, up.less(down, 1/(2*h)), out); err != nil {
				return err
			}
			*s.read += 2 * int64(len(part.Users)) // three looks and a gradient, which are about two gradients
		}
		return nil
	}
}

// differences holds the differences of the scores of pairs (B, 1), and the rows of the penalty.
type differences struct {
	x         tensor.Matrix
	penalised []tensor.Matrix
}

// look returns the differences of a model.
func (s *slope) look(m bpr.Encoder, step int, part bpr.Triples) (differences, error) {
	s.tape.Reset()
	s.tape.NoGrad = true
	defer func() { s.tape.NoGrad = false }()
	x, rows, err := s.scores(m, step, part)
	if err != nil {
		return differences{}, err
	}
	d := differences{x: copied(x.V)}
	for _, r := range rows {
		d.penalised = append(d.penalised, copied(r.V))
	}
	return d, nil
}

// scores records the differences of the scores of pairs, and the rows of the penalty.
func (s *slope) scores(m bpr.Encoder, step int, part bpr.Triples) (*autograd.Node, []*autograd.Node, error) {
	e, err := m.Encode(s.tape, step, part.Users, part.Items)
	if err != nil {
		return nil, nil, err
	}
	b := len(part.Users)
	return e.Users.RowDot(e.Items.SliceRows(0, b)).Sub(e.Users.RowDot(e.Items.SliceRows(b, 2*b))), e.Penalised, nil
}

// less returns scale times d less another, in place.
func (d differences) less(other differences, scale float64) differences {
	for k, x := range append([]tensor.Matrix{d.x}, d.penalised...) {
		from := other.x
		if k > 0 {
			from = other.penalised[k-1]
		}
		for j, v := range from.Data {
			x.Data[j] = tensor.Float(scale * float64(x.Data[j]-v))
		}
	}
	return d
}

// back adds J'W d to g.
func (s *slope) back(m bpr.Encoder, step int, part bpr.Triples, d differences, g []float64) error {
	s.tape.Reset()
	x, rows, err := s.scores(m, step, part)
	if err != nil {
		return err
	}
	for k, v := range x.V.Data {
		e := math.Exp(-math.Abs(float64(v)))
		d.x.Data[k] *= tensor.Float(e / (1 + e) / (1 + e))
	}
	sum := x.Mul(s.tape.Const(d.x)).SumAll()
	if s.l2 > 0 {
		for k, r := range rows {
			sum = sum.Add(r.Mul(s.tape.Const(d.penalised[k])).SumAll().Scale(s.l2))
		}
	}
	s.tape.Backward(sum)
	s.gather(m, 1, g)
	return nil
}

// newtonStep moves the parameters of kept, a model over the remaining rows, by one damped Newton step on their summed
// loss. Its right side is what the loss of all rows, at whose minimum the parameters are taken to be, has and that of
// the remaining ones lacks: over the graph of first the gradient of all triples, less that of the remaining ones over
// their own graph. The vectors of the users in held stay as they are. It returns the number of products.
func (s *slope) newtonStep(ctx context.Context, first, kept bpr.Encoder, lost, rest []bpr.Triples, held []int32,
	damping float64, steps int) (int, error) {
	b := make([]float64, width(kept.Params()))
	for _, t := range []struct {
		of      bpr.Encoder
		triples []bpr.Triples
		scale   float64
	}{{first, lost, 1}, {first, rest, 1}, {kept, rest, -1}} {
		if err := s.add(ctx, t.of, t.triples, t.scale, b); err != nil {
			return 0, err
		}
	}
	from := 0
	for _, p := range kept.Params() {
		if cols := p.Value.Cols; p.Name == userTable {
			for _, u := range held {
				clear(b[from+int(u)*cols:][:cols])
			}
		}
		from += p.Value.Rows * p.Value.Cols
	}
	at := copies(kept.Params())
	x, n, err := conjugate(ctx, b, damping, steps, s.curvature(ctx, kept, rest))
	if err != nil {
		return n, err
	}
	moved(kept.Params(), at, 1, x)
	return n, nil
}

// influence returns a model of the remaining rows that forgot by a Newton step from the parameters of first.
func (s *study) influence(ctx context.Context, first *network, damping float64) (*network, error) {
	lost, err := graphOf(s.data, s.forgotten)
	if err != nil {
		return nil, err
	}
	lostTriples, err := triplesOf(lost, s.seed("influence"))
	if err != nil {
		return nil, err
	}
	rest, err := triplesOf(s.rest, s.seed("influence"))
	if err != nil {
		return nil, err
	}
	kept, err := s.over(first, s.rest)
	if err != nil {
		return nil, err
	}
	g := slope{l2: s.Train.L2, tape: autograd.NewTape(), read: &s.pairs}
	_, err = g.newtonStep(ctx, first, kept, lostTriples, rest, s.forgotten, damping,
		s.Influence.Steps)
	return kept, run.Interrupted(ctx, err)
}
