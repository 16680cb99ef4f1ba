package exposure

import (
	"strings"

	"privrec/internal/config"
	"privrec/internal/model/sasrec"
)

// SASRecConfig is one training run of SASRec.
type SASRecConfig struct {
	Data  SASRecData    `yaml:"data"`
	Model sasrec.Config `yaml:"model"`
	Train SASRecTrain   `yaml:"train"`
	Eval  SASRecEval    `yaml:"eval"`
}

// SASRecData names the sequences. A user's last item is for testing and the one before
// it for validation.
type SASRecData struct {
	Name   string `yaml:"name"`   // a registered data set or, with recipe histories, a set of slates
	Recipe string `yaml:"recipe"` // filters and split of a data set; histories: the clicks of a set's training users
	// Of a set of slates alone: who its training users are. They must be those of the
	// attack that the vectors are for.
	Split     string `yaml:"split"`     // users or released
	Slate     int    `yaml:"slate"`     // T
	Behaviour int    `yaml:"behaviour"` // L
}

// SASRecTrain is the optimisation, stopped early on the validation items.
type SASRecTrain struct {
	Loss     string  `yaml:"loss"` // all: softmax over all items; sampled: the paper's, one negative a position
	Epochs   int     `yaml:"epochs"`
	Batch    int     `yaml:"batch"`    // sequences a step
	Rate     float64 `yaml:"rate"`     // of Adam
	Beta2    float64 `yaml:"beta2"`    // of Adam
	Patience int     `yaml:"patience"` // stop after so many epochs without a better NDCG@10; 0: never
}

// SASRecEval is the ranking, always among all items.
type SASRecEval struct {
	K        []int `yaml:"k"`
	MaskSeen bool  `yaml:"mask_seen"` // items of the history are no candidates, except one that comes again
}

// Values of the choices above.
const (
	HistoriesRecipe = "histories"
	LossAll         = "all"
	LossSampled     = "sampled"
)

// DefaultSASRec trains item vectors on the histories of the Zhihu pairs: the shape and
// rate that the protection assumes; batch and second beta of the authors' program; the
// loss of the reproductions, which needs fewer epochs.
func DefaultSASRec() SASRecConfig {
	return SASRecConfig{
		Data:  SASRecData{Name: "exposure-zhihu", Recipe: HistoriesRecipe, Split: SplitUsers, Slate: 10, Behaviour: 5},
		Model: sasrec.Default(),
		Train: SASRecTrain{Loss: LossAll, Epochs: 200, Batch: 128, Rate: 0.001, Beta2: 0.98, Patience: 10},
		Eval:  SASRecEval{K: []int{5, 10, 20}, MaskSeen: true},
	}
}

// ValidateSASRec reports every setting that cannot be run, by line.
func ValidateSASRec(c SASRecConfig, doc *config.Document) error {
	v := config.NewChecker(doc)
	v.NotEmpty("data.name", c.Data.Name)
	v.Check(c.Data.Recipe != "", "data.recipe", "must not be empty: %s for a set of slates", HistoriesRecipe)
	v.OneOf("data.split", c.Data.Split, SplitUsers, SplitReleased)
	v.Between("data.slate", c.Data.Slate, 1, 1000)
	v.Between("data.behaviour", c.Data.Behaviour, 1, 1000)
	m := c.Model
	v.Between("model.dim", m.Dim, 1, 4096)
	v.Between("model.blocks", m.Blocks, 1, 100)
	v.Check(m.Heads >= 1 && m.Dim%max(1, m.Heads) == 0, "model.heads", "must divide model.dim, got %d of %d", m.Heads, m.Dim)
	v.Between("model.length", m.Length, 1, 10_000)
	v.Below("model.dropout", m.Dropout, 0, 1)
	v.OneOf("model.norm", m.Norm, sasrec.NormCode, sasrec.NormPaper)
	t := c.Train
	v.OneOf("train.loss", t.Loss, LossAll, LossSampled)
	v.Between("train.epochs", t.Epochs, 1, 100_000)
	v.Between("train.batch", t.Batch, 1, 1_000_000)
	v.Within("train.rate", t.Rate, 1e-12, 100)
	v.Below("train.beta2", t.Beta2, 0, 1)
	v.Between("train.patience", t.Patience, 0, 100_000)
	v.Integers("eval.k", "cutoff", c.Eval.K, 1, 100_000)
	return v.Err()
}

// standing says how a setting relates to the defaults, for its result.
func (c SASRecConfig) standing() (string, error) {
	changed, err := config.Diff(DefaultSASRec(), c)
	if err != nil || len(changed) == 0 {
		return "defaults", err
	}
	return "defaults, changed: " + strings.Join(changed, ", "), nil
}
