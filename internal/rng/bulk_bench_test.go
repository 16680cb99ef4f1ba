package rng

import (
	"sync"
	"testing"
)

// BenchmarkNormals is bulk research noise as a training step asks for it: rows of
// keyed streams, every other one on each of two goroutines.
func BenchmarkNormals(b *testing.B) {
	const workers, rows = 2, 256
	for _, c := range []struct {
		name string
		cols int
	}{{"rows of 150", 150}, {"rows of 9600", 9600}} {
		b.Run(c.name, func(b *testing.B) {
			s := Seed(1).Stream("bench")
			var dst [workers][]float32
			for w := range dst {
				dst[w] = make([]float32, c.cols)
			}
			b.ReportAllocs()
			for step := uint64(0); b.Loop(); step++ {
				var wg sync.WaitGroup
				for w := range workers {
					wg.Add(1)
					go func() {
						defer wg.Done()
						for i := w; i < rows; i += workers {
							r := s.Sub(step, uint64(i))
							r.Normals32(dst[w])
						}
					}()
				}
				wg.Wait()
			}
			b.ReportMetric(float64(b.N)*rows*float64(c.cols)/b.Elapsed().Seconds()/1e9, "Gnormals/s")
		})
	}
}
