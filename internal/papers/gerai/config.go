package gerai

import (
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	gcn "privrec/internal/model/gerai"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// Config is one training run. Where the paper is open, each choice is a field of its own.
type Config struct {
	Profile  string           `yaml:"profile" limit:"filled"` // name of the set of choices, for reports
	Data     topn.DataConfig  `yaml:"data"`
	Features features.Config  `yaml:"features"`
	Model    gcn.Config       `yaml:"model"`
	Loss     LossConfig       `yaml:"loss"`
	Train    topn.TrainConfig `yaml:"train"`
	Eval     topn.EvalConfig  `yaml:"eval"`
	Privacy  run.FromBudget   `yaml:"privacy,omitempty"`
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// LossConfig sets the loss and its noise.
type LossConfig struct {
	// form of the ranking loss: polynomial (equation 17) or exact
	Form string `yaml:"form" limit:"polynomial|exact"`
	// noise on the loss: off, fm-once, fm-step or scalar
	Noise   string  `yaml:"noise" limit:"off|fm-once|fm-step|scalar"`
	Epsilon float64 `yaml:"epsilon" limit:"[0.001,1000]"` // claimed epsilon of the noise
	Gamma   float64 `yaml:"gamma" limit:"[0,1000)"`       // weight of the penalty |Theta|²
	// Over says to which sum gamma |Theta|² is added, and so by what it is divided: the training triples, or those of
	// a batch.
	Over string `yaml:"over" limit:"triples|batch"`
	// stop the run if a smaller share than this of the entries of q has a slope; 0: never
	Alive float64 `yaml:"alive" limit:"[0,1)"`
}

// Values of LossConfig.
const (
	FormPolynomial = "polynomial"
	FormExact      = "exact"

	NoiseOff    = "off"
	NoiseOnce   = "fm-once" // of the coefficients, drawn before training (Algorithm 3)
	NoiseStep   = "fm-step" // of the coefficients, drawn anew in every step (section 4.3's text)
	NoiseScalar = "scalar"  // of the numbers of the Taylor form, in every step

	OverTriples = "triples"
	OverBatch   = "batch"
)

// Default returns GERAI at the paper's budgets, with choices that train where the paper is open. On validation rows
// (recipe gerai-valid, 50 epochs, seed 1) Recall@20 is best after epoch 41, for GCN after epoch 35, and moves less from
// epoch to epoch once the rate has fallen: hence 40 epochs, the last ten at a fifth of the rate, for all variants.
func Default() Config {
	c := Config{
		Profile:  "paper",
		Data:     topn.DataConfig{Name: "ml-100k", Recipe: "gerai"},
		Features: features.Default(),
		Model:    gcn.Default(),
		Loss: LossConfig{Form: FormPolynomial, Noise: NoiseStep, Epsilon: 0.4, Gamma: 0.01, Over: OverTriples,
			Alive: 0.01},
		Train: topn.DefaultTrain(),
		Eval:  topn.EvalConfig{K: []int{5, 10, 15, 20, 25, 30}, Candidates: 200},
	}
	c.Train.Epochs, c.Train.Rate, c.Train.L2 = 40, 0.005, 0
	c.Train.RateEvery, c.Train.RateBy = 30, 0.2
	c.Train.Patience, c.Train.Select = 0, topn.SelectLast
	return c
}

// noLocal returns GERAI-NL: features in the clear, noise on the loss.
func noLocal() Config {
	c := Default()
	c.Profile, c.Features.Noise = "nl", features.NoiseNone
	return c
}

// noFunctional returns GERAI-NF: noise on the features alone. The paper writes epsilon = 0 for it and means no noise.
func noFunctional() Config {
	c := Default()
	c.Profile, c.Loss.Noise = "nf", NoiseOff
	return c
}

// Repaired returns a setting whose guarantee holds: every user sends the three attributes, each
// under randomised response of its own budget, nothing else that depends on an attribute enters
// the run, and the loss is exact and has no noise.
//
// Guarantee: the model, its recommendations and what is measured of them are epsilon locally
// differentially private, epsilon = features.epsilon, for a change of one attribute of one user,
// with all other attributes and all ratings of everyone fixed. Its unit is one attribute of one
// user. (The check sum of the data files, which a run notes, is no part of them.)
//
// Proof. Let x and x' be attributes of all users that differ in attribute a of user u. The
// report y_va of attribute a of user v is drawn by a mechanism with P(y | x_va) <= e^epsilon
// P(y | x'_va) for all values, independently of all others. So for reports y of everyone
//
//	P(y | x)/P(y | x') = P(y_ua | x_ua)/P(y_ua | x'_ua) <= e^epsilon
//
// since all other factors are equal. The model is a function of y, of the ratings,
// of settings and of random numbers that depend on none of them: the attributes themselves enter
// only the mechanism. For a set S of outcomes, with the ratings fixed, P(S | x) = sum over y of
// P(y | x) P(S | y) <= e^epsilon P(S | x'). The reports are drawn once in a run and kept, so that
// a run of more epochs costs no more. Another run draws other reports and costs epsilon again.
//
// It is no guarantee about ratings, which the run uses in the clear, nor about attributes that
// follow from ratings. Two attributes of a user cost 2 epsilon and three 3 epsilon.
func Repaired() Config {
	c := Default()
	c.Profile = "repaired"
	c.Features = features.Config{Form: features.FormAttributes, Noise: features.NoiseLocal, Epsilon: 2.5}
	c.Loss.Form, c.Loss.Noise = FormExact, NoiseOff
	return c
}

// Printed returns the setting that takes the paper literally on how to train: N(0, 1), clip, batch 64, rate 0.005. With
// it nothing trains, and nothing stops it.
func Printed() Config {
	c := Default()
	c.Profile = "printed"
	c.Model.Init, c.Model.Norm = gcn.Normal, gcn.Clip
	c.Train.Batch, c.Train.Epochs = 64, 2
	c.Loss.Alive = 0
	return c
}

// DefaultGCN returns the network without any privacy: features in the clear, exact loss.
func DefaultGCN() Config {
	c := Default()
	c.Features.Noise = features.NoiseNone
	c.Loss.Form, c.Loss.Noise = FormExact, NoiseOff
	return c
}

// check reports every setting that cannot be run.
func (c Config) check(v *config.Checker) {
	c.Features.Check(v, "features")
	c.Loss.check(v)
	c.Train.Check(v)
	const own = "has no effect: the loss has loss.gamma, must be 0, got %v"
	v.Check(c.Train.L2 == 0, "train.l2", own, c.Train.L2)
	v.Check(c.Train.Decay == 0, "train.decay", own, c.Train.Decay)
	v.Check(c.Train.Each == 1, "train.negatives_each", "must be 1: a triple has one negative, got %d", c.Train.Each)
	v.Check(c.Train.Schedule == "", "train.schedule",
		"must be left out: noise and account are for steps of train.batch, got %q",
		c.Train.Schedule)
	v.Check(c.Train.Sampler == "pass", "train.sampler",
		"must be pass: the account counts batches of a fixed size, got %q", c.Train.Sampler)
	c.Eval.CheckOwn(v)
}

// check reports a loss that cannot be minimised.
func (l LossConfig) check(v *config.Checker) {
	v.Check(l.Form == FormPolynomial || l.Noise == NoiseOff, "loss.noise",
		"must be %s with form %s: only a polynomial has coefficients, got %q", NoiseOff, FormExact, l.Noise)
}

// checkGCN reports privacy settings of the network without privacy.
func (c Config) checkGCN(v *config.Checker) {
	c.check(v)
	v.Check(c.Features.Noise == features.NoiseNone, "features.noise", "must be %s: the task gerai has noise, got %q",
		features.NoiseNone, c.Features.Noise)
	v.Check(c.Loss.Noise == NoiseOff, "loss.noise", "must be %s: the task gerai has noise, got %q", NoiseOff,
		c.Loss.Noise)
}

// Suit implements run.Suited. Without privacy training stops early, since choosing by validation rows then leaks
// nothing that was protected.
func (c *Config) Suit(doc *config.Document) error {
	clear := c.Loss.Noise == NoiseOff && c.Features.Noise == features.NoiseNone
	if registry.IsOwn(c.Data.Name) && clear && !doc.Given("train.select") && !doc.Given("train.patience") &&
		!doc.Given("data.recipe") {
		c.Train.Select, c.Train.Patience = topn.SelectValidation, 10
	}
	c.Eval.SuitOwn(doc, c.Data.Name)
	return c.Data.Suit(doc, registry.Need{Valid: c.Train.Selected(), Ratings: true,
		Features: []string{features.Gender, features.Age, features.Occupation}})
}
