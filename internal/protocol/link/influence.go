package link

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/protocol/target"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// influence changes the input of one user after another. For every item it measures the change of its scores for the
// watched other users, and of its vector (LinkTeller, algorithm 1), as root mean square. An attacker who queries many
// users also knows how much an item moves on average, and how much more it moves for this user.
func (p *plan) influence(ctx context.Context, d *experiment.Deployed) ([]target.Way, error) {
	defer p.Env.Stage("influence")()
	on, items := p.on, p.Given.Items
	tape := autograd.NewTape()
	watch := p.watched()
	ask := func(n int) (experiment.Vectors, tensor.Matrix, error) {
		v, s, err := d.Answer(n)
		if err != nil {
			return v, tensor.Matrix{}, err
		}
		scores, err := scored(tape, s, watch, items)
		return v, scores, err
	}
	v, was, err := ask(0)
	if err != nil {
		return nil, err
	}
	vectors := tensor.New(v.Items.Rows, v.Items.Cols)
	for i := range vectors.Rows {
		copy(tensor.Row(vectors, i), tensor.Row(v.Items, i))
	}
	moved := [2]*moves{newMoves(on, items), newMoves(on, items)} // scores, vectors
	p.Env.Progress.Begin("change of an input", len(on.users))
	for k, u := range on.users {
		if err := run.Interrupted(ctx, ctx.Err()); err != nil {
			return nil, err
		}
		own := append([]tensor.Float{}, tensor.Row(d.Inputs, int(u))...)
		p.change(tensor.Row(d.Inputs, int(u)), p.Env.Seed.Stream("link change").Of(p.Whole.UserIDs[u]))
		v, now, err := ask(1 + k)
		copy(tensor.Row(d.Inputs, int(u)), own)
		if err != nil {
			return nil, err
		}
		column := make([]float64, items)
		for r, w := range watch {
			if w == u { // their own scores change with their input, edges or not
				continue
			}
			a, b := tensor.Row(was, r), tensor.Row(now, r)
			for i := range column {
				column[i] += float64(b[i]-a[i]) * float64(b[i]-a[i])
			}
		}
		if err := moved[0].enter(k, column); err != nil {
			return nil, err
		}
		for i := range column {
			column[i] = 0
			b := tensor.Row(v.Items, i)
			for j, a := range tensor.Row(vectors, i) {
				column[i] += float64(b[j]-a) * float64(b[j]-a)
			}
		}
		if err := moved[1].enter(k, column); err != nil {
			return nil, err
		}
		p.Env.Progress.Add(1)
	}
	p.Env.Progress.End(fmt.Sprintf("%d users", len(on.users)))
	how := fmt.Sprintf("LinkTeller: change of the item's scores for %d other users when %s changes", len(watch), d.What)
	const beyond = "the same less the item's mean over the attacked users, over its deviation"
	all := []target.Way{
		target.By("influence on scores", SeesInfluence, how+": more for edges", moved[0].by),
		target.By("influence on scores, beyond the item's", SeesInfluence, beyond, moved[0].beyond()),
	}
	if p.sees(SeesVectors) {
		how = fmt.Sprintf("change of the item's vector when %s changes", d.What)
		const both = SeesInfluence + ", " + SeesVectors
		all = append(all,
			target.By("influence on vectors", both, how+": more for edges", moved[1].by),
			target.By("influence on vectors, beyond the item's", both, beyond, moved[1].beyond()))
	}
	return all, nil
}

// watched returns a random choice of users whose scores the attacker sees.
func (p *plan) watched() []int32 {
	all := make([]int32, p.Given.Users)
	for u := range all {
		all[u] = int32(u)
	}
	return dataset.NewLots(p.Held.Seed.Stream("link watched")).Some(p.Whole.UserIDs, all, p.Attack.Watched)
}

// scored returns the scores of all items for some users.
func scored(t *autograd.Tape, s eval.Scorer, users []int32, items int) (tensor.Matrix, error) {
	if s.Items() != items {
		return tensor.Matrix{}, fmt.Errorf("link: the model scores %d items, its data have %d", s.Items(), items)
	}
	out := tensor.New(len(users), items)
	t.Reset()
	return out, s.Score(t, users, out)
}

// change replaces a user's input: by one of the same length in a random direction, or by a scaled one. A zero row gets
// length 1.
func (p *plan) change(row []tensor.Float, s rng.Stream) {
	if p.Attack.Change == Scaled {
		for i := range row {
			row[i] *= tensor.Float(1 + p.Attack.Delta)
		}
		return
	}
	length := math.Sqrt(tensor.SumSq(row))
	if length == 0 {
		length = 1
	}
	z := make([]float64, len(row))
	s.Normals64(z)
	sum := 0.0
	for _, x := range z {
		sum += x * x
	}
	for i, x := range z {
		row[i] = tensor.Float(length * x / math.Sqrt(sum))
	}
}

// moves holds how much items moved when the input of each attacked user changed.
type moves struct {
	on       *pairs
	by       []float64 // by pair
	sum, two []float64 // over attacked users, by item
}

func newMoves(on *pairs, items int) *moves {
	return &moves{on: on, by: make([]float64, on.count()), sum: make([]float64, items), two: make([]float64, items)}
}

// enter records the squared changes of all items.
func (m *moves) enter(k int, squared []float64) error {
	for i, x := range squared {
		x = math.Sqrt(x)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("link: the answer after a change of user %d has numbers that are not finite",
				m.on.users[k])
		}
		m.sum[i], m.two[i] = m.sum[i]+x, m.two[i]+x*x
	}
	for j, i := range m.on.items[k] {
		m.by[m.on.at[k]+j] = math.Sqrt(squared[i])
	}
	return nil
}

// beyond returns the changes standardised by each item's mean and deviation over users; 0 for an item that always moves
// alike.
func (m *moves) beyond() []float64 {
	out, n := make([]float64, len(m.by)), float64(len(m.on.users))
	for k, items := range m.on.items {
		for j, i := range items {
			mean := m.sum[i] / n
			if spread := m.two[i]/n - mean*mean; spread > 1e-12*mean*mean {
				out[m.on.at[k]+j] = (m.by[m.on.at[k]+j] - mean) / math.Sqrt(spread)
			}
		}
	}
	return out
}
