package nextitem

import (
	"context"
	"errors"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/protocol/computed"
	"privrec/internal/run"
)

// Experiment is one model on one data set under the protocol. Its samples are cut from
// sequences, and all items are ranked for every test sample. Load makes it; the method sets
// the fields that follow Refit.
type Experiment struct {
	Setting
	experiment.Core
	experiment.Maker[Learner, *Part]
	Data  *dataset.Sequential
	Items int // |V|, the items ranked

	Train, Valid, Test *Part // Valid is nil without validation
	Refit              *Part // Train and Valid together, nil without refit

	Modes []string // evaluations to make: noise on, off; default: off alone

	// Beside returns models whose scores are floors too, for users with the rows of a graph. Nil: there are none.
	Beside func(g *graph.Bipartite) []computed.Model

	cut  cut
	tape *autograd.Tape // of the evaluations
}

// Load reads the data and cuts them into train, validation and test samples.
func Load(ctx context.Context, env *run.Env, s Setting) (*Experiment, error) {
	v := env.View()
	if s.LastItem {
		if err := v.RefuseHoldOut(s.From.Name + " under leave-one-out"); err != nil {
			return nil, err
		}
	}
	for _, what := range v.Changes() { // other data than the profile's
		s.Standing.Text, s.Standing.Printed = s.Standing.Text+", "+what, false
	}
	return LoadFrom(env, s, func() (*dataset.Sequential, error) {
		return registry.Load(ctx, s.From.Name, s.From.Recipe, v, s.From.Options())
	})
}

// LoadFrom is Load for sequences outside the registry of data sets.
func LoadFrom(env *run.Env, s Setting, load func() (*dataset.Sequential, error)) (*Experiment, error) {
	defer env.Stage("load " + s.From.Name)()
	d, err := load()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(env.Private(d.Rows()), experiment.RecordSource(env, d.Source)); err != nil {
		return nil, err
	}
	return Cut(env, s, d)
}

// Cut makes the samples of loaded data, and records them as the private input that the run's noise depends on. It reads
// only the seed of env.
func Cut(env *run.Env, s Setting, d *dataset.Sequential) (x *Experiment, err error) {
	if err := env.Private(d.Rows()); err != nil {
		return nil, err
	}
	x = &Experiment{Setting: s, Core: experiment.Core{Env: env}, Data: d, Items: d.Items, Modes: []string{NoiseOff},
		cut: prefixes{}, tape: autograd.NewTape()}
	if s.LastItem {
		x.cut = lastItem{}
	}
	if s.From.Candidates == CandidatesTenCore {
		x.Items = max(d.Items, d.CandidatesCore)
	}
	if err := experiment.CheckCutoffs(s.Eval.K, x.Items, "ranked"); err != nil {
		return nil, err
	}
	if err := x.cut.divide(x); err != nil {
		return nil, err
	}
	if d.InPlace != dataset.TestRows {
		if err := x.withoutTest(); err != nil {
			return nil, err
		}
	}
	if x.Test.Samples.Len()+x.Test.Unknown == 0 {
		return nil, &dataset.Error{File: d.Name, Msg: "the split leaves no test samples"}
	}
	return x, nil
}

// withoutTest replaces test samples by held-out ones while settings are chosen and test rows are withheld.
func (x *Experiment) withoutTest() error {
	switch {
	case x.Valid == nil:
		return &run.UsageError{Message: "train.validation: settings are chosen by held-out samples, and there are none",
			Fix: "train.validation=0.1"}
	case x.Refit != nil:
		return &run.UsageError{Message: "train.refit: settings are chosen by held-out samples, which the second " +
			"training would learn", Fix: "train.refit=false"}
	}
	x.Test = x.Valid
	return nil
}

// Uniform returns an initialiser that fills parameters uniformly on (-1/sqrt(d), 1/sqrt(d)),
// biases and tables included. Source: the published programs of DIPSGNN, SR-GNN and A-PGNN.
func (x *Experiment) Uniform(d int) nn.Init {
	return nn.Uniform(x.Env.Seed, 1/math.Sqrt(float64(d)))
}

// users returns the user of every sample of a part, by their ids in the data.
func (x *Experiment) users(p *Part) []string { return dataset.IDsAt(x.Data.UserIDs, p.Samples.User) }

// learned returns the part that the reported model is trained on.
func (x *Experiment) learned() *Part {
	if x.Refit != nil {
		return x.Refit
	}
	return x.Train
}

// Run trains the model, ranks the test samples, accounts for privacy, writes the model and
// shows the result.
func (x *Experiment) Run(ctx context.Context) error {
	return experiment.Steps[*Outcome]{Fit: x.fit, Measure: x.measure, Keep: x.Save, Document: x.document}.Run(ctx,
		&x.Core)
}
