package dpsgd

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// mean is a network with every kind of use: a table looked up and as output, weights by node, a user's row.
type mean struct {
	table, user *autograd.Param
	each        *nn.Linear
}

func (m *mean) Items() *autograd.Param { return m.table }
func (m *mean) Params() []*autograd.Param {
	return append([]*autograd.Param{m.table, m.user}, m.each.Params()...)
}

func (m *mean) Forward(t *autograd.Tape, s *nextitem.Step) (*autograd.Node, error) {
	h := t.Rows(m.table, s.Graph.Node)
	return m.each.Forward(t, h).Tanh().SegmentSum(s.Graph.NodeOff).Add(t.Rows(m.user, s.Users)), nil
}

// learner is a network on three users' prefixes that learns by DP-SGD of the given kind.
func learner(t *testing.T, unit privacy.Unit, rate, clip, noise float64) *private {
	t.Helper()
	const items, d = 9, 4
	sequences := [][]int32{{1, 2, 1, 3, 4, 4}, {5}, {6, 2, 7}, {9, 8, 1, 2, 3, 4, 5}}
	init := nn.Uniform(3, 0.7)
	net := &mean{nn.NewParam("item", items+1, d, init), nn.NewParam("user", len(sequences), d, init), nn.NewLinear("each", d, d, true, init)}
	p := nextitem.NewPart("train", sequences, dataset.Prefixes(sequences), items)
	ledger, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	s := descent.DPSGD{Purpose: "gradients", Clip: clip, NoiseMultiplier: noise,
		Examples: int64(len(examplesOf(p, unit)) - 1), Sampling: privacy.Poisson, Rate: rate, Unit: unit}
	return &private{Sessions: nextitem.Sessions{Net: net, Part: p, Batch: 4}, Unit: unit,
		Noise: &noisySteps{Clip: clip, Ledger: ledger, Passes: nextitem.Passes{Epochs: 10},
			Open: func(dim int) (descent.Run[tensor.Float], error) {
				return descent.Open[tensor.Float](s, dim, ledger, rng.Seed(4).Stream("noise"))
			}}}
}

// gradients returns the gradients of one step, over all parameters, and its loss.
func gradients(t *testing.T, p *private, m train.Model, step int) (all []float64, loss float64) {
	t.Helper()
	tape := autograd.NewTape()
	l, err := m.Loss(tape, train.Batch{Step: step})
	if err != nil {
		t.Fatal(err)
	}
	tape.Backward(l)
	for _, q := range p.Params() {
		g, ok := tape.Grads().Dense(q)
		if !ok {
			t.Fatalf("%s has no gradient", q.Name)
		}
		for _, v := range g.Data {
			all = append(all, float64(v))
		}
	}
	return all, l.Scalar()
}

// ordinary returns the gradient of the mean loss over samples by an ordinary step.
func ordinary(t *testing.T, p *private, samples []int32) []float64 {
	t.Helper()
	tape := autograd.NewTape()
	l, err := p.Sessions.Lessons(0)
	if err != nil {
		t.Fatal(err)
	}
	loss, err := l.Model.Loss(tape, train.Batch{Samples: samples})
	if err != nil {
		t.Fatal(err)
	}
	tape.Backward(loss)
	var all []float64
	for _, q := range p.Params() {
		m := tensor.New(q.Value.Rows, q.Value.Cols)
		if g, ok := tape.Grads().Dense(q); ok {
			copy(m.Data, g.Data)
		} else if rows, vals, ok := tape.Grads().Sparse(q); ok {
			for i, r := range rows {
				copy(tensor.Row(m, int(r)), tensor.Row(vals, i))
			}
		}
		for _, v := range m.Data {
			all = append(all, float64(v))
		}
	}
	return all
}

func norm(v []float64) float64 {
	sq := 0.0
	for _, x := range v {
		sq += x * x
	}
	return math.Sqrt(sq)
}

// Samples are prefixes; a user's example is all of theirs, and who has none is no example.
func TestExamples(t *testing.T) {
	p := learner(t, privacy.User, 1, 1, 1).Part
	if got := examplesOf(p, privacy.User); !slices.Equal(got, []int32{0, 5, 7, 13}) {
		t.Errorf("users begin at %v", got)
	}
	if got := examplesOf(p, privacy.Sample); len(got) != 14 || got[13] != 13 {
		t.Errorf("samples begin at %v", got)
	}
	if got := examplesOf(nextitem.NewPart("none", p.Sequences, dataset.Samples{}, 9), privacy.User); len(got) != 1 {
		t.Errorf("no samples begin at %v", got)
	}
}

// With hardly any noise a step releases the sum of the examples' gradients, each clipped by itself, over the expected
// number of examples. Where nothing is clipped that is the gradient of plain training.
func TestStepIsTheSumOfClippedGradients(t *testing.T) {
	t.Run("sums", func(t *testing.T) { testStepIsTheSum(t, 1e-7, 2e-5, func(*private, float64) {}) })
	// Secure noise takes examples one by one. Its least noise is a little more.
	const least = 2e-6
	t.Run("one by one", func(t *testing.T) {
		testStepIsTheSum(t, least, 100*least*8, func(p *private, clip float64) {
			ledger, err := privacy.NewLedger(privacy.Secure)
			if err != nil {
				t.Fatal(err)
			}
			d := descent.DPSGD{Purpose: "gradients", Clip: clip, NoiseMultiplier: least,
				Examples: int64(len(examplesOf(p.Part, p.Unit)) - 1), Sampling: privacy.Poisson, Rate: 1, Unit: p.Unit}
			p.Noise.Ledger = ledger
			p.Noise.Open = func(dim int) (descent.Run[tensor.Float], error) {
				return descent.OpenSecret[tensor.Float](d, dim, ledger, tensor.Parallel)
			}
		})
	})
}

func testStepIsTheSum(t *testing.T, noise, within float64, change func(p *private, clip float64)) {
	for _, unit := range []privacy.Unit{privacy.Sample, privacy.User} {
		for _, clip := range []float64{100, 0.4} {
			p := learner(t, unit, 1, clip, noise)
			change(p, clip)
			l, err := p.Lessons(0)
			if err != nil {
				t.Fatal(err)
			}
			at := examplesOf(p.Part, unit)
			if l.Samples != len(at)-1 || p.Count(p.Part) != l.Samples || !l.InOrder {
				t.Fatalf("%+v", l)
			}
			got, _ := gradients(t, p, l.Model, 0)
			want, clipped := make([]float64, len(got)), 0
			for k := range l.Samples {
				var samples []int32
				for s := at[k]; s < at[k+1]; s++ {
					samples = append(samples, s)
				}
				g := ordinary(t, p, samples)
				n := norm(g) * float64(len(samples)) // of the sum of losses
				if n > clip {
					clipped++
				}
				for i, v := range g {
					want[i] += v * float64(len(samples)) * min(1, clip/n) / float64(l.Samples)
				}
			}
			if (clip < 1) != (clipped > 0) {
				t.Fatalf("%s, clip %v: %d of %d are clipped", unit, clip, clipped, l.Samples)
			}
			for i, v := range want {
				if math.Abs(got[i]-v) > max(2e-5, within*min(clip, 1)) {
					t.Fatalf("%s, clip %v: value %d is %g, want %g", unit, clip, i, got[i], v)
				}
			}
			if clip > 1 {
				all, samples := ordinary(t, p, p.Part.All()), float64(p.Part.Samples.Len())/float64(l.Samples)
				for i, v := range all {
					if math.Abs(got[i]-v*samples) > max(2e-5, within) {
						t.Fatalf("%s: value %d is %g, of plain training %g", unit, i, got[i], v*samples)
					}
				}
			}
		}
	}
}

// An example that is larger than one pass is not divided, and several passes give what one gives.
func TestChunks(t *testing.T) {
	p := learner(t, privacy.User, 1, 1, 1)
	l, err := p.Lessons(0)
	if err != nil {
		t.Fatal(err)
	}
	d := l.Model.(*privateLoss)
	if to := d.chunk([]int32{0, 1, 2}, 0); to != 3 {
		t.Errorf("small examples: a pass of %d", to)
	}
	d.Part.Samples.Length = slices.Clone(d.Part.Samples.Length)
	for s := d.at[1]; s < d.at[2]; s++ {
		d.Part.Samples.Length[s] = atOnce
	}
	if a, b := d.chunk([]int32{0, 1, 2}, 0), d.chunk([]int32{0, 1, 2}, 1); a != 1 || b != 2 {
		t.Errorf("passes end at %d and %d, want 1 and 2", a, b)
	}
}

// An example whose loss or gradient is not finite counts as 0, alone and among others, and no other example's changes.
func TestNotFiniteCountsAsZero(t *testing.T) {
	p := learner(t, privacy.User, 1, 1, 1)
	l, err := p.Lessons(0)
	if err != nil {
		t.Fatal(err)
	}
	d := l.Model.(*privateLoss)
	p.Params()[1].Value.Data[0] = tensor.Float(math.NaN()) // the row of the first user who has samples
	sumOf := func(examples ...int32) (sum []tensor.Float, norms []float64, loss float64) {
		clear(d.sum)
		d.norms = d.norms[:0]
		loss, _, err := d.add(examples, 1)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(d.sum), slices.Clone(d.norms), loss
	}
	with, norms, loss := sumOf(0, 1, 2)
	without, others, rest := sumOf(1, 2)
	if norms[0] != 0 || math.Abs(loss-rest) > 1e-5 || math.Abs(norms[1]-others[0])+math.Abs(norms[2]-others[1]) > 1e-5 {
		t.Errorf("lengths %v, loss %v; without the example %v, %v", norms, loss, others, rest)
	}
	for j, v := range with {
		if !(math.Abs(float64(v-without[j])) < 1e-5) {
			t.Fatalf("value %d is %v, without the example %v", j, v, without[j])
		}
	}
	if alone, norms, loss := sumOf(0); norms[0] != 0 || loss != 0 || slices.ContainsFunc(alone, func(v tensor.Float) bool { return v != 0 }) {
		t.Errorf("alone: lengths %v, loss %v", norms, loss)
	}
}

// A batch without examples releases noise, of the same law as any other.
func TestEmptyBatchReleasesNoise(t *testing.T) {
	p := learner(t, privacy.User, 1e-9, 2, 3)
	l, err := p.Lessons(0)
	if err != nil {
		t.Fatal(err)
	}
	g, loss := gradients(t, p, l.Model, 0)
	if loss != 0 {
		t.Errorf("loss %v of nothing", loss)
	}
	per := 1e-9 * 3 // expected examples
	sd := norm(g) * per / math.Sqrt(float64(len(g)))
	if n := float64(len(g)); math.Abs(sd*sd/36-1) > 6.5*math.Sqrt(2/n) { // 6.5 standard deviations
		t.Errorf("noise of standard deviation %v, want 6", sd)
	}
	if err := p.Noise.End(); err != nil {
		t.Error(err)
	}
}

// Weights go their way by noisy gradients, and a state saved between steps goes on with the same ones.
func TestStateGoesOn(t *testing.T) {
	whole, half := learner(t, privacy.Sample, 0.5, 1, 1), learner(t, privacy.Sample, 0.5, 1, 1)
	run := func(p *private, m train.Model, o *optim.Adam, from, to int) {
		for step := from; step < to; step++ {
			tape := autograd.NewTape()
			l, err := m.Loss(tape, train.Batch{Step: step})
			if err != nil {
				t.Fatal(err)
			}
			tape.Backward(l)
			if err := o.Step(p.Params(), tape.Grads(), 0.1); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, err := whole.Lessons(0)
	if err != nil {
		t.Fatal(err)
	}
	run(whole, a.Model, optim.NewAdam(0), 0, 6)
	b, err := half.Lessons(0)
	if err != nil {
		t.Fatal(err)
	}
	o := optim.NewAdam(0)
	run(half, b.Model, o, 0, 3)
	state, err := half.Noise.Save()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = half.Lessons(0); err != nil { // a new process
		t.Fatal(err)
	}
	if err := half.Noise.Load(state); err != nil {
		t.Fatal(err)
	}
	run(half, b.Model, o, 3, 6)
	for i, p := range whole.Params() {
		if !slices.Equal(p.Value.Data, half.Params()[i].Value.Data) {
			t.Errorf("%s is not that of a run in one go", p.Name)
		}
	}
	if err := half.Noise.Load([]byte("{")); err == nil {
		t.Error("a broken state was taken")
	}
}
