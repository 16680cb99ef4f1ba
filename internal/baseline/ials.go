package baseline

import (
	"context"

	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/ials"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
)

// IALS is implicit alternating least squares.
const IALS = "iALS"

// IALSShape sets the shape of iALS.
type IALSShape struct {
	Dim int `yaml:"dim" limit:"1..4096"`
	// number of rounds; each solves for all users, then for all items
	Rounds     int     `yaml:"rounds" limit:"1..10000"`
	Unobserved float64 `yaml:"unobserved" limit:"[0,1e6)"` // alpha0, the weight of every pair, observed or not
	Lambda     float64 `yaml:"lambda" limit:"[1e-9,1e9]"`  // weight of the penalty on the squares of the vectors
	// nu: lambda is multiplied by the weighted number of pairs to this power
	Exponent float64 `yaml:"exponent" limit:"[0,4)"`
	// standard deviation of the initial vectors, times 1/sqrt(dim)
	Std float64 `yaml:"std" limit:"[1e-6,100]"`
}

// DefaultIALS returns a setting on MovieLens 1M under GERAI's split, whose alpha0 and lambda
// were chosen on validation rows.
func DefaultIALS() ClosedSetting[IALSShape] {
	return ClosedSetting[IALSShape]{
		Profile: "tuned",
		Data:    StaticData{DataConfig: topn.DataConfig{Name: "ml-1m", Recipe: "gerai"}},
		Model:   IALSShape{Dim: 64, Rounds: 16, Unobserved: 0.3, Lambda: 0.003, Exponent: 1, Std: 0.1},
		Eval:    topn.DefaultEval(),
	}
}

// Fit implements ClosedShape.
func (s IALSShape) Fit(ctx context.Context, g *graph.Bipartite, seed rng.Seed) (eval.Scorer, error) {
	m, err := ials.Fit(ctx, g, ials.Options{Dim: s.Dim, Rounds: s.Rounds, Unobserved: s.Unobserved, Lambda: s.Lambda,
		Exponent: s.Exponent, Std: s.Std},
		seed.Stream("ials"))
	if err != nil {
		return nil, err
	}
	return &bpr.Ranking{Users: m.Users, Goods: m.Items}, nil
}
