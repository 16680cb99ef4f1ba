package eval

import (
	"fmt"
	"runtime"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// TestMemoryDoesNotGrowWithSamples ranks n and 8n samples: what is allocated besides the chunk of scores
// is the ranks themselves and a constant a chunk.
func TestMemoryDoesNotGrowWithSamples(t *testing.T) {
	spent := func(n int) uint64 {
		samples, targets := cases(n, 2000)
		s := product(2000, 8)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Ranks(t.Context(), s, samples, targets, Options{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	spent(256)
	once, eight := spent(2*256), spent(16*256)
	if grown := float64(eight) - float64(once); grown > 14*256*100 {
		t.Errorf("%d bytes for 512 samples, %d for 4096: %.0f a sample; want below 100", once, eight, grown/(14*256))
	}
}

// factors scores by a product of sample and item vectors, as most models do.
type factors struct{ item, user tensor.Matrix }

func product(items, d int) *factors {
	f := &factors{tensor.New(items, d), tensor.New(1000, d)}
	for i, m := range []tensor.Matrix{f.item, f.user} {
		stream := rng.Seed(3).Stream("factors", uint64(i))
		for j := range m.Data {
			m.Data[j] = tensor.Float(stream.NormFloat64())
		}
	}
	return f
}

func (f *factors) Items() int { return f.item.Rows }

func (f *factors) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	x := t.Buffer(len(samples), f.user.Cols)
	for i, s := range samples {
		copy(tensor.Row(x, i), tensor.Row(f.user, int(s)%f.user.Rows))
	}
	tensor.Gemm(false, true, 1, x, f.item, 0, scores)
	return nil
}

// BenchmarkRanks gives the time per sample of scoring and ranking, and of scoring alone.
func BenchmarkRanks(b *testing.B) {
	for _, items := range []int{2810, 98_226} {
		f := product(items, 100)
		size := ChunkSize(items)
		samples, targets := cases(8*size, items)
		perSample := func(b *testing.B, n int) {
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/sample")
		}
		b.Run(fmt.Sprint("rank/", items), func(b *testing.B) {
			for b.Loop() {
				if _, err := Ranks(b.Context(), f, samples, targets, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			perSample(b, len(samples))
		})
		b.Run(fmt.Sprint("score/", items), func(b *testing.B) {
			tape, scores := autograd.NewTape(), tensor.New(size, items)
			for b.Loop() {
				tape.Reset()
				if err := f.Score(tape, samples[:size], scores); err != nil {
					b.Fatal(err)
				}
			}
			perSample(b, size)
		})
	}
}
