package exposure

import (
	"path/filepath"
	"slices"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/config"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/train"
)

// Check reports every setting that cannot be run.
func Check(v *config.Checker, c Config) {
	c.checkData(v)
	if v.OneOf("attack.encoder", c.Attack.Encoder, attack.Encoders()...) &&
		v.OneOf("attack.decoder", c.Attack.Decoder, attack.Decoders()...) {
		under(v, "attack", c.Attack.Check)
	}
	c.Train.check(v)
	c.Eval.Check(v)
	v.Check(!c.ofLists() || !slices.Contains(c.Eval.Vocabulary, attack.VocabularyLogged), "eval.vocabulary",
		"must be %s for the users of a run: it has no log of what was shown", attack.VocabularyFull)
	c.checkProtect(v)
	c.checkSweep(v)
}

// ofLists reports whether the recommendations of a model are attacked instead of a data set.
func (c Config) ofLists() bool { return c.On.Run != "" || c.Files.Given() }

// Suit implements run.Suited: it refuses data other than slates.
func (c *Config) Suit(*config.Document) error {
	if c.ofLists() || c.Data.Name == "" {
		return nil
	}
	return slate.Find(c.Data.Name)
}

func (c Config) checkData(v *config.Checker) {
	d := c.Data
	c.Files.Check(v, "on.run", c.On.Run != "")
	v.Check(d.Name != "" || c.ofLists(), "data.name", "must name a set of slates, or on.run a finished run")
	// A file may name a set all the same: a complete one always does.
	v.Check(c.On.Run == "" || !v.Overridden("data.name"), "data.name",
		"is not read with on.run, whose run is attacked: leave one of them out")
	v.Check(!c.On.Beside || c.On.Run != "", "on.beside", "is read with on.run only")
	v.Check(!c.On.Beside || !filepath.IsAbs(c.On.Run), "on.run", "names %q, which is not beside this run", c.On.Run)
	v.Check(c.On.Release == "" || c.On.Run != "", "on.release", "belongs to on.run, which is empty")
	v.Check(!c.Files.Given() || !v.Overridden("data.name"), "data.name",
		"is not read with files.recs, whose lists are attacked: leave one of them out")
	v.Check(!c.ofLists() || d.Split == slate.SplitUsers, "data.split", "must be %s for the users of a run, got %q",
		slate.SplitUsers, d.Split)
}

// under reports the first wrong field of a part, found by the part's own package.
func under(v *config.Checker, part string, check func() (field, problem string)) {
	if field, problem := check(); field != "" {
		v.Check(false, part+"."+field, "%s", problem)
	}
}

func (t TrainConfig) check(v *config.Checker) {
	under(v, "train", t.Training.Check)
}

func (c Config) checkProtect(v *config.Checker) {
	p := c.Protect
	similar := p.Select == protect.SelectSimilar || p.Select == protect.SelectDissimilar
	v.Check(similar || c.Sweep.similarity() || p.Vectors == "", "protect.vectors",
		"belongs to select %s and %s, got select %q", protect.SelectSimilar, protect.SelectDissimilar, p.Select)
	v.Check(!similar || p.Vectors != "", "protect.vectors",
		"must be here or name a finished run of train sasrec, which %s needs", p.Select)
	v.Check(similar || c.Sweep.similarity() || !p.Weighted, "protect.weighted",
		"belongs to select %s and %s, got select %q", protect.SelectSimilar, protect.SelectDissimilar, p.Select)
	if !v.OneOf("protect.select", p.Select, append(protect.Selections(), protect.SelectNone)...) {
		return
	}
	if !p.On() {
		v.Check(p.Select == protect.SelectNone, "protect.replace",
			"must say by what the positions of protect.select=%s are replaced: one of %s", p.Select,
			strings.Join(protect.Replacements(), ", "))
		v.Check(p.Ratio == 0, "protect.ratio", "must be 0 where protect.replace is empty, got %v", p.Ratio)
		v.Check(p.Epsilon == 0, "protect.epsilon", "must be 0 where protect.replace is empty, got %v", p.Epsilon)
		v.Check(p.Attacker == AttackerClean, "protect.attacker", "must be %s where nothing is protected, got %s",
			AttackerClean, p.Attacker)
		return
	}
	if p.Replace == protect.ReplaceRR {
		v.Check(p.Select == protect.SelectNone, "protect.select",
			"must be %s with %s, which answers every position, got %q", protect.SelectNone, protect.ReplaceRR, p.Select)
		v.Check(p.Ratio == 0, "protect.ratio", "must be 0 with %s, which takes an epsilon, got %v", protect.ReplaceRR,
			p.Ratio)
		v.Within("protect.epsilon", p.Epsilon, protect.MinEpsilon, protect.MaxEpsilon)
	} else {
		v.OneOf("protect.select", p.Select, protect.Selections()...)
		v.Below("protect.ratio", p.Ratio, 0, 1)
		v.Check(p.Epsilon == 0, "protect.epsilon", "belongs to %s: replacing by %s has no guarantee, got %v",
			protect.ReplaceRR, p.Replace, p.Epsilon)
	}
}

func (c Config) checkSweep(v *config.Checker) {
	s := c.Sweep
	n := 0
	for _, filled := range []bool{len(s.Select) > 0, len(s.Replace) > 0, len(s.Ratios) > 0} {
		if filled {
			n++
		}
	}
	v.Check(n == 0 || n == 3, "sweep", "select, replace and ratios go together: fill all three or none")
	config.Each(v, "sweep.ratios", s.Ratios, func(r float64) bool { return v.Inside("sweep.ratios", r, 0, 1) })
	config.Each(v, "sweep.epsilons", s.Epsilons,
		func(e float64) bool { return v.Within("sweep.epsilons", e, protect.MinEpsilon, protect.MaxEpsilon) })
	config.Each(v, "sweep.slates", s.Slates,
		func(t int) bool { return v.Between("sweep.slates", t, 1, max(1, c.Data.Slate)) })
	v.Check(!c.Protect.On() || len(s.settings()) == 0, "sweep",
		"starts from slates as they are: leave protect.replace empty")
	v.Check(c.Protect.VectorsEpochs >= 0 && (c.Protect.VectorsEpochs == 0 || c.Protect.Vectors == vectorsHere),
		"protect.vectors_epochs", "belongs to vectors that are trained here, and is at least 0, got %d",
		c.Protect.VectorsEpochs)
	v.Check(!s.similarity() || c.Protect.Vectors != "", "protect.vectors",
		"must be here or name a finished run of train sasrec, which sweep.select needs")
}

// standing compares a setting with the profile that it names.
func (c Config) standing() (experiment.Standing, error) {
	named := map[string]Config{}
	c.On.Beside = false // where the run is named from is no change of how
	if base, ok := c.base(); ok {
		named[c.Profile] = base
	}
	return experiment.Stand(c, c.Profile, named, func(c Config) train.Length { return c.Train.length() })
}

// base returns the profile that a setting names, of the same attack; false for none.
func (c Config) base() (base Config, ok bool) {
	switch c.Profile {
	case "paper":
		base = Default()
		base.Attack.Encoder, base.Attack.Decoder = c.Attack.Encoder, c.Attack.Decoder
		return base, true
	case "code":
		return Code(c.Attack.Encoder, c.Attack.Decoder), true
	}
	return base, false
}

// length returns the length of a training.
func (c TrainConfig) length() train.Length {
	return train.Length{Epochs: c.Epochs, Patience: c.Patience}
}
