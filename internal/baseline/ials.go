package baseline

import (
	"context"

	"privrec/internal/config"
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
	Dim        int     `yaml:"dim"`
	Rounds     int     `yaml:"rounds"`     // number of rounds; each solves for all users, then for all items
	Unobserved float64 `yaml:"unobserved"` // alpha0, the weight of every pair, observed or not
	Lambda     float64 `yaml:"lambda"`     // weight of the penalty on the squares of the vectors
	Exponent   float64 `yaml:"exponent"`   // nu: lambda is multiplied by the weighted number of pairs to this power
	Std        float64 `yaml:"std"`        // standard deviation of the initial vectors, times 1/sqrt(dim)
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

// Check implements ClosedShape.
func (s IALSShape) Check(v *config.Checker) {
	v.Between("model.dim", s.Dim, 1, 4096)
	v.Between("model.rounds", s.Rounds, 1, 10_000)
	v.Below("model.unobserved", s.Unobserved, 0, 1e6)
	v.Within("model.lambda", s.Lambda, 1e-9, 1e9)
	v.Below("model.exponent", s.Exponent, 0, 4)
	v.Within("model.std", s.Std, 1e-6, 100)
}

// Fit implements ClosedShape.
func (s IALSShape) Fit(ctx context.Context, g *graph.Bipartite, seed rng.Seed) (eval.Scorer, func(), error) {
	m, err := ials.Fit(ctx, g, ials.Options{Dim: s.Dim, Rounds: s.Rounds, Unobserved: s.Unobserved, Lambda: s.Lambda,
		Exponent: s.Exponent, Std: s.Std},
		seed.Stream("ials"))
	if err != nil {
		return nil, nil, err
	}
	return &bpr.Ranking{Users: m.Users, Goods: m.Items}, m.Close, nil
}
