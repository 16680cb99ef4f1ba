package rdpgcf

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"privrec/internal/baseline"
	"privrec/internal/config"
	"privrec/internal/graph"
	"privrec/internal/protocol/topn"
)

// Privacy sets how much noise a run adds, by which calculation, and where.
type Privacy struct {
	// Method is "layers", the paper's noise on every layer of every step, or "repaired": one noisy propagation of
	// rows that no edge entered, with labels by DP-SGD, private for one edge.
	Method string `yaml:"method" limit:"layers|repaired"`
	// Epsilon sets the paper's claim under the accounting below; .inf: no noise. With the repaired method it is the
	// guarantee itself.
	Epsilon float64 `yaml:"epsilon" config:"inf"`
	Delta   float64 `yaml:"delta" limit:"(0,1)"` // delta of the guarantee; the paper states none

	// Accounting turns epsilon into a standard deviation: by "printed", Theorem 3 with sampling without replacement,
	// by "poisson", the sampled Gaussian, or by "none", without amplification. "fixed" takes the one that sigma
	// gives.
	Accounting string `yaml:"accounting" limit:"printed|poisson|none|fixed"`
	// Count says how many releases the noise is set for. "layer": one of one view's sensitivity for every layer of a
	// step, as in the paper. "views": two of them. "joint": one of both views' sensitivity for every layer, which is
	// right over all edges. "step": one of all layers together. Over sampled edges only "step" is right, and it is
	// taken there: the layers of a step see the same sample, which amplifies them once, not each.
	Count string `yaml:"count" limit:"layer|views|joint|step"`
	// Conversion turns Rényi divergences into epsilon: "classic", "tight", or "order:A". The
	// last takes the divergence of order A itself for epsilon, without delta.
	Conversion string  `yaml:"conversion"`
	Sigma      float64 `yaml:"sigma"` // standard deviation of the noise under accounting fixed; 0 under the others

	// PlannedEpochs is the number of epochs that the noise is calibrated for, at least train.epochs; 0: train.epochs.
	// A run cut short to fit a machine then has the noise of the whole one.
	PlannedEpochs int `yaml:"planned_epochs"`

	// Propagation is "full", over all edges at every step, or "sampled", over the edges of a
	// Poisson batch alone, with degrees counted in the batch. Sampling amplifies only there.
	Propagation string `yaml:"propagation" limit:"full|sampled"`

	Repaired RepairedConfig `yaml:"repaired" when:"method=repaired"`
	// Parent names the file of a budget from which all runs on the same data spend; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// RepairedConfig sets what the repaired method alone has.
type RepairedConfig struct {
	// GraphShare and CountShare are the parts of mu² spent on the propagation and on the noisy number of users of
	// every item; labels get the rest. graph_share is above 0, count_share at least 0, and their sum below 1. With
	// count_share 0 nothing is counted: unit rows do not know how popular an item is.
	GraphShare float64 `yaml:"graph_share"`
	CountShare float64 `yaml:"count_share"`
	// LabelShare, in [0,1), is the part of the edges that is for labels alone, drawn for every
	// edge by itself. At 0 all edges are propagated and all are labels, and the costs of both
	// add up. Above 0 an edge is in one part only, each part may spend the whole budget, and
	// the map is not trained on edges that its rows have seen. No budget is left to share
	// then, so GraphShare must be 0.
	LabelShare float64 `yaml:"label_share" limit:"[0,1)"`
	// Edges states the number of training edges before the data are seen. Rate, steps and noise follow from it, so
	// that they are the same whether an edge is there or not. 0: the number in the data, which stays open in the
	// account.
	Edges int64 `yaml:"edges,omitempty"`
	// Map says what is trained on the cached rows: "pairs", a weight for each pair of layers, or "linear", a linear
	// map of all layers for each side.
	Map string `yaml:"map" limit:"pairs|linear"`
	// width of the mapped vectors under map linear; 0 under pairs
	Dim int `yaml:"dim" limit:"1..1024" when:"map=linear"`
	// C, the length to which the gradient of an edge is clipped
	Clip float64 `yaml:"clip" limit:"[1e-9,1e9]"`
}

// Values of the choices above.
const (
	MethodLayers   = "layers"
	MethodRepaired = "repaired"

	AccountingPrinted = "printed"
	AccountingPoisson = "poisson"
	AccountingNone    = "none"
	AccountingFixed   = "fixed"

	CountLayer = "layer"
	CountViews = "views"
	CountJoint = "joint"
	CountStep  = "step"

	ConversionClassic = "classic"
	ConversionTight   = "tight"
	conversionOrder   = "order:"

	PropagationFull    = "full"
	PropagationSampled = "sampled"

	MapPairs  = "pairs"
	MapLinear = "linear"
)

// DefaultPrivacy returns the paper's setting: epsilon 5 by its Theorem 3 over 300 epochs, L releases of sensitivity 1 a
// step, and the classic conversion. The paper states no delta, so the usual one is taken.
func DefaultPrivacy() Privacy {
	return Privacy{
		Method: MethodLayers, Epsilon: 5, Delta: 1e-5,
		Accounting: AccountingPrinted, Count: CountLayer, Conversion: ConversionClassic,
		Propagation: PropagationFull, PlannedEpochs: 300,
		Repaired: RepairedConfig{GraphShare: 0.5, CountShare: 0.02, Map: MapPairs, Clip: 1},
	}
}

// Repaired returns the setting with one finite guarantee: clamped degrees, unit rows
// propagated once, a small map trained by DP-SGD on Poisson batches with negatives among all
// items, and no choice by held-out edges.
func Repaired() Config {
	c := Default()
	c.Profile = "repaired"
	c.Privacy.Method, c.Privacy.PlannedEpochs = MethodRepaired, 0
	c.Privacy.Accounting, c.Privacy.Count, c.Privacy.Conversion = AccountingPoisson, CountJoint, ConversionTight
	c.Model.Norm, c.Model.Scale = "right-clamp:50", 10
	c.Train.Sampler, c.Train.Negatives = "poisson", "all"
	c.Train.Epochs, c.Train.Rate, c.Train.L2 = 20, 0.01, 0
	c.Train.Patience, c.Train.Select = 0, topn.SelectLast
	c.Release = ReleaseConfig{Kinds: []string{ReleaseNoisy}, Average: 1}
	return c
}

// noisy reports whether any noise is added.
func (p Privacy) noisy() bool { return !math.IsInf(p.Epsilon, 1) || p.Accounting == AccountingFixed }

// order returns the A of a conversion "order:A"; false for the others.
func order(conversion string) (float64, bool, error) {
	s, ok := strings.CutPrefix(conversion, conversionOrder)
	if !ok {
		return 0, false, nil
	}
	a, err := strconv.ParseFloat(s, 64)
	if err != nil || !(a > 1) || math.IsInf(a, 1) {
		return 0, true, fmt.Errorf("conversion %q: the order is %q, want a number above 1", conversion, s)
	}
	return a, true, nil
}

// check reports privacy settings that cannot be run.
func (p Privacy) check(v *config.Checker, c Config) {
	v.Check(p.Epsilon > 0, "privacy.epsilon", "must be positive, or .inf for no noise, got %v", p.Epsilon)
	if _, is, err := order(p.Conversion); is {
		v.Check(err == nil, "privacy.conversion", "%v", err)
	} else {
		v.OneOf("privacy.conversion", p.Conversion, ConversionClassic, ConversionTight)
	}
	if p.Accounting == AccountingFixed {
		v.Check(p.Sigma > 0 && p.Sigma < 1e9, "privacy.sigma", "must lie in (0,1e+09) for accounting fixed, got %v",
			p.Sigma)
	} else {
		v.Check(p.Sigma == 0, "privacy.sigma", "belongs to accounting fixed, must be 0 for %s", p.Accounting)
	}
	v.Check(p.PlannedEpochs == 0 || p.PlannedEpochs >= c.Train.Epochs, "privacy.planned_epochs",
		"must be 0 or at least train.epochs %d, got %d", c.Train.Epochs, p.PlannedEpochs)
	if p.Method == MethodLayers {
		v.Check(c.Model.NormaliseRows || !p.noisy(), "model.normalise_rows",
			"must be true where there is noise: the sensitivity is that of unit rows, others have none")
	}
	p.checkUnused(v)
	if p.Propagation == PropagationSampled {
		if p.Accounting != AccountingFixed { // which claims nothing
			v.Check(p.Accounting != AccountingPrinted, "privacy.accounting",
				"must be poisson, none or fixed where privacy.propagation is sampled: Theorem 3 is about samples of "+
					"a fixed size, got %q", p.Accounting)
			v.Check(p.Count == CountStep, "privacy.count",
				"must be step where privacy.propagation is sampled: the layers of a step see one sample, which "+
					"amplifies them once; counted one by one they would claim too little, got %q", p.Count)
		}
		v.Check(c.Train.Schedule == "", "train.schedule",
			"must be left out where privacy.propagation is sampled, got %q", c.Train.Schedule)
		v.Check(c.Train.Sampler == "poisson", "train.sampler",
			"must be poisson where privacy.propagation is sampled, got %q", c.Train.Sampler)
		n, err := graph.ParseNormalizer(c.Model.Norm)
		v.Check(err != nil || n.String() != "sym", "model.norm",
			"must have a public least degree where privacy.propagation is sampled (sym-clamp:K, right-clamp:K or "+
				"sum): the sampled degrees are 0 or 1 mostly")
	}
	p.checkRepaired(v, c)
}

// checkUnused refuses values that nothing reads under the other settings, since a setting without effect would pass for
// one with an effect. A file that spells out the default sets nothing, such as the complete one in a run directory.
func (p Privacy) checkUnused(v *config.Checker) {
	d := DefaultPrivacy()
	if r := p.Repaired; p.Method == MethodLayers {
		for _, f := range []struct {
			key      string
			got, def any
		}{
			{"graph_share", r.GraphShare, d.Repaired.GraphShare}, {"count_share", r.CountShare, d.Repaired.CountShare},
			{"label_share", r.LabelShare, d.Repaired.LabelShare},
			{"edges", r.Edges, d.Repaired.Edges}, {"map", r.Map, d.Repaired.Map}, {"dim", r.Dim, d.Repaired.Dim},
			{"clip", r.Clip, d.Repaired.Clip},
		} {
			v.Check(f.got == f.def, "privacy.repaired."+f.key,
				"has no effect under privacy.method %s, got %v: take privacy.method=%s, or leave it at %v", p.Method,
				f.got, MethodRepaired, f.def)
		}
	}
	if p.Accounting == AccountingFixed {
		v.Check(p.Epsilon == d.Epsilon, "privacy.epsilon",
			"has no effect under privacy.accounting %s, where privacy.sigma is the noise, got %v: take another "+
				"privacy.accounting, or leave it at %v", p.Accounting, p.Epsilon, d.Epsilon)
		v.Check(p.Count == d.Count, "privacy.count",
			"has no effect under privacy.accounting %s, which claims nothing, got %q: take another "+
				"privacy.accounting, or leave it at %s", p.Accounting, p.Count, d.Count)
	}
}

func (p Privacy) checkRepaired(v *config.Checker, c Config) {
	if p.Method != MethodRepaired {
		return
	}
	r, t := p.Repaired, c.Train
	v.Check(!math.IsInf(p.Epsilon, 1), "privacy.epsilon", "must be finite for the repaired method")
	v.Check(p.Accounting == AccountingPoisson, "privacy.accounting",
		"must be poisson for the repaired method, which trains on Poisson batches, got %q", p.Accounting)
	v.Check(p.Count == CountJoint, "privacy.count", "must be joint for the repaired method, got %q", p.Count)
	v.Check(p.PlannedEpochs == 0, "privacy.planned_epochs",
		"must be 0 for the repaired method, which pays for the epochs that it runs, got %d", p.PlannedEpochs)
	v.Check(p.Propagation == PropagationFull, "privacy.propagation",
		"must be full for the repaired method, which propagates once, got %q", p.Propagation)
	v.Check(t.Sampler == "poisson", "train.sampler", "must be poisson for the repaired method, got %q", t.Sampler)
	v.Check(t.Negatives == "all", "train.negatives",
		"must be all for the repaired method: leaving out the user's items tells them, got %q", t.Negatives)
	v.Check(t.Each == 1, "train.negatives_each",
		"must be 1 for the repaired method, whose examples are triples, got %d", t.Each)
	v.Check(t.RateEvery == 0, "train.rate_every", "must be 0 for the repaired method, whose rate is constant, got %d",
		t.RateEvery)
	v.Check(t.Schedule == "", "train.schedule", "must be left out for the repaired method, got %q", t.Schedule)
	v.Check(t.WarmUp == 0, "train.warm_up", "must be 0 for the repaired method, whose rate is constant, got %d",
		t.WarmUp)
	v.Check(t.Patience == 0, "train.patience",
		"must be 0 for the repaired method: held-out edges are edges too, got %d", t.Patience)
	v.Check(t.Select == topn.SelectLast, "train.select", "must be last for the repaired method, got %q", t.Select)
	v.Check(t.Decay == 0, "train.decay", "must be 0 for the repaired method, which has train.l2, got %v", t.Decay)
	v.Check(t.Optimizer == "" || t.Optimizer == topn.Adam, "train.optimizer",
		"must be adam for the repaired method, or left out, got %q", t.Optimizer)
	v.Check(c.Model.NormaliseRows, "model.normalise_rows",
		"must be true for the repaired method: the sensitivity is that of unit rows")
	v.Check(len(c.Release.Kinds) == 1 && c.Release.Kinds[0] == ReleaseNoisy, "release.kinds",
		"must be [%s] for the repaired method: its vectors are made once", ReleaseNoisy)
	// What the method has no use for must be as in its profile: a setting that changed
	// nothing would pass for one that did.
	v.Check(p.Conversion == ConversionTight, "privacy.conversion",
		"must be %s for the repaired method, whose parts are composed exactly, got %q", ConversionTight, p.Conversion)
	v.Check(c.Model.Init == baseline.InitConfig{Law: baseline.LawXavier}, "model.init",
		"must be {law: %s, std: 0} for the repaired method, which draws directions, got %+v", baseline.LawXavier,
		c.Model.Init)
	v.Check(c.Release.Average == 1, "release.average", "must be 1 for the repaired method, got %d", c.Release.Average)
	v.Check(!c.Eval.Every, "eval.every",
		"must be false for the repaired method: nothing is ranked before its map is trained")
	v.Check(!c.Eval.Sigmoid, "eval.sigmoid", "must be false for the repaired method, which ranks by its scores")
	if r.LabelShare > 0 {
		v.Check(r.GraphShare == 0, "privacy.repaired.graph_share",
			"must be 0 with a label_share: both parts may spend all, got %v", r.GraphShare)
	} else {
		v.Inside("privacy.repaired.graph_share", r.GraphShare, 0, 1)
	}
	v.Check(r.CountShare >= 0 && r.CountShare+r.GraphShare < 1, "privacy.repaired.count_share",
		"must be at least 0 and below 1 with graph_share, got %v", r.CountShare)
	v.Check(r.Edges >= 0 && r.Edges <= math.MaxInt32, "privacy.repaired.edges", "must lie in 0..%d, got %d",
		math.MaxInt32, r.Edges)
	if r.Map != MapLinear {
		v.Check(r.Dim == 0, "privacy.repaired.dim", "belongs to the map %s, must be 0 for %s", MapLinear, r.Map)
	}
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }
