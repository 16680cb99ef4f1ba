package run

import (
	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// Draws says by which keys a run made its random choices of users and rows: its splits, held-out rows and samples.
type Draws string

// ByID says that random choices are keyed by the ids of users and items, as in this program. Runs of older programs
// leave Draws empty: their choices are keyed by the positions of users and rows.
const ByID Draws = "by id"

// View returns the view of a finished run's data with all users and rows, and without canaries. seed is that of
// generated rows and random splits.
func (m Manifest) View(seed rng.Seed) dataset.View {
	return dataset.View{Seed: seed, ByPlace: m.Draws != ByID}
}

// View returns the view that the work loads its data by, with what its run holds out, plants and withholds. A run that
// holds out or plants fails if its work never asks.
func (e *Env) View() dataset.View {
	e.viewed = true
	return e.view
}
