// Package dasl is DASL, dual attentive sequential learning for cross-domain
// recommendation: Li, Jiang, Hu, Ma, Gao, Zhou, "Dual Attentive Sequential Learning for
// Cross-Domain Click-Through Rate Prediction", KDD 2021, in the form that the PriCDSR
// paper gives it. Two domains have the same users. Each domain has a table of items, a
// table of users, a gated recurrent unit and an attention. A sample of a domain is a user
// u, the last w items of their own history, the items of their other history at the same
// columns, and the next item i:
//
//	h_t = [E(own_t) ; U(u)],  H = G(h_1..h_w)            own domain
//	c_t = [E'(cross_t) ; U(u)],  C = G'(c_1..c_w)        the other domain's items and unit
//	S = [H ; C],  e_j = v · tanh(W S_j + b)              dual attention
//	p = sum over j of alpha_j S_j,  alpha = softmax(e)
//	q_i = [E(i) ; U(u)],  score = p · q_i + item bias + user bias
//	loss = - log sigmoid(score of i) - log(1 - sigmoid(score of a negative))
//
// G is the unit of TensorFlow 1, from state s = 0:
//
//	r, z = sigmoid(Wr x + Ur s + br), sigmoid(Wz x + Uz s + bz)
//	s' = z ∘ s + (1-z) ∘ tanh(Wc x + Uc (r ∘ s) + bc)
//
// A second loss, the dual embedding, keeps the vectors U(u) and U'(u) X of a user together
// through a mapping X that should be orthogonal.
//
// The PriCDSR paper prints no formula of DASL; these are from the released program and
// the paper's words. Where the two differ, Config has a field, and [Paper] and [Code] are
// two sets of values:
//
//	what differs                                  Config field       Paper      Code
//	score: inner product; product, a layer of     Head               inner      code
//	sigmoids and a linear one
//	rows that attention sums: all; the own,       Attention          full       gate
//	with the weights of all
//	penalty that makes X orthogonal               Align.Orthogonal   1          0
//	distance of users: 1 - cosine; 1 - dot        Align.Distance     cosine     dot
//	bias of the mapping                           Align.Bias         no         yes
//	user vector beside the other domain's items   CrossUser          own        own
//	dropout on p, which PriCDSR added             Dropout            0.5        0.5
//	bias of users, which changes no ranking       UserBias           yes        yes
//	padding in recurrence and attention           Mask               none       none
//
// Attention "full" is our reading of the words "dual attention". With "inner" and "gate"
// the other history multiplies p by one number, so that without item biases it cannot
// change any ranking. The program that trains the model decides the optimiser and the
// steps of the second loss, and the epoch that is reported.
package dasl

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Cite names the publication.
const Cite = "Li et al., Dual Attentive Sequential Learning for Cross-Domain Click-Through Rate Prediction, KDD " +
	"2021, arXiv 2106.02768"

// Config sets the shape of the network.
type Config struct {
	Dim    int `yaml:"dim" limit:"2..4096"`    // d, even; the vectors of items and of users are d/2 wide each
	Window int `yaml:"window" limit:"1..1000"` // w, number of latest items that are read in each domain
	// full, gate or constant; constant sums only the rows of the own domain, times gate
	Attention string `yaml:"attention" limit:"full|gate|constant"`
	// weight under attention constant; 0 under the others
	GateValue float64 `yaml:"gate" limit:"[1e-6,1]" when:"attention=constant"`
	// how items are scored: inner (inner product) or code
	Head string `yaml:"head" limit:"inner|code"`
	// number of sigmoids of head code; 0 for head inner
	Hidden int `yaml:"hidden" limit:"1..4096" when:"head=code"`
	// which of the user's two vectors is used: own (domain of the scored item) or other (domain of the items read)
	CrossUser string `yaml:"cross_user" limit:"own|other"`
	// share of the values of p set to 0, the same for the positive and the negative of a sample
	Dropout  float64 `yaml:"dropout" limit:"[0,1)"`
	UserBias bool    `yaml:"user_bias"`
	// none, or zeros: padding leaves the state as it is and gets no attention
	Mask  string `yaml:"mask" limit:"none|zeros"`
	Align Align  `yaml:"align"`
}

// Align sets the loss that keeps a user's two vectors together.
type Align struct {
	Distance   string  `yaml:"distance" limit:"cosine|dot"` // distance between the two vectors: cosine or dot
	Orthogonal float64 `yaml:"orthogonal" limit:"[0,1e6)"`  // weight of the Frobenius norm of X'X - I in the loss
	Bias       bool    `yaml:"bias"`                        // true: the mapping between the two vectors has a bias
}

// Values of the fields of Config and Align.
const (
	AttentionFull     = "full"
	AttentionGate     = "gate"
	AttentionConstant = "constant"
	HeadInner         = "inner"
	HeadCode          = "code"
	CrossUserOwn      = "own"   // the user's vector in the domain of the item that is scored
	CrossUserOther    = "other" // the user's vector in the domain of the items that are read
	MaskNone          = "none"
	MaskZeros         = "zeros"
	DistanceCosine    = "cosine"
	DistanceDot       = "dot"
)

// Paper returns the configuration of the PriCDSR paper, without the faults of its program.
func Paper() Config {
	return Config{
		Dim: 128, Window: 10, Attention: AttentionFull, Head: HeadInner, CrossUser: CrossUserOwn, Dropout: 0.5,
		UserBias: true, Mask: MaskNone, Align: Align{Distance: DistanceCosine, Orthogonal: 1},
	}
}

// Code returns the configuration of PriCDSR's released program.
func Code() Config {
	c := Paper()
	c.Attention, c.Head, c.Hidden = AttentionGate, HeadCode, 40
	c.Align = Align{Distance: DistanceDot, Bias: true}
	return c
}

// side holds one domain's parameters.
type side struct {
	Item, User         *autograd.Param // (items+1, d/2), row 0 is padding; (users, d/2)
	ItemBias, UserBias *autograd.Param // (items+1, 1), (users, 1); UserBias may be nil
	unit               *unit
	attend             *nn.Linear      // (a, d)
	query              *autograd.Param // (1, a)
	hidden, out        *nn.Linear      // of head code, else nil
}

// Model is DASL over two domains, or DASL-single over one.
type Model struct {
	cfg    Config
	users  int
	items  [2]int
	sides  []*side         // two, or one
	X, XB  *autograd.Param // mapping (d/2, d/2) and its bias (1, d/2), nil without
	seed   rng.Seed
	single bool
}

// New returns a model of users 0..users-1 and items 1..items[k] of domain k. With single it is DASL-single, which
// leaves domain 1 out and attends only to a user's own rows.
func New(users int, items [2]int, c Config, single bool, seed rng.Seed) *Model {
	m := &Model{cfg: c, users: users, items: items, seed: seed, single: single}
	d, half := c.Dim, c.Dim/2
	glorot := nn.Xavier(seed)
	width := 2 * c.Window
	if single {
		width = c.Window
	}
	for k, name := range []string{"target", "auxiliary"} {
		if single && k == 1 {
			break
		}
		s := &side{
			Item:     nn.NewTableParam(name+".item", items[k]+1, half, glorot),
			User:     nn.NewTableParam(name+".user", users, half, glorot),
			ItemBias: nn.NewTableParam(name+".itembias", items[k]+1, 1, nn.Zeros),
			unit:     newUnit(name+".gru", half, d, seed),
			attend:   nn.NewLinear(name+".attention", d, width, true, nn.Normal(seed, 0.1)),
			query:    nn.NewParam(name+".attention.v", 1, width, nn.Normal(seed, 0.1)),
		}
		if c.UserBias {
			s.UserBias = nn.NewTableParam(name+".userbias", users, 1, nn.Zeros)
		}
		if c.Head == HeadCode {
			s.hidden = nn.NewLinear(name+".head.hidden", d, c.Hidden, true, glorot)
			s.out = nn.NewLinear(name+".head.out", c.Hidden, 1, true, glorot)
		}
		m.sides = append(m.sides, s)
	}
	if !single {
		m.X = nn.NewParam("mapping", half, half, glorot)
		if c.Align.Bias {
			m.XB = nn.NewParam("mapping.b", 1, half, nn.Zeros)
		}
	}
	return m
}

// Params returns the parameters in a fixed order, those of the mapping last.
func (m *Model) Params() []*autograd.Param {
	var all []*autograd.Param
	add := func(ps ...*autograd.Param) {
		for _, p := range ps {
			if p != nil {
				all = append(all, p)
			}
		}
	}
	for _, s := range m.sides {
		add(s.Item, s.User, s.ItemBias, s.UserBias)
		add(s.unit.params()...)
		add(s.attend.Params()...)
		add(s.query)
		if s.hidden != nil {
			add(nn.Params(s.hidden, s.out)...)
		}
	}
	add(m.X, m.XB)
	return all
}

// Mapping reports whether p belongs to the mapping between the domains.
func (m *Model) Mapping(p *autograd.Param) bool { return p == m.X || p == m.XB }

// Aligned returns the parameters for which Alignment has gradients.
func (m *Model) Aligned() []*autograd.Param {
	if m.single {
		return nil
	}
	ps := []*autograd.Param{m.sides[0].User, m.sides[1].User, m.X}
	if m.XB != nil {
		ps = append(ps, m.XB)
	}
	return ps
}

// Items returns the number of items of a domain.
func (m *Model) Items(domain int) int { return m.items[domain] }

// unit is a gated recurrent unit in the form of TensorFlow 1: the reset gate acts on the
// state before the product, and z keeps the old state. It reads an item beside a user; the
// product with the user is taken once for a whole window.
type unit struct {
	item, user *autograd.Param // (3d, d/2): r, z, candidate
	state      *autograd.Param // (3d, d)
	bias       *autograd.Param // (1, 3d): 1 for r and z, 0 for the candidate, as TensorFlow begins
}

// newUnit returns a unit that starts as TensorFlow's does: one kernel (d+d, 2d) of the gates and one (d+d, d) of the
// candidate, each drawn by Glorot's law for its own shape.
func newUnit(name string, half, d int, seed rng.Seed) *unit {
	init := func(dst tensor.Matrix, name string) {
		in := float64(2*half + d)
		nn.Uniform(seed, math.Sqrt(6/(in+2*float64(d))))(tensor.RowsView(dst, 0, 2*d), name+".gates")
		nn.Uniform(seed, math.Sqrt(6/(in+float64(d))))(tensor.RowsView(dst, 2*d, 3*d), name+".candidate")
	}
	return &unit{
		item: nn.NewParam(name+".item", 3*d, half, init), user: nn.NewParam(name+".user", 3*d, half, init),
		state: nn.NewParam(name+".state", 3*d, d, init),
		bias: nn.NewParam(name+".bias", 1, 3*d, func(dst tensor.Matrix, _ string) {
			for i := range 2 * d {
				dst.Data[i] = 1
			}
		}),
	}
}

func (u *unit) params() []*autograd.Param {
	return []*autograd.Param{u.item, u.user, u.state, u.bias}
}
