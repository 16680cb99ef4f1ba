package cli

import (
	"privrec/internal/bench"
	"privrec/internal/papers"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/run"
)

// tasks lists everything that runs under a configuration.
func tasks() []run.Task { return papers.All() }

// demo is the tour of the program.
func demo() *Demo { return nil }

// benches lists what can be measured.
func benches() []Bench {
	return []Bench{
		{"gemm", "matrix products at the shapes that models use", bench.GEMM},
		{"dipsgnn", "training step of DIPSGNN on 100 sessions", dipsgnn.Bench},
	}
}
