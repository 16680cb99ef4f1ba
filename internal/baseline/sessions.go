package baseline

import (
	"context"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/nn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/train"
)

// SessionConfig is one run of a network over sessions, under the protocol of the next item. M
// is the network's own shape.
type SessionConfig[M Shape] struct {
	Profile string            `yaml:"profile"`
	Data    nextitem.Data     `yaml:"data"`
	Model   M                 `yaml:"model"`
	Train   nextitem.Training `yaml:"train"`
	Eval    nextitem.Ranking  `yaml:"eval"`
}

// Shape is the network's part of a configuration. Each network has a struct of its own.
type Shape interface {
	Width() int // d, under the key model.dim
}

// method is a network over sessions as a task. The command has its name, in lower case.
type method[M Shape] struct {
	name, summary, cite string
	profile             string // of its own setting
	shape               func() M
	check               func(v *config.Checker, m M)
	// network returns what makes a new network, and names what the network reads in the clear
	// beside the sequences.
	network func(x *nextitem.Experiment, m M) (build func() nextitem.Network, open []experiment.Open, err error)
}

// session makes a method whose network reads only the sessions.
func session[M Shape, N nextitem.Reader](name, summary, cite string, shape func() M, build func(items int, m M, init nn.Init) N) method[M] {
	return method[M]{
		name: name, summary: summary, cite: cite, profile: "sessions", shape: shape,
		check: func(v *config.Checker, m M) { nextitem.CheckShape(v, m.Width(), 1) },
		network: func(x *nextitem.Experiment, m M) (func() nextitem.Network, []experiment.Open, error) {
			return func() nextitem.Network { return nextitem.Plain(build(x.Items, m, x.Uniform(m.Width()))) }, nil, nil
		},
	}
}

// config returns the method at SR-GNN's setting, so that only the network differs.
func (m method[M]) config() SessionConfig[M] {
	return SessionConfig[M]{
		Profile: m.profile, Data: nextitem.ML1M(), Model: m.shape(),
		Train: nextitem.SessionTraining(), Eval: nextitem.Ranking{K: []int{5, 10, 20}, Every: true},
	}
}

// task makes the method's task. table holds what a paper prints for it.
func (m method[M]) task(table nextitem.Table) run.Task {
	return run.Spec[SessionConfig[M]]{
		Verb: "train", Name: strings.ToLower(m.name), Summary: m.summary, Cite: m.cite, Answers: true,
		Default: m.config,
		Check: func(v *config.Checker, c SessionConfig[M]) {
			c.Data.Check(v, c.Profile)
			m.check(v, c.Model)
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

// setting returns a configuration as the protocol takes it.
func (m method[M]) setting(c SessionConfig[M], table nextitem.Table) (nextitem.Setting, error) {
	length := func(c SessionConfig[M]) train.Length { return c.Train.Length() }
	s, err := experiment.Stand(c, c.Profile, map[string]SessionConfig[M]{m.profile: m.config()}, length)
	return nextitem.Setting{Method: m.name, Standing: s, From: c.Data, Fit: c.Train, Eval: c.Eval, Table: table}, err
}

// prepare says how the network is made, and declares that nothing is protected.
func (m method[M]) prepare(x *nextitem.Experiment, c SessionConfig[M]) error {
	build, open, err := m.network(x, c.Model)
	if err != nil {
		return err
	}
	x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		return &nextitem.Sessions{Net: build(), Part: q, Batch: c.Train.Batch, Misaligned: c.Train.MisalignUsers}, nil
	}
	return x.Unprotect(open...)
}

// on makes the experiment of the method at its own setting, on loaded data.
func (m method[M]) on(env *run.Env, d *dataset.Sequential) (*nextitem.Experiment, error) {
	s, err := m.setting(m.config(), nextitem.Table{})
	if err != nil {
		return nil, err
	}
	x, err := nextitem.Cut(env, s, d)
	if err != nil {
		return nil, err
	}
	return x, m.prepare(x, m.config())
}
