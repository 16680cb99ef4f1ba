package rdpgcf

import (
	"privrec/internal/config"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
)

// Validate reports every setting that cannot be run, by line.
func Validate(c Config, doc *config.Document) error {
	v := config.NewChecker(doc)
	c.common().check(v)
	m := c.Model
	checkDim(v, m.Dim)
	checkLayers(v, m.Layers)
	checkNorm(v, m.Norm)
	m.Init.check(v)
	v.Within("model.scale", m.Scale, 1e-6, 1e6)
	v.Words("release.kinds", c.Release.Kinds, ReleaseNoisy, ReleaseAvg, ReleaseClean)
	v.Between("release.average", c.Release.Average, 1, maxAverage)
	c.Privacy.check(v, c)
	return v.Err()
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

// check checks what every model of the paper has.
func (c common) check(v *config.Checker) {
	c.checkIdentity(v)
	t := c.train
	v.Between("train.epochs", t.Epochs, 1, 100_000)
	v.Between("train.batch", t.Batch, 1, 10_000_000)
	v.Within("train.rate", t.Rate, 1e-12, 100)
	v.Below("train.l2", t.L2, 0, 1e6)
	v.Below("train.decay", t.Decay, 0, 1)
	v.OneOf("train.sampler", t.Sampler, bpr.Pass, bpr.UserUniform, bpr.Poisson)
	v.OneOf("train.negatives", t.Negatives, bpr.Unseen, bpr.All)
	v.Between("train.negatives_each", t.Each, 1, 10_000)
	v.Between("train.rate_every", t.RateEvery, 0, 100_000)
	if t.RateEvery > 0 {
		v.Within("train.rate_by", t.RateBy, 1e-12, 1)
	} else {
		v.Check(t.RateBy == 1, "train.rate_by", "has no effect with train.rate_every 0, must be 1, got %v", t.RateBy)
	}
	v.Between("train.patience", t.Patience, 0, 100_000)
	v.OneOf("train.select", t.Select, SelectValidation, SelectLast)
}

// checkIdentity checks which data are read and what is measured.
func (c common) checkIdentity(v *config.Checker) {
	v.NotEmpty("profile", c.profile)
	v.NotEmpty("data.name", c.data.Name)
	v.NotEmpty("data.recipe", c.data.Recipe)
	v.Integers("eval.k", "cutoff", c.eval.K, 1, 10_000)
}

func checkDim(v *config.Checker, d int) { v.Between("model.dim", d, 1, 4096) }

func checkLayers(v *config.Checker, l int) { v.Between("model.layers", l, 1, 32) }

func checkNorm(v *config.Checker, s string) {
	_, err := graph.ParseNormalizer(s)
	v.Check(err == nil, "model.norm", "%v", err)
}

func (i InitConfig) check(v *config.Checker) {
	v.OneOf("model.init.law", i.Law, LawXavier, LawNormal)
	if i.Law == LawNormal {
		v.Within("model.init.std", i.Std, 1e-12, 1e6)
	} else {
		v.Check(i.Std == 0, "model.init.std", "belongs to the law %s, must be 0 for %s", LawNormal, i.Law)
	}
}
