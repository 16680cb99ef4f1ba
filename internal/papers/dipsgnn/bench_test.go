package dipsgnn

import (
	"testing"

	"privrec/internal/rng"
)

// A step in steady state allocates next to nothing: the tape, the packed graphs,
// the noise and the optimiser use their memory again.
func TestStepAllocations(t *testing.T) {
	b, err := newStepBench(500, func(s *rng.Stream) int { return 1 + s.IntN(6) })
	if err != nil {
		t.Fatal(err)
	}
	step := func() {
		if err := b.step(); err != nil {
			t.Fatal(err)
		}
	}
	for range benchBatches + 1 {
		step()
	}
	if n := testing.AllocsPerRun(benchBatches, step); n >= 100 {
		t.Errorf("a step allocates %v objects, want fewer than 100", n)
	} else {
		t.Logf("%v objects a step", n)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name          string
		items, length int // the mean length is half of it
	}{{"items=2810", 2810, 13}, {"items=98226", 98226, 13}, {"long", 2810, 63}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := newStepBench(c.items, func(s *rng.Stream) int { return 1 + s.IntN(c.length) })
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.step(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
