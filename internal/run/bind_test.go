package run

import (
	"context"

	"privrec/internal/config"
)

// worker is Work that is one function.
type worker func(ctx context.Context) error

func (w worker) Run(ctx context.Context) error { return w(ctx) }

// Bind makes an Action of the work alone, for tests.
func Bind[C any](def func() C, check func(v *config.Checker, c C), f func(ctx context.Context, env *Env, c C) error) Action {
	return Spec[C]{Default: def, Check: check, Open: func(_ context.Context, env *Env, c C) (Work, error) {
		return worker(func(ctx context.Context) error { return f(ctx, env, c) }), nil
	}}.Task().Action
}
