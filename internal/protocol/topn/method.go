package topn

import (
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/tensor"
)

// Name is the protocol in results and configurations.
const Name = "top-n"

// Method is what the protocol is told of a method under a setting.
type Method struct {
	Name     string // as tables call it
	Standing experiment.Standing
	Data     DataConfig
	Train    TrainConfig // without epochs for a method that is not trained by them
	Eval     EvalConfig
	// Releases are the kinds of vectors that are ranked and kept, the first one that of
	// validation; none: there is a single one, without a name.
	Releases []string
	Scale    float64 // of the scores in the loss; 0 for 1
	Shape    Shape
	Tables   Tables
}

// releases are the kinds, "" for a single one.
func (m *Method) releases() []string {
	if len(m.Releases) == 0 {
		return []string{""}
	}
	return m.Releases
}

// Shape is what a table tells settings of a method apart by.
type Shape struct {
	Dim, Layers int     // 0: the model has none
	Epsilon     float64 // 0: nothing is claimed
}

// Tables are results of others, which stand beside a run's own. Without functions there are
// none.
type Tables struct {
	// Printed is what a paper prints for a method's release on a data set, or false.
	Printed func(method, data, release string, s Shape) (Printed, bool)
	Note    string // about what is printed
	// Published lists results on the same data and split, for a level of evidence.
	Published func(data string, level dataset.Level) []Reference
}

// Printed are what a paper prints for a row: shares.
type Printed struct {
	Recall20, NDCG20 float64
	Table            string // where
}

// Values are the printed ones by metric name.
func (p Printed) Values() map[string]float64 {
	return map[string]float64{Primary.String(): p.Recall20, Second.String(): p.NDCG20}
}

// Reference is a published result on the same data and split as ours, tuned and
// trained by others.
type Reference struct {
	Method   string  `json:"method"`
	Recall20 float64 `json:"Recall@20"`
	NDCG20   float64 `json:"NDCG@20"`
	From     string  `json:"from"`
}

// Primary selects the epoch; it and Second are watched by early stopping.
var (
	Primary = metrics.Metric{Kind: metrics.Recall, K: 20}
	Second  = metrics.Metric{Kind: metrics.NDCG, K: 20}
)

// Model gives users and items their vectors, for a step of training and for ranking.
type Model interface {
	bpr.Encoder
	// Release computes the vectors of all users (users, d) and items (items, d) as one
	// of the method's releases has them. They are valid until the next call of a method.
	Release(kind string, call Call) (users, items tensor.Matrix, err error)
}

// Static is a model whose vectors after training depend on nothing but its parameters.
type Static interface {
	bpr.Encoder
	// All computes the vectors of all users (users, d) and items (items, d). They are valid
	// until the next call of a method.
	All() (users, items tensor.Matrix, err error)
}

// Plain makes a Model of one that has the same vectors in every release.
func Plain(m Static) Model { return plain{m} }

type plain struct{ Static }

// Release implements Model.
func (m plain) Release(string, Call) (users, items tensor.Matrix, err error) { return m.All() }

// Call numbers a release among all of a run. Models draw their noise by it, so that no two
// releases of a run have the same.
type Call int

// callOnValid is that of the validation rows after an epoch, from 0.
func callOnValid(epoch int) Call { return Call(2 * epoch) }

// callOnTest is that of the test rows after an epoch, from 0.
func callOnTest(epoch int) Call { return Call(2*epoch + 1) }

// callAtEnd is that of the k-th kind after a training of at most so many epochs.
func callAtEnd(epochs, k int) Call { return Call(2*epochs + k) }
