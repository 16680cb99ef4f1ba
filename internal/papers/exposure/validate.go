package exposure

import (
	"fmt"
	"slices"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/config"
	"privrec/internal/dataset/slate"
	"privrec/internal/train"
)

// Validate reports every setting that cannot be run, by line.
func Validate(c Config, doc *config.Document) error {
	v := &validator{doc: doc}
	v.check(c.Profile != "", "profile", "must not be empty")
	v.data(c)
	if v.oneOf("attack.encoder", c.Attack.Encoder, attack.Encoders()...) && v.oneOf("attack.decoder", c.Attack.Decoder, attack.Decoders()...) {
		v.under("attack", c.Attack.Check)
	}
	v.train(c.Train)
	v.eval(c)
	v.protect(c)
	v.sweep(c)
	return v.err()
}

func (v *validator) data(c Config) {
	d := c.Data
	v.check(d.Name != "" || c.On.Run != "", "data.name", "must name a set of slates, or on.run a finished run")
	// A file may name a set all the same: a complete one always does.
	v.check(c.On.Run == "" || !v.doc.Overridden("data.name"), "data.name", "is not read with on.run, whose run is attacked: leave one of them out")
	v.check(c.On.Release == "" || c.On.Run != "", "on.release", "belongs to on.run, which is empty")
	v.oneOf("data.split", d.Split, slate.SplitUsers, slate.SplitReleased)
	v.check(c.On.Run == "" || d.Split == slate.SplitUsers, "data.split", "must be %s for the users of a run, got %q", slate.SplitUsers, d.Split)
	v.between("data.slate", d.Slate, 1, 1000)
	v.between("data.behaviour", d.Behaviour, 1, 100)
	v.oneOf("data.unknown", d.Unknown, slate.UnknownOOV, slate.UnknownDrop)
	v.oneOf("data.clicks", d.Clicks, slate.OrderShown, slate.OrderClicked)
	v.between("data.stride", d.Stride, 1, 1000)
	v.oneOf("data.early", d.Early, slate.EarlyKeep, slate.EarlyDrop, slate.EarlyRefuse)
	v.oneOf("data.logs", d.Logs, slate.LogsFile, slate.LogsTime)
	v.oneOf("data.pairing", d.Pairing, slate.PairIndex, slate.PairLog)
	v.between("data.most", d.Most, 0, 1_000_000)
}

// under reports the first wrong field of a part, which its own package knows.
func (v *validator) under(part string, check func() (field, problem string)) {
	if field, problem := check(); field != "" {
		v.check(false, part+"."+field, "%s", problem)
	}
}

func (v *validator) train(t TrainConfig) {
	v.under("train", t.Training.Check)
	v.between("train.epochs", t.Epochs, 0, 100_000)
	v.oneOf("train.batches", t.Batches, batchesEach, batchesOnce)
	v.check(t.Sample > 0 && t.Sample <= 1, "train.sample", "must lie in (0,1], got %v", t.Sample)
	v.between("train.patience", t.Patience, 0, 100_000)
	v.oneOf("train.select", t.Select, selectValidation, selectLast)
}

func (v *validator) eval(c Config) {
	e := c.Eval
	v.check(len(e.K) > 0, "eval.k", "must name at least one cutoff")
	for i, k := range e.K {
		v.between("eval.k", k, 1, 1000)
		v.check(i == 0 || k > e.K[i-1], "eval.k", "must ascend, %d follows %d", k, e.K[max(0, i-1)])
	}
	v.list("eval.vocabulary", e.Vocabulary, attack.VocabularyFull, attack.VocabularyLogged)
	v.list("eval.budget", e.Budget, attack.BudgetKL, attack.BudgetK, attack.BudgetList)
	v.check(c.On.Run == "" || !slices.Contains(e.Vocabulary, attack.VocabularyLogged), "eval.vocabulary", "must be %s for the users of a run: it has no log of what was shown", attack.VocabularyFull)
	v.oneOf("eval.repeated", e.Repeated, Keep, Drop)
	v.oneOf("eval.early", e.Early, Keep, Drop)

	v.check(e.Confidence > 0 && e.Confidence < 1, "eval.confidence", "must lie in (0,1), got %v", e.Confidence)
	v.between("eval.resamples", e.Resamples, 100, 1_000_000)
}

func (v *validator) protect(c Config) {
	p := c.Protect
	v.oneOf("protect.attacker", p.Attacker, AttackerClean, AttackerAdaptive)
	v.oneOf("protect.reference", p.Reference, ReferencePast, ReferenceSlate)
	v.within("protect.tau", p.Tau, 1e-9, 1e9)
	v.between("protect.batch", p.Batch, 2, 1_000_000)
	similar := p.Select == SelectSimilar || p.Select == SelectDissimilar
	v.check(similar || c.Sweep.similarity() || p.Vectors == "", "protect.vectors", "belongs to select %s and %s, got select %q", SelectSimilar, SelectDissimilar, p.Select)
	v.check(!similar || p.Vectors != "", "protect.vectors", "must be here or name a finished run of train sasrec, which %s needs", p.Select)
	v.check(similar || c.Sweep.similarity() || !p.Weighted, "protect.weighted", "belongs to select %s and %s, got select %q", SelectSimilar, SelectDissimilar, p.Select)
	if !v.oneOf("protect.select", p.Select, append(Selections(), SelectNone)...) {
		return
	}
	if !p.On() {
		v.check(p.Select == SelectNone, "protect.replace", "must say by what the positions of protect.select=%s are replaced: one of %s", p.Select, strings.Join(Replacements(), ", "))
		v.check(p.Ratio == 0, "protect.ratio", "must be 0 where protect.replace is empty, got %v", p.Ratio)
		v.check(p.Epsilon == 0, "protect.epsilon", "must be 0 where protect.replace is empty, got %v", p.Epsilon)
		v.check(p.Attacker == AttackerClean, "protect.attacker", "must be %s where nothing is protected, got %s", AttackerClean, p.Attacker)
		return
	}
	v.oneOf("protect.replace", p.Replace, Replacements()...)
	if p.Replace == ReplaceRR {
		v.check(p.Select == SelectNone, "protect.select", "must be %s with %s, which answers every position, got %q", SelectNone, ReplaceRR, p.Select)
		v.check(p.Ratio == 0, "protect.ratio", "must be 0 with %s, which takes an epsilon, got %v", ReplaceRR, p.Ratio)
		v.within("protect.epsilon", p.Epsilon, minEpsilon, maxEpsilon)
	} else {
		v.oneOf("protect.select", p.Select, Selections()...)
		v.check(p.Ratio >= 0 && p.Ratio < 1, "protect.ratio", "must lie in [0,1), got %v", p.Ratio)
		v.check(p.Epsilon == 0, "protect.epsilon", "belongs to %s: replacing by %s has no guarantee, got %v", ReplaceRR, p.Replace, p.Epsilon)
	}
}

func (v *validator) sweep(c Config) {
	s := c.Sweep
	some := func(path string, xs []string, allowed ...string) {
		if len(xs) > 0 {
			v.list(path, xs, allowed...)
		}
	}
	some("sweep.select", s.Select, Selections()...)
	some("sweep.replace", s.Replace, ReplaceUniform, ReplacePopularity, ReplaceInBatch)
	v.list("sweep.attackers", s.Attackers, AttackerClean, AttackerAdaptive)
	n := 0
	for _, filled := range []bool{len(s.Select) > 0, len(s.Replace) > 0, len(s.Ratios) > 0} {
		if filled {
			n++
		}
	}
	v.check(n == 0 || n == 3, "sweep", "select, replace and ratios go together: fill all three or none")
	for i, r := range s.Ratios {
		v.check(r > 0 && r < 1, "sweep.ratios", "must lie in (0,1), got %v", r)
		v.check(!slices.Contains(s.Ratios[:i], r), "sweep.ratios", "names %v twice", r)
	}
	for i, e := range s.Epsilons {
		v.within("sweep.epsilons", e, minEpsilon, maxEpsilon)
		v.check(!slices.Contains(s.Epsilons[:i], e), "sweep.epsilons", "names %v twice", e)
	}
	for i, t := range s.Slates {
		v.between("sweep.slates", t, 1, max(1, c.Data.Slate))
		v.check(!slices.Contains(s.Slates[:i], t), "sweep.slates", "names %d twice", t)
	}
	v.check(!c.Protect.On() || len(s.settings()) == 0, "sweep", "starts from slates as they are: leave protect.replace empty")
	v.check(!s.similarity() || c.Protect.Vectors != "", "protect.vectors", "must be here or name a finished run of train sasrec, which sweep.select needs")
}

type validator struct {
	doc  *config.Document
	errs config.Errors
}

func (v *validator) check(ok bool, path, format string, args ...any) {
	if !ok {
		v.errs = append(v.errs, v.doc.Errorf(path, format, args...))
	}
}

func (v *validator) between(path string, x, lo, hi int) {
	v.check(x >= lo && x <= hi, path, "must lie in %d..%d, got %d", lo, hi, x)
}

func (v *validator) within(path string, x, lo, hi float64) {
	v.check(x >= lo && x <= hi, path, "must lie in [%g,%g], got %v", lo, hi, x)
}

func (v *validator) oneOf(path, x string, allowed ...string) bool {
	e := v.doc.OneOf(path, x, allowed...)
	if e != nil {
		v.errs = append(v.errs, e)
	}
	return e == nil
}

// list wants some of the allowed words, each once.
func (v *validator) list(path string, xs []string, allowed ...string) {
	v.check(len(xs) > 0, path, "must name at least one of %s", strings.Join(allowed, ", "))
	for i, x := range xs {
		v.oneOf(path, x, allowed...)
		v.check(!slices.Contains(xs[:i], x), path, "names %s twice", x)
	}
}

func (v *validator) err() error {
	if len(v.errs) == 0 {
		return nil
	}
	return v.errs
}

// standing says how a setting relates to the profile that it names.
func (c Config) standing() (string, error) {
	base, ok := c.base()
	if !ok {
		return fmt.Sprintf("own setting %q", c.Profile), nil
	}
	changed, err := config.Diff(base, c)
	if err != nil || len(changed) == 0 {
		return "profile " + c.Profile, err
	}
	return "profile " + c.Profile + ", changed: " + strings.Join(changed, ", "), nil
}

// base is the profile that a setting names, of the same attack; false for none.
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

// short says that a training was shorter than that of the profile which its setting names.
func (c Config) short(ran int, stopped bool) string {
	base, _ := c.base()
	return base.Train.length().Short(c.Train.length(), ran, stopped)
}

// length is how long a training lasts.
func (c TrainConfig) length() train.Length {
	return train.Length{Epochs: c.Epochs, Patience: c.Patience}
}
