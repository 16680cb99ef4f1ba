package nextitem

import (
	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// Network computes one vector for each session (B, d). Scores are its inner products with the rows of Items.
type Network interface {
	Forward(t *autograd.Tape, s *Step) (*autograd.Node, error)
	Items() *autograd.Param // E (|V|+1, d), row 0 unused
	Params() []*autograd.Param
}

// Step holds the input of a network at once: the sessions of some samples of a part.
type Step struct {
	Part    *Part
	Pass    Pass
	Noisy   bool          // noise on messages is wanted: in training, and in evaluations with it
	Samples []int32       // of the part
	Graph   *graph.Packed // of their sessions
	Users   []int32       // whose vector each sample gets
}

// Reader is a network whose only input is the sessions.
type Reader interface {
	Forward(t *autograd.Tape, g *graph.Packed) *autograd.Node
	Items() *autograd.Param
	Params() []*autograd.Param
}

// Plain returns a Reader as a Network.
func Plain(r Reader) Network { return plain{r} }

type plain struct{ Reader }

// Forward implements Network.
func (p plain) Forward(t *autograd.Tape, s *Step) (*autograd.Node, error) {
	return p.Reader.Forward(t, s.Graph), nil
}

// Sessions is a Learner: a network that learns the samples of a part.
type Sessions struct {
	Net   Network
	Part  *Part
	Batch int // of the training, to know a sample's place in its epoch
	// Misaligned gives the i-th training sample of every epoch the user vector of the i-th
	// sample in the order before shuffling.
	Misaligned bool
}

// Params implements Learner.
func (s *Sessions) Params() []*autograd.Param { return s.Net.Params() }

// Count implements Learner.
func (s *Sessions) Count(p *Part) int { return p.Samples.Len() }

// Lessons implements Learner. They are the samples of the part.
func (s *Sessions) Lessons(first Pass) (Lessons, error) {
	m, err := s.On(s.Part, first, true)
	if err != nil {
		return Lessons{}, err
	}
	if m.batch = s.Batch; s.Misaligned {
		m.userOf = func(slot int) int32 { return s.Part.Samples.User[slot] }
	}
	return Lessons{Model: m, Samples: s.Part.Samples.Len()}, nil
}

// Scorer implements Learner.
func (s *Sessions) Scorer(p *Part, pass Pass, noisy bool) (eval.Scorer, error) {
	m, err := s.On(p, pass, noisy)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// On binds the network to the samples of a part, for one pass over them.
func (s *Sessions) On(p *Part, pass Pass, noisy bool) (*OnSessions, error) {
	sessions, err := p.sessions()
	return &OnSessions{Part: p, Pass: pass, net: s.Net, sessions: sessions, noisy: noisy}, err
}

// OnSessions binds a network to the samples of one part, for the training loop and for rankings. It is not safe for
// concurrent use.
type OnSessions struct {
	Part   *Part
	Pass   Pass         // number of the evaluation, or of the first epoch
	Packed graph.Packed // the sessions of the samples that were read last

	net      Network
	sessions *graph.Sessions // of the part
	noisy    bool

	// userOf returns the user whose vector a training sample gets; nil: the sample's own user.
	// slot is the sample's place in the epoch.
	userOf func(slot int) int32
	batch  int // training batch size, to know a sample's slot

	users []int32
	step  Step
}

// forward returns one vector for each sample (B, d).
func (r *OnSessions) forward(t *autograd.Tape, pass Pass, samples, users []int32) (*autograd.Node, error) {
	g := &r.Packed
	g.Pack(r.sessions, r.Part.Samples.User, r.Part.Samples.Length, samples)
	if r.Part.graphs.byPosition { // a label is an item all the same
		for i, s := range samples {
			g.Label[i] = r.Part.Labels[s] + 1
		}
	}
	switch {
	case users != nil:
	case r.Part.Owner != nil:
		r.users = r.users[:0]
		for _, w := range g.User {
			r.users = append(r.users, r.Part.Owner[w])
		}
		users = r.users
	default:
		users = g.User
	}
	r.step = Step{Part: r.Part, Pass: pass, Noisy: r.noisy, Samples: samples, Graph: g, Users: users}
	return r.net.Forward(t, &r.step)
}

// Params implements train.Model.
func (r *OnSessions) Params() []*autograd.Param { return r.net.Params() }

// Loss implements train.Model: the mean softmax cross-entropy over all items. DIPSGNN's
// equation (13) prints a binary cross-entropy of softmax outputs. Its published program, and
// every model that it compares with, use this one.
func (r *OnSessions) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	z, err := r.forward(t, r.Pass+Pass(b.Epoch), b.Samples, r.trainUsers(b))
	if err != nil {
		return nil, err
	}
	return t.TiedCrossEntropy(z, r.net.Items(), 1, r.Packed.Label), nil
}

// trainUsers returns the user whose vector each training sample gets. Nil: every sample gets that of its own user.
func (r *OnSessions) trainUsers(b train.Batch) []int32 {
	if r.userOf == nil {
		return nil
	}
	n := r.Part.Samples.Len()
	perEpoch := (n + r.batch - 1) / r.batch
	first := b.Step % perEpoch * r.batch
	r.users = r.users[:0]
	for i := range b.Samples {
		r.users = append(r.users, r.userOf((first+i)%n)) // beyond n in a rehearsal alone, whose batches are all full
	}
	return r.users
}

// Items implements eval.Scorer.
func (r *OnSessions) Items() int { return r.net.Items().Value.Rows - 1 }

// Score implements eval.Scorer: the inner product of a sample's vector with every item's row.
// Source: DIPSGNN, equation (12), whose softmax keeps the order.
func (r *OnSessions) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	z, err := r.forward(t, r.Pass, samples, nil)
	if err != nil {
		return err
	}
	table := r.net.Items().Value
	tensor.Gemm(false, true, 1, z.V, tensor.RowsView(table, 1, table.Rows), 0, scores)
	return nil
}

// cut divides sequences into samples, and decides everything in a run that depends on that division.
type cut interface {
	// divide makes the parts of an experiment.
	divide(x *Experiment) error
	// measures returns the kinds of metrics, the metric that selects the epoch, and whether early stopping watches
	// all metrics in its place.
	measures() (kinds []metrics.Kind, primary metrics.Metric, all bool)
	// random returns the expected scores of a uniformly random order of the candidates.
	random(x *Experiment, ms []metrics.Metric) []metrics.Value
	// describe adds counts of the data and a description of the candidates to an outcome.
	describe(x *Experiment, o *Outcome)
	// perUser writes the scores of every user.
	perUser(x *Experiment, mode string, ms []metrics.Metric, ranks []int32) error
	// document returns the result of a run without its table.
	document(x *Experiment, o *Outcome) *report.Document

	// history returns the items of a user that the model is given.
	history(x *Experiment, u int) []int32
	// recommended returns the heading of recommendations, and notes on the items that they leave out.
	recommended(x *Experiment) (setting string, notes []string)
	// again returns a row of the run's results, measured once more.
	again(x *Experiment, was *experiment.Outcome[experiment.Data], mode string,
		values []metrics.Value) experiment.Scores
}
