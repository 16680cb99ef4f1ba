package run

import (
	"cmp"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// HoldOut sets which users and rows are kept from a model of protocol top-n or next-item, so that an attacker can try
// to tell them from the others.
type HoldOut struct {
	// chance that a user is held out, with all rows
	Users float64 `yaml:"users,omitempty" json:"users,omitempty" limit:"[0,1)"`
	// chance that a training row is held out
	Rows float64 `yaml:"rows,omitempty" json:"rows,omitempty" limit:"[0,1)"`
	// chance that a user is held out beforehand, by a draw that the keys draw and swap do not change
	Apart float64 `yaml:"apart,omitempty" json:"apart,omitempty" limit:"[0,1)"`
	Draw  uint64  `yaml:"draw,omitempty" json:"draw,omitempty"` // number of the draw; each number holds out others
	// true: keep what the draw holds out, and hold out the others
	Swap bool `yaml:"swap,omitempty" json:"swap,omitempty"`
	// Labels holds rows out of the loss only: they stay in the graph that the model computes on. For tasks that learn
	// from edges of a graph one by one.
	Labels bool `yaml:"labels,omitempty" json:"labels,omitempty"`
	// seed of the draws, of random splits and of generated rows; 0: run.seed
	Seed uint64 `yaml:"seed,omitempty" json:"seed,omitempty"`
}

// active reports whether anything is held out.
func (h HoldOut) active() bool { return h.Users != 0 || h.Rows != 0 || h.Apart != 0 }

// check reports what cannot be held out.
func (h HoldOut) check(v *config.Checker) {
	v.Check(!h.Labels || h.Users == 0 && h.Apart == 0, "run.hold_out.labels", "holds rows out, and not users")
	v.Check(h.active() || h == HoldOut{}, "run.hold_out", "holds nothing out: users, rows and apart are 0")
}

// Of returns the held-out part in the form that loading data takes, for a run with the given seed.
func (h HoldOut) Of(seed rng.Seed) dataset.HoldOut {
	return dataset.HoldOut{Users: h.Users, Rows: h.Rows, Apart: h.Apart, Draw: h.Draw, Swap: h.Swap, Labels: h.Labels,
		Seed: rng.Seed(cmp.Or(h.Seed, uint64(seed)))}
}
