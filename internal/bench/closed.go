package bench

import (
	"context"
	"fmt"
	"strings"

	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/model/ease"
	"privrec/internal/model/ials"
	"privrec/internal/model/itemknn"
	"privrec/internal/model/nearest"
	"privrec/internal/model/rp3beta"
)

// closedModel is a model that is computed at once.
type closedModel struct {
	name string
	fit  func(ctx context.Context, g *graph.Bipartite) (eval.Scorer, error)
}

// closedModels lists the models of Closed with the settings that scripts/bench/closed.py has too.
func closedModels(dim int) []closedModel {
	return []closedModel{
		{"ials", func(ctx context.Context, g *graph.Bipartite) (eval.Scorer, error) {
			m, err := ials.Fit(ctx, g, ials.Options{Dim: dim, Rounds: 16, Unobserved: 0.1, Lambda: 1, Std: 0.1},
				graphSeed.Stream("bench.ials"))
			if err != nil {
				return nil, err
			}
			return &bpr.Ranking{Users: m.Users, Goods: m.Items}, nil
		}},
		{"itemknn", func(ctx context.Context, g *graph.Bipartite) (eval.Scorer, error) {
			return itemknn.Fit(ctx, g, itemknn.Options{
				Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 100}})
		}},
		{"rp3beta", func(ctx context.Context, g *graph.Bipartite) (eval.Scorer, error) {
			return rp3beta.Fit(ctx, g, rp3beta.Options{Alpha: 0.56636, Beta: 0.001085, Neighbours: 100,
				Normalise: true})
		}},
		{"ease", func(ctx context.Context, g *graph.Bipartite) (eval.Scorer, error) { return ease.Fit(ctx, g, 80) }},
	}
}

// Closed measures fit and ranking of models that are computed at once, on a power-law graph of the sizes of o or on the
// graph of a file: iALS of 16 rounds, ItemKNN, RP3beta and EASE. A ranking lists the best 20 items of every user
// without those in the graph. Its shape ends with Recall@20 and NDCG@20 if o names a file of held-out pairs.
func Closed(ctx context.Context, o Options) (all []Result, err error) {
	if o.Sizes == (Sizes{}) {
		o.Sizes = Gowalla()
	}
	g, held, err := closedData(o)
	if err != nil {
		return nil, err
	}
	users := make([]int32, g.Users)
	for u := range users {
		users[u] = int32(u)
	}
	shape := fmt.Sprintf("users=%d items=%d edges=%d", g.Users, g.Items, g.Edges())
	for _, model := range closedModels(o.Sizes.Dim) {
		var m eval.Scorer
		done := func() {
			if c, ok := m.(interface{ Close() }); ok {
				c.Close()
			}
			m = nil
		}
		fit := func() (err error) {
			done()
			m, err = model.fit(ctx, g)
			return err
		}
		var best [][]eval.Item
		rank := func() (err error) {
			seen := eval.Options{Exclude: func(user int32) []int32 { return g.ItemsOf(int(user)) }}
			best, err = eval.Top(ctx, m, users, rankDepth, seen)
			return err
		}
		fitted := func() (func() error, error) { // also where Only leaves the fit out
			if m == nil {
				return rank, fit()
			}
			return rank, nil
		}
		results, err := runOnce(ctx, o, []Case{
			{model.name + "_fit", shape, func() (func() error, error) { return fit, nil }},
			{model.name + "_rank", shape, fitted},
		})
		done()
		if err != nil {
			return all, err
		}
		for k := range results {
			if held != nil && strings.HasSuffix(results[k].Name, "_rank") {
				results[k].Shape += quality(best, held)
			}
		}
		all = append(all, results...)
	}
	return all, nil
}

// closedData returns the graph of o and the items held out of each user, nil if o names no file of them.
func closedData(o Options) (g *graph.Bipartite, held [][]int32, err error) {
	if o.Graph == "" {
		if o.Held != "" {
			return nil, nil, fmt.Errorf("bench: held-out pairs (%s) of a drawn graph", o.Held)
		}
		g, err = powerLaw(o.Sizes, graphSeed)
		return g, nil, err
	}
	edges, users, items, err := readPairs(o.Graph)
	if err != nil {
		return nil, nil, err
	}
	if o.Held != "" {
		pairs, u, i, err := readPairs(o.Held)
		if err != nil {
			return nil, nil, err
		}
		users, items = max(users, u), max(items, i)
		held = make([][]int32, users)
		for _, e := range pairs {
			held[e.User] = append(held[e.User], e.Item)
		}
	}
	g, err = graph.NewBipartite(users, items, edges)
	return g, held, err
}

// quality returns Recall and NDCG of lists, means over the users with held-out items, as the end of a shape.
func quality(best [][]eval.Item, held [][]int32) string {
	var ranks [][]int32
	for u, items := range held {
		if len(items) > 0 {
			ranks = append(ranks, metrics.BestRanks(nil, [][]int32{eval.Indices(best[u])}, items))
		}
	}
	text := ""
	for _, kind := range []metrics.Kind{metrics.Recall, metrics.NDCG} {
		m := metrics.Metric{Kind: kind, K: rankDepth}
		for _, r := range ranks {
			for k := range r {
				if r[k] == 0 {
					r[k] = rankDepth + 1 // not in the list
				}
			}
		}
		text += fmt.Sprintf(" %s=%.6f", strings.ToLower(m.String()), m.MeanSet(ranks))
	}
	return text
}
