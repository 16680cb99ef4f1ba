package rdp_test

import (
	"context"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
)

// BenchmarkGrid is the curve over the 156 orders of dp_accounting, nothing kept
// from one run to the next.
func BenchmarkGrid(b *testing.B) {
	orders := rdp.DPAccounting()
	for _, c := range []struct {
		name string
		q, s float64
	}{{"mnist", 256.0 / 60000, 1.1}, {"mnist-s4", 256.0 / 60000, 4}, {"943-users", 64.0 / 943, 1}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				curve, err := rdp.SampledGaussian(c.q, c.s)
				if err != nil {
					b.Fatal(err)
				}
				for _, a := range orders {
					curve(a)
				}
			}
		})
	}
}

// BenchmarkEpsilon is a whole query, search between the orders included.
func BenchmarkEpsilon(b *testing.B) {
	for b.Loop() {
		curve, err := rdp.SampledGaussian(256.0/60000, 1.1)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := rdp.Epsilon(context.Background(), rdp.Times(curve, 234000), 1e-5, rdp.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCalibrate is the noise multiplier of a target.
func BenchmarkCalibrate(b *testing.B) {
	for _, c := range []struct {
		name  string
		steps int64
		eps   float64
		o     rdp.Options
	}{
		{"14062-eps1", 14062, 1, rdp.Options{}},
		{"14062-eps1-fixed-grid", 14062, 1, rdp.Options{Orders: rdp.DPAccounting(), Fixed: true}},
		{"234000-eps3", 234000, 3, rdp.Options{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := rdp.CalibrateSampledGaussian(context.Background(), 256.0/60000, c.steps, privacy.Budget{Epsilon: c.eps, Delta: 1e-5}, c.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWithoutReplacement is theorem 27 over the grid of dp_accounting.
func BenchmarkWithoutReplacement(b *testing.B) {
	orders := rdp.DPAccounting()
	for b.Loop() {
		c, err := rdp.WithoutReplacementGaussian(256.0/60000, 4)
		if err != nil {
			b.Fatal(err)
		}
		for _, a := range orders {
			c(a)
		}
	}
}
