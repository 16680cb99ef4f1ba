package membership

import (
	"privrec/internal/attack/attribute"
	"privrec/internal/config"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/target"
)

// Config describes an attack: which run, whether it asks about rows or users, what the attacker sees, and how often it
// may guess.
type Config struct {
	Profile string    `yaml:"profile" limit:"filled"` // name of the set of choices, for reports: default or your own
	On      target.On `yaml:"on"`
	// files of a model that another program trained, in place of a run
	Files  imported.Source  `yaml:"files,omitempty"`
	Target target.Training  `yaml:"target"`
	Attack AttackConfig     `yaml:"attack"`
	Eval   target.Intervals `yaml:"eval"`
}

// AttackConfig sets what the attacker asks, sees and may do.
type AttackConfig struct {
	// the question: interaction (was this row trained on?) or user (was this user?)
	Level string   `yaml:"level" limit:"interaction|user"`
	Sees  []string `yaml:"sees" limit:"some of scores|lists|vectors"` // what the attacker sees: scores, lists, vectors
	K     int      `yaml:"k" limit:"1..1000"`                         // number of items in a list
	// References is the number of models that the attacker trains like the run, on random halves of the same rows. 0:
	// none, and thresholds come from what the attacker sees.
	References int `yaml:"references"`
	// Statistics names what is computed from reference models: lira, the likelihood ratios of Carlini et al., and rmia,
	// the relative ones of Zarifzadeh et al. Empty: lira.
	Statistics []string `yaml:"statistics,omitempty" limit:"any of lira|rmia"`
	// NonMembers says which interactions count as not trained on: held-out, those of run.hold_out, or test, the test
	// rows, which may differ from training rows in more than that.
	NonMembers string `yaml:"non_members" limit:"held-out|test"`
	// Strangers says what users get that the model does not know: model, its own recommendations for them, or
	// popular, the most popular items, as in Zhang et al.
	Strangers string `yaml:"strangers" limit:"model|popular"`
	// classifier of the shadow attack, one of those of attack attribute
	Classifier string `yaml:"classifier"`
	Users      int    `yaml:"users" limit:"0..10000000"`     // most users to attack; 0: all
	Guesses    int    `yaml:"guesses" limit:"1..1000000000"` // number of guesses that the attacker has
}

// Values of AttackConfig.
const (
	LevelInteraction = "interaction"
	LevelUser        = "user"

	SeesScores  = "scores"
	SeesLists   = "lists"
	SeesVectors = "vectors"

	LiRA = "lira"
	RMIA = "rmia"

	HeldOut = "held-out"
	Test    = "test"

	Model   = "model"
	Popular = "popular"
)

// Default returns an attack on interactions, without reference models.
func Default() Config {
	return Config{
		Profile: "default",
		Target:  target.DefaultTraining(0.5),
		Attack: AttackConfig{Level: LevelInteraction, Sees: []string{SeesScores, SeesLists}, K: 20, NonMembers: HeldOut,
			Strangers:  Model,
			Classifier: "dnn", Users: 2000, Guesses: 100},
		Eval: target.DefaultIntervals(),
	}
}

// Check reports settings of the attack and of files that cannot be run.
func Check(v *config.Checker, c Config) {
	c.Files.Check(v, "on.run or target.task", c.On.Run != "" || c.Target.Task != "")
	a := c.Attack
	v.Check(a.References == 0 || a.References >= 4 && a.References <= 1000 && a.References%2 == 0, "attack.references",
		"must be 0 or an even number from 4 to 1000, got %d: each candidate is in half of them, and a spread needs two",
		a.References)
	v.Check(len(a.Statistics) == 0 || a.References > 0, "attack.statistics",
		"%v: they are computed from reference models: set attack.references", a.Statistics)
	v.Check(a.NonMembers == HeldOut || a.Level == LevelInteraction, "attack.non_members",
		"%s: users with test rows are trained on: take %s", Test, HeldOut)
	v.Check(a.NonMembers == HeldOut || a.References == 0, "attack.non_members",
		"%s: reference models are not trained on test rows: take %s, or attack.references 0", Test, HeldOut)
	v.Check(a.NonMembers == HeldOut || c.Target.Task == "", "attack.non_members",
		"%s: a target that is trained here has rows held out: take %s", Test, HeldOut)
	v.Check(a.Strangers == Model || a.Level == LevelUser, "attack.strangers",
		"%s has no effect at level %s, whose users are all known, must be %s", a.Strangers, a.Level, Model)
	var names []string
	for _, x := range attribute.Attackers() {
		names = append(names, x.Name())
	}
	v.OneOf("attack.classifier", a.Classifier, names...)
}

// Suit implements run.Suited: for imported lists it lets the attacker see lists, since they show nothing else.
func (c *Config) Suit(doc *config.Document) error {
	if c.Files.Given() && !doc.Given("attack.sees") {
		c.Attack.Sees = []string{SeesLists}
	}
	return nil
}
