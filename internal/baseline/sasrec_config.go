package baseline

import (
	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/model/sasrec"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/report"
	"privrec/internal/train"
)

// SASRecConfig configures one training run of SASRec.
type SASRecConfig struct {
	// Protocol says how the data are cut and what is ranked. "" means ProtocolLeaveOneOut.
	Protocol string        `yaml:"protocol,omitempty" limit:"leave-one-out|next-item?"`
	Data     SASRecData    `yaml:"data"`
	Model    sasrec.Config `yaml:"model"`
	Train    SASRecTrain   `yaml:"train"`
	Eval     SASRecEval    `yaml:"eval"`
}

// Protocols of package nextitem.
const (
	ProtocolNextItem    = "next-item"     // every prefix of a test sequence is a sample
	ProtocolLeaveOneOut = "leave-one-out" // a user's last item is for testing and the one before it for validation
)

// SASRecData names the sequences. Keys that may be left out apply to protocol next-item only.
type SASRecData struct {
	Name string `yaml:"name" limit:"filled"` // a registered data set or, with recipe histories, a set of slates
	// filters and split of a data set; histories: the clicks of a set's training users
	Recipe string `yaml:"recipe"`
	// Split says with slate and behaviour who the training users of a set of slates are: users or released. They must
	// be those of the attack that the vectors are for.
	Split      string `yaml:"split" limit:"users|released"`
	Slate      int    `yaml:"slate" limit:"1..1000"`     // T of a set of slates
	Behaviour  int    `yaml:"behaviour" limit:"1..1000"` // L of a set of slates
	Candidates string `yaml:"candidates,omitempty"`      // items that protocol next-item ranks: train or ten-core
	// simple models, computed at once, beside the result: computed or none; left out: for own data only
	Floor string `yaml:"floor,omitempty" limit:"|computed|none"`
}

// SASRecTrain sets how the model is optimised. Training stops early on the held-out items.
type SASRecTrain struct {
	// all: softmax over all items; sampled: one negative for each position, as in the paper
	Loss   string  `yaml:"loss" limit:"all|sampled"`
	Epochs int     `yaml:"epochs" limit:"1..100000"`
	Batch  int     `yaml:"batch" limit:"1..1000000"` // sequences in one training step
	Rate   float64 `yaml:"rate" limit:"[1e-12,100]"` // learning rate of Adam
	Beta2  float64 `yaml:"beta2" limit:"[0,1)"`      // decay of Adam's mean of squared gradients
	// stop after so many epochs without a better NDCG@10; 0: never stop early
	Patience   int     `yaml:"patience" limit:"0..100000"`
	Validation float64 `yaml:"validation,omitempty"` // share of the training samples held out for validation
	Refit      bool    `yaml:"refit,omitempty"`      // train once more, on all training samples
	// Stride cuts all of a user's items into windows of model.length, each with so many labels that no window before
	// it has; a batch counts windows. 0: train on the latest window only, with all its labels, as in the paper.
	Stride int `yaml:"stride,omitempty"`
}

// SASRecEval sets how all items are ranked.
type SASRecEval struct {
	K        []int `yaml:"k" limit:"some cutoff in 1..100000"`
	MaskSeen bool  `yaml:"mask_seen"`       // rank no item of the history except one that comes again
	Every    bool  `yaml:"every,omitempty"` // rank the test samples after each epoch too; protocol next-item only
}

// Values of SASRecTrain.Loss.
const (
	LossAll     = "all"
	LossSampled = "sampled"
)

// DefaultSASRec returns the setting that trains item vectors on the histories of the Zhihu pairs. Shape and rate are
// those that the protection assumes. Batch and second beta come from the authors' program. The loss comes from the
// reproductions, and needs fewer epochs.
func DefaultSASRec() SASRecConfig {
	return SASRecConfig{
		Data: SASRecData{Name: "exposure-zhihu", Recipe: slate.HistoriesRecipe, Split: slate.SplitUsers, Slate: 10,
			Behaviour: 5},
		Model: sasrec.Default(),
		Train: SASRecTrain{Loss: LossAll, Epochs: 200, Batch: 128, Rate: 0.001, Beta2: 0.98, Patience: 10},
		Eval:  SASRecEval{K: []int{5, 10, 20}, MaskSeen: true},
	}
}

// NextItemSASRec returns the setting of SASRec's publication and program, with the loss of the
// paper, on DIPSGNN's ML-1M. Training sequences have at most 80 items there.
func NextItemSASRec() SASRecConfig {
	c := DefaultSASRec()
	c.Protocol = ProtocolNextItem
	d := nextitem.ML1M()
	c.Data.Name, c.Data.Recipe, c.Data.Candidates = d.Name, d.Recipe, d.Candidates
	c.Model.Dim, c.Model.Length = 50, 80
	c.Train.Loss, c.Train.Validation, c.Train.Refit = LossSampled, 0.1, true
	c.Eval.MaskSeen, c.Eval.Every = false, true
	return c
}

// checkSASRec reports every setting that cannot be run.
func checkSASRec(v *config.Checker, c SASRecConfig) {
	next := c.Protocol == ProtocolNextItem
	v.Check(c.Data.Recipe != "", "data.recipe", "must not be empty: %s for a set of slates", slate.HistoriesRecipe)
	if next {
		v.OneOf("data.candidates", c.Data.Candidates, nextitem.CandidatesTrain, nextitem.CandidatesTenCore)
		v.Check(c.Data.Recipe != slate.HistoriesRecipe, "data.recipe",
			"must hold out sequences for protocol %s, which %s does not", ProtocolNextItem, slate.HistoriesRecipe)
	} else {
		v.Check(c.Data.Candidates == "", "data.candidates", "belongs to protocol %s, must be empty, got %q",
			ProtocolNextItem, c.Data.Candidates)
	}
	m := c.Model
	v.Check(m.Heads >= 1 && m.Dim%max(1, m.Heads) == 0, "model.heads", "must divide model.dim, got %d of %d", m.Heads,
		m.Dim)
	t := c.Train
	v.Between("train.stride", t.Stride, 0, m.Length)
	if t.Stride > 0 {
		v.Check(!next, "train.stride", "belongs to protocol %s, must be 0, got %d", ProtocolLeaveOneOut, t.Stride)
		v.Check(t.Loss == LossAll, "train.stride", "needs train.loss: %s, got %q", LossAll, t.Loss)
	}
	if next {
		v.Inside("train.validation", t.Validation, 0, 1)
		v.Check(!c.Eval.MaskSeen, "eval.mask_seen", "must be false for protocol %s, which ranks all items",
			ProtocolNextItem)
		return
	}
	v.Check(t.Validation == 0, "train.validation", "belongs to protocol %s, must be 0, got %v", ProtocolNextItem,
		t.Validation)
	v.Check(!t.Refit, "train.refit", "belongs to protocol %s, must be false", ProtocolNextItem)
	v.Check(!c.Eval.Every, "eval.every", "belongs to protocol %s, must be false", ProtocolNextItem)
}

// publishedSource names the source of the comparable numbers. It is a peer-reviewed rerun, and not the SASRec paper,
// whose tables rank among 100 sampled items.
const publishedSource = "Klenitskiy and Vasilev, RecSys 2023 (repository antklen/sasrec-bert4rec-recsys23): one " +
	"seed, 200 items read, full ranking without the history"

// comparable adds the numbers of that rerun to a run under leave-one-out, if both have the same data and setting.
func (c SASRecConfig) comparable(x *nextitem.Experiment) {
	if c.Train.Loss == LossAll && c.Model.Length == 50 && !c.Eval.MaskSeen {
		row := map[string]float64{"HR@10": 0.2468, "NDCG@10": 0.1286, "MRR@10": 0.0929}
		if row = recbole(c.Data.Name, c.Data.Recipe, x.Data.Source.Level, row); row != nil {
			x.Standing.Printed = true
			x.Table = nextitem.Table{Row: func(string, string) map[string]float64 { return row }, From: recboleSource}
			return
		}
	}
	p := c.published(x.Data.Source.Level)
	if p == nil {
		return
	}
	x.Standing.Printed, x.Standing.Stated = true, c.rerun()
	x.Table = nextitem.Table{Row: func(string, string) map[string]float64 { return p }, From: publishedSource}
}

// rerun returns the length of that training: to epoch 63, or with one negative 53, whatever ended it.
func (c SASRecConfig) rerun() train.Length {
	if c.Train.Loss == LossSampled {
		return train.Length{Epochs: 53, Patience: 1}
	}
	return train.Length{Epochs: 63, Patience: 1}
}

// published returns that rerun's scores for a setting on the same rows, split and ranking: MovieLens 1M with both
// losses. Nil if the setting or the data differ.
func (c SASRecConfig) published(level dataset.Level) map[string]float64 {
	if !report.AllowsDelta(level) || c.Data.Name != "ml-1m" || c.Data.Recipe != "sasrec" || !c.Eval.MaskSeen ||
		c.Model.Length != 200 || c.Model.Dim != 64 || c.Model.Blocks != 2 || c.Model.Heads != 1 {
		return nil
	}
	if c.Train.Loss == LossSampled {
		return map[string]float64{"HR@10": 0.2500, "NDCG@10": 0.1341}
	}
	return map[string]float64{"HR@10": 0.3152, "NDCG@10": 0.1821}
}

// recboleSource names the source of the other comparable numbers.
const recboleSource = "RecBole's benchmark (benchmark/hyper/sequential at commit 5ebaece): one seed, 50 items read, " +
	"full ranking of all items"

// recbole returns the measurements of RecBole's benchmark for a model on its rows, split and ranking; nil if the rows
// differ.
func recbole(name, recipe string, level dataset.Level, row map[string]float64) map[string]float64 {
	if !report.AllowsDelta(level) || name != "ml-1m" || recipe != "recbole" {
		return nil
	}
	return row
}

// Suit implements run.Suited. A set of slates keeps the recipe of slates, and so do own data with only a table of shown
// items. Data without a recipe that holds out a user's last item run under ProtocolNextItem, if the user named no
// protocol.
func (c *SASRecConfig) Suit(doc *config.Document) error {
	if form := registry.FormOf(c.Data.Name, ""); c.Data.Recipe == slate.HistoriesRecipe &&
		(doc.Given("data.recipe") && !doc.Overridden("data.name") || slate.Known(c.Data.Name) || form.Slates &&
			!form.Log) {
		return nil
	}
	need := registry.Need{Cut: registry.LastItem}
	next := registry.Need{Cut: registry.Prefixes}
	if !doc.Given("protocol") && !doc.Given("data.recipe") && len(need.Suiting(c.Data.Name)) == 0 &&
		len(next.Suiting(c.Data.Name)) > 0 {
		c.Protocol = ProtocolNextItem
		c.suitNextItem(doc)
	}
	if c.Protocol == ProtocolNextItem {
		need = next
	}
	var err error
	c.Data.Recipe, err = registry.Suit(doc, c.Data.Name, c.Data.Recipe, need)
	return err
}

// suitNextItem sets what ProtocolNextItem requires, if the user did not.
func (c *SASRecConfig) suitNextItem(doc *config.Document) {
	own := NextItemSASRec()
	for key, take := range map[string]func(){
		"data.candidates":  func() { c.Data.Candidates = own.Data.Candidates },
		"train.validation": func() { c.Train.Validation = own.Train.Validation },
		"train.refit":      func() { c.Train.Refit = own.Train.Refit },
		"eval.mask_seen":   func() { c.Eval.MaskSeen = own.Eval.MaskSeen },
	} {
		if !doc.Given(key) {
			take()
		}
	}
}
