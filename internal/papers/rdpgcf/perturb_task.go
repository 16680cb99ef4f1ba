package rdpgcf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"privrec/internal/config"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/lightgcn"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// GraphSetting is a run of LightGCN on a graph that was perturbed once.
type GraphSetting struct {
	Profile string        `yaml:"profile"`
	Data    DataConfig    `yaml:"data"`
	Model   LightGCNShape `yaml:"model"`
	Perturb PerturbConfig `yaml:"perturb"`
	Train   TrainConfig   `yaml:"train"`
	Eval    EvalConfig    `yaml:"eval"`
}

// DefaultGraph is the paper's common setting at epsilon 5, trained on nothing but the
// released graph, which may take 4 GB.
func DefaultGraph() GraphSetting {
	s := DefaultLightGCN()
	return GraphSetting{Profile: s.Profile, Data: s.Data, Model: s.Model,
		Perturb: PerturbConfig{Epsilon: 5, Labels: LabelsPerturbed, MemoryMB: 4096}, Train: s.Train, Eval: s.Eval}
}

func (s GraphSetting) plain() Setting[LightGCNShape] {
	return Setting[LightGCNShape]{Profile: s.Profile, Data: s.Data, Model: s.Model, Train: s.Train, Eval: s.Eval}
}

func (s GraphSetting) common() common { return s.plain().common() }

func (s GraphSetting) standing() (standing, error) {
	base := DefaultGraph()
	base.Perturb = s.Perturb // the figure's own axis, and what the paper leaves open
	return stand(s, s.Profile, map[string]GraphSetting{"paper": base})
}

func validateGraph(s GraphSetting, doc *config.Document) error {
	v := config.NewChecker(doc)
	s.common().check(v)
	s.Model.check(v)
	s.Perturb.check(v)
	return v.Err()
}

// graphTask is the task of LightGCN on a graph perturbed by a method.
func graphTask(method, summary string) run.Task {
	return run.Task{
		Verb: "train", Name: strings.ToLower(method), Summary: summary, Cite: lightgcn.Cite,
		Action: run.Serving(run.BindForecast(DefaultGraph, validateGraph, func(ctx context.Context, env *run.Env, s GraphSetting) error {
			return trainGraph(ctx, env, method, s)
		}, func(ctx context.Context, seed rng.Seed, s GraphSetting) (run.Forecast, error) {
			return rehearse(ctx, seed, s, func(x *experiment) (model, error) {
				l, err := privacy.NewLedger(privacy.Research)
				if err != nil {
					return nil, err
				}
				return buildOnReleased(x, method, s, l, seed.Stream("rdpgcf.rehearsal."+purposeGraph))
			})
		}), serveVectors[GraphSetting](method)),
	}
}

// trainGraph releases the training graph, trains LightGCN on it, and ranks and
// accounts as any run does.
func trainGraph(ctx context.Context, env *run.Env, method string, s GraphSetting) error {
	x, err := load(ctx, env, method, s)
	if err != nil {
		return err
	}
	open, taken := s.Perturb.open(s.Train)
	ledger, err := declare(env, open, taken)
	if err != nil {
		return err
	}
	once, err := env.Once()
	if err != nil {
		return err
	}
	raw := x.graph
	if x.model, err = buildOnReleased(x, method, s, once, env.Seed.Stream("rdpgcf."+env.ConfigHash+"."+purposeGraph)); err != nil {
		return err
	}
	if err := once.Flush("before training"); err != nil {
		return err
	}
	fitted, err := x.fit(ctx)
	if err != nil {
		return err
	}
	x.graph = raw // of the data, for the floors
	o, err := x.measure(ctx, fitted, s.Perturb.Epsilon)
	if err != nil {
		return err
	}
	a, err := perturbAccount(method, s.Perturb, s.Train, ledger)
	if err != nil {
		return err
	}
	return x.write(o, a)
}

// buildOnReleased releases the experiment's graph and makes the model on it. Where
// labels are those of the released graph the experiment trains on that.
func buildOnReleased(x *experiment, method string, s GraphSetting, l *privacy.Ledger, stream rng.Stream) (model, error) {
	released, err := perturbGraph(method, s.Perturb, x.graph, l, stream)
	if err != nil {
		return nil, err
	}
	if s.Perturb.Labels == LabelsPerturbed {
		if released.Edges() == 0 {
			return nil, fmt.Errorf("the released graph has no edge to train on: take a larger epsilon than %v", s.Perturb.Epsilon)
		}
		t := s.Train
		x.graph = released
		x.sampler, err = bpr.NewSampler(released, bpr.SamplerOptions{Positives: t.Sampler, Negatives: t.Negatives, Each: t.Each, Batch: t.Batch, Seed: x.env.Seed})
		if none := (*bpr.NoNegativeError)(nil); errors.As(err, &none) {
			return nil, &run.UsageError{
				Message: fmt.Sprintf("the graph that %s released gives user %q all %d items: there is no negative to draw", method, x.data.UserIDs[none.User], none.Items),
				Fix:     "train.negatives=" + bpr.All + " draws among all items, or take a larger perturb.epsilon",
			}
		}
		if err != nil {
			return nil, err
		}
	}
	norm, err := graph.ParseNormalizer(s.Model.Norm)
	if err != nil {
		return nil, err
	}
	return propagated{lightgcn.New(released, norm, s.Model.Layers, s.Model.Dim, x.init(s.Model.Init))}, nil
}
