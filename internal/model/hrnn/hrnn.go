package hrnn

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Cite names the publication.
const Cite = "Quadrana et al., Personalizing Session-based Recommendations with Hierarchical Recurrent Neural " +
	"Networks, RecSys 2017, arXiv 1706.04148"

// Variants of the network.
const (
	VariantInit = "init" // the user's state begins sessions, eq. 3
	VariantAll  = "all"  // it is also an input of every step, eq. 4
)

// Config sets the shape of the network.
type Config struct {
	Dim int `yaml:"dim" limit:"1..4096"` // d, width of both states
	// use of the user's state: init (begins sessions) or all (also an input of every step)
	Variant string `yaml:"variant" limit:"init|all"`
	// share of values set to 0 in s', the state of the session
	DropoutSession float64 `yaml:"dropout_session" limit:"[0,1)"`
	// share of values set to 0 in c, the state of the user
	DropoutUser float64 `yaml:"dropout_user" limit:"[0,1)"`
	DropoutInit float64 `yaml:"dropout_init" limit:"[0,1)"` // share of values set to 0 in a session's first state
}

// Default returns the small network of a variant with the settings of the authors' program.
func Default(variant string) Config {
	if variant == VariantAll {
		return Config{Dim: 100, Variant: VariantAll, DropoutSession: 0.1, DropoutUser: 0.1, DropoutInit: 0.2}
	}
	return Config{Dim: 100, Variant: VariantInit, DropoutSession: 0.1}
}

// Check returns an error for the first field out of its range.
func (c Config) Check() error {
	if c.Dim < 1 {
		return fmt.Errorf("hrnn: dim is %d, want at least 1", c.Dim)
	}
	if c.Variant != VariantInit && c.Variant != VariantAll {
		return fmt.Errorf("hrnn: variant is %q, want %s or %s", c.Variant, VariantInit, VariantAll)
	}
	for _, p := range []float64{c.DropoutSession, c.DropoutUser, c.DropoutInit} {
		if !(p >= 0 && p < 1) {
			return fmt.Errorf("hrnn: dropout is %v, want at least 0 and below 1", p)
		}
	}
	return nil
}

// Model is HRNN over items 1..V. Gates are stacked in the order r, z, a.
type Model struct {
	Config Config

	In       *autograd.Param // (V+1, 3d), what an item gives to the gates; row 0 unused
	Out      *autograd.Param // (V+1, d), row 0 unused
	Bias     *autograd.Param // (V+1, 1)
	SessionU *autograd.Param // (3d, d)
	SessionB *autograd.Param // (1, 3d)
	UserW    *autograd.Param // (3d, d)
	UserU    *autograd.Param // (3d, d)
	UserB    *autograd.Param // (1, 3d)
	First    *nn.Linear      // eq. 2
	All      *autograd.Param // (3d, d), what the user's state gives to the gates; nil: variant init

	dropSession, dropUser, dropFirst *nn.Dropout
}

// New returns a model over items 1..items. Matrices start with Glorot and Bengio's uniform values, gate by gate, and
// biases at 0, as in the authors' program.
// Initial values and dropout masks depend on the seed and the parameters' names. New fails on a shape that Config.Check
// refuses.
func New(items int, c Config, seed rng.Seed) (*Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if items < 1 {
		return nil, fmt.Errorf("hrnn: %d items, want at least 1", items)
	}
	d := c.Dim
	between := func(n, m int) nn.Init { return nn.Uniform(seed, math.Sqrt(6/float64(n+m))) }
	gates := func(name string) *autograd.Param { return nn.NewParam(name, 3*d, d, between(d, d)) }
	m := &Model{
		Config:   c,
		In:       nn.NewTableParam("in", items+1, 3*d, between(items, d)),
		Out:      nn.NewTableParam("out", items+1, d, between(items, d)),
		Bias:     nn.NewParam("out.b", items+1, 1, nn.Zeros),
		SessionU: gates("session.U"), SessionB: nn.NewParam("session.b", 1, 3*d, nn.Zeros),
		UserW: gates("user.W"), UserU: gates("user.U"), UserB: nn.NewParam("user.b", 1, 3*d, nn.Zeros),
		First:       nn.NewLinear("first", d, d, true, nn.Xavier(seed)),
		dropSession: nn.NewDropout("hrnn.session", c.DropoutSession, seed),
		dropUser:    nn.NewDropout("hrnn.user", c.DropoutUser, seed),
		dropFirst:   nn.NewDropout("hrnn.first", c.DropoutInit, seed),
	}
	if c.Variant == VariantAll {
		m.All = gates("all")
	}
	return m, nil
}

// Params returns the parameters in a fixed order.
func (m *Model) Params() []*autograd.Param {
	all := []*autograd.Param{m.In, m.Out, m.Bias, m.SessionU, m.SessionB, m.UserW, m.UserU, m.UserB}
	all = append(all, m.First.Params()...)
	if m.All != nil {
		all = append(all, m.All)
	}
	return all
}

// Items returns V.
func (m *Model) Items() int { return m.Out.Value.Rows - 1 }

// Begin says whether an item begins a session, or a user.
type Begin uint8

// Values of Begin.
const (
	Nothing Begin = iota // nothing: it continues a session
	Session              // the next session of the same user
	User                 // the first session of a user
)

// State holds the states of n users.
type State struct{ Session, User tensor.Matrix } // (n, d)

// NewState returns n states of zeros.
func NewState(n, d int) State { return State{tensor.New(n, d), tensor.New(n, d)} }

// Step reads an item of every row (eq. 1 to 4) and returns the states after it (n, d). It uses only the values of
// states. On a tape in training mode it drops elements, which depend on index.
func (m *Model) Step(t *autograd.Tape, states State, items []int32, begins []Begin,
	index uint64) (session, user *autograd.Node) {
	n, d := len(items), m.Config.Dim
	h, c := t.BufferZero(n, d), t.BufferZero(n, d)
	var rows, began []int32 // began: rows where a session follows another one
	for k, b := range begins {
		switch b {
		case Nothing:
			copy(tensor.Row(h, k), tensor.Row(states.Session, k))
			copy(tensor.Row(c, k), tensor.Row(states.User, k))
		case Session:
			rows, began = append(rows, int32(len(rows))), append(began, int32(k))
		}
	}
	session, user = t.Const(h), t.Const(c)
	if len(began) > 0 {
		next := m.nextUser(t, pick(t, states.Session, began), pick(t, states.User, began), index) // (began, d)
		first := m.dropFirst.Forward(t, m.First.Forward(t, next).Tanh(), index)                   // eq. 2
		session = session.Add(t.EdgeSum(first, rows, began, nil, n))
		user = user.Add(t.EdgeSum(next, rows, began, nil, n))
	}
	x := t.Rows(m.In, items).AddRow(t.Use(m.SessionB)) // (n, 3d)
	if m.All != nil {
		x = x.Add(user.MatMulT(t.Use(m.All))) // eq. 4
	}
	return m.dropSession.Forward(t, gru(t, x, session, m.SessionU), index), user
}

// nextUser returns the next state of the user by eq. 1.
func (m *Model) nextUser(t *autograd.Tape, session, user *autograd.Node, index uint64) *autograd.Node {
	x := session.Linear(t.Use(m.UserW), t.Use(m.UserB))
	return m.dropUser.Forward(t, gru(t, x, user, m.UserU), index)
}

// gru returns the next state (n, d), given the input's part of the gates (n, 3d).
func gru(t *autograd.Tape, x, h *autograd.Node, p *autograd.Param) *autograd.Node {
	u, d := t.Use(p), h.Cols()
	rz := x.SliceCols(0, 2*d).Add(h.MatMulT(u.SliceRows(0, 2*d))).Sigmoid()
	r, z := rz.SliceCols(0, d), rz.SliceCols(d, 2*d)
	a := x.SliceCols(2*d, 3*d).Add(r.Mul(h).MatMulT(u.SliceRows(2*d, 3*d))).Tanh()
	return h.Add(z.Mul(a.Sub(h)))
}

// pick copies rows of m to the tape.
func pick(t *autograd.Tape, m tensor.Matrix, rows []int32) *autograd.Node {
	out := t.Buffer(len(rows), m.Cols)
	for k, r := range rows {
		copy(tensor.Row(out, k), tensor.Row(m, int(r)))
	}
	return t.Const(out)
}

// Scores returns the scores of some items for every row of states (n, len(items)): eq. 5.
func (m *Model) Scores(t *autograd.Tape, session *autograd.Node, items []int32) *autograd.Node {
	ones := t.Buffer(session.Rows(), 1)
	for i := range ones.Data[:ones.Rows] {
		ones.Data[i] = 1
	}
	return session.ConcatCols(t.Const(ones)).MatMulT(t.Rows(m.Out, items).ConcatCols(t.Rows(m.Bias, items)))
}

// ScoreAll fills scores (n, V) with the scores of all items.
func (m *Model) ScoreAll(session, scores tensor.Matrix) {
	v := m.Items()
	tensor.Gemm(false, true, 1, session, tensor.RowsView(m.Out.Value, 1, v+1), 0, scores)
	bias := make([]tensor.Float, v)
	for j := range bias {
		bias[j] = tensor.Row(m.Bias.Value, j+1)[0]
	}
	for i := range scores.Rows {
		tensor.Add(tensor.Row(scores, i), bias)
	}
}
