package autograd_test

import (
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// steps returns the places where steps begin, of sequences of these lengths, longest first.
func steps(lengths ...int) []int {
	start := []int{0}
	for p := 0; p < lengths[0]; p++ {
		n := 0
		for n < len(lengths) && lengths[n] > p {
			n++
		}
		start = append(start, start[p]+n)
	}
	return start
}

// gruSteps computes GRUStates by one operation for each step and gate.
func gruSteps(t *autograd.Tape, gi, w, b *autograd.Node, start []int, update bool) *autograd.Node {
	h := t.Const(t.BufferZero(start[1], w.Cols()))
	var states []*autograd.Node
	for p := range len(start) - 1 {
		lo, hi := start[p], start[p+1]
		if hi-lo < h.Rows() {
			h = h.SliceRows(0, hi-lo)
		}
		h = t.GRUGates(gi.SliceRows(lo, hi), h.Linear(w, b), h, update)
		states = append(states, h)
	}
	return t.StackRows(states...)
}

// gruStepsBefore computes GRUStatesBefore in the same way.
func gruStepsBefore(t *autograd.Tape, gi, w, b *autograd.Node, start []int, _ bool) *autograd.Node {
	d := w.Cols()
	h := t.Const(t.BufferZero(start[1], d))
	var states []*autograd.Node
	for p := range len(start) - 1 {
		lo, hi := start[p], start[p+1]
		x, h0 := gi.SliceRows(lo, hi), h.SliceRows(0, hi-lo)
		rz := x.SliceCols(0, 2*d).Add(h0.Linear(w.SliceRows(0, 2*d), b.SliceCols(0, 2*d))).Sigmoid()
		r, z := rz.SliceCols(0, d), rz.SliceCols(d, 2*d)
		u := r.Mul(h0).Linear(w.SliceRows(2*d, 3*d), b.SliceCols(2*d, 3*d))
		h = h0.Add(z.Mul(x.SliceCols(2*d, 3*d).Add(u).Tanh().Sub(h0)))
		states = append(states, h)
	}
	return t.StackRows(states...)
}

func gruStatesBefore(t *autograd.Tape, gi, w, b *autograd.Node, start []int, _ bool) *autograd.Node {
	return t.GRUStatesBefore(gi, w, b, start)
}

// gruNumbers returns the states and all gradients that f leaves.
func gruNumbers(t *testing.T,
	f func(t *autograd.Tape, gi, w, b *autograd.Node, start []int, update bool) *autograd.Node,
	d int, start []int, update bool) []tensor.Float {
	n := start[len(start)-1]
	ps := []*autograd.Param{param("gi", n, 3*d), param("w", 3*d, d), param("b", 1, 3*d)}
	tape := autograd.NewTape()
	var all []tensor.Float
	for range 2 { // the second time in used memory
		tape.Reset()
		y := f(tape, tape.Use(ps[0]), tape.Use(ps[1]), tape.Use(ps[2]), start, update)
		all = slices.Clone(y.V.Data)
		tape.Backward(weigh(y))
		for _, p := range ps {
			all = append(all, gradient(t, tape.Grads(), p).Data...)
		}
	}
	return all
}

// The bits are those of one operation for each step and gate, for any number of workers: of one sequence, of more than
// a core takes at a time, with steps of equal and of falling width, and where products may be cut.
func TestGRUStatesEqualSteps(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	many := make([]int, 75)
	for i := range many {
		many[i] = 1 + (len(many)-i)/8
	}
	for _, c := range []struct {
		d       int
		lengths []int
	}{
		{1, []int{1}}, {3, []int{4, 4, 2, 1}}, {5, []int{6}}, {20, many}, {64, slices.Repeat([]int{3}, 140)},
		{350, []int{3, 3, 2}}, {520, []int{2, 2, 1}},
	} {
		start := steps(c.lengths...)
		for _, f := range []struct {
			name        string
			steps, once func(t *autograd.Tape, gi, w, b *autograd.Node, start []int, update bool) *autograd.Node
			update      bool
		}{
			{"update", gruSteps, (*autograd.Tape).GRUStates, true},
			{"keep", gruSteps, (*autograd.Tape).GRUStates, false},
			{"reset before", gruStepsBefore, gruStatesBefore, true},
		} {
			tensor.SetWorkers(1)
			want := gruNumbers(t, f.steps, c.d, start, f.update)
			for _, workers := range []int{1, 2, 5} {
				tensor.SetWorkers(workers)
				// Equal but for the sign of zeros, which no sum and no step of an optimiser keeps.
				if !slices.Equal(gruNumbers(t, f.once, c.d, start, f.update), want) {
					t.Errorf("width %d, %d sequences, %s, %d workers: other bits", c.d, len(c.lengths), f.name, workers)
				}
			}
		}
	}
}

// No sequences have no states, and gradients of zero.
func TestGRUStatesOfNothing(t *testing.T) {
	for _, start := range [][]int{{0}, {0, 0}} {
		for _, f := range []func(*autograd.Tape, *autograd.Node, *autograd.Node, *autograd.Node, []int,
			bool) *autograd.Node{(*autograd.Tape).GRUStates, gruStatesBefore} {
			tape, w := autograd.NewTape(), param("w", 6, 2)
			y := f(tape, tape.Use(param("gi", 0, 6)), tape.Use(w), tape.Use(param("b", 1, 6)), start, true)
			tape.Backward(y.SumAll())
			if g := gradient(t, tape.Grads(), w); y.Rows() != 0 || slices.ContainsFunc(g.Data,
				func(v tensor.Float) bool { return v != 0 }) {
				t.Errorf("%v: %d rows, gradient %v", start, y.Rows(), g.Data)
			}
		}
	}
}

// Steps that do not cover the rows, or of more sequences than the step before, are refused.
func TestGRUStatesRefuse(t *testing.T) {
	for _, start := range [][]int{nil, {0, 2}, {1, 3}, {0, 1, 3}, {0, 4, 3}} {
		tape := autograd.NewTape()
		e := mustFail(t, func() {
			gi, w, b := param("gi", 3, 6), param("w", 6, 2), param("b", 1, 6)
			tape.GRUStates(tape.Use(gi), tape.Use(w), tape.Use(b), start, true)
		})
		if e.Op != "gruStates" {
			t.Errorf("%v: error of %s: %v", start, e.Op, e)
		}
	}
}
