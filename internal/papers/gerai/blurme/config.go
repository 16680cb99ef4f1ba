package blurme

import (
	"privrec/internal/baseline"
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/topn"
)

// Config is one run of BlurMe.
type Config struct {
	Profile string              `yaml:"profile" limit:"filled"`
	Data    topn.DataConfig     `yaml:"data"`
	Blur    Blur                `yaml:"blur"`
	Model   baseline.BPRMFShape `yaml:"model"`
	Train   topn.TrainConfig    `yaml:"train"`
	Eval    topn.EvalConfig     `yaml:"eval"`
}

// Blur sets which items users add to their rows.
type Blur struct {
	// attribute whose classes are blurred: gender, or another feature of the data
	Attribute string `yaml:"attribute" limit:"filled"`
	// borders of the ranges of a number, such as age, that are its classes; empty: the feature's values are the
	// classes
	Bands []float64 `yaml:"bands"`
	Share float64   `yaml:"share" limit:"(0,1]"` // p, number of added rows over the user's own
	// how items are taken from the other class's list: greedy, random or ranked
	Choose string `yaml:"choose" limit:"greedy|random|ranked"`
	// length of the list of items of a class; 0: half of the rated items
	List int `yaml:"list" limit:"0..10000000"`
	// number of folds of the regressions; 1: one fit on all users
	Folds int `yaml:"folds" limit:"1..1000"`
	// History says which rows of users attackers read: "blurred", those that the recommender got, or "true", those
	// without the additions.
	History string `yaml:"history" limit:"blurred|true"`
}

// Values of Blur.History.
const (
	HistoryBlurred = "blurred"
	HistoryTrue    = "true"
)

// Default returns BlurMe on gender with a tenth of added rows, under GERAI's protocol, with BPRMF as tuned on
// validation. Of the three ways to choose, drawing by place hides the class best on ML-100K from attackers who learn
// from blurred rows.
func Default() Config {
	return Config{
		Profile: "tuned",
		Data:    topn.DataConfig{Name: "ml-100k", Recipe: "gerai"},
		Blur: Blur{Attribute: "gender", Bands: []float64{}, Share: 0.1, Choose: Ranked, Folds: 10,
			History: HistoryBlurred},
		Model: baseline.BPRMFShape{Dim: 60, Init: baseline.InitConfig{Law: baseline.LawNormal, Std: 0.1}},
		Train: topn.TrainConfig{Epochs: 71, Batch: 1024, Rate: 1e-3, L2: 2e-2, Sampler: bpr.Pass, Negatives: bpr.Unseen,
			Each:   1,
			RateBy: 1, Select: topn.SelectLast},
		Eval: topn.EvalConfig{K: []int{5, 10, 15, 20, 25, 30}, Candidates: 200},
	}
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	c.Blur.check(v)
	c.Model.Check(v)
	c.Train.Check(v)
	c.Eval.Check(v)
}

func (b Blur) check(v *config.Checker) {
	v.Check(len(b.Bands) != 1, "blur.bands", "needs none or at least two borders, got %v", b.Bands)
}

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	c.Eval.SuitOwn(doc, c.Data.Name)
	return c.Data.Suit(doc, registry.Need{Valid: c.Train.Selected(), Ratings: true,
		Features: []string{c.Blur.Attribute}})
}
