package gerai

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Values of the fields of Config.
const (
	Sigmoid  = "sigmoid"  // of the attention's hidden layer, or in place of ReLU and norm
	ReLU     = "relu"     // of the attention's hidden layer
	Rational = "rational" // q = r/(1+r)
	Clip     = "clip"     // q = min(r, 1)
	Glorot   = "glorot"   // Glorot and Bengio, equation 16; see Initial
	Normal   = "n01"      // N(0, 1) for everything, as the paper has it
)

// Config sets the shape of the network and its initial values.
type Config struct {
	Dim    int    `yaml:"dim" limit:"1..4096"`         // d, width of the vectors of users and items
	Hidden string `yaml:"hidden" limit:"sigmoid|relu"` // activation of the attention's hidden layer: sigmoid or relu
	// how q is made of values r of at least 0: rational (r/(1+r)), sigmoid or clip (min(r, 1))
	Norm string `yaml:"norm" limit:"rational|sigmoid|clip"`
	// initial values: glorot, or n01 for N(0, 1) everywhere, as the paper has it
	Init string `yaml:"init" limit:"glorot|n01"`
	// most neighbours of a node used in a training step; 0: all
	Neighbours int `yaml:"neighbours,omitempty" limit:"0..1000000"`
}

// Default returns the configuration of the paper, with choices that train well where the paper leaves them open.
func Default() Config { return Config{Dim: 60, Hidden: Sigmoid, Norm: Rational, Init: Glorot} }

// check returns an error for a configuration that cannot be built.
func (c Config) check() error {
	switch {
	case c.Dim < 1:
		return fmt.Errorf("gerai: width %d, want at least 1", c.Dim)
	case c.Hidden != Sigmoid && c.Hidden != ReLU:
		return fmt.Errorf("gerai: hidden layer %q, want %s or %s", c.Hidden, Sigmoid, ReLU)
	case c.Norm != Rational && c.Norm != Sigmoid && c.Norm != Clip:
		return fmt.Errorf("gerai: norm %q, want %s, %s or %s", c.Norm, Rational, Sigmoid, Clip)
	case c.Init != Glorot && c.Init != Normal:
		return fmt.Errorf("gerai: initial values %q, want %s or %s", c.Init, Glorot, Normal)
	case c.Neighbours < 0:
		return fmt.Errorf("gerai: %d neighbours, want at least 1, or 0 for all", c.Neighbours)
	}
	return nil
}

// Initial returns the initial values of a configuration. Glorot's are uniform, with N(0, 0.1²)
// for both tables, N(0, 1/d) for h, and zero biases but 0.1 for b3, so that ReLU passes
// most pairs at the start.
func (c Config) Initial(seed rng.Seed) nn.Init {
	if c.Init == Normal {
		return nn.Normal(seed, 1)
	}
	return func(dst tensor.Matrix, name string) {
		switch name {
		case "user", "item":
			nn.Normal(seed, 0.1)(dst, name)
		case "h":
			nn.Normal(seed, 1/math.Sqrt(float64(c.Dim)))(dst, name)
		case "attend.message.W", "attend.self.W", "pair.user.W", "pair.item.W": // halves of (d, 2d)
			nn.Uniform(seed, math.Sqrt(6/float64(3*c.Dim)))(dst, name)
		case "pair.item.b":
			for i := range dst.Data {
				dst.Data[i] = 0.1
			}
		default:
			nn.Xavier(seed)(dst, name)
		}
	}
}

// Model is the network over a graph. It keeps the plan of a step, so only one goroutine may use it.
type Model struct {
	User    *autograd.Param // E_U transposed (features, d)
	Item    *autograd.Param // E_V transposed (items, d)
	Message *nn.MLP         // d, d, d, d
	Seen    *nn.Linear      // W1a (d, d), without bias
	Self    *nn.Linear      // W1b and b1
	Weigh   *autograd.Param // w2 (1, d)
	Update  *nn.Linear      // W and b
	OfUser  *nn.Linear      // W3a (d, d), without bias
	OfItem  *nn.Linear      // W3b and b3
	H       *autograd.Param // h (1, d)

	Graph    *graph.Bipartite
	Features tensor.Matrix // (users, features)

	c     Config
	draws rng.Stream
	plan  plan // of the last step
	turn  int  // steps so far: a later one uses the memory of an earlier one
}

// New returns a model of a graph whose users have features (users, n). init fills parameters by name; Config.Initial
// returns the values of the configuration. seed draws the neighbours of a step.
func New(g *graph.Bipartite, features tensor.Matrix, c Config, seed rng.Seed, init nn.Init) (*Model, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if features.Rows != g.Users || features.Cols < 1 || features.Stride != features.Cols {
		return nil, fmt.Errorf("gerai: features of %d x %d (stride %d) for %d users", features.Rows, features.Cols,
			features.Stride, g.Users)
	}
	d := c.Dim
	m := &Model{
		User: nn.NewParam("user", features.Cols, d, init), Item: nn.NewTableParam("item", g.Items, d, init),
		Message: nn.NewMLP("message", []int{d, d, d, d}, (*autograd.Node).ReLU, init),
		Seen:    nn.NewLinear("attend.message", d, d, false, init), Self: nn.NewLinear("attend.self", d, d, true, init),
		Weigh: nn.NewParam("attend.weigh", 1, d, init), Update: nn.NewLinear("update", d, d, true, init),
		OfUser: nn.NewLinear("pair.user", d, d, false, init), OfItem: nn.NewLinear("pair.item", d, d, true, init),
		H: nn.NewParam("h", 1, d, init), Graph: g, Features: features,
		c: c, draws: seed.Stream("gerai.neighbours"), plan: newPlan(g),
	}
	return m, nil
}

// Params returns the parameters in a fixed order, h last.
func (m *Model) Params() []*autograd.Param {
	all := append([]*autograd.Param{m.User, m.Item}, nn.Params(m.Message, m.Seen, m.Self)...)
	all = append(append(all, m.Weigh), nn.Params(m.Update, m.OfUser, m.OfItem)...)
	return append(all, m.H)
}

// Close frees the memory of the item table. The model must not be used afterwards.
func (m *Model) Close() { tensor.Free(m.Item.Value) }

// forward returns W3a z*_u of the plan's users (users, d) and W3b z*_v + b3 of its items
// (items, d). The linear maps around sums and tables are joined: users enter as x_u times a map
// joined with E_U. With y_k before the last map of the MLP, m_k = M3 y_k + c3: that map is made
// for the centres alone, as M3 sum_k alpha_ck y_k + c3, and W1a m_k is (W1a M3) y_k + W1a c3.
func (m *Model) forward(t *autograd.Tape, p *plan, j joined) (users, items *autograd.Node) {
	first, second, last := m.Message.Layers[0], m.Message.Layers[1], m.Message.Layers[2]
	nodes, from := t.Use(m.Item), m.Features
	if !p.whole {
		nodes, from = m.items(t, p.nodes[p.border:]), m.users(t, p.nodes[:p.border])
	}
	// (nodes, d)
	y := m.base(t, from, nodes, j.first, t.Use(first.W), t.Use(first.B)).ReLU()
	// (nodes, d)
	y = second.Forward(t, y).ReLU()
	// (nodes, d)
	seen := y.MatMulT(j.seen)
	// (centres, d)
	own := m.base(t, m.users(t, p.centres[:p.users]), m.items(t, p.centres[p.users:]), j.self, t.Use(m.Self.W), j.bias)
	// (centres, d)
	sum := attend(own, seen, y, t.Use(m.Weigh), p, m.c.Hidden)
	// (centres, d)
	star := m.Update.Forward(t, last.Forward(t, sum)).ReLU()
	return m.OfUser.Forward(t, star.SliceRows(0, p.users)), m.OfItem.Forward(t, star.SliceRows(p.users, star.Rows()))
}

// base returns W z_k + b of users with features x and of the given rows of items, users first
// (eq. 4). users is W E_U.
func (m *Model) base(t *autograd.Tape, x tensor.Matrix, items, users, w, b *autograd.Node) *autograd.Node {
	return t.StackLinear(autograd.Affine{X: t.Const(x), W: users, B: b}, autograd.Affine{X: items, W: w, B: b})
}

// users returns the features of some users.
func (m *Model) users(t *autograd.Tape, users []int32) tensor.Matrix {
	x := t.Buffer(len(users), m.Features.Cols)
	for i, u := range users {
		copy(tensor.Row(x, i), tensor.Row(m.Features, int(u)))
	}
	return x
}

// items returns the rows of the table of items that belong to some nodes.
func (m *Model) items(t *autograd.Tape, nodes []int32) *autograd.Node {
	rows := make([]int32, len(nodes))
	for i, v := range nodes {
		rows[i] = v - int32(m.Graph.Users)
	}
	return t.Use(m.Item).Gather(rows)
}
