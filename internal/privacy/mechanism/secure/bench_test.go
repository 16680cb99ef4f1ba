package secure

import (
	"testing"

	"privrec/internal/privacy/mechanism/mechanismtest"
)

func BenchmarkDiscrete(b *testing.B) {
	src := mechanismtest.ChaCha(1)
	for _, c := range []struct {
		name  string
		sigma Ratio
	}{{"sigma 100", Ratio{100, 1}}, {"64 bits", Ratio{1<<26 - 5, 1}}, {"fraction", Ratio{1<<26 - 5, 1 << 16}}, {"128 bits", Ratio{1<<40 - 5, 1}}} {
		g, err := NewGaussianSampler(c.sigma)
		if err != nil {
			b.Fatal(err)
		}
		l, err := NewLaplaceSampler(c.sigma)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("gaussian/"+c.name, func(b *testing.B) {
			for b.Loop() {
				g.Sample(src)
			}
		})
		b.Run("laplace/"+c.name, func(b *testing.B) {
			for b.Loop() {
				l.Sample(src)
			}
		})
	}
}
