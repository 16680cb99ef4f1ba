package rdpgcf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"privrec/internal/baseline"
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/model/lightgcn"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/train"
)

// GraphSetting configures a run of LightGCN on a graph that was perturbed once.
type GraphSetting struct {
	Profile string                 `yaml:"profile" limit:"filled"`
	Data    topn.DataConfig        `yaml:"data"`
	Model   baseline.LightGCNShape `yaml:"model"`
	Perturb PerturbConfig          `yaml:"perturb"`
	Privacy run.FromBudget         `yaml:"privacy,omitempty"`
	Train   topn.TrainConfig       `yaml:"train"`
	Eval    topn.EvalConfig        `yaml:"eval"`
}

// SpendsFrom implements run.Spender.
func (s GraphSetting) SpendsFrom() string { return s.Privacy.Parent }

// DefaultGraph returns the paper's common setting at epsilon 5. The model trains only on the
// released graph, which may take 4 GB.
func DefaultGraph() GraphSetting {
	s := baseline.DefaultLightGCN()
	return GraphSetting{Profile: s.Profile, Data: s.Data.DataConfig, Model: s.Model,
		Perturb: PerturbConfig{Epsilon: 5, Labels: LabelsPerturbed, MemoryMB: 4096}, Train: s.Train.TrainConfig,
		Eval: s.Eval}
}

// graphCite names the paper that released graphs in both ways, and that of the network trained on them.
const graphCite = "Wu, Long, Zhang, Li, LinkTeller: Recovering Private Edges from Graph Neural Networks via " +
	"Influence Analysis, S&P 2022, arXiv 2108.06504, for the graph; " + lightgcn.Cite + ", for the network"

// graphTask returns the task of LightGCN on a graph perturbed by a method.
func graphTask(method, summary string) run.Task {
	return run.Spec[GraphSetting]{
		Verb: "train", Name: strings.ToLower(method), Noisy: true, Summary: summary, Cite: graphCite, Answers: true,
		Default: DefaultGraph,
		Check: func(v *config.Checker, s GraphSetting) {
			s.Eval.Check(v)
			s.Train.Check(v)
			s.Model.Check(v)
		},
		Open: func(ctx context.Context, env *run.Env, s GraphSetting) (run.Work, error) {
			return openGraph(ctx, env, method, s)
		},
	}.Task()
}

// openGraph loads the data, declares what the run leaves unprotected, releases the training graph, and makes LightGCN
// on it.
func openGraph(ctx context.Context, env *run.Env, method string, s GraphSetting) (run.Work, error) {
	base := DefaultGraph()
	base.Perturb = s.Perturb // the figure's own axis, and what the paper leaves open
	standing, err := experiment.Stand(s, s.Profile, map[string]GraphSetting{base.Profile: base},
		func(s GraphSetting) train.Length { return s.Train.Length() }, topn.Free()...)
	if err != nil {
		return nil, err
	}
	x, err := topn.Load(ctx, env, topn.Method{Name: method, Standing: standing, Data: s.Data, Train: s.Train,
		Eval: s.Eval, Tables: Tables(),
		Shape: topn.Shape{Dim: s.Model.Dim, Layers: s.Model.Layers, Epsilon: s.Perturb.Epsilon}})
	if err != nil {
		return nil, err
	}
	return x.Train(func() (topn.Model, error) {
		open, taken := s.Perturb.open(s.Train)
		stated := experiment.Account{Unbounded: open, Public: taken}
		if len(open) == 0 {
			if err := stated.Decide(env, x.Data.Source, ofGraph()); err != nil {
				return nil, err
			}
		}
		d := stated.Declaration()
		var err error
		if d.Plan, err = s.Perturb.plan(method); err != nil {
			return nil, err
		}
		ledger, err := env.Ledger(privacy.Research, d)
		if err != nil {
			return nil, err
		}
		once, err := env.Once()
		if err != nil {
			return nil, err
		}
		noise, err := env.Noise("rdpgcf", purposeGraph)
		if err != nil {
			return nil, err
		}
		m, err := release(x, s, once, noise)
		if err != nil {
			return nil, err
		}
		x.Account = func(*experiment.Fitted) (experiment.Privacy, error) {
			a, err := perturbAccount(method, s.Perturb, s.Train, ledger)
			if err == nil && len(open) == 0 {
				a.Adopt(stated)
			}
			return a, err
		}
		return m, once.Flush("before training")
	})
}

// release releases the experiment's graph and returns the model on it. If labels are those of the released graph, the
// experiment learns from it.
func release(x *topn.Experiment, s GraphSetting, l *privacy.Ledger, stream rng.Stream) (topn.Model, error) {
	method := x.Method.Name
	released, err := perturbGraph(method, s.Perturb, x.Graph, l, stream)
	if err != nil {
		return nil, err
	}
	if s.Perturb.Labels == LabelsPerturbed {
		if released.Edges() == 0 {
			return nil, fmt.Errorf("the released graph has no edge to train on: take a larger epsilon than %v",
				s.Perturb.Epsilon)
		}
		x.Method.Train = s.Train.ScheduledOver(released.Edges())
		err := x.LearnFrom(released)
		if none := (*bpr.NoNegativeError)(nil); errors.As(err, &none) {
			return nil, &run.UsageError{
				Message: fmt.Sprintf("the graph that %s released gives user %q all %d items: there is no negative to "+
					"draw", method, x.Data.UserIDs[none.User], none.Items),
				Fix: "train.negatives=" + bpr.All + " draws among all items, or take a larger perturb.epsilon",
			}
		}
		if err != nil {
			return nil, err
		}
	}
	vectors, err := s.Model.Vectors(released, x.Env.Seed)
	if err != nil {
		return nil, err
	}
	return x.ByBPR(topn.Plain(vectors)), nil
}

// Suit implements run.Suited.
func (c *GraphSetting) Suit(doc *config.Document) error {
	return c.Data.Suit(doc, registry.Need{Valid: c.Train.Selected()})
}
