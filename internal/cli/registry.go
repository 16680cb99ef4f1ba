package cli

import (
	"context"

	"privrec/internal/bench"
	"privrec/internal/demo"
	"privrec/internal/papers"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/run"
)

// tasks lists everything that runs under a configuration.
func tasks() []run.Task { return papers.All() }

// tour is the tour of the program.
func tour() *Demo {
	return &Demo{
		Summary: "a private recommender and its non-private twin on generated data, in under a minute",
		Run: func(ctx context.Context, o DemoOptions) error {
			return demo.Run(ctx, demo.Options{Out: o.Out, Seed: o.Seed, Stdout: o.Stdout, JSON: o.JSON, Progress: o.Progress})
		},
	}
}

// benches lists what can be measured.
func benches() []Bench {
	return []Bench{
		{Name: "gemm", Summary: "matrix products at the shapes that models use", Run: bench.GEMM},
		{Name: "account", Summary: "privacy accounting and noise", Run: bench.Account},
		{Name: "dipsgnn", Summary: "training step of DIPSGNN on 100 sessions", Run: dipsgnn.Bench},
		{Name: "dasl", Summary: "training step of DASL over 240,000 items", Run: bench.DASL},
		{Name: "lightgcn", Summary: "training step of LightGCN", Run: bench.Step("lightgcn"), Sizes: true},
		{Name: "rdpgcf", Summary: "training step of RDP-GCF", Run: bench.Step("rdpgcf"), Sizes: true},
		{Name: "bprmf", Summary: "training step of matrix factorisation, and ranking", Run: bench.Step("bprmf"), Sizes: true},
		{Name: "exposure", Summary: "training step and ranking of exposure attacks", Run: bench.Exposure},
	}
}
