package eval

import (
	"math/rand/v2"
	"testing"

	"privrec/internal/tensor"
)

// BenchmarkTop takes the best 20 of Yelp2018's items, for one user a time.
func BenchmarkTop(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	scores := make([]tensor.Float, 38_048)
	for i := range scores {
		scores[i] = tensor.Float(r.NormFloat64())
	}
	for b.Loop() {
		top(scores, 20)
	}
}
