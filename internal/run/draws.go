package run

import (
	"context"

	"privrec/internal/dataset"
)

// Draws says how a run drew about users and rows: what a random split, held-out rows and samples of users are.
type Draws string

// ByID is the way of this program: by the ids of users and items. Runs of earlier programs say nothing, and drew by
// the places of users and rows.
const ByID Draws = "by id"

// Within returns the context under which the data of a finished run are loaded as the run loaded them.
func (m Manifest) Within(ctx context.Context) context.Context {
	if m.Draws == ByID {
		return ctx
	}
	return dataset.DrawnByPlace(ctx)
}

// DrawnByPlace reports whether the work was opened for answers of a finished run that drew by the places of users
// and rows.
func (e *Env) DrawnByPlace() bool { return e.mode == reopened && e.manifest.Draws != ByID }
