package crossdomain

import (
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// Rows holds the rows of both domains for one training: Cols columns a user, 0 for no item. Columns of the two domains
// are aligned by number, not by time, so a window of the auxiliary domain may hold items later than the one to predict.
type Rows struct {
	Name  string
	Cols  int
	Cells [2][]int32 // of the target and of the auxiliary domain; the latter nil: not used
	// Known marks the items of the target domain that are in its rows, by item from 1.
	Known []bool
}

// Row returns a user's row of a domain.
func (p *Rows) Row(domain int, user int32) []int32 {
	return p.Cells[domain][int(user)*p.Cols : (int(user)+1)*p.Cols]
}

// Model is trained on rows and scores the target's items for users at the end of their rows.
type Model interface {
	train.Model
	// Steps returns the number of steps of an epoch. A batch of the training loop has one sample, the number of a step.
	Steps() int
	// Samples returns the number of cells of each domain that an epoch predicts.
	Samples() [2]int
	// Optimizer returns the optimiser of one training.
	Optimizer() Optimizer
	// Rehearsed returns the training loop's number of the step that a rehearsal makes as its i-th. It takes steps of
	// all kinds in turn.
	Rehearsed(i int) int32
	// Sampled returns the score of items[k] for user users[of[k]], for each k.
	Sampled(t *autograd.Tape, rows *Rows, users, items, of []int32) []tensor.Float
	// All computes the scores of all items of the target, one row a user (users, items).
	All(t *autograd.Tape, rows *Rows, users []int32, scores tensor.Matrix)
	// Items returns the number of items of the target.
	Items() int
}

// Optimizer takes steps on table rows, which it brings up to date before they are read.
type Optimizer interface {
	train.Optimizer
	Touch(p *autograd.Param, rows []int32)
}

// Data names the data set and the ordered pair of domains.
type Data struct {
	Name      string `yaml:"name"`      // a cross-domain set
	Target    string `yaml:"target"`    // target domain, which is evaluated
	Auxiliary string `yaml:"auxiliary"` // auxiliary domain, which helps
	// L, number of columns of the data matrix; one of them is cut before training
	Length int `yaml:"length" limit:"3..10000"`
}

// Eval sets how the held-out rows are ranked.
type Eval struct {
	K []int `yaml:"k"`
	// number of items that a row is ranked among, drawn by popularity
	Negatives     int    `yaml:"negatives" limit:"1..1000000"`
	NegativesSeed uint64 `yaml:"negatives_seed"` // seed of their draw, the same for every model and every run.seed
	Full          bool   `yaml:"full"`           // also rank test rows among all items
	// Every also ranks the test rows after every epoch. It chooses nothing: the best of them, which the released
	// program prints, is reported separately.
	Every bool `yaml:"every"`
}

// Training says what the protocol does with the epochs of a model.
type Training struct {
	Epochs   int     // the cap: early stopping may end before
	Rate     float64 // of the optimizer
	Patience int     // ends after so many epochs in a row without a better NDCG@10 on validation; 0: never
	Select   bool    // the epoch with the best NDCG@10 on validation is reported; else the last
	Refit    bool    // train once more on train and validation rows, for as many epochs as validation chose
}

// Check reports data that cannot be read and an evaluation that cannot be measured.
func Check(v *config.Checker, d Data, e Eval) {
	v.Check(d.Name != "" && d.Target != "" && d.Auxiliary != "", "data", "needs name, target and auxiliary")
	v.Integers("eval.k", "cutoff", e.K, 1, max(1, e.Negatives))
}

// Suit sets the domains to the first two of the data if the user named none. It fails on data of one domain.
func (d *Data) Suit(doc *config.Document) error {
	if d.Name == "" { // Check says so
		return nil
	}
	names, err := registry.DomainsOf(d.Name)
	if err != nil {
		return err
	}
	if doc.Given("data.target") && doc.Given("data.auxiliary") && !doc.Overridden("data.name") ||
		slices.Contains(names, d.Target) && slices.Contains(names, d.Auxiliary) && !doc.Given("data.target") &&
			!doc.Given("data.auxiliary") {
		return nil
	}
	target, auxiliary := names[0], names[1]
	switch chosen := func(key string) bool {
		return doc.Overridden(key) || doc.Given(key) && !doc.Overridden("data.name")
	}; {
	case chosen("data.target") && chosen("data.auxiliary"):
	case chosen("data.target"):
		if d.Auxiliary = auxiliary; d.Target == auxiliary {
			d.Auxiliary = target
		}
	case chosen("data.auxiliary"):
		if d.Target = target; d.Auxiliary == target {
			d.Target = auxiliary
		}
	default:
		d.Target, d.Auxiliary = target, auxiliary
	}
	return nil
}
