package baseline

import (
	"privrec/internal/autograd"
	"privrec/internal/experiment"
	"privrec/internal/model/apgnn"
	"privrec/internal/model/gru4rec"
	"privrec/internal/model/srgnn"
	"privrec/internal/model/userinput"
	"privrec/internal/nn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Sessions returns the tasks of the networks over sessions. table holds a paper's printed results for them.
func Sessions(table nextitem.Table) []run.Task {
	return []run.Task{
		srGNN().task(table),
		apGNN().task(table),
		session("GRU4Rec", "recurrent network over sessions, without graph, user vectors or noise", gru4rec.Cite,
			gru4rec.Default, gru4rec.New).under(deepGRU4Rec(), shallow).task(table),
	}
}

// SRGNNShape sets the shape of SR-GNN.
type SRGNNShape struct {
	Dim   int `yaml:"dim" limit:"1..4096"`  // d, width of the vectors of items
	Steps int `yaml:"steps" limit:"1..100"` // number of propagation steps over the session graph
}

// Width returns d.
func (s SRGNNShape) Width() int { return s.Dim }

// srGNN returns SR-GNN at its own setting.
func srGNN() method[SRGNNShape] {
	m := session("SRGNN", "session graph network without user vectors or noise (DIPSGNN's Table 2)",
		"Wu et al., Session-based Recommendation with Graph Neural Networks, AAAI 2019",
		func() SRGNNShape { return SRGNNShape{Dim: 100, Steps: 1} },
		func(items int, s SRGNNShape, init nn.Init) *srgnn.Model {
			return srgnn.New(items, s.Dim, s.Steps, init)
		})
	m.profile = "paper"
	return m
}

// APGNNShape sets the shape of A-PGNN.
type APGNNShape struct {
	Dim     int `yaml:"dim" limit:"1..4096"`      // d, width of the vectors of items
	UserDim int `yaml:"user_dim" limit:"1..4096"` // d', width of the vectors of users
	Steps   int `yaml:"steps" limit:"1..100"`     // number of propagation steps over the session graph
	// what describes a user: features, as Hu & Fang compare it, or id, as A-PGNN was published
	UserInput string `yaml:"user_input" limit:"features|id"`
}

// Width returns d.
func (s APGNNShape) Width() int { return s.Dim }

// apGNN returns A-PGNN, without its history part, at SR-GNN's training setting, which A-PGNN follows.
func apGNN() method[APGNNShape] {
	return method[APGNNShape]{
		name: "APGNN", summary: "personalised session graph network without noise (DIPSGNN's Table 2)",
		cite: "Zhang et al., Personalized Graph Neural Networks with Attention Mechanism for Session-Aware " +
			"Recommendation, arXiv 1910.08887",
		profile: "paper",
		shape: func() APGNNShape {
			return APGNNShape{Dim: 100, UserDim: 50, Steps: 1, UserInput: userinput.Features}
		},
		network: func(x *nextitem.Experiment, s APGNNShape) (func() nextitem.Network, []experiment.Open, error) {
			var features tensor.Matrix // none
			var open []experiment.Open
			if s.UserInput == userinput.Features {
				var err error
				if features, err = userinput.Clear(x.Data.Features); err != nil {
					return nil, nil, err
				}
				open = []experiment.Open{experiment.NotCovered("features",
					"user features enter the model in the clear")}
			}
			return func() nextitem.Network {
				init := x.Uniform(s.Dim)
				return personal{
					apgnn.New(x.Items, s.Dim, s.UserDim, s.Steps, init),
					userinput.New(features, x.Data.Users, s.UserDim, init),
				}
			}, open, nil
		},
	}
}

// personal is a network that gets user vectors.
type personal struct {
	*apgnn.Model
	user *userinput.Input
}

// Items implements nextitem.Network.
func (p personal) Items() *autograd.Param { return p.Item }

// Params implements nextitem.Network.
func (p personal) Params() []*autograd.Param { return append(p.Model.Params(), p.user.Table) }

// Forward implements nextitem.Network.
func (p personal) Forward(t *autograd.Tape, s *nextitem.Step) (*autograd.Node, error) {
	return p.Model.Forward(t, s.Graph, p.user.Vectors(t, s.Users)), nil
}
