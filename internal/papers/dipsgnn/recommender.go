package dipsgnn

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// batch is what a network sees of a step: the sessions' graphs, the user
// vectors (nil for networks without) and the noise of this step.
type batch struct {
	graph   *graph.Packed
	user    *autograd.Node // (B, d')
	perturb Perturb
}

// network is one model of Table 2 over packed session graphs.
type network interface {
	Forward(t *autograd.Tape, b batch) *autograd.Node // (B, d)
	Items() *autograd.Param                           // E (|V|+1, d), row 0 unused
	Params() []*autograd.Param
}

// part is one side of the split with its samples.
type part struct {
	name     string
	sessions *graph.Sessions
	samples  dataset.Samples
	labels   []int32 // item index from 0 of every sample's label
}

func newPart(name string, sequences [][]int32, samples dataset.Samples, items int) (*part, error) {
	s, err := graph.NewSessions(sequences, items)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return (&part{sessions: s}).with(name, sequences, samples), nil
}

// with is other samples of the same sequences.
func (p *part) with(name string, sequences [][]int32, samples dataset.Samples) *part {
	labels := samples.Targets(sequences)
	for i := range labels {
		labels[i]--
	}
	return &part{name: name, sessions: p.sessions, samples: samples, labels: labels}
}

func (p *part) all() []int32 {
	all := make([]int32, p.samples.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// recommender scores all items for the samples of one part. It is not safe for
// concurrent use.
type recommender struct {
	net   network
	user  *userInput // nil for networks without user vectors
	part  *part
	noise noise // what to add to the aggregations of this part, nil for nothing

	// userOf tells whose vector a training sample gets; nil: its own user's.
	// slot is the sample's place in the epoch.
	userOf func(slot int) int32
	batch  int // training batch size, to know a sample's slot
	pass   int // number of the evaluation, or of the first epoch, among all passes over the data: keys the noise

	packed graph.Packed
	users  []int32
}

// noise adds to aggregated messages what a mechanism prescribes.
type noise interface {
	// begin fixes which samples of which pass the following calls are about.
	begin(pass int, samples []int32, g *graph.Packed) Perturb
	// end reports what went wrong since begin.
	end() error
}

// forward returns one vector a sample (B, d).
func (r *recommender) forward(t *autograd.Tape, pass int, samples, users []int32) (*autograd.Node, error) {
	g := &r.packed
	g.Pack(r.part.sessions, r.part.samples.User, r.part.samples.Length, samples)
	b := batch{graph: g, perturb: silent}
	if r.user != nil {
		if users == nil {
			users = g.User
		}
		b.user = r.user.vectors(t, users)
	}
	if r.noise == nil {
		return r.net.Forward(t, b), nil
	}
	b.perturb = r.noise.begin(pass, samples, g)
	z := r.net.Forward(t, b)
	return z, r.noise.end()
}

// silent adds nothing.
func silent(y *autograd.Node, _ int, _ Direction) *autograd.Node { return y }

// Params implements train.Model.
func (r *recommender) Params() []*autograd.Param {
	params := r.net.Params()
	if r.user != nil {
		params = append(params, r.user.table)
	}
	return params
}

// Loss implements train.Model: mean softmax cross-entropy over all items. Eq. 13
// prints a binary cross-entropy of softmax outputs; the released program, and
// every model it compares with, use this.
func (r *recommender) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	z, err := r.forward(t, r.pass+b.Epoch, b.Samples, r.trainUsers(b))
	if err != nil {
		return nil, err
	}
	return t.TiedCrossEntropy(z, r.net.Items(), 1, r.packed.Label), nil
}

// trainUsers is nil when every sample has its own user's vector.
func (r *recommender) trainUsers(b train.Batch) []int32 {
	if r.userOf == nil {
		return nil
	}
	perEpoch := (r.part.samples.Len() + r.batch - 1) / r.batch
	first := b.Step % perEpoch * r.batch
	r.users = r.users[:0]
	for i := range b.Samples {
		r.users = append(r.users, r.userOf(first+i))
	}
	return r.users
}

// Items implements eval.Scorer.
func (r *recommender) Items() int { return r.net.Items().Value.Rows - 1 }

// Score implements eval.Scorer: the inner product of a sample's vector with
// every item's row (eq. 12, whose softmax keeps the order).
func (r *recommender) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	z, err := r.forward(t, r.pass, samples, nil)
	if err != nil {
		return err
	}
	table := r.net.Items().Value
	tensor.Gemm(false, true, 1, z.V, tensor.RowsView(table, 1, table.Rows), 0, scores)
	return nil
}
