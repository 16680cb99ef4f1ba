package rdpgcf

import (
	"context"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/train"
)

const cite = "Wang, Wang, Liu, Deng, Graph Convolutional Collaborative Filtering Recommendation Algorithm Based on " +
	"Rényi Differential Privacy, Journal of Software (in Chinese) 2024, jos.org.cn/1000-9825/7165"

// Tasks returns the tasks of this paper. The baselines are in package baseline.
func Tasks() []run.Task {
	return []run.Task{
		run.Spec[Config]{
			Verb: "train", Name: "rdpgcf", Cite: cite, Noisy: true,
			Summary: "graph collaborative filtering with noisy layers",
			Default: Default, Check: func(v *config.Checker, c Config) { c.check(v) }, Open: open, Answers: true,
			Secure: true,
		}.Task(),
		graphTask(EdgeRand, "LightGCN on a graph released by randomised response (RDP-GCF's Figure 2)"),
		graphTask(LapGraph, "LightGCN on the largest cells of a graph under Laplace noise (RDP-GCF's Figure 2)"),
	}
}

// open loads the data, calibrates the noise, declares what the run leaves unprotected, and makes the model, whose
// layers are noisy in training and in every release.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	m, err := c.method()
	if err != nil {
		return nil, err
	}
	if c.Privacy.Method == MethodRepaired {
		return openRepaired(ctx, env, m, c)
	}
	if env.Secure() {
		return nil, run.NoSecure("train rdpgcf with privacy.method="+c.Privacy.Method,
			"its labels, tables and backward pass have no noise, so that there is no guarantee to keep; "+
				"privacy.method="+MethodRepaired+" has one")
	}
	x, err := topn.Load(ctx, env, m)
	if err != nil {
		return nil, err
	}
	x.Fresh = func(release string) string {
		if release == ReleaseClean || !c.Privacy.noisy() {
			return ""
		}
		return "fresh in every layer of every answer, beyond what the run's account covers"
	}
	return x.Train(func() (topn.Model, error) {
		p, err := newProtection(x, c)
		if err != nil {
			return nil, err
		}
		x.Extra = p
		x.Account = func(f *experiment.Fitted) (experiment.Privacy, error) { return p.account(x, f) }
		x.Planned = func() (experiment.Privacy, error) { return c.plannedAccount(int64(x.Graph.Edges()), p.sigma) }
		m, err := c.build(x.Graph, env.Seed, p.noise())
		if err != nil {
			return nil, err
		}
		return x.ByBPR(m), nil
	})
}

// method describes a setting to the protocol.
func (c Config) method() (topn.Method, error) {
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{"paper": Default(), "code": Code(),
		"repaired": Repaired()},
		func(c Config) train.Length { return c.Train.Length() }, topn.Free()...)
	return topn.Method{
		Name: methodRDPGCF, Standing: standing, Data: c.Data, Train: c.Train, Eval: c.Eval,
		Releases: c.Release.Kinds, Scale: c.Model.Scale, Tables: Tables(),
		Shape: topn.Shape{Dim: c.Model.Dim, Layers: c.Model.Layers, Epsilon: c.Privacy.Epsilon},
	}, err
}
