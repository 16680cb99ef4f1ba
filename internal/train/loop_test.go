package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// toyOptions is a run of 3 epochs of 5 batches (the last of 1 sample), with all that a run can have.
func toyOptions(m *toy) Options {
	return Options{
		Samples: 25, BatchSize: 6, Shuffle: true, Seed: 4, Epochs: 3,
		Optimizer: &momentum{}, Rate: 0.2, Schedule: halving{}, Select: SelectBest,
		Validate: func(context.Context, int) ([]Score, error) {
			m.ledger.events = append(m.ledger.events, 'v')
			return hits(m), nil
		},
		Primary: "loss", Extra: m.ledger, Tag: "toy",
	}
}

func TestLearns(t *testing.T) {
	m := newToy(1)
	o := toyOptions(m)
	o.Epochs, o.Rate, o.Schedule = 60, 0.03, nil
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := hits(m)[0].Value; got < 0.9 {
		t.Errorf("hit rate %v after training", got)
	}
	if first, last := r.Epochs[0].Loss, r.Epochs[59].Loss; last > first/2 {
		t.Errorf("loss went from %v to %v", first, last)
	}
	if r.Steps != 300 || r.Resumed || r.Stopped {
		t.Errorf("%+v", r)
	}
	// The selected parameters are those of the best epoch.
	best := slices.MinFunc(r.Epochs, func(a, b EpochRecord) int { return int(math.Copysign(1, a.Scores[1].Value-b.Scores[1].Value)) })
	if r.Best != best.Epoch || hits(m)[1].Value != best.Scores[1].Value {
		t.Errorf("best %d, lowest loss in %d: %v against %v", r.Best, best.Epoch, hits(m)[1].Value, best.Scores[1].Value)
	}
}

func TestSelectLast(t *testing.T) {
	m := newToy(1)
	o := toyOptions(m)
	o.Select = SelectLast
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hits(m)[1].Value, r.Epochs[2].Scores[1].Value; got != want {
		t.Errorf("loss of the model %v, of the last epoch %v", got, want)
	}
}

// linear is y = w x + b by least squares; a run of full batches has a closed form to compare with.
type linear struct{ w *autograd.Param }

func (m linear) Params() []*autograd.Param { return []*autograd.Param{m.w} }
func (m linear) Loss(t *autograd.Tape, b Batch) (*autograd.Node, error) {
	x, y := t.Buffer(len(b.Samples), 1), t.Buffer(len(b.Samples), 1)
	for i, s := range b.Samples {
		x.Data[i], y.Data[i] = tensor.Float(s), tensor.Float(3*s)
	}
	return t.Const(x).MatMul(t.Use(m.w)).Sub(t.Const(y)).SumSq().Scale(1 / float64(len(b.Samples))), nil
}

func TestLossIsTheMeanOverSamples(t *testing.T) {
	m := linear{autograd.NewParam("w", 1, 1)}
	r, err := Run(t.Context(), m, Options{
		List: []int32{1, 2, 3, 4, 5}, BatchSize: 2, Epochs: 1, Optimizer: &momentum{}, Rate: 0, // lr 0: w stays 0
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := 9.0 * (1 + 4 + 9 + 16 + 25) / 5; math.Abs(r.Epochs[0].Loss-want) > 1e-5 {
		t.Errorf("loss %v, want %v", r.Epochs[0].Loss, want)
	}
}

// warmed is an optimiser whose rate rises with the steps.
type warmed struct{ *momentum }

func (warmed) Factor(step int) float64 { return float64(step) }

// TestRateOfTheLastStep: hooks and records have the rate that a step was taken at.
func TestRateOfTheLastStep(t *testing.T) {
	m := linear{autograd.NewParam("w", 1, 1)}
	var told []float64
	r, err := Run(t.Context(), m, Options{
		List: []int32{1, 2, 3, 4, 5}, BatchSize: 2, Epochs: 2, Optimizer: warmed{&momentum{}}, Rate: 1e-4,
		Hooks: Hooks{Every: -1, OnStep: func(s StepInfo) { told = append(told, s.LR) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, lr := range told {
		if want := 1e-4 * float64(i+1); lr != want {
			t.Errorf("step %d: rate %v, want %v", i+1, lr, want)
		}
	}
	if len(told) != 6 || r.Epochs[0].LR != told[2] || r.Epochs[1].LR != told[5] {
		t.Errorf("steps %v, epochs %v and %v", told, r.Epochs[0].LR, r.Epochs[1].LR)
	}
}

func TestScheduleReachesTheOptimizer(t *testing.T) {
	m := newToy(1)
	o := toyOptions(m)
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.2, 0.1, 0.05} {
		if r.Epochs[i].LR != want {
			t.Errorf("epoch %d: lr %v, want %v", i, r.Epochs[i].LR, want)
		}
	}
	before := cloneMatrix(m.E.Value)
	o = toyOptions(m)
	o.Rate = 0
	if _, err := Run(t.Context(), m, o); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before.Data, m.E.Value.Data) {
		t.Error("a rate of zero changed the parameters")
	}
}

func TestBatches(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples int
		list    []int32
		size    int
		drop    bool
		want    []int // batch sizes of an epoch; nil for an error
		err     string
	}{
		{name: "kept", samples: 7, size: 3, want: []int{3, 3, 1}},
		{name: "dropped", samples: 7, size: 3, drop: true, want: []int{3, 3}},
		{name: "even", samples: 6, size: 3, want: []int{3, 3}},
		{name: "even, dropped", samples: 6, size: 3, drop: true, want: []int{3, 3}},
		{name: "larger than data", samples: 4, size: 9, want: []int{4}},
		{name: "larger than data, dropped", samples: 4, size: 9, drop: true, err: "BatchSize 9 is above the 4 samples"},
		{name: "list", samples: 99, list: []int32{8, 6, 4}, size: 2, want: []int{2, 1}},
		{name: "empty", size: 3, err: "there are no samples"},
		{name: "empty list", samples: 5, list: []int32{}, size: 3, err: "there are no samples"},
		{name: "negative", samples: -1, size: 3, err: "Samples is -1"},
		{name: "no size", samples: 4, err: "BatchSize is 0"},
	} {
		for _, shuffle := range []bool{false, true} {
			m := newToy(1)
			var sizes []int
			visited := make([][]int32, 2)
			m.onLoss = func(b Batch) error {
				if b.Step != len(sizes) {
					t.Errorf("%s: step %d after %d", c.name, b.Step, len(sizes))
				}
				sizes = append(sizes, len(b.Samples))
				visited[b.Epoch] = append(visited[b.Epoch], b.Samples...)
				return nil
			}
			r, err := Run(t.Context(), m, Options{
				Samples: c.samples, List: c.list, BatchSize: c.size, DropLast: c.drop, Shuffle: shuffle, Epochs: 2,
				Optimizer: &momentum{}, Rate: 0.01,
			})
			if c.err != "" {
				wantError(t, c.name, err, c.err)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := append(slices.Clone(c.want), c.want...); !slices.Equal(sizes, want) || r.Steps != len(want) {
				t.Errorf("%s: batches %v, want %v", c.name, sizes, want)
			}
			whole := c.list
			if whole == nil {
				for i := range c.samples {
					whole = append(whole, int32(i))
				}
			}
			for epoch, v := range visited {
				if !shuffle && !slices.Equal(v, whole[:len(v)]) {
					t.Errorf("%s: epoch %d visits %v", c.name, epoch, v)
				}
				slices.Sort(v)
				if len(slices.Compact(v)) != r.Epochs[epoch].Samples {
					t.Errorf("%s: epoch %d repeats samples", c.name, epoch)
				}
			}
		}
	}
	if _, err := Run(t.Context(), newToy(1), Options{BatchSize: 1}); !errors.Is(err, ErrNoSamples) {
		t.Error(err)
	}
}

func TestShuffleDependsOnSeedAndEpochOnly(t *testing.T) {
	order := func(seed rng.Seed, epochs ...int) (seen [][]int32) {
		o := newOrder(&Options{Samples: 50, Shuffle: true, Seed: seed})
		for _, e := range epochs {
			seen = append(seen, slices.Clone(o.of(e)))
		}
		return seen
	}
	all := order(4, 0, 1, 2)
	if jumped := order(4, 2)[0]; !slices.Equal(jumped, all[2]) {
		t.Error("epoch 2 depends on the epochs before")
	}
	if slices.Equal(all[0], all[1]) {
		t.Error("two epochs have the same order")
	}
	if slices.Equal(order(5, 0)[0], all[0]) {
		t.Error("two seeds have the same order")
	}
}

func TestClipNorm(t *testing.T) {
	// A single step at rate 1 without momentum history moves by the gradient, so its length is the norm.
	for _, clip := range []float64{0, 0.01, 1e6} {
		m := newToy(1)
		before := make([]tensor.Matrix, 3)
		for i, p := range m.Params() {
			before[i] = cloneMatrix(p.Value)
		}
		_, err := Run(t.Context(), m, Options{
			Samples: 12, BatchSize: 12, Epochs: 1, Optimizer: &momentum{}, Rate: 1, ClipNorm: clip,
		})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, p := range m.Params() {
			for j, v := range p.Value.Data {
				d := float64(v - before[i].Data[j])
				sum += d * d
			}
		}
		if norm := math.Sqrt(sum); (clip == 0.01 && math.Abs(norm-clip) > 1e-5) || (clip != 0.01 && norm < 0.02) {
			t.Errorf("clip %v: moved by %v", clip, norm)
		}
	}
}

func TestHooks(t *testing.T) {
	m := newToy(1)
	o := toyOptions(m)
	var steps []StepInfo
	var epochs []EpochInfo
	o.Hooks = Hooks{Every: -1, OnStep: func(s StepInfo) { steps = append(steps, s) }, OnEpoch: func(e EpochInfo) { epochs = append(epochs, e) }}
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 15 || len(epochs) != 3 {
		t.Fatalf("%d steps, %d epochs", len(steps), len(epochs))
	}
	last := steps[14]
	if last.Step != 15 || last.Batch != 5 || last.Batches != 5 || last.Samples != 25 || last.Epoch != 2 || last.Epochs != 3 ||
		last.Loss != r.Epochs[2].Loss || last.LR != 0.05 || last.Seconds < 0 {
		t.Errorf("%+v", last)
	}
	for i, e := range epochs {
		if fmt.Sprint(e.EpochRecord) != fmt.Sprint(r.Epochs[i]) || e.TrainSeconds < 0 || e.ValidateSeconds < 0 {
			t.Errorf("%+v", e)
		}
	}
	// Throttled: first and last step of each epoch only.
	steps = nil
	o = toyOptions(newToy(1))
	o.Validate, o.Select = nil, SelectLast
	o.Hooks = Hooks{Every: time.Hour, OnStep: func(s StepInfo) { steps = append(steps, s) }}
	if _, err := Run(t.Context(), m, o); err != nil || len(steps) != 6 {
		t.Errorf("%v, %d calls", err, len(steps))
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"epochs":           {func(o *Options) { o.Epochs = 0 }, "Epochs is 0"},
		"optimizer":        {func(o *Options) { o.Optimizer = nil }, "Optimizer is missing"},
		"rate":             {func(o *Options) { o.Rate = math.NaN() }, "Rate is NaN"},
		"clip":             {func(o *Options) { o.ClipNorm = math.NaN() }, "ClipNorm is NaN"},
		"select":           {func(o *Options) { o.Select = 9 }, "Select is 9"},
		"select unvalid":   {func(o *Options) { o.Validate = nil }, "SelectBest needs Validate"},
		"stop unvalidated": {func(o *Options) { o.Validate, o.Select, o.Stop = nil, SelectLast, Stop{Rule: StopReset, Patience: 1} }, "early stopping needs Validate"},
		"patience":         {func(o *Options) { o.Stop.Rule = StopTotal }, "Patience is 0"},
		"rule":             {func(o *Options) { o.Stop.Rule = 7 }, "Stop.Rule is 7"},
		"cadence":          {func(o *Options) { o.SaveSteps = -1 }, "SaveSteps -1"},
		"primary":          {func(o *Options) { o.Primary = "recall" }, `Primary names "recall", Validate returned ["hit" "loss"]`},
		"watched":          {func(o *Options) { o.Stop = Stop{Rule: StopReset, Patience: 1, Metrics: []string{"x"}} }, `Stop.Metrics names "x"`},
	} {
		m := newToy(1)
		o := toyOptions(m)
		c.change(&o)
		_, err := Run(t.Context(), m, o)
		wantError(t, name, err, c.want)
	}
	m := newToy(1)
	m.W.Name = "item"
	_, err := Run(t.Context(), m, toyOptions(m))
	wantError(t, "names", err, `two parameters are named "item"`)
}

func TestNoGoroutineIsLeft(t *testing.T) {
	if _, err := Run(t.Context(), newToy(1), Options{Samples: 5, BatchSize: 2, Epochs: 1, Optimizer: &momentum{}, Rate: 0.1}); err != nil {
		t.Fatal(err) // brings up the pool of package tensor, which stays
	}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	m := newToy(1)
	o := toyOptions(m)
	o.Store = &memory{}
	ctx, cancel := context.WithCancel(t.Context())
	m.onLoss = func(b Batch) error {
		if b.Step == 4 {
			cancel()
		}
		return nil
	}
	if _, err := Run(ctx, m, o); !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
}

// idle costs the tape almost nothing, so that what is left is the loop's own.
type idle struct{ p *autograd.Param }

func (m idle) Params() []*autograd.Param { return []*autograd.Param{m.p} }
func (m idle) Loss(t *autograd.Tape, _ Batch) (*autograd.Node, error) {
	return t.Use(m.p).SumAll(), nil
}

type still struct{ momentum }

func (*still) Step([]*autograd.Param, *autograd.Grads, float64) error { return nil }

// idleRun trains n steps with hooks and a store that is due by time, never in the test.
func idleRun(tb testing.TB, n int) {
	o := Options{
		Samples: n * 10, BatchSize: 10, Shuffle: true, Epochs: 1, Optimizer: &still{}, Rate: 1,
		Hooks: Hooks{OnStep: func(StepInfo) {}}, Store: &memory{}, SaveEvery: time.Hour,
	}
	if _, err := Run(tb.Context(), idle{autograd.NewParam("p", 1, 1)}, o); err != nil {
		tb.Fatal(err)
	}
}

func TestStepsAllocateLittle(t *testing.T) {
	count := func(n int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		idleRun(t, n)
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	count(100)
	if each := float64(count(3000)-count(1000)) / 2000; each >= 10 {
		t.Errorf("%.1f allocations a step, the model's included; want below 10", each)
	}
}

func BenchmarkStepOverhead(b *testing.B) {
	b.ReportAllocs()
	idleRun(b, b.N)
}
