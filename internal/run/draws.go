package run

import (
	"context"

	"privrec/internal/dataset"
)

// Draws says by which keys a run made its random choices of users and rows: its splits, held-out rows and samples.
type Draws string

// ByID says that random choices are keyed by the ids of users and items, as in this program. Runs of older programs
// leave Draws empty: their choices are keyed by the positions of users and rows.
const ByID Draws = "by id"

// Within returns the context under which the data of a finished run are loaded as the run loaded them.
func (m Manifest) Within(ctx context.Context) context.Context {
	if m.Draws == ByID {
		return ctx
	}
	return dataset.DrawnByPlace(ctx)
}

// DrawnByPlace reports whether the work answers for a finished run whose random choices are keyed by the positions of
// users and rows.
func (e *Env) DrawnByPlace() bool { return e.mode == reopened && e.manifest.Draws != ByID }
