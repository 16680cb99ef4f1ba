package run

import (
	"cmp"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

// Plant sets which canaries are added to the data of a model, so that an audit can compare what the model shows with
// the coins that put each in or out.
type Plant struct {
	// Unit sets what a canary adds: an edge (a user and an item) or a rating; under protocol top-n also a user of
	// random items; under next-item a sequence of random items, an interaction or an order.
	Unit     string `yaml:"unit,omitempty" json:"unit" limit:"edge|rating|user|sequence|interaction|order?"`
	Canaries int    `yaml:"canaries,omitempty" json:"canaries"` // number of canaries, in or out
	// number of items of a canary that has rows of its own
	Rows int `yaml:"rows,omitempty" json:"rows,omitempty"`
	// empty: each canary is in by a fair coin; in, out: all are
	Coins string `yaml:"coins,omitempty" json:"coins,omitempty"`
	// number of the draw of the coins; each number flips them anew
	Draw uint64 `yaml:"draw,omitempty" json:"draw,omitempty"`
	// seed of canaries and coins, of random splits and of generated rows; 0: run.seed
	Seed uint64 `yaml:"seed,omitempty" json:"seed,omitempty"`
}

// Values of Plant.Coins.
const (
	CoinsIn  = "in"
	CoinsOut = "out"
)

// check reports what cannot be planted.
func (p Plant) check(v *config.Checker) {
	if p.Unit == "" { // nothing is planted
		v.Check(p == Plant{}, "run.plant.unit", "must be one of %s where other keys of run.plant are set, got %q",
			strings.Join(dataset.CanaryUnits(), ", "), p.Unit)
		return
	}
	v.Between("run.plant.canaries", p.Canaries, 1, 1_000_000)
	if least := dataset.LeastRows(p.Unit); least > 0 {
		v.Between("run.plant.rows", p.Rows, least, 1_000_000)
	} else {
		v.Check(p.Rows == 0, "run.plant.rows", "has no effect on canary %ss, must be 0", p.Unit)
	}
	v.OneOf("run.plant.coins", p.Coins, "", CoinsIn, CoinsOut)
}

// Flips returns the coins of a run with the given seed. Nothing but an auditor may read them.
func (p Plant) Flips(seed rng.Seed) (audit.Coins, error) {
	return audit.NewCoins(rng.Seed(cmp.Or(p.Seed, uint64(seed))).Stream("canary coins", p.Draw), p.Canaries)
}

// Of returns the canaries to plant into the data of a run with the given seed.
func (p Plant) Of(seed rng.Seed) (dataset.Planting, error) {
	out := dataset.Planting{Unit: p.Unit, Canaries: p.Canaries, Rows: p.Rows,
		Seed: rng.Seed(cmp.Or(p.Seed, uint64(seed)))}
	coins, err := p.Flips(seed)
	out.In = coins.In
	if p.Coins != "" {
		out.In = func(int) bool { return p.Coins == CoinsIn }
	}
	return out, err
}
