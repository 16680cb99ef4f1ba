package auditing

import (
	"math"

	"privrec/internal/config"
	"privrec/internal/dataset"
)

// Config describes an audit: of what, by which method, with which canaries, and what the auditor
// sees.
type Config struct {
	Profile string       `yaml:"profile" limit:"filled"` // name of the set of choices, for reports: default or your own
	Target  TargetConfig `yaml:"target"`
	Audit   AuditConfig  `yaml:"audit"`
}

// TargetConfig names what is audited. It is trained in the folder "models" of the audit's own directory, as often as
// the method needs.
type TargetConfig struct {
	Task   string   `yaml:"task"`   // audited task, such as train dp-ease
	Config string   `yaml:"config"` // configuration file of the task; empty: its defaults
	Set    []string `yaml:"set"`    // keys to change in the configuration, as in privacy.epsilon=8
	// keys to set so that the task adds no noise; empty: every key named epsilon, as large as the task takes it
	Off     []string `yaml:"off"`
	Release string   `yaml:"release"` // which release to audit, where a run keeps several; empty: the first one
}

// AuditConfig sets the method of the audit, its canaries, and what the auditor sees.
type AuditConfig struct {
	// how the bound is found: canary, one-run or membership
	Method string `yaml:"method" limit:"canary|one-run|membership"`
	// Unit sets what a canary adds: edge (a user and an item), rating (the value of a row); under protocol top-n also
	// user; under next-item sequence (a user's items in an order), interaction (one of two items as the last of a
	// sequence) or order (one of two orders of a sequence).
	Unit string `yaml:"unit"`
	// what the auditor sees: scores, lists or vectors of trained models; or the release: all noisy sums that leave the
	// curator, whose noise is drawn again
	Sees string `yaml:"sees" limit:"scores|lists|vectors|release"`
	// Others hides from the auditor everything that was computed from a canary's own row, even if the account does
	// not say that it stays with its user.
	Others bool `yaml:"others,omitempty"`
	// m of method one-run: number of canaries, each put in or left out by a coin
	Canaries int `yaml:"canaries" limit:"10..1000000"`
	Rows     int `yaml:"rows"` // number of items of a canary that has rows of its own
	// number of models to train for method canary, half of them with the canary; of releases, where these are seen
	Runs int `yaml:"runs"`
	// References is the number of models trained without canaries under the same configuration. The mean of their
	// scores is subtracted from a canary's score.
	References int `yaml:"references" limit:"1..1000"`
	K          int `yaml:"k" limit:"1..1000"` // number of items in a list
	// chance that a bound is above the truth; the confidence is 1 - level
	Level float64 `yaml:"level" limit:"[1e-9,0.5]"`
	// Delta is used for bounds where the run has no finite account to take it from.
	Delta float64 `yaml:"delta"`
	// Guesses lists the shares of canaries about which one-run guesses, half of them in and half out. The largest
	// bound over all shares is taken, at a level divided by their number.
	Guesses []float64 `yaml:"guesses"`
}

// Values of AuditConfig.
const (
	Canary     = "canary"
	OneRun     = "one-run"
	Membership = "membership"

	Edge        = dataset.CanaryEdge
	Rating      = dataset.CanaryRating
	User        = dataset.CanaryUser
	Sequence    = dataset.CanarySequence
	Interaction = dataset.CanaryInteraction
	Order       = dataset.CanaryOrder

	SeesScores  = "scores"
	SeesLists   = "lists"
	SeesVectors = "vectors"
	SeesRelease = "release"
)

// Default returns an audit by one run with canary edges, at 95 % confidence.
func Default() Config {
	return Config{
		Profile: "default",
		Target:  TargetConfig{Set: []string{}, Off: []string{}},
		Audit: AuditConfig{Method: OneRun, Unit: Edge, Sees: SeesScores, Canaries: 400, Rows: 20, Runs: 80,
			References: 1, K: 20, Level: 0.05,
			Delta: 1e-6, Guesses: []float64{0.05, 0.1, 0.2, 0.5, 1}},
	}
}

// Check reports every setting that cannot be run.
func Check(v *config.Checker, c Config) {
	v.Check(c.Target.Task != "" || c.Target.Config == "" && len(c.Target.Set) == 0 && len(c.Target.Off) == 0,
		"target.task", "must say what target.config, target.set and target.off are of")
	a := c.Audit
	v.OneOf("audit.unit", a.Unit, dataset.CanaryUnits()...)
	v.Check(a.Method != Membership || a.Unit == Edge || a.Unit == User, "audit.unit",
		"%s: the membership attack is on pairs: take %s or %s", a.Unit, Edge, User)
	v.Check(!ordered(a.Unit) || a.Sees != SeesVectors, "audit.sees",
		"%s: what follows a sequence is no vector: take %s or %s", SeesVectors, SeesScores, SeesLists)
	v.Check(!a.Others || !ordered(a.Unit), "audit.others",
		"has no effect on a canary %s: what follows it is asked of all alike", a.Unit)
	v.Between("audit.rows", a.Rows, max(2, dataset.LeastRows(a.Unit)), 1_000_000)
	v.Check(a.Runs >= 16 && (a.Runs <= 100_000 || a.Sees == SeesRelease && a.Runs <= mostReleases) && a.Runs%8 == 0,
		"audit.runs",
		"must be a multiple of 8 from 16 to 100000, got %d: half of the models have the canary, and a quarter of "+
			"each half says where the threshold is", a.Runs)
	a.checkRelease(v)
	v.Check(a.Delta >= 0 && a.Delta < 1, "audit.delta", "must be at least 0 and below 1, got %v", a.Delta)
	a.checkLevel(v)
}

// checkLevel reports a confidence or shares of guesses that allow no bounds.
func (a AuditConfig) checkLevel(v *config.Checker) {
	v.Check(len(a.Guesses) > 0, "audit.guesses", "must list a share of the canaries")
	for _, g := range a.Guesses {
		v.Check(g > 0 && g <= 1 && !math.IsNaN(g), "audit.guesses", "must be above 0 and at most 1, got %v", g)
	}
}

// mostReleases is the largest number of releases of method canary that are drawn again.
const mostReleases = 100_000_000

// checkRelease reports settings that an audit of the release cannot have.
func (a AuditConfig) checkRelease(v *config.Checker) {
	if a.Sees != SeesRelease {
		return
	}
	v.Check(a.Unit == User, "audit.unit", "%s: of a release it is known what a user adds: take %s", a.Unit, User)
	v.Check(a.Method != Membership, "audit.method", "%s: it is of trained models: take %s or %s", Membership, Canary,
		OneRun)
	v.Check(!a.Others, "audit.others", "has no effect on a release, which others see")
}

// ordered reports whether a canary has rows of its own whose order matters.
func ordered(unit string) bool { return unit == Sequence || unit == Interaction || unit == Order }
