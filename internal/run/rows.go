package run

import (
	"context"
	"errors"

	"privrec/internal/dataset"
)

// Rows returns the digest of the rows that a run with these options would load, as they are after the recipe. Runs of
// one configuration that load equal rows train equal models. It trains nothing and writes nothing.
func (t Task) Rows(ctx context.Context, o Options) (dataset.RowDigest, error) {
	b, err := t.bind(o)
	if err != nil {
		return dataset.RowDigest{}, err
	}
	setWorkers(b.settings.Workers)
	env := b.rehearse(planning)
	w, err := b.opened(ctx, env, "")
	if err != nil {
		return dataset.RowDigest{}, err
	}
	defer closeWork(w)
	if env.noise.rows == nil {
		return dataset.RowDigest{}, errors.New(t.String() + ": the rows that it loads are not recorded")
	}
	return *env.noise.rows, nil
}
