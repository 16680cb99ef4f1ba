package rdpgcf

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/config"
	"privrec/internal/protocol/topn"
)

// sampled propagates over Poisson batches, by the accounting that is right for them.
func sampled(c *Config) {
	c.Privacy.Propagation, c.Privacy.Accounting, c.Privacy.Count, c.Privacy.Conversion = PropagationSampled, AccountingPoisson, CountStep, ConversionTight
	c.Train.Sampler, c.Model.Norm = "poisson", "right-clamp:5"
}

// TestPrivacySettings: what cannot be run is refused by key.
func TestPrivacySettings(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		key    string // empty: fine
		from   func() Config
		change func(c *Config)
	}{
		{"", Default, func(c *Config) {}},
		{"", Code, func(c *Config) {}},
		{"", Repaired, func(c *Config) {}},
		{"", Default, func(c *Config) { c.Privacy.Epsilon = math.Inf(1) }},
		{"", Default, func(c *Config) { c.Privacy.Accounting, c.Privacy.Sigma = AccountingFixed, 2 }},
		{"", Default, func(c *Config) { c.Privacy.Conversion = "order:8" }},
		{"", Default, sampled},
		{"privacy.count: must be step where privacy.propagation is sampled", Default, func(c *Config) { sampled(c); c.Privacy.Count = CountJoint }},
		{"privacy.count", Default, func(c *Config) { sampled(c); c.Privacy.Count = CountLayer }},
		{"privacy.count", Default, func(c *Config) { sampled(c); c.Privacy.Count = CountViews }},
		{"privacy.count", Default, func(c *Config) { sampled(c); c.Privacy.Accounting, c.Privacy.Count = AccountingNone, CountLayer }},
		{"", Default, func(c *Config) { sampled(c); c.Privacy.Accounting = AccountingNone }},
		{"privacy.accounting: must be poisson, none or fixed where privacy.propagation is sampled", Default, func(c *Config) { sampled(c); c.Privacy.Accounting = AccountingPrinted }},
		{"", Default, func(c *Config) { // which claims nothing
			sampled(c)
			c.Privacy.Accounting, c.Privacy.Count, c.Privacy.Sigma = AccountingFixed, CountLayer, 2
		}},
		{"privacy.epsilon: has no effect under privacy.accounting fixed", Default, func(c *Config) {
			c.Privacy.Accounting, c.Privacy.Sigma, c.Privacy.Epsilon = AccountingFixed, 2, 3
		}},
		{"privacy.count: has no effect under privacy.accounting fixed", Default, func(c *Config) {
			c.Privacy.Accounting, c.Privacy.Sigma, c.Privacy.Count = AccountingFixed, 2, CountJoint
		}},
		{"privacy.repaired.graph_share: has no effect under privacy.method layers", Default, func(c *Config) { c.Privacy.Repaired.GraphShare = 0.4 }},
		{"privacy.repaired.count_share", Default, func(c *Config) { c.Privacy.Repaired.CountShare = 0 }},
		{"privacy.repaired.label_share", Default, func(c *Config) { c.Privacy.Repaired.LabelShare = 0.2 }},
		{"privacy.repaired.label_share", Default, func(c *Config) { c.Privacy.Repaired.LabelShare = nan }},
		{"privacy.repaired.map", Default, func(c *Config) { c.Privacy.Repaired.Map = MapLinear }},
		{"privacy.repaired.dim", Default, func(c *Config) { c.Privacy.Repaired.Dim = 8 }},
		{"privacy.repaired.clip", Default, func(c *Config) { c.Privacy.Repaired.Clip = 2 }},
		{"", Repaired, func(c *Config) { c.Privacy.Repaired.Map, c.Privacy.Repaired.Dim = MapLinear, 16 }},
		{"", Default, func(c *Config) { c.Privacy.Epsilon, c.Model.NormaliseRows = math.Inf(1), false }},
		{"model.normalise_rows", Default, func(c *Config) { c.Model.NormaliseRows = false }},
		{"model.normalise_rows", Default, func(c *Config) {
			c.Privacy.Epsilon, c.Privacy.Accounting, c.Privacy.Sigma, c.Model.NormaliseRows = math.Inf(1), AccountingFixed, 2, false
		}},
		{"privacy.method", Default, func(c *Config) { c.Privacy.Method = "once" }},
		{"privacy.epsilon", Default, func(c *Config) { c.Privacy.Epsilon = 0 }},
		{"privacy.epsilon", Default, func(c *Config) { c.Privacy.Epsilon = nan }},
		{"privacy.delta", Default, func(c *Config) { c.Privacy.Delta = 1 }},
		{"privacy.accounting", Default, func(c *Config) { c.Privacy.Accounting = "exact" }},
		{"privacy.count", Default, func(c *Config) { c.Privacy.Count = "half" }},
		{"privacy.conversion", Default, func(c *Config) { c.Privacy.Conversion = "order:x" }},
		{"privacy.conversion", Default, func(c *Config) { c.Privacy.Conversion = "loose" }},
		{"privacy.sigma", Default, func(c *Config) { c.Privacy.Sigma = 1 }},
		{"privacy.sigma", Default, func(c *Config) { c.Privacy.Accounting = AccountingFixed }},
		{"privacy.planned_epochs", Default, func(c *Config) { c.Privacy.PlannedEpochs = 299 }},
		{"privacy.planned_epochs", Default, func(c *Config) { c.Privacy.PlannedEpochs = -1 }},
		{"privacy.planned_epochs", Repaired, func(c *Config) { c.Privacy.PlannedEpochs = 300 }},
		{"", Default, func(c *Config) { c.Train.Epochs = 5 }},
		{"", Default, func(c *Config) { c.Privacy.PlannedEpochs = 0 }},
		{"privacy.propagation", Default, func(c *Config) { c.Privacy.Propagation = "half" }},
		{"train.sampler", Default, func(c *Config) { c.Privacy.Propagation, c.Model.Norm = PropagationSampled, "sum" }},
		{"model.norm", Default, func(c *Config) { c.Privacy.Propagation, c.Train.Sampler = PropagationSampled, "poisson" }},
		{"privacy.epsilon", Repaired, func(c *Config) { c.Privacy.Epsilon = math.Inf(1) }},
		{"privacy.accounting", Repaired, func(c *Config) { c.Privacy.Accounting = AccountingPrinted }},
		{"privacy.count", Repaired, func(c *Config) { c.Privacy.Count = CountLayer }},
		{"privacy.propagation", Repaired, func(c *Config) { c.Privacy.Propagation = PropagationSampled }},
		{"train.sampler", Repaired, func(c *Config) { c.Train.Sampler = "pass" }},
		{"train.negatives", Repaired, func(c *Config) { c.Train.Negatives = "unseen" }},
		{"train.negatives_each", Repaired, func(c *Config) { c.Train.Each = 2 }},
		{"train.rate_every", Repaired, func(c *Config) { c.Train.RateEvery, c.Train.RateBy = 5, 0.5 }},
		{"train.schedule", Repaired, func(c *Config) { c.Train.Schedule = topn.ScheduleLarge }},
		{"train.warm_up", Repaired, func(c *Config) { c.Train.WarmUp = 5 }},
		{"train.patience", Repaired, func(c *Config) { c.Train.Patience = 5 }},
		{"train.select", Repaired, func(c *Config) { c.Train.Select = topn.SelectValidation }},
		{"train.decay", Repaired, func(c *Config) { c.Train.Decay = 1e-4 }},
		{"train.optimizer", Repaired, func(c *Config) { c.Train.Optimizer = topn.SGD }},
		{"model.normalise_rows", Repaired, func(c *Config) { c.Model.NormaliseRows = false }},
		{"release.kinds", Repaired, func(c *Config) { c.Release.Kinds = []string{ReleaseNoisy, ReleaseClean} }},
		{"privacy.repaired.graph_share", Repaired, func(c *Config) { c.Privacy.Repaired.GraphShare = 1 }},
		{"privacy.repaired.count_share", Repaired, func(c *Config) { c.Privacy.Repaired.CountShare = 0.5 }},
		{"privacy.repaired.count_share", Repaired, func(c *Config) { c.Privacy.Repaired.CountShare = nan }},
		{"privacy.repaired.label_share", Repaired, func(c *Config) { c.Privacy.Repaired.LabelShare = 1 }},
		{"privacy.repaired.graph_share", Repaired, func(c *Config) { c.Privacy.Repaired.LabelShare = 0.2 }},
		{"", Repaired, func(c *Config) { c.Privacy.Repaired.LabelShare, c.Privacy.Repaired.GraphShare = 0.2, 0 }},
		{"privacy.repaired.map", Repaired, func(c *Config) { c.Privacy.Repaired.Map = "deep" }},
		{"privacy.repaired.dim", Repaired, func(c *Config) { c.Privacy.Repaired.Map = MapLinear }},
		{"privacy.repaired.dim", Repaired, func(c *Config) { c.Privacy.Repaired.Dim = 4 }},
		{"privacy.repaired.clip", Repaired, func(c *Config) { c.Privacy.Repaired.Clip = 0 }},
		{"privacy.conversion", Repaired, func(c *Config) { c.Privacy.Conversion = ConversionClassic }},
		{"privacy.conversion", Repaired, func(c *Config) { c.Privacy.Conversion = "order:8" }},
		{"model.init", Repaired, func(c *Config) { c.Model.Init = baseline.InitConfig{Law: baseline.LawNormal, Std: 0.1} }},
		{"release.average", Repaired, func(c *Config) { c.Release.Average = 16 }},
		{"eval.every", Repaired, func(c *Config) { c.Eval.Every = true }},
		{"eval.sigmoid", Repaired, func(c *Config) { c.Eval.Sigmoid = true }},
	} {
		s := c.from()
		c.change(&s)
		v := config.NewChecker(&config.Document{})
		v.Declared(s)
		s.check(v)
		err := v.Err()
		if c.key == "" && err != nil || c.key != "" && (err == nil || !strings.Contains(err.Error(), c.key)) {
			t.Errorf("want %q, got %v", c.key, err)
		}
	}
}

// A run that is cut short keeps the noise of the one that was planned.
func TestPlannedEpochs(t *testing.T) {
	sigma := func(planned, epochs int) float64 {
		c := Default()
		c.Privacy.PlannedEpochs, c.Train.Epochs = planned, epochs
		cal, err := c.Calibration(810_128)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cal.Sigma(5)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := sigma(0, 300)
	if math.Abs(whole-2.363) > 0.005*2.363 { // not of this program's making
		t.Errorf("300 epochs: sigma %.4f, want 2.363", whole)
	}
	if got := sigma(300, 5); got != whole {
		t.Errorf("5 of 300 epochs: sigma %v, want %v", got, whole)
	}
	if got := sigma(0, 5); !(got < whole/2) {
		t.Errorf("5 epochs: sigma %v is not well below %v", got, whole)
	}
}

// Under a schedule the printed claim keeps the noise of the paper's steps and says so, the account is of the steps that
// run, and noise that is meant to hold is for those.
func TestNoiseUnderSchedule(t *testing.T) {
	const edges = 810_128
	plan := func(accounting, schedule string) (sigma float64, a *Account) {
		c := Default()
		c.Privacy.Accounting, c.Train.Schedule = accounting, schedule
		cal, err := c.Calibration(edges)
		if err != nil {
			t.Fatal(err)
		}
		if sigma, err = c.sigma(cal); err != nil {
			t.Fatal(err)
		}
		if a, err = c.plannedAccount(edges, sigma); err != nil {
			t.Fatal(err)
		}
		return sigma, a
	}
	paper, its := plan(AccountingPrinted, "")
	large, fewer := plan(AccountingPrinted, topn.ScheduleLarge)
	if large != paper || !strings.Contains(fewer.Claimed.Theorem, "steps of 1024 pairs; those that ran have 16384") || strings.Contains(its.Claimed.Theorem, "1024") {
		t.Errorf("sigma %v and %v, claims %q and %q", paper, large, its.Claimed.Theorem, fewer.Claimed.Theorem)
	}
	if steps, all := fewer.Components[0].Releases, its.Components[0].Releases; steps != 3*300*50 || all != 3*300*792 || !(fewer.Covered < its.Covered/10) {
		t.Errorf("%d releases come to %v, and %d of the paper's steps to %v", steps, fewer.Covered, all, its.Covered)
	}
	if sound, _ := plan(AccountingNone, topn.ScheduleLarge); !(sound < paper*200) || !(sound > paper*50) {
		t.Errorf("noise without amplification for 15,000 steps: %v", sound)
	}
}
