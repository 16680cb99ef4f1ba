package rdpgcf

import (
	"slices"

	"privrec/internal/config"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
)

// Validate reports every setting that cannot be run, by line.
func Validate(c Config, doc *config.Document) error {
	v := &validator{doc: doc}
	v.common(c.common())
	m := c.Model
	v.dim(m.Dim)
	v.layers(m.Layers)
	v.norm(m.Norm)
	v.init(m.Init)
	v.within("model.scale", m.Scale, 1e-6, 1e6)
	v.check(len(c.Release.Kinds) > 0, "release.kinds", "must name at least one release")
	for i, k := range c.Release.Kinds {
		v.oneOf("release.kinds", k, ReleaseNoisy, ReleaseAvg, ReleaseClean)
		v.check(!slices.Contains(c.Release.Kinds[:i], k), "release.kinds", "names %q twice", k)
	}
	v.between("release.average", c.Release.Average, 1, maxAverage)
	c.Privacy.check(v, c)
	return v.err()
}

type validator struct {
	doc  *config.Document
	errs config.Errors
}

// common is what the pipeline needs to know of any configuration.
type common struct {
	profile     string
	data        DataConfig
	train       TrainConfig
	eval        EvalConfig
	dim, layers int
	releases    []string // to rank; "" is the only one of a model without noise
	scale       float64  // of the scores in the loss, 0 for 1
}

func (c Config) common() common {
	return common{
		profile: c.Profile, data: c.Data, train: c.Train, eval: c.Eval,
		dim: c.Model.Dim, layers: c.Model.Layers, releases: c.Release.Kinds, scale: c.Model.Scale,
	}
}

func (v *validator) common(c common) {
	v.identity(c)
	t := c.train
	v.between("train.epochs", t.Epochs, 1, 100_000)
	v.between("train.batch", t.Batch, 1, 10_000_000)
	v.within("train.rate", t.Rate, 1e-12, 100)
	v.check(t.L2 >= 0 && t.L2 < 1e6, "train.l2", "must lie in [0,1e+06), got %v", t.L2)
	v.check(t.Decay >= 0 && t.Decay < 1, "train.decay", "must lie in [0,1), got %v", t.Decay)
	v.oneOf("train.sampler", t.Sampler, bpr.Pass, bpr.UserUniform, bpr.Poisson)
	v.oneOf("train.negatives", t.Negatives, bpr.Unseen, bpr.All)
	v.between("train.negatives_each", t.Each, 1, 10_000)
	v.between("train.rate_every", t.RateEvery, 0, 100_000)
	if t.RateEvery > 0 {
		v.within("train.rate_by", t.RateBy, 1e-12, 1)
	} else {
		v.check(t.RateBy == 1, "train.rate_by", "has no effect with train.rate_every 0, must be 1, got %v", t.RateBy)
	}
	v.between("train.patience", t.Patience, 0, 100_000)
	v.oneOf("train.select", t.Select, SelectValidation, SelectLast)
}

// identity is what every model has: which data, and what is measured.
func (v *validator) identity(c common) {
	v.check(c.profile != "", "profile", "must not be empty")
	v.check(c.data.Name != "", "data.name", "must not be empty")
	v.check(c.data.Recipe != "", "data.recipe", "must not be empty")
	v.check(len(c.eval.K) > 0, "eval.k", "must name at least one cutoff")
	for i, k := range c.eval.K {
		v.between("eval.k", k, 1, 10_000)
		v.check(!slices.Contains(c.eval.K[:i], k), "eval.k", "names %d twice", k)
	}
}

func (v *validator) dim(d int)    { v.between("model.dim", d, 1, 4096) }
func (v *validator) layers(l int) { v.between("model.layers", l, 1, 32) }

func (v *validator) norm(s string) {
	_, err := graph.ParseNormalizer(s)
	v.check(err == nil, "model.norm", "%v", err)
}

func (v *validator) init(i InitConfig) {
	v.oneOf("model.init.law", i.Law, LawXavier, LawNormal)
	if i.Law == LawNormal {
		v.within("model.init.std", i.Std, 1e-12, 1e6)
	} else {
		v.check(i.Std == 0, "model.init.std", "belongs to the law %s, must be 0 for %s", LawNormal, i.Law)
	}
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

func (v *validator) oneOf(path, x string, allowed ...string) {
	if e := v.doc.OneOf(path, x, allowed...); e != nil {
		v.errs = append(v.errs, e)
	}
}

func (v *validator) err() error {
	if len(v.errs) == 0 {
		return nil
	}
	return v.errs
}
