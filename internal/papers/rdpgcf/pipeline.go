package rdpgcf

import (
	"context"
	"strings"

	"privrec/internal/model/bpr"
	"privrec/internal/model/ease"
	"privrec/internal/model/itemknn"
	"privrec/internal/model/lightgcn"
	"privrec/internal/model/ngcf"
	"privrec/internal/run"
)

const cite = "Wang, Wang, Liu, Deng, Graph Convolutional Collaborative Filtering Recommendation Algorithm Based on Rényi Differential Privacy, Journal of Software (in Chinese) 2024, jos.org.cn/1000-9825/7165"

// Tasks are what the command line offers of this paper.
func Tasks() []run.Task {
	return []run.Task{
		{
			Verb: "train", Name: "rdpgcf", Cite: cite,
			Summary: "graph collaborative filtering with noisy layers",
			Action:  run.Serving(run.BindForecast(Default, Validate, Train, forecast), serveVectors[Config](methodRDPGCF)),
		},
		baseline(methodBPRMF, "matrix factorisation by Bayesian personalised ranking (RDP-GCF's Table 2)", bpr.Cite, DefaultMF),
		baseline(methodLightGCN, "graph collaborative filtering by propagation alone (RDP-GCF's Table 2)", lightgcn.Cite, DefaultLightGCN),
		baseline(methodNGCF, "graph collaborative filtering with message networks (RDP-GCF's Table 2)", ngcf.Cite, DefaultNGCF),
		graphTask(EdgeRand, "LightGCN on a graph released by randomised response (RDP-GCF's Figure 2)"),
		graphTask(LapGraph, "LightGCN on the largest cells of a graph under Laplace noise (RDP-GCF's Figure 2)"),
		closedTask(methodEASE, "linear item model in closed form, on the same rows", ease.Cite, DefaultEASE),
		closedTask(methodItemKNN, "items like those that a user has, on the same rows", itemknn.Cite, DefaultItemKNN),
	}
}

// baseline is the task of a model without noise.
func baseline[M shape](method, summary, cite string, def func() Setting[M]) run.Task {
	return run.Task{
		Verb: "train", Name: strings.ToLower(method), Summary: summary, Cite: cite,
		Action: run.Serving(run.BindForecast(def, validateSetting[M], func(ctx context.Context, env *run.Env, s Setting[M]) error {
			return trainBaseline(ctx, env, method, s)
		}, forecastBaseline[M]), serveVectors[Setting[M]](method)),
	}
}

// Train runs RDP-GCF: load, calibrate the noise, train on noisy layers, release,
// rank, account.
func Train(ctx context.Context, env *run.Env, c Config) error {
	if c.Privacy.Method == MethodRepaired {
		return trainRepaired(ctx, env, c)
	}
	x, err := load(ctx, env, methodRDPGCF, c)
	if err != nil {
		return err
	}
	p, err := newProtection(x, c)
	if err != nil {
		return err
	}
	if x.model, err = c.build(x, p.noise()); err != nil {
		return err
	}
	x.extra = p
	fitted, err := x.fit(ctx)
	if err != nil {
		return err
	}
	o, err := x.measure(ctx, fitted, c.Privacy.Epsilon)
	if err != nil {
		return err
	}
	a, err := p.account(x, fitted)
	if err != nil {
		return err
	}
	return x.write(o, a)
}

// trainBaseline runs a model without noise on the same rows.
func trainBaseline[M shape](ctx context.Context, env *run.Env, method string, s Setting[M]) error {
	x, err := load(ctx, env, method, s)
	if err != nil {
		return err
	}
	a, err := x.unprotected()
	if err != nil {
		return err
	}
	if x.model, err = s.Model.build(x); err != nil {
		return err
	}
	fitted, err := x.fit(ctx)
	if err != nil {
		return err
	}
	o, err := x.measure(ctx, fitted, 0)
	if err != nil {
		return err
	}
	return x.write(o, a)
}
