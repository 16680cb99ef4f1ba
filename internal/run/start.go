package run

import (
	"context"

	"privrec/internal/progress"
)

// Start runs the task until it ends, fails or is interrupted. It returns the run directory for messages, also with an
// error if the directory was opened.
func (t Task) Start(ctx context.Context, o Options) (dir string, err error) {
	b, err := t.bind(o)
	if err != nil {
		return "", err
	}
	if b.key, err = b.settings.key(); err != nil {
		return "", err
	}
	setWorkers(b.settings.Workers)
	leanHeap()
	dir = b.dir(t)
	env, err := open(dir, t, b, o)
	if err != nil {
		return dir, err
	}
	if env == nil { // already complete, and shown
		return dir, nil
	}
	return dir, env.close(b.work(progress.With(ctx, env.Progress), env))
}
