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

// gruNumbers returns the states and all gradients that f leaves.
func gruNumbers(t *testing.T, f func(t *autograd.Tape, gi, w, b *autograd.Node, start []int, update bool) *autograd.Node,
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
		{1, []int{1}}, {3, []int{4, 4, 2, 1}}, {5, []int{6}}, {20, many}, {64, slices.Repeat([]int{3}, 40)},
		{350, []int{3, 3, 2}},
	} {
		start := steps(c.lengths...)
		for _, update := range []bool{true, false} {
			tensor.SetWorkers(1)
			want := gruNumbers(t, gruSteps, c.d, start, update)
			for _, workers := range []int{1, 2, 5} {
				tensor.SetWorkers(workers)
				// Equal but for the sign of zeros, which no sum and no step of an optimiser keeps.
				if !slices.Equal(gruNumbers(t, (*autograd.Tape).GRUStates, c.d, start, update), want) {
					t.Errorf("width %d, %d sequences, update %v, %d workers: other bits", c.d, len(c.lengths), update,
						workers)
				}
			}
		}
	}
}

// Steps that do not cover the rows, or of more sequences than the step before, are refused.
func TestGRUStatesRefuse(t *testing.T) {
	for _, start := range [][]int{nil, {0, 2}, {1, 3}, {0, 1, 3}, {0, 4, 3}} {
		tape := autograd.NewTape()
		e := mustFail(t, func() {
			tape.GRUStates(tape.Use(param("gi", 3, 6)), tape.Use(param("w", 6, 2)), tape.Use(param("b", 1, 6)), start, true)
		})
		if e.Op != "gruStates" {
			t.Errorf("%v: error of %s: %v", start, e.Op, e)
		}
	}
}
