package runtest

import "context"

// Work is run.Work that is one function.
type Work func(ctx context.Context) error

// Run implements run.Work.
func (w Work) Run(ctx context.Context) error { return w(ctx) }
