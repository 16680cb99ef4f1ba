package rap

import (
	"fmt"
	"slices"

	"privrec/internal/baseline"
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/topn"
)

// Config is one run of RAP.
type Config struct {
	Profile string              `yaml:"profile" limit:"filled"`
	Data    topn.DataConfig     `yaml:"data"`
	Attack  Attack              `yaml:"attack"`
	Model   baseline.BPRMFShape `yaml:"model"`
	Train   topn.TrainConfig    `yaml:"train"`
	Eval    topn.EvalConfig     `yaml:"eval"`
}

// Attack sets the attacker that the recommender plays against.
type Attack struct {
	Attributes []Attribute `yaml:"attributes"` // attributes that it infers, all at once
	// a, weight of the attacker in the loss; 0: plain BPRMF, with an attacker that only watches
	Weight float64 `yaml:"weight" limit:"[0,1000]"`
	Steps  int     `yaml:"steps" limit:"1..1000"`     // steps of the attacker before each step of the recommender
	Users  int     `yaml:"users" limit:"1..10000000"` // users in each step of the attacker, drawn uniformly
	Read   int     `yaml:"read" limit:"0..100000"`    // most items of a user that it reads
	// items in a list of recommendations; 0: all that a user does not have, and a low temperature leaves the best of
	// them
	K           int     `yaml:"k" limit:"0..10000"`
	Temperature float64 `yaml:"temperature" limit:"[1e-6,1e6]"` // temperature of the weights of items within a list
	Dim         int     `yaml:"dim" limit:"1..4096"`            // width of the vectors of its items and of its state
	Rate        float64 `yaml:"rate" limit:"[1e-12,100]"`       // learning rate of its Adam
}

// Attribute names a feature of users whose values are classes.
type Attribute struct {
	Name string `yaml:"name" limit:"filled"`
	// borders of the ranges of a number, such as age, that are its classes; empty: the feature's values are the
	// classes
	Bands []float64 `yaml:"bands,omitempty"`
}

// Default returns RAP on ML-100K's three attributes under GERAI's protocol, with BPRMF as tuned
// on validation.
func Default() Config {
	return Config{
		Profile: "tuned",
		Data:    topn.DataConfig{Name: "ml-100k", Recipe: "gerai"},
		Attack: Attack{
			Attributes: []Attribute{{Name: "gender"}, {Name: "age", Bands: []float64{35, 45}}, {Name: "occupation"}},
			Weight:     0.5, Steps: 1, Users: 64, Read: 20, K: 0, Temperature: 0.1, Dim: 32, Rate: 1e-3,
		},
		Model: baseline.BPRMFShape{Dim: 60, Init: baseline.InitConfig{Law: baseline.LawNormal, Std: 0.1}},
		Train: topn.TrainConfig{Epochs: 85, Batch: 1024, Rate: 1e-3, L2: 2e-2, Sampler: bpr.Pass, Negatives: bpr.Unseen,
			Each:   1,
			RateBy: 1, Select: topn.SelectLast},
		Eval: topn.EvalConfig{K: []int{5, 10, 15, 20, 25, 30}, Candidates: 200},
	}
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	c.Attack.check(v)
	c.Model.Check(v)
	c.Train.Check(v)
	c.Eval.Check(v)
}

// names returns the attributes that the attacker reads.
func (a Attack) names() (names []string) {
	for _, t := range a.Attributes {
		names = append(names, t.Name)
	}
	return names
}

func (a Attack) check(v *config.Checker) {
	v.Check(len(a.Attributes) > 0, "attack.attributes", "must name at least one attribute")
	for i, t := range a.Attributes {
		key := fmt.Sprintf("attack.attributes.%d", i)
		twice := slices.ContainsFunc(a.Attributes[:i], func(b Attribute) bool { return b.Name == t.Name })
		v.Check(!twice, key+".name", "names %q twice", t.Name)
		v.Check(len(t.Bands) != 1, key+".bands", "needs none or at least two borders, got %v", t.Bands)
	}
}

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	c.Eval.SuitOwn(doc, c.Data.Name)
	return c.Data.Suit(doc, registry.Need{Valid: c.Train.Selected(), Features: c.Attack.names()})
}
