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
	for _, items := range []int{2810, 98226} {
		b.Run(map[int]string{2810: "items=2810", 98226: "items=98226"}[items], func(b *testing.B) {
			s, err := newStepBench(items, func(s *rng.Stream) int { return 3 + s.IntN(8) })
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
