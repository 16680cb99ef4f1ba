package dpsgd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/autograd/perexample"
	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// private is a nextitem.Learner: a network over sessions that learns by DP-SGD. A step takes every example with the
// same probability, clips the gradient of each over all parameters, and gives the optimiser their noisy sum, divided by
// the expected number of examples. An example is one sample, or all samples of a user, whose losses then add up.
type private struct {
	nextitem.Sessions
	Unit  privacy.Unit // of one example: User, or one sample
	Noise *noisySteps
	// Stated is a public number of examples, which sets the number of steps; 0: examples are counted.
	Stated int
}

// noisySteps holds the DP-SGD steps of a run. It is made before the network, whose size gives the number of gradient
// values. It implements train.Extra.
type noisySteps struct {
	// Open starts the steps of a training, for gradients of dim values, which record their releases in Ledger.
	Open   func(dim int) (descent.Run[tensor.Float], error)
	Ledger *privacy.Ledger
	Passes nextitem.Passes
	Clip   float64 // of the steps that Open opens

	steps  descent.Run[tensor.Float] // of the last training
	period string                    // under which releases are now recorded
}

// enter closes the ledger's period when the next pass begins.
func (n *noisySteps) enter(pass nextitem.Pass) error {
	period := n.Passes.Name(pass)
	if n.period != "" && n.period != period {
		if err := n.Ledger.Flush(n.period); err != nil {
			return err
		}
	}
	n.period = period
	return nil
}

// End checks the noise and the batches of the last training, and closes the ledger's last period.
func (n *noisySteps) End() error {
	if n.steps == nil {
		return nil
	}
	if err := n.steps.Check(); err != nil || n.period == "" {
		return err
	}
	return n.Ledger.Flush(n.period)
}

// noisyState holds the state of the steps in a checkpoint. The run keeps the ledger itself.
type noisyState struct {
	Period string        `json:"period"`
	Steps  descent.State `json:"steps"`
}

// Save implements train.Extra.
func (n *noisySteps) Save() ([]byte, error) {
	return json.Marshal(noisyState{n.period, n.steps.State()})
}

// Load implements train.Extra.
func (n *noisySteps) Load(b []byte) error {
	var s noisyState
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("state of the noise: %w", err)
	}
	n.period = s.Period
	return n.steps.Restore(s.Steps)
}

// examplesOf returns the first samples of a part's examples: example k has samples [k] to [k+1]. An example of a user
// has all of the user's samples, any other has one sample.
func examplesOf(p *nextitem.Part, unit privacy.Unit) []int32 {
	at := []int32{0}
	users := p.Samples.User
	for i := 1; i <= len(users); i++ {
		if i == len(users) || unit != privacy.User || users[i] != users[i-1] {
			at = append(at, int32(i))
		}
	}
	return at
}

// Count implements nextitem.Learner: it counts examples, or returns their stated number.
func (p *private) Count(q *nextitem.Part) int { return cmp.Or(p.Stated, len(examplesOf(q, p.Unit))-1) }

// Lessons implements nextitem.Learner. The training loop counts steps; each step draws its examples anew.
func (p *private) Lessons(first nextitem.Pass) (nextitem.Lessons, error) {
	d, dim, err := p.loss(first)
	if err != nil {
		return nextitem.Lessons{}, err
	}
	if p.Noise.steps, err = p.Noise.Open(dim); err != nil {
		return nextitem.Lessons{}, err
	}
	return nextitem.Lessons{Model: d, Samples: cmp.Or(p.Stated, len(d.at)-1), InOrder: true}, nil
}

// loss returns the loss of the part's examples, and the number of values of a gradient. No steps are open yet.
func (p *private) loss(first nextitem.Pass) (*privateLoss, int, error) {
	m, err := p.On(p.Part, first, false)
	if err != nil {
		return nil, 0, err
	}
	d := &privateLoss{OnSessions: m, noise: p.Noise, at: examplesOf(p.Part, p.Unit), tape: autograd.NewTape(),
		sums: map[*autograd.Param]tensor.Matrix{}}
	d.tape.Apart = true
	dim := 0
	for _, q := range m.Params() {
		dim += q.Value.Rows * q.Value.Cols
	}
	d.sum, d.mean = make([]tensor.Float, dim), make([]tensor.Float, dim)
	rest := d.sum
	for _, q := range m.Params() {
		n := q.Value.Rows * q.Value.Cols
		d.sums[q], rest = tensor.From(q.Value.Rows, q.Value.Cols, rest[:n:n]), rest[n:]
	}
	return d, dim, nil
}

// privateLoss is a loss for the training loop whose gradients are those of DP-SGD.
type privateLoss struct {
	*nextitem.OnSessions
	noise *noisySteps
	at    []int32 // examples
	tape  *autograd.Tape

	sum, mean []tensor.Float // of clipped gradients, over all parameters in their order
	sums      map[*autograd.Param]tensor.Matrix
	norms     []float64
	samples   []int32
	weights   []tensor.Float
	layouts   [2][]int32 // by node and by sample
}

// atOnce is the approximate number of session positions in one pass, whose activations take some 50 MB. An example is
// never divided.
const atOnce = 4096

// room is the relative distance of the clipped length below the bound, since the sum is rounded to single precision.
const room = 1e-6

// Loss implements train.Model. The value is the mean loss of the batch, without noise; the gradients are released.
func (d *privateLoss) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	pass := d.Pass + nextitem.Pass(b.Epoch)
	if err := d.noise.enter(pass); err != nil {
		return nil, err
	}
	if d.noise.steps.Skip() { // its noise is lost, and the optimiser gets nothing from it
		clear(d.mean)
		return d.released(t, 0), nil
	}
	examples, err := d.noise.steps.Begin(uint64(pass), uint64(b.Step))
	if err != nil {
		return nil, err
	}
	loss, samples, err := d.sumOf(examples)
	if err != nil {
		return nil, err
	}
	if err := d.noise.steps.Finish(d.mean); err != nil {
		return nil, err
	}
	return d.released(t, loss/float64(max(1, samples))), nil
}

// summed is implemented by steps that take a sum of clipped gradients, whose lengths are known from activations. Other
// steps take gradients one by one.
type summed interface {
	AddSum(norms []float64, sum []tensor.Float) error
}

// sumOf passes the gradients of a batch to its step. It returns the sum of the losses and the number of samples.
func (d *privateLoss) sumOf(examples []int32) (loss float64, samples int, err error) {
	steps, ok := d.noise.steps.(summed)
	if !ok {
		return d.oneByOne(examples)
	}
	clear(d.sum)
	d.norms = d.norms[:0]
	for from := 0; from < len(examples); {
		to := d.chunk(examples, from)
		l, n, err := d.add(examples[from:to], d.noise.Clip*(1-room))
		if err != nil {
			return 0, 0, err
		}
		loss, samples, from = loss+l, samples+n, to
	}
	return loss, samples, steps.AddSum(d.norms, d.sum)
}

// oneByOne passes every example's gradient to the step, which clips it. Each is computed without any other example in
// the pass, so it depends, to the last bit, only on that example and the parameters.
func (d *privateLoss) oneByOne(examples []int32) (loss float64, samples int, err error) {
	for k := range examples {
		clear(d.sum)
		d.norms = d.norms[:0]
		l, n, err := d.add(examples[k:k+1], math.Inf(1))
		if err == nil {
			err = d.noise.steps.Add(k, d.sum)
		}
		if err != nil {
			return 0, 0, err
		}
		loss, samples = loss+l, samples+n
	}
	return loss, samples, nil
}

// chunk returns the end of the chunk of examples that begins at from.
func (d *privateLoss) chunk(examples []int32, from int) int {
	positions := 0
	for i := from; i < len(examples); i++ {
		e := examples[i]
		for s := d.at[e]; s < d.at[e+1]; s++ {
			positions += int(d.Part.Samples.Length[s])
		}
		if positions > atOnce && i > from {
			return i
		}
	}
	return len(examples)
}

// add adds the gradients of examples, clipped to length most, to the sum. It returns the sum of their losses and the
// number of their samples.
//
// An example with a loss or gradient that is not finite counts as 0, as in [descent.Dense], since an error would reveal
// it. Its values could spoil those of other examples in the pass, so each example then gets a pass of its own.
func (d *privateLoss) add(examples []int32, most float64) (loss float64, samples int, err error) {
	d.samples = d.samples[:0]
	d.layouts[1] = append(d.layouts[1][:0], 0)
	for _, e := range examples {
		for s := d.at[e]; s < d.at[e+1]; s++ {
			d.samples = append(d.samples, s)
		}
		d.layouts[1] = append(d.layouts[1], int32(len(d.samples)))
	}
	samples = len(d.samples)
	d.tape.Reset()
	mean, err := d.OnSessions.Loss(d.tape, train.Batch{Samples: d.samples})
	if err != nil {
		return 0, 0, err
	}
	loss = mean.Scalar() * float64(samples)
	d.tape.Backward(mean)
	d.layouts[0] = nodes(d.layouts[0][:0], &d.Packed, d.layouts[1])
	g, err := perexample.Of(d.tape, d.layouts[:]...)
	if err != nil {
		return 0, 0, err
	}
	first := len(d.norms)
	d.norms = append(d.norms, make([]float64, len(examples))...)
	d.weights = append(d.weights[:0], make([]tensor.Float, len(examples))...)
	g.Norms(d.norms[first:])
	whole := isFinite(loss)
	for k := range examples {
		n := d.norms[first+k] * float64(samples) // of a sum of losses
		whole = whole && isFinite(n)
		weight := float64(samples)
		if n > most {
			weight, n = weight*most/n, d.noise.Clip
		}
		d.norms[first+k], d.weights[k] = n, tensor.Float(weight)
	}
	switch {
	case whole:
		g.AddTo(d.weights, func(p *autograd.Param) tensor.Matrix { return d.sums[p] })
		return loss, samples, nil
	case len(examples) == 1:
		d.norms[first] = 0
		return 0, samples, nil
	}
	d.norms, loss = d.norms[:first], 0
	for k := range examples {
		l, _, err := d.add(examples[k:k+1], most)
		if err != nil {
			return 0, 0, err
		}
		loss += l
	}
	return loss, samples, nil
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// nodes appends the index of the first node of every example.
func nodes(to []int32, g *graph.Packed, samples []int32) []int32 {
	for _, s := range samples {
		to = append(to, g.NodeOff[s])
	}
	return to
}

// released returns a node whose gradients are the released mean.
func (d *privateLoss) released(t *autograd.Tape, loss float64) *autograd.Node {
	params := d.Params()
	leaves := make([]*autograd.Node, len(params))
	for i, p := range params {
		leaves[i] = t.Use(p)
	}
	y := t.Fused("dp-sgd", 1, 1, leaves...)
	y.V.Data[0] = tensor.Float(loss)
	return t.Custom("dp-sgd", y, func() {
		rest := d.mean
		for _, x := range leaves {
			m := t.Buffer(x.Rows(), x.Cols())
			rest = rest[copy(m.Data, rest):]
			x.GiveGrad(m)
		}
	})
}
