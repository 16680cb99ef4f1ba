package topn

import (
	"math"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/model/bpr"
	"privrec/internal/optim"
	"privrec/internal/train"
)

// DataConfig names the data set and how it is cut.
type DataConfig struct {
	Name   string `yaml:"name" limit:"filled"`   // a registered data set, see `privrec list`
	Recipe string `yaml:"recipe" limit:"filled"` // recipe of filters and split

	registry.Public `yaml:",inline"`

	// Floor shows simple models, computed at once, beside the result: "computed" or "none". Left out: for own data
	// only.
	Floor string `yaml:"floor,omitempty" limit:"|computed|none"`
}

// TrainConfig sets how a model is optimised, on BPR triples.
type TrainConfig struct {
	Optimizer string `yaml:"optimizer,omitempty" limit:"adam|sgd?"` // adam, which "" means too, or sgd
	// Schedule "large" takes 16 times the pairs of a step at 4 times the rate, to which it rises over 100 steps. Over a
	// graph that noise made dense it takes more pairs: 75 steps an epoch. Empty: as the other keys say.
	Schedule string  `yaml:"schedule,omitempty" limit:"large?"`
	Epochs   int     `yaml:"epochs" limit:"1..100000"` // most epochs; early stopping may end before
	Batch    int     `yaml:"batch" limit:"1..10000000"`
	Rate     float64 `yaml:"rate" limit:"[1e-12,100]"`
	// lambda, the weight of half the squares of the batch's rows, over the batch, as in the published program of
	// LightGCN
	L2 float64 `yaml:"l2" limit:"[0,1e6)"`
	// Decay adds so many times every parameter to its gradient at every step, before the optimiser sees it
	// (weight_decay of torch.optim). Rows that few steps touch shrink most. No publication here uses it; it is for
	// tuning.
	Decay float64 `yaml:"decay" limit:"[0,1)"`
	// RateEvery is the number of epochs after which the rate is multiplied by rate_by, again and again. With
	// rate_every 0 and rate_by 1 the rate stays the same.
	RateEvery int     `yaml:"rate_every" limit:"0..100000"`
	RateBy    float64 `yaml:"rate_by"`
	// number of steps over which the rate rises in a line; 0: it begins in full
	WarmUp int `yaml:"warm_up,omitempty" limit:"0..1000000"`
	// Sampler says how the positive pairs of a step are drawn. "pass" is a shuffled pass over
	// the edges. "user-uniform" draws a uniform user and one of their items each time, as the
	// published program of LightGCN does. "poisson" draws every edge by itself.
	Sampler string `yaml:"sampler" limit:"pass|user-uniform|poisson"`
	// items that negatives are drawn from: unseen (not among the user's training items) or all
	Negatives string `yaml:"negatives" limit:"unseen|all"`
	// Each is the number of negatives for every positive; their terms are averaged. The publications have 1. More are
	// for tuning baselines.
	Each int `yaml:"negatives_each" limit:"1..10000"`
	// Patience stops the run after so many epochs in a row in which neither Recall@20 nor NDCG@20 on validation got
	// better; 0: never.
	Patience int `yaml:"patience" limit:"0..100000"`
	// which epoch's model is reported: validation (best Recall@20 there) or last
	Select string `yaml:"select" limit:"validation|last"`
}

// EvalConfig sets how the test rows are ranked.
type EvalConfig struct {
	K     []int `yaml:"k" limit:"some cutoff in 1..10000"`
	Every bool  `yaml:"every"` // rank the test rows after every epoch too, only for the curve: it chooses nothing
	// Sigmoid ranks by 1/(1+exp(-score)) in 32 bits, as the published PyTorch program of
	// LightGCN does. Scores above about 10 lose digits there, and those above 17 are all 1, so
	// that the best items of a user tie.
	Sigmoid bool `yaml:"sigmoid"`
	// Candidates also ranks every test row alone among so many sampled items: distinct ones outside the user's
	// training and validation items, drawn once for each seed. 0: no such ranking.
	Candidates int `yaml:"candidates,omitempty" limit:"0..1000000"`
}

// Values of TrainConfig.Optimizer.
const (
	Adam = "adam"
	SGD  = "sgd"
)

// Values of TrainConfig.Select.
const (
	SelectValidation = "validation"
	SelectLast       = "last"
)

// ScheduleLarge is a value of TrainConfig.Schedule: fewer and larger steps for the same model. A step takes largeBatch
// times the pairs of the key batch at largeRate times the key rate, to which the rate rises in a line over the first
// largeWarmUp steps. All other settings, including the cap in epochs and the patience, follow the keys. The rate grows
// by the square root of the batch, which suits Adam (Malladi et al. 2022); of the rates tried with such batches it is
// the one at which LightGCN finds most validation rows of MovieLens-1M (configs/tune/ml-1m-large.yaml). The numbers
// hold for every model and every data set. A graph that noise made dense takes still larger steps: see
// TrainConfig.ScheduledOver.
const ScheduleLarge = "large"

const (
	largeBatch  = 16
	largeRate   = 4
	largeWarmUp = 100
	largeSteps  = 75 // most steps of an epoch over a released graph; one over the rows of Yelp2018 takes 68
)

// DefaultData returns the published split of Gowalla with a tenth of its training rows held out.
func DefaultData() DataConfig { return DataConfig{Name: "gowalla", Recipe: "rdpgcf"} }

// DefaultTrain returns the settings that RDP-GCF's section 4.1 gives all methods. Where the section leaves a choice
// open, it takes a shuffled pass and unseen negatives.
func DefaultTrain() TrainConfig {
	return TrainConfig{Epochs: 300, Batch: 1024, Rate: 1e-3, L2: 1e-4, Sampler: bpr.Pass, Negatives: bpr.Unseen,
		Each:   1,
		RateBy: 1, Patience: 10, Select: SelectValidation}
}

// DefaultEval returns the cutoff of the paper's tables.
func DefaultEval() EvalConfig { return EvalConfig{K: []int{20}} }

// Check reports settings that cannot be trained.
func (c TrainConfig) Check(v *config.Checker) {
	if c.RateEvery > 0 {
		v.Within("train.rate_by", c.RateBy, 1e-12, 1)
	} else {
		v.Check(c.RateBy == 1, "train.rate_by", "has no effect with train.rate_every 0, must be 1, got %v", c.RateBy)
	}
	if c.Schedule != "" {
		v.Check(c.WarmUp == 0, "train.warm_up", "is %d steps under train.schedule %s, must be left out", largeWarmUp,
			ScheduleLarge)
	}
}

// Check reports cutoffs that cannot be measured.
func (c EvalConfig) Check(v *config.Checker) {
	if c.Candidates > 0 && len(c.K) > 0 {
		k := slices.Max(c.K)
		v.Check(k <= c.Candidates+1, "eval.k",
			"cutoff %d is above the %d places among eval.candidates %d and the row itself", k, c.Candidates+1,
			c.Candidates)
	}
}

// CheckAtOnce is Check for a method that is computed at once. It refuses settings that need epochs or vectors.
func (c EvalConfig) CheckAtOnce(v *config.Checker) {
	c.Check(v)
	v.Check(!c.Every, "eval.every", "must be false: there are no epochs")
	v.Check(!c.Sigmoid, "eval.sigmoid", "must be false: the scores are no inner products")
}

// CheckOwn is Check for a method with scores of its own. It refuses settings that need inner
// products.
func (c EvalConfig) CheckOwn(v *config.Checker) {
	c.Check(v)
	v.Check(!c.Sigmoid, "eval.sigmoid", "must be false: the scores are no inner products")
}

// Filtered reports whether the recipe keeps users or items by their numbers of rows.
func (c DataConfig) Filtered() (bool, error) {
	set, err := registry.Find(c.Name)
	if err != nil {
		return false, err
	}
	r, err := set.Recipe(c.Recipe)
	return r.Core > 0 || r.MinItem > 0 || r.MinUser > 0, err
}

// Scheduled returns the setting with its schedule applied to the batch, the rate and the warm-up. Without a schedule it
// returns the setting unchanged.
func (c TrainConfig) Scheduled() TrainConfig {
	if c.Schedule == ScheduleLarge {
		c.Schedule, c.Batch, c.Rate, c.WarmUp = "", c.Batch*largeBatch, c.Rate*largeRate, largeWarmUp
	}
	return c
}

// ScheduledOver is Scheduled for a training on the edges of a released graph. Under ScheduleLarge an epoch takes at
// most largeSteps steps, of equally many edges each, and the rate goes on growing by the square root of the batch.
// EdgeRand at epsilon 5 gives Gowalla twelve times its edges, nearly all of them noise. The released edges alone
// decide: how many rows there are is private.
func (c TrainConfig) ScheduledOver(edges int) TrainConfig {
	s := c.Scheduled()
	if least := (edges + largeSteps - 1) / largeSteps; c.Schedule == ScheduleLarge && least > s.Batch {
		s.Batch, s.Rate = least, s.Rate*math.Sqrt(float64(least)/float64(s.Batch))
	}
	return s
}

// optimizer returns the optimiser of the setting.
func (c TrainConfig) optimizer() optim.Optimizer {
	var o optim.Optimizer = optim.NewAdam(c.Decay)
	if c.Optimizer == SGD {
		o = &optim.SGD{L2: c.Decay}
	}
	if c.WarmUp > 0 {
		o = optim.LinearRise{Optimizer: o, WarmUp: c.WarmUp}
	}
	return o
}

// Selected reports whether held-out rows decide anything about the model.
func (c TrainConfig) Selected() bool { return c.Select == SelectValidation || c.Patience > 0 }

// Length returns how long a training lasts.
func (c TrainConfig) Length() train.Length {
	return train.Length{Epochs: c.Epochs, Patience: c.Patience}
}

// Free returns the keys in which a setting may differ from its profile and still be compared with this protocol's
// tables: the swept ones, the data, and the length of training.
func Free() []string {
	return []string{"data.", "eval.k", "eval.every", "eval.candidates", "model.dim", "model.layers",
		"train.epochs", "train.patience", "train.schedule", "train.select"}
}

// Suit sets the recipe to one that suits the data and the method's need, if the user named none. It sets the cut of the
// need.
func (c *DataConfig) Suit(doc *config.Document, n registry.Need) (err error) {
	n.Cut = registry.Pairs
	c.Recipe, err = registry.Suit(doc, c.Name, c.Recipe, n)
	return err
}

// SuitOwn turns off the ranking among sampled items for own data, unless the user asked for it. It serves comparison
// with papers, and a small shop has too few items.
func (c *EvalConfig) SuitOwn(doc *config.Document, name string) {
	if registry.IsOwn(name) && !doc.Given("eval.candidates") {
		c.Candidates = 0
	}
}
