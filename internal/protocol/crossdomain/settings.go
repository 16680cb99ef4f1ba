package crossdomain

import "privrec/internal/config"

// Data names the data set and the ordered pair of domains.
type Data struct {
	Name      string `yaml:"name"`      // a cross-domain set
	Target    string `yaml:"target"`    // the domain that is evaluated
	Auxiliary string `yaml:"auxiliary"` // the domain that helps
	Length    int    `yaml:"length"`    // L, columns of the data matrix; one of them is cut before training
}

// Eval says how the held-out rows are ranked.
type Eval struct {
	K             []int  `yaml:"k"`
	Negatives     int    `yaml:"negatives"`      // items that a row is ranked among, drawn by popularity
	NegativesSeed uint64 `yaml:"negatives_seed"` // of their draw, the same for every model and every seed of a run
	Full          bool   `yaml:"full"`           // rank test rows among all items too
	// Every ranks the test rows after every epoch too. It chooses nothing: the best of
	// them, which the released program prints, is reported by itself.
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

// Check reports what cannot be read or measured.
func Check(v *config.Checker, d Data, e Eval) {
	v.Check(d.Name != "" && d.Target != "" && d.Auxiliary != "", "data", "needs name, target and auxiliary")
	v.Between("data.length", d.Length, 3, 10_000)
	v.Between("eval.negatives", e.Negatives, 1, 1_000_000)
	v.Integers("eval.k", "cutoff", e.K, 1, max(1, e.Negatives))
}
