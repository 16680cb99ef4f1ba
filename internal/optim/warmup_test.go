package optim_test

import (
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/optim"
	"privrec/internal/tensor"
)

// The factor rises in a line to 1 and stays there, for steps that the inner optimiser has taken before too.
func TestLinearRise(t *testing.T) {
	p := autograd.NewParam("w", 1, 1)
	inner := &optim.SGD{}
	s := optim.LinearRise{Optimizer: inner, WarmUp: 4}
	for k, want := range []float64{0.25, 0.5, 0.75, 1, 1} { // the loss is w, its gradient 1
		if k == 2 { // as a resumed run has it
			s = optim.LinearRise{Optimizer: inner, WarmUp: 4}
		}
		before := p.Value.Data[0]
		tape := autograd.NewTape()
		tape.Backward(tape.Use(p))
		if err := s.Step([]*autograd.Param{p}, tape.Grads(), 1); err != nil {
			t.Fatal(err)
		}
		if got := float64(before - p.Value.Data[0]); math.Abs(got-want) > 1e-6 || s.Factor(k+1) != want {
			t.Errorf("step %d: %v and factor %v, want %v", k+1, got, s.Factor(k+1), want)
		}
	}
}

// TestInverseRoot: the factor at hand-computed steps, and steps of SGD that show it, also after the
// state went into a second optimiser.
func TestInverseRoot(t *testing.T) {
	s := optim.InverseRoot{WarmUp: 4000}
	for step, want := range map[int]float64{1: 1 / (4000 * math.Sqrt(4000)), 1000: 0.25 / math.Sqrt(4000), 4000: 1 / math.Sqrt(4000), 16000: 1.0 / math.Sqrt(16000)} {
		if got := s.Factor(step); math.Abs(got-want) > 1e-15 {
			t.Errorf("factor of step %d: %v, want %v", step, got, want)
		}
	}
	if peak := 1e-4 * s.Factor(4000); math.Abs(peak-1.58e-6) > 1e-8 { // what the released program of the exposure attack comes to
		t.Errorf("peak %v, want 1.58e-6", peak)
	}
	p := autograd.NewParam("w", 1, 1)
	step := func(o optim.Optimizer) float64 { // the loss is w, its gradient 1
		before := p.Value.Data[0]
		tape := autograd.NewTape()
		tape.Backward(tape.Use(p))
		if err := o.Step([]*autograd.Param{p}, tape.Grads(), 1); err != nil {
			t.Fatal(err)
		}
		return float64(before - p.Value.Data[0])
	}
	one := optim.InverseRoot{Optimizer: &optim.SGD{}, WarmUp: 2}
	for k, want := range []float64{0.5 / math.Sqrt2, 1 / math.Sqrt2} {
		if got := step(one); math.Abs(got-want) > 1e-6 {
			t.Errorf("step %d: %v, want %v", k+1, got, want)
		}
	}
	var state []autograd.NamedTensor
	for _, x := range one.State() {
		v := tensor.New(x.Value.Rows, x.Value.Cols)
		copy(v.Data, x.Value.Data)
		state = append(state, autograd.NamedTensor{Name: x.Name, Value: v})
	}
	two := optim.InverseRoot{Optimizer: &optim.SGD{}, WarmUp: 2}
	if err := two.Load(state); err != nil {
		t.Fatal(err)
	}
	if got, want := step(two), 1/math.Sqrt(3); math.Abs(got-want) > 1e-6 {
		t.Errorf("resumed step: %v, want %v", got, want)
	}
}
