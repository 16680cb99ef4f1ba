package link

import (
	"fmt"
	"slices"

	"privrec/internal/config"
	"privrec/internal/protocol/target"
)

// Config describes an attack: which run, which pairs are candidates, what the attacker sees, and how often it may
// guess.
type Config struct {
	// name of the set of choices, for reports: default or your own
	Profile string           `yaml:"profile" limit:"filled"`
	On      target.On        `yaml:"on"`
	Target  target.Training  `yaml:"target"`
	Attack  AttackConfig     `yaml:"attack"`
	Eval    target.Intervals `yaml:"eval"`
}

// AttackConfig sets what the attacker sees and may do.
type AttackConfig struct {
	// what the attacker sees: scores, vectors, influence; empty: all that the run gives
	Sees  []string `yaml:"sees" limit:"any of scores|vectors|influence"`
	Users int      `yaml:"users" limit:"0..10000000"` // most users to attack; 0: all
	// Others is the most pairs without an edge that are drawn for each user for the question among all pairs; each
	// stands for its share of them. 0: all.
	Others int `yaml:"others" limit:"0..10000000"`
	// BaseRate is the share of edges among all pairs. 0: as among the attacked users.
	BaseRate float64 `yaml:"base_rate" limit:"[0,1)"`
	// Budgets lists numbers of guesses among all pairs, as multiples of the number of edges expected at base_rate.
	Budgets []float64 `yaml:"budgets"`
	Change  string    `yaml:"change" limit:"direction|scaled"` // how influence changes the input: direction or scaled
	// for change: scaled. The input is multiplied by 1 + delta
	Delta float64 `yaml:"delta" limit:"[1e-6,1e6]"`
	// number of users whose scores the attacker watches, for influence; 0: all
	Watched int `yaml:"watched" limit:"0..10000000"`
}

// Values of AttackConfig.
const (
	SeesScores    = "scores"
	SeesVectors   = "vectors"
	SeesInfluence = "influence"

	Direction = "direction" // another direction of the same length
	Scaled    = "scaled"    // the input times 1 + delta
)

// Default returns an attack by all evidence that a run gives.
func Default() Config {
	return Config{
		Profile: "default",
		Target:  target.DefaultTraining(0.2),
		Attack: AttackConfig{Sees: []string{}, Users: 200, Others: 300, Budgets: []float64{0.25, 1, 4},
			Change: Direction, Delta: 1, Watched: 100},
		Eval: target.DefaultIntervals(),
	}
}

// Check reports settings of the attack that cannot be run.
func Check(v *config.Checker, c Config) {
	a := c.Attack
	v.Check(len(a.Budgets) > 0, "attack.budgets", "must hold at least one multiple of the number of edges")
	for i, b := range a.Budgets {
		v.Within(fmt.Sprintf("attack.budgets[%d]", i), b, 1e-6, 1e6)
		v.Check(!slices.Contains(a.Budgets[:i], b), "attack.budgets", "holds %g twice", b)
	}
}

// sees reports whether the attack uses a kind of evidence.
func (c Config) sees(kind string) bool {
	return len(c.Attack.Sees) == 0 || slices.Contains(c.Attack.Sees, kind)
}
