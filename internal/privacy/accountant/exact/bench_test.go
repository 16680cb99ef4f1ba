package exact_test

import (
	"context"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

// BenchmarkEpsilon is a query as a person makes it: both directions, nothing
// cached from one to the next.
func BenchmarkEpsilon(b *testing.B) {
	for _, c := range []struct {
		name  string
		sigma float64
		steps int64
	}{{"sigma 1.1, 14040", 1.1, 14040}, {"sigma 1.1, 234000", 1.1, 234000}, {"sigma 4, 234000", 4, 234000}} {
		b.Run(c.name, func(b *testing.B) {
			ts := []terms.Term{{
				Leaf: privacy.Gaussian{Sigma: c.sigma, Sensitivity: 1, Unit: privacy.Sample, Neighbouring: privacy.AddRemove},
				Rate: 256. / 60000, Method: privacy.Poisson, Relation: privacy.AddRemove, Count: c.steps}}
			for b.Loop() {
				if _, err := exact.Epsilon(context.Background(), ts, 1e-5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
