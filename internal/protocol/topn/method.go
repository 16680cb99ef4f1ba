package topn

import (
	"cmp"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/tensor"
)

// Name names the protocol in results and configurations.
const Name = "top-n"

// Method describes a method and its setting to the protocol.
type Method struct {
	Name     string // as tables call it
	Standing experiment.Standing
	Data     DataConfig
	Train    TrainConfig // without epochs for a method that is not trained by them
	Eval     EvalConfig
	// Releases names the kinds of vectors that are ranked and written; validation uses the first one. Empty: there is a
	// single kind without a name.
	Releases []string
	Scale    float64 // of the scores in the loss; 0 for 1
	// Scorer returns the scores of a release, both in training and in a finished run. Nil: inner products.
	Scorer func(v experiment.Vectors) (eval.Scorer, error)
	// Labels says that the method can learn from fewer edges than its graph has (dataset.HoldOut.Labels).
	Labels bool
	Loss   string // what a loss of the model's own is, beside its curve; empty: BPR
	Shape  Shape
	Tables Tables
}

// releases returns the kinds of vectors, "" for a single one.
func (m *Method) releases() []string {
	if len(m.Releases) == 0 {
		return []string{""}
	}
	return m.Releases
}

// loss returns a description of the loss.
func (m *Method) loss() string { return cmp.Or(m.Loss, "mean BPR loss with penalty (nats)") }

// Shape distinguishes settings of a method in a table.
type Shape struct {
	Dim, Layers int     // 0: the model has none
	Epsilon     float64 // 0: nothing is claimed
}

// Tables holds results of others, shown beside a run's own. A nil function has no results.
type Tables struct {
	// Printed returns a paper's printed value for a method's release on a data set, or false.
	Printed func(method, data, release string, s Shape) (Printed, bool)
	Note    string // about what is printed
	// Published lists results on the same data and split, for a level of evidence.
	Published func(data string, level dataset.Level) []Reference
}

// Printed holds a paper's printed values for a row, as shares.
type Printed struct {
	Values map[string]float64 // shares, by metric name
	Table  string             // where
}

// Reference is a published result on the same data and split as ours. Its authors tuned and
// trained it.
type Reference struct {
	Method   string  `json:"method"`
	Recall20 float64 `json:"Recall@20"`
	NDCG20   float64 `json:"NDCG@20"`
	From     string  `json:"from"`
}

// Primary selects the epoch. Early stopping watches it and Second.
var (
	Primary = metrics.Metric{Kind: metrics.Recall, K: 20}
	Second  = metrics.Metric{Kind: metrics.NDCG, K: 20}
)

// Encoder is a model that BPR trains. It computes the vectors of users and items, for a training step and for ranking.
type Encoder interface {
	bpr.Encoder
	// Release computes the vectors of all users (users, d) and items (items, d) for one of the
	// method's releases. They are valid until the next call of a method.
	Release(kind string, call Call) (users, items tensor.Matrix, err error)
}

// Plain returns an Encoder with the same vectors in every release.
func Plain(m bpr.Static) Encoder { return plain{m} }

type plain struct{ bpr.Static }

// Close frees the memory of the model.
func (m plain) Close() { experiment.Free(m.Static) }

// Release implements Encoder.
func (m plain) Release(string, Call) (users, items tensor.Matrix, err error) { return m.All() }

// Call numbers a release among all releases of a run. It keys the models' noise, so no two releases of a run have the
// same noise.
type Call int

// callOnValid returns the call for the validation rows after an epoch. epoch counts from 0.
func callOnValid(epoch int) Call { return Call(2 * epoch) }

// callOnTest returns the call for the test rows after an epoch. epoch counts from 0.
func callOnTest(epoch int) Call { return Call(2*epoch + 1) }

// callAtEnd returns the call for the k-th kind after a training of at most epochs epochs.
func callAtEnd(epochs, k int) Call { return Call(2*epochs + k) }
