package mechanism

import (
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

func BenchmarkEdgeRand(b *testing.B) {
	a := grid(30_000, 40_000, 27)
	for _, eps := range []float64{1, 3, 5, 10} {
		b.Run(string(rune('0'+int(eps)%10)), func(b *testing.B) {
			for range b.N {
				l, _ := privacy.NewLedger(privacy.Research)
				out, err := PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: eps, Unit: privacy.Edge}, l, rng.Seed(1).Stream("g"), a)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(out.Edges()), "ones")
			}
		})
	}
}

// grid is a matrix with so many ones in every row.
func grid(rows, cols, ones int) Adjacency {
	b := newBuilder(rows, cols, int64(rows*ones))
	for i := range rows {
		step := cols / ones
		for k := range ones {
			b.add(int64(i)*int64(cols) + int64(k*step+i%step))
		}
	}
	return b.finish()
}
