package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// outcome is everything a run leaves, as bytes.
func outcome(m *toy, r *Result, s *memory) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %d %d %v\n", r.Epochs, r.Steps, r.Best, r.Stopped)
	for _, p := range m.Params() {
		fmt.Fprintf(&b, "%x\n", p.Value.Data)
	}
	b.Write(m.ledger.events)
	b.WriteByte('\n')
	b.Write(flatten(s.c))
	return b.Bytes()
}

// whole is the outcome of the run that nothing disturbs.
func whole(t *testing.T, change func(*Options)) []byte {
	t.Helper()
	m, s := newToy(1), &memory{}
	o := toyOptions(m)
	o.Store = s
	change(&o)
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return outcome(m, r, s)
}

// resumed runs on from the store to the end. The model starts from other values and the optimiser afresh,
// so that anything not restored shows.
func resumed(t *testing.T, s *memory, change func(*Options)) []byte {
	t.Helper()
	m := newToy(rng.Seed(99))
	m.ledger.events = []byte("stale")
	o := toyOptions(m)
	o.Store = s
	change(&o)
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Resumed {
		t.Error("the run did not resume")
	}
	return outcome(m, r, s)
}

// variants are option sets that a resumed run must reproduce.
var variants = map[string]func(*Options){
	"all":         func(*Options) {},
	"last":        func(o *Options) { o.Select = SelectLast },
	"unvalidated": func(o *Options) { o.Select, o.Validate = SelectLast, nil },
	"early best": func(o *Options) {
		o.Primary = ""
		o.Validate = func(_ context.Context, epoch int) ([]Score, error) {
			return []Score{{Name: "falling", Value: -float64(epoch)}}, nil
		}
	},
	"dropped": func(o *Options) { o.DropLast = true },
	"clipped": func(o *Options) { o.ClipNorm = 0.05 },
	"stopping": func(o *Options) {
		o.Epochs, o.Stop = 6, Stop{Rule: StopTotal, Patience: 2, Metrics: []string{"hit"}}
	},
}

const toySteps = 15 // of the variants that keep the last batch

// TestInterruptedAnywhere ends the context at each step in turn and resumes.
func TestInterruptedAnywhere(t *testing.T) {
	for name, change := range variants {
		want := whole(t, change)
		for at := 0; at <= toySteps; at++ {
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("stopped by hand")
			if at == 0 {
				cancel(cause)
			}
			m, s := newToy(1), &memory{}
			o := toyOptions(m)
			o.Store = s
			o.Hooks = Hooks{Every: -1, OnStep: func(i StepInfo) {
				if i.Step == at {
					cancel(cause)
				}
			}}
			change(&o)
			r, err := Run(ctx, m, o)
			if err == nil { // the run ended before, or with, the interruption
				if got := outcome(m, r, s); !bytes.Equal(got, want) {
					t.Errorf("%s, uninterrupted at %d: differs", name, at)
				}
				continue
			}
			if !errors.Is(err, ErrInterrupted) || !errors.Is(err, cause) {
				t.Fatalf("%s, step %d: %v", name, at, err)
			}
			if _, _, step, done, err := s.c.Position(); err != nil || step != at || done {
				t.Errorf("%s: saved at step %d (%v, %v), want %d", name, step, done, err, at)
			}
			if got := resumed(t, s, change); !bytes.Equal(got, want) {
				t.Errorf("%s, interrupted at step %d: the resumed run differs\n%.300s\n%.300s", name, at, got, want)
			}
		}
	}
}

var errKilled = errors.New("killed")

// TestKilledAnywhere dies inside each step in turn, under several cadences, some of which leave steps to
// be repeated, and resumes from what the store holds.
func TestKilledAnywhere(t *testing.T) {
	for name, change := range variants {
		want := whole(t, change)
		for _, cadence := range []int{0, 1, 2, 3, 7} {
			for at := range toySteps {
				m, s := newToy(1), &memory{}
				o := toyOptions(m)
				o.Store, o.SaveSteps = s, cadence
				change(&o)
				m.onLoss = func(b Batch) error {
					if b.Step == at {
						return errKilled
					}
					return nil
				}
				if _, err := Run(t.Context(), m, o); err == nil {
					continue
				} else if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				if s.c == nil { // nothing saved yet: the run starts over, from the same values
					m, s := newToy(1), &memory{}
					o := toyOptions(m)
					o.Store, o.SaveSteps = s, cadence
					change(&o)
					if r, err := Run(t.Context(), m, o); err != nil || !bytes.Equal(outcome(m, r, s), want) {
						t.Fatal(name, cadence, at, err)
					}
					continue
				}
				if got := resumed(t, s, func(o *Options) { change(o); o.SaveSteps = cadence }); !bytes.Equal(got, want) {
					t.Errorf("%s, cadence %d, killed in step %d: the resumed run differs", name, cadence, at)
				}
			}
		}
	}
}

func TestInterruptedInValidation(t *testing.T) {
	want := whole(t, variants["all"])
	for at := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		m, s := newToy(1), &memory{}
		o := toyOptions(m)
		o.Store = s
		validate := o.Validate
		o.Validate = func(ctx context.Context, epoch int) ([]Score, error) {
			scores, err := validate(ctx, epoch) // its ledger entry is made before it is cut short
			if epoch == at {
				cancel()
				return nil, ctx.Err()
			}
			return scores, err
		}
		if _, err := Run(ctx, m, o); !errors.Is(err, ErrInterrupted) || !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if got := resumed(t, s, variants["all"]); !bytes.Equal(got, want) {
			t.Errorf("interrupted in validation of epoch %d: the resumed run differs", at)
		}
	}
}

// TestInterruptedTwice breaks a run off every second step.
func TestInterruptedTwice(t *testing.T) {
	want, s := whole(t, variants["all"]), &memory{}
	for round := 0; ; round++ {
		m := newToy(rng.Seed(1 + 10*round))
		ctx, cancel := context.WithCancel(t.Context())
		o := toyOptions(m)
		o.Store = s
		steps := 0
		m.onLoss = func(Batch) error {
			if steps++; steps == 2 {
				cancel()
			}
			return nil
		}
		r, err := Run(ctx, m, o)
		cancel()
		if err == nil {
			if got := outcome(m, r, s); !bytes.Equal(got, want) {
				t.Error("differs")
			}
			if round != 7 {
				t.Errorf("%d rounds", round)
			}
			return
		}
		if !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
	}
}

func TestFinishedRunReturnsAtOnce(t *testing.T) {
	m, s := newToy(1), &memory{}
	o := toyOptions(m)
	o.Store = s
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	want, saves := outcome(m, r, s), s.saves
	if got := resumed(t, s, variants["all"]); !bytes.Equal(got, want) {
		t.Error("the finished run came back different")
	}
	if s.saves != saves {
		t.Error("the finished run was saved again")
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	var want []byte
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		got := whole(t, variants["all"])
		if want == nil {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("%d workers differ from one", workers)
		}
	}
}

func TestCadenceDoesNotMatter(t *testing.T) {
	want := whole(t, variants["all"])
	for _, change := range []func(*Options){
		func(o *Options) { o.SaveSteps = 1 },
		func(o *Options) { o.SaveSteps = 4 },
		func(o *Options) { o.SaveEvery = 1 },
		func(o *Options) { o.SaveEvery = time.Hour },
	} {
		if got := whole(t, change); !bytes.Equal(got, want) {
			t.Error("the cadence of checkpoints changed the run")
		}
	}
	if len(want) < 1000 || bytes.Equal(want, whole(t, func(o *Options) { o.Seed++ })) {
		t.Error("the comparison cannot fail: another seed gives the same outcome")
	}
}

func TestSelected(t *testing.T) {
	for _, selection := range []Selection{SelectLast, SelectBest} {
		m, s := newToy(1), &memory{}
		o := toyOptions(m)
		o.Epochs, o.Store, o.Select = 4, s, selection
		if _, err := Run(t.Context(), m, o); err != nil {
			t.Fatal(err)
		}
		other := newToy(5)
		if err := s.c.Selected(other.Params()); err != nil {
			t.Fatal(err)
		}
		for i, p := range other.Params() {
			if fmt.Sprint(p.Value) != fmt.Sprint(m.Params()[i].Value) {
				t.Errorf("selection %d: %s differs from the trained model", selection, p.Name)
			}
		}
		h, err := s.c.History()
		if err != nil || len(h) != 4 {
			t.Error(h, err)
		}
		other.W.Name = "elsewhere"
		wantError(t, "names", s.c.Selected(other.Params()), `elsewhere" is missing`)
	}
}

func TestCheckpointsOfOtherRunsAreRefused(t *testing.T) {
	m, s := newToy(1), &memory{}
	o := toyOptions(m)
	o.Store, o.SaveSteps = s, 1
	m.onLoss = func(b Batch) error {
		if b.Step == 8 {
			return errKilled
		}
		return nil
	}
	if _, err := Run(t.Context(), m, o); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	good := cloneCheckpoint(s.c)
	replace := func(old, new string) func(*Checkpoint) {
		return func(c *Checkpoint) {
			if !bytes.Contains(c.State, []byte(old)) {
				t.Fatalf("%s lacks %s", c.State, old)
			}
			c.State = bytes.Replace(c.State, []byte(old), []byte(new), 1)
		}
	}
	rename := func(from, to string) func(*Checkpoint) {
		return func(c *Checkpoint) {
			for i := range c.Tensors {
				if c.Tensors[i].Name == from {
					c.Tensors[i].Name = to
				}
			}
		}
	}
	for name, c := range map[string]struct {
		options    func(*Options)
		checkpoint func(*Checkpoint)
		want       string
	}{
		"samples":       {options: func(o *Options) { o.Samples = 26 }, want: "samples is 25 there and 26 here"},
		"batch":         {options: func(o *Options) { o.BatchSize = 5 }, want: "batch size is 6 there and 5 here"},
		"drop":          {options: func(o *Options) { o.DropLast = true }, want: "drop last"},
		"shuffle":       {options: func(o *Options) { o.Shuffle = false }, want: "shuffle"},
		"seed":          {options: func(o *Options) { o.Seed++ }, want: "seed is 4 there and 5 here"},
		"epochs":        {options: func(o *Options) { o.Epochs = 5 }, want: "epochs is 3 there and 5 here"},
		"selection":     {options: func(o *Options) { o.Select = SelectLast }, want: "selection"},
		"configuration": {options: func(o *Options) { o.Tag = "other" }, want: "configuration is toy there and other here"},
		"extra":         {options: func(o *Options) { o.Extra = nil }, want: "extra state"},
		"missing":       {checkpoint: func(c *Checkpoint) { c.Tensors = c.Tensors[1:] }, want: `tensor "param/item" is missing`},
		"renamed":       {checkpoint: rename("param/map", "param/mop"), want: `tensor "param/map" is missing`},
		"surplus": {checkpoint: func(c *Checkpoint) {
			c.Tensors = append(c.Tensors, autograd.NamedTensor{Name: "param/more", Value: tensor.New(1, 1)})
		}, want: `"param/more" belongs to no parameter`},
		"twice": {checkpoint: func(c *Checkpoint) { c.Tensors = append(c.Tensors, c.Tensors[0]) }, want: `"param/item" occurs twice`},
		"unknown": {checkpoint: func(c *Checkpoint) {
			c.Tensors = append(c.Tensors, autograd.NamedTensor{Name: "what", Value: tensor.New(1, 1)})
		}, want: `unknown tensor "what"`},
		"shape":       {checkpoint: func(c *Checkpoint) { c.Tensors[0].Value = tensor.New(12, 4) }, want: `"param/item" is 12x4, the model's parameter is 12x5`},
		"best shape":  {checkpoint: func(c *Checkpoint) { c.Tensors[3].Value = tensor.New(2, 5) }, want: `"best/item" is 2x5`},
		"best absent": {checkpoint: replace(`"best":0`, `"best":-1`), want: "names no best epoch"},
		"optimiser":   {checkpoint: rename("optim/map", "optim/surplus"), want: `optimiser: no parameter for state "surplus"`},
		"not JSON":    {checkpoint: func(c *Checkpoint) { c.State = c.State[:20] }, want: "checkpoint: state"},
		"field":       {checkpoint: replace(`"step"`, `"stop_at"`), want: "unknown field"},
		"version":     {checkpoint: replace(`"version":1`, `"version":2`), want: "version 2, this program reads 1"},
		"sum":         {checkpoint: replace(`"loss_sum":"`, `"loss_sum":"z`), want: "16 hexadecimal digits"},
		"step":        {checkpoint: replace(`"step":8`, `"step":9`), want: "step 9"},
		"batches":     {checkpoint: replace(`"batch":3`, `"batch":6`), want: "batch 6 of 5"},
		"epoch":       {checkpoint: replace(`"epoch":1`, `"epoch":2`), want: "at epoch 2 with 1 behind it"},
		"done":        {checkpoint: replace(`"done":false`, `"done":true`), want: "done is true"},
		"best":        {checkpoint: replace(`"best":0`, `"best":1`), want: "best epoch 1 of 1"},
	} {
		m := newToy(2)
		before := fmt.Sprint(m.E.Value, m.W.Value, m.B.Value)
		bad := cloneCheckpoint(good)
		if c.checkpoint != nil {
			c.checkpoint(bad)
		}
		o := toyOptions(m)
		o.Store = &memory{c: bad}
		if c.options != nil {
			c.options(&o)
		}
		_, err := Run(t.Context(), m, o)
		wantError(t, name, err, "train: resume: checkpoint", c.want)
		if fmt.Sprint(m.E.Value, m.W.Value, m.B.Value) != before {
			t.Errorf("%s: a refused checkpoint changed the model", name)
		}
	}
}

func TestStoreErrors(t *testing.T) {
	m := newToy(1)
	o := toyOptions(m)
	full := errors.New("disk full")
	o.Store, o.SaveSteps = &memory{fail: full}, 7
	_, err := Run(t.Context(), m, o)
	if !errors.Is(err, full) {
		t.Error(err)
	}
	wantError(t, "full disk", err, "checkpoint at epoch 1, batch 5: disk full")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = Run(ctx, m, o); !errors.Is(err, ErrInterrupted) || !errors.Is(err, ErrNotSaved) || !errors.Is(err, full) {
		t.Error(err)
	}
}

// FuzzState feeds a run states of all kinds: it must refuse them or go on, and never panic.
func FuzzState(f *testing.F) {
	m, s := newToy(1), &memory{}
	o := toyOptions(m)
	o.Store, o.SaveSteps = s, 1
	m.onLoss = func(b Batch) error {
		f.Add([]byte(s.state()))
		if b.Step == 12 {
			return errKilled
		}
		return nil
	}
	if _, err := Run(f.Context(), m, o); !errors.Is(err, errKilled) {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		m := newToy(2)
		o := toyOptions(m)
		c := cloneCheckpoint(s.c)
		c.State = state
		o.Store = &memory{c: c}
		r, err := Run(t.Context(), m, o)
		if err == nil && len(r.Epochs) != 3 {
			t.Errorf("%d epochs", len(r.Epochs))
		}
	})
}

// state is what the store holds, empty before the first checkpoint.
func (s *memory) state() string {
	if s.c == nil {
		return ""
	}
	return string(s.c.State)
}
