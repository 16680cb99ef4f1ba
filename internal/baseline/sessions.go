package baseline

import (
	"context"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/nn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/train"
)

// SessionConfig configures one run of a network over sessions. M is the network's own shape.
type SessionConfig[M Shape] struct {
	Profile string `yaml:"profile" limit:"filled"`
	// next-item, which "" means too, or leave-one-out if the network has a form for it
	Protocol string            `yaml:"protocol,omitempty" limit:"next-item|leave-one-out?"`
	Data     nextitem.Data     `yaml:"data"`
	Model    M                 `yaml:"model"`
	Train    nextitem.Training `yaml:"train"`
	Eval     nextitem.Ranking  `yaml:"eval"`
}

// Shape is the network's part of a configuration. Each network has a struct of its own.
type Shape interface {
	Width() int // d, under the key model.dim
}

// method describes a network over sessions as a task. The command has its name in lower case.
type method[M Shape] struct {
	name, summary, cite string
	profile             string // of its own setting
	shape               func() M
	check               func(v *config.Checker, m M) // nil: no shape within the limits is wrong
	// network returns a function that makes a new network, and names what the network reads in the clear beside the
	// sequences.
	network func(x *nextitem.Experiment, m M) (build func() nextitem.Network, open []experiment.Open, err error)

	lastItem *lastItemMethod[M] // nil: only ProtocolNextItem
}

// lastItemMethod is the variant of a method under ProtocolLeaveOneOut.
type lastItemMethod[M Shape] struct {
	profile string
	config  func() SessionConfig[M]
	check   func(v *config.Checker, c SessionConfig[M])
	learn   func(x *nextitem.Experiment, c SessionConfig[M]) func(q *nextitem.Part) (nextitem.Learner, error)
	printed map[string]float64 // of its profile, in RecBole's benchmark
}

// under adds to a method its variant under ProtocolLeaveOneOut. alone checks the shape of the method otherwise.
func (m method[M]) under(form lastItemMethod[M], alone func(v *config.Checker, m M)) method[M] {
	m.lastItem, m.check = &form, alone
	return m
}

// session returns a method whose network reads only the sessions.
func session[M Shape, N nextitem.Reader](name, summary, cite string, shape func() M,
	build func(items int, m M, init nn.Init) N) method[M] {
	return method[M]{
		name: name, summary: summary, cite: cite, profile: "sessions", shape: shape,
		network: func(x *nextitem.Experiment, m M) (func() nextitem.Network, []experiment.Open, error) {
			return func() nextitem.Network { return nextitem.Plain(build(x.Items, m, x.Uniform(m.Width()))) }, nil, nil
		},
	}
}

// config returns the method's configuration at SR-GNN's setting, so that only the network differs.
func (m method[M]) config() SessionConfig[M] {
	return SessionConfig[M]{
		Profile: m.profile, Data: nextitem.ML1M(), Model: m.shape(),
		Train: nextitem.SessionTraining(), Eval: nextitem.Ranking{K: []int{5, 10, 20}, Every: true},
	}
}

// task returns the method's task. table holds a paper's printed results for it.
func (m method[M]) task(table nextitem.Table) run.Task {
	return run.Spec[SessionConfig[M]]{
		Verb: "train", Name: strings.ToLower(m.name), Summary: m.summary, Cite: m.cite, Answers: true,
		Default: m.config,
		Check: func(v *config.Checker, c SessionConfig[M]) {
			v.Check(c.Protocol == "" || c.Protocol == ProtocolNextItem || m.lastItem != nil, "protocol",
				"must be %s or left out for %s, got %q", ProtocolNextItem, m.name, c.Protocol)
			if c.Protocol == ProtocolLeaveOneOut && m.lastItem != nil {
				m.lastItem.check(v, c)
				c.Train.CheckLastItem(v, c.Eval)
				return
			}
			if m.check != nil {
				m.check(v, c.Model)
			}
			c.Train.Check(v, c.Eval)
		},
		Open: func(ctx context.Context, env *run.Env, c SessionConfig[M]) (run.Work, error) {
			s, err := m.setting(c, table)
			if err != nil {
				return nil, err
			}
			x, err := nextitem.Load(ctx, env, s)
			if err != nil {
				return nil, err
			}
			return x, m.prepare(x, c)
		},
	}.Task()
}

// setting returns a configuration in the form of the protocol.
func (m method[M]) setting(c SessionConfig[M], table nextitem.Table) (nextitem.Setting, error) {
	length := func(c SessionConfig[M]) train.Length { return c.Train.Length() }
	profiles, free := map[string]SessionConfig[M]{m.profile: m.config()}, []string(nil)
	last := c.Protocol == ProtocolLeaveOneOut
	if last {
		profiles, free = map[string]SessionConfig[M]{m.lastItem.profile: m.lastItem.config()},
			[]string{"train.epochs", "train.stride", "train.batch", "data."}
	}
	s, err := experiment.Stand(c, c.Profile, profiles, length, free...)
	return nextitem.Setting{Method: m.name, Standing: s, From: c.Data, Fit: c.Train, Eval: c.Eval, Table: table,
		LastItem: last}, err
}

// prepare sets the function that makes the network, and declares that nothing is protected.
func (m method[M]) prepare(x *nextitem.Experiment, c SessionConfig[M]) error {
	if c.Protocol == ProtocolLeaveOneOut {
		row := recbole(c.Data.Name, c.Data.Recipe, x.Data.Source.Level, m.lastItem.printed)
		x.Table = nextitem.Table{Row: func(string, string) map[string]float64 { return row }, From: recboleSource}
		x.New = m.lastItem.learn(x, c)
		return x.Unprotect()
	}
	build, open, err := m.network(x, c.Model)
	if err != nil {
		return err
	}
	x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		return &nextitem.Sessions{Net: build(), Part: q, Batch: c.Train.Batch, Misaligned: c.Train.MisalignUsers}, nil
	}
	return x.Unprotect(open...)
}

// Suit implements run.Suited.
func (c *SessionConfig[M]) Suit(doc *config.Document) error {
	need := registry.Need{}
	if c.Protocol == ProtocolLeaveOneOut {
		need.Cut = registry.LastItem
	}
	err := c.Data.Suit(doc, need)
	if m, ok := any(&c.Model).(*APGNNShape); ok {
		m.UserInput = c.Data.SuitUsers(doc, m.UserInput)
	}
	return err
}
