package features

import (
	"math"

	"privrec/internal/config"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
)

// Forms of the features.
const (
	FormTable      = "table"      // Table 1, as the paper
	FormAttributes = "attributes" // the three attributes alone, each under a budget of its own
)

// Ways to perturb the features.
const (
	NoiseLocal = "local" // by every user
	NoiseNone  = "none"  // in the clear: GCN and GERAI-NL
)

// Ranges of the numbers in form table.
const (
	RangePublic = "public"
	RangeMinMax = "min-max" // of all users, as they are in the data
)

// Config sets how users send their features.
type Config struct {
	// what a user sends: table (the features of Table 1) or attributes (gender, age and occupation)
	Form string `yaml:"form" limit:"table|attributes"`
	// local: a user adds noise before sending; none: features are sent in the clear
	Noise string `yaml:"noise" limit:"local|none"`
	// epsilon of a user's whole row; in form attributes, of each attribute
	Epsilon float64 `yaml:"epsilon" limit:"[0.001,1000]"`
	// zeta, number of features of Table 1 that a user sends; 0: as many as the paper says
	Draw int `yaml:"draw,omitempty"`
	// range of the numbers in form table: public, or min-max of all users in the data; empty: public
	Range string `yaml:"range,omitempty" limit:"public|min-max?"`
	// Statistics adds the statistics of Table 1 in the clear to form attributes: the recommender
	// can compute them from the ratings that it has.
	Statistics bool `yaml:"statistics,omitempty"`
}

// Default returns the paper's setting.
func Default() Config { return Config{Form: FormTable, Noise: NoiseLocal, Epsilon: 20} }

// Features is the number of features in Table 1.
const Features = Numbers + 3

// Check reports settings that cannot be run. key is the path of the configuration, such as features.
func (c Config) Check(v *config.Checker, key string) {
	v.Between(key+".draw", c.Draw, 0, Features)
	v.Check(!c.Statistics || c.Form == FormAttributes, key+".statistics", "works only with form %s: form %s has them",
		FormAttributes, FormTable)
	if c.Form == FormAttributes {
		v.Check(c.Draw == 0, key+".draw", "works only with form %s: with form %s every user sends every attribute",
			FormTable, FormAttributes)
		v.Check(c.Range != RangeMinMax, key+".range", "works only with form %s: attributes are not numbers", FormTable)
	}
}

// purpose names the releases in the ledger, and their streams.
const purpose = "features"

// sampler returns the mechanism of Algorithm 2 for some features.
func (c Config) sampler(kinds []local.FeatureKind) local.FeatureSampler {
	return local.FeatureSampler{Purpose: purpose, Epsilon: c.Epsilon, Features: kinds, Choose: c.Draw}
}

// paperSampler returns the mechanism without the levels, which no account depends on.
func (c Config) paperSampler() local.FeatureSampler {
	return c.sampler(make([]local.FeatureKind, Features))
}

// oracle returns the mechanism for one attribute with k levels in form attributes: k-ary randomised response or
// optimised unary encoding, whichever is more accurate for one user. Both estimate the indicator of each level without
// bias from one report. They are compared by the sum of their variances over the levels, which is the mean squared
// distance of the estimated one-hot vector from the true one, and so the noise in the model's input. Randomised
// response is better for few levels: at epsilon 2.5 for all three attributes, at epsilon 1 for gender and age.
func (c Config) oracle(name string, k int, share mechanism.Share) local.Oracle {
	best, least := local.Oracle{}, math.Inf(1)
	for _, kind := range []local.OracleKind{local.GRR, local.OUE} {
		o := local.Oracle{Purpose: purpose + ", " + name, Kind: kind, Epsilon: c.Epsilon, Categories: k, Share: share}
		if v := o.FrequencyVariance(1, 1) + float64(k-1)*o.FrequencyVariance(1, 0); v < least {
			best, least = o, v
		}
	}
	return best
}
