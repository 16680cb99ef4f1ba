package bench

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/model/ease"
	"privrec/internal/tensor"
)

// Netflix returns the catalogue of the Netflix Prize, with the rows of 100,000 of its 480,189
// users, 209 a user as there.
func Netflix() Sizes {
	return Sizes{Users: 100_000, Items: 17_770, Edges: 20_900_000, Dim: 1, Layers: 1, Batch: 1}
}

// easeLambda is the penalty of EASE's paper on these data.
const easeLambda = 1000

// EASE measures the fit of EASE on a power-law graph of the sizes of o, those of Netflix where
// they are zero, and the lists of the best 20 items of every user. Each is one call, which
// takes seconds to minutes.
func EASE(ctx context.Context, o Options) ([]Result, error) {
	s := o.Sizes
	if s == (Sizes{}) {
		s = Netflix()
	}
	g, err := powerLaw(s, graphSeed)
	if err != nil {
		return nil, err
	}
	return measureEASE(ctx, g)
}

func measureEASE(ctx context.Context, g *graph.Bipartite) ([]Result, error) {
	shape := fmt.Sprintf("users=%d items=%d edges=%d", g.Users, g.Items, g.Edges())
	once := func(name string, call func() error) (Result, error) {
		start := time.Now()
		err := call()
		took := time.Since(start).Seconds()
		return Result{Name: name, Shape: shape, Threads: tensor.Workers(), MedianS: took, MinS: took,
			RSSMB: residentMB()}, err
	}
	var m *ease.Model
	fit, err := once("ease_fit", func() (err error) {
		m, err = ease.Fit(ctx, g, easeLambda)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	n := float64(min(g.Users, g.Items))
	fit.GFLOPS = n * n * n / fit.MinS / 1e9 // of the inverse
	users := make([]int32, g.Users)
	for u := range users {
		users[u] = int32(u)
	}
	rank, err := once("ease_rank", func() error {
		seen := eval.Options{Exclude: func(user int32) []int32 { return g.ItemsOf(int(user)) }}
		_, err := eval.Top(ctx, m, users, rankDepth, seen)
		return err
	})
	if err != nil {
		return nil, err
	}
	return []Result{fit, rank}, nil
}
