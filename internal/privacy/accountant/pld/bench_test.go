package pld

import (
	"context"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

func sampledGaussian(q, sigma float64, n int64) []terms.Term {
	return []terms.Term{{
		Leaf: privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove},
		Rate: q, Method: privacy.Poisson, Relation: privacy.AddRemove, Count: n,
	}}
}

// Both bounds, both directions.
func BenchmarkBracket(b *testing.B) {
	for _, c := range []struct {
		name     string
		q, sigma float64
		n        int64
		delta    float64
	}{
		{"T=234000,s=1.1", 256.0 / 60000, 1.1, 234_000, 1e-5},
		{"T=234000,s=4", 256.0 / 60000, 4, 234_000, 1e-5},
		{"T=14062,s=1.1", 256.0 / 60000, 1.1, 14_062, 1e-5},
		{"rare", 1e-5, 0.7, 1_000_000, 1e-8},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Bracket(context.Background(), sampledGaussian(c.q, c.sigma, c.n), c.delta, Options{Bins: 1 << 19}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
