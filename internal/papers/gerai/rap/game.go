package rap

import (
	"context"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/model/bprmf"
	"privrec/internal/model/rap"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// game trains a recommender against an attacker. It implements topn.Model, and train.Extra for
// the attacker's part.
type game struct {
	set      Attack
	l2       float64
	vectors  *bprmf.Model
	attacker *rap.Attacker
	adam     *optim.Adam // of the attacker
	data     *dataset.Interactions
	classes  []dataset.Column // the attributes
	draws    rng.Stream
	own      *autograd.Tape // of the attacker
}

// newGame returns both sides with initial values drawn from the seed.
func newGame(c Config, d *dataset.Interactions, classes []dataset.Column, seed rng.Seed) *game {
	var sizes []int
	for _, k := range classes {
		sizes = append(sizes, len(k.Levels))
	}
	return &game{
		set: c.Attack, l2: c.Train.L2, data: d, classes: classes,
		vectors:  bprmf.New(d.Users, d.Items, c.Model.Dim, c.Model.Init.Values(seed)),
		attacker: rap.New(d.Items, c.Attack.Dim, sizes, nn.Xavier(seed)),
		adam:     optim.NewAdam(0), draws: seed.Stream("rap.reading"), own: autograd.NewTape(),
	}
}

// Params implements topn.Model: the vectors of users and items.
func (g *game) Params() []*autograd.Param { return g.vectors.Params() }

// Loss implements topn.Model. It lets the attacker take its steps, then returns the loss of the
// recommender, L_BPR with its penalty minus a L_A.
func (g *game) Loss(t *autograd.Tape, s topn.Step) (*autograd.Node, error) {
	for k := range g.set.Steps {
		if err := g.attack(s.Number, k); err != nil {
			return nil, err
		}
	}
	x, err := g.vectors.Encode(t, s.Number, s.Users, s.Items)
	if err != nil {
		return nil, err
	}
	loss := bpr.Loss(x.Users, x.Items, 1, s.Count)
	if p := bpr.Penalty(g.l2, s.Count, x.Penalised...); p != nil {
		loss = loss.Add(p)
	}
	if g.set.Weight == 0 {
		return loss, nil
	}
	users, r := g.read(s.Number, g.set.Steps)
	list, err := g.list(t, users)
	if err != nil {
		return nil, err
	}
	w := rap.Weights(t.Rows(g.vectors.User, users), t.Use(g.vectors.Item), list, g.set.Temperature)
	return loss.Add(g.attacker.Against(g.own, r, w).Scale(-g.set.Weight)), nil
}

// attack makes the attacker's k-th step before a step of the recommender.
func (g *game) attack(step, k int) error {
	users, r := g.read(step, k)
	t := g.own
	t.Reset()
	w, err := g.weights(t, users)
	if err != nil {
		return err
	}
	t.Backward(g.attacker.Loss(t, r, w))
	return g.adam.Step(g.attacker.Params(), t.Grads(), g.set.Rate)
}

// weights returns the weights of users' lists (len(users), items), without gradients.
func (g *game) weights(t *autograd.Tape, users []int32) (*autograd.Node, error) {
	list, err := g.list(t, users)
	if err != nil {
		return nil, err
	}
	return rap.Weights(rows(t, g.vectors.User, users), t.Const(g.vectors.Item.Value), list, g.set.Temperature), nil
}

// list returns the items of users' lists: those that they do not have in train, or with attack.k only the best of
// these.
func (g *game) list(t *autograd.Tape, users []int32) (tensor.Matrix, error) {
	m := t.BufferZero(len(users), g.data.Items)
	if g.set.K == 0 {
		for k, u := range users {
			for _, i := range g.data.Train[u] {
				tensor.Row(m, k)[i] = rap.Outside
			}
		}
		return m, nil
	}
	scores := &bpr.Ranking{Users: g.vectors.User.Value, Goods: g.vectors.Item.Value}
	lists, err := eval.Top(context.Background(), scores, users, g.set.K,
		eval.Options{Exclude: func(u int32) []int32 { return g.data.Train[u] }})
	for k, list := range lists {
		row := tensor.Row(m, k)
		for i := range row {
			row[i] = rap.Outside
		}
		for _, item := range list {
			row[item.Index] = 0
		}
	}
	return m, err
}

// rows returns rows of a parameter, without gradients.
func rows(t *autograd.Tape, p *autograd.Param, idx []int32) *autograd.Node {
	m := t.Buffer(len(idx), p.Value.Cols)
	for k, i := range idx {
		copy(tensor.Row(m, k), tensor.Row(p.Value, int(i)))
	}
	return t.Const(m)
}

// read draws the users of a step, and returns them with what the attacker reads of them.
func (g *game) read(step, k int) (users []int32, r rap.Reading) {
	at := g.draws.Sub(uint64(step), uint64(k))
	draw := at.Sub(0)
	users = draw.Perm(g.data.Users)[:min(g.set.Users, g.data.Users)]
	for _, u := range users {
		items, order := slices.Clone(g.data.Train[u]), at.Sub(1, uint64(u))
		order.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		r.Items = append(r.Items, items[:min(g.set.Read, len(items))])
	}
	for _, c := range g.classes {
		labels := make([]int32, len(users))
		for i, u := range users {
			labels[i] = c.Codes[u]
		}
		r.Labels = append(r.Labels, labels)
	}
	return users, r
}

// Release implements topn.Model.
func (g *game) Release(string, topn.Call) (v experiment.Vectors, err error) {
	v.Users, v.Items = g.vectors.All()
	return v, nil
}
