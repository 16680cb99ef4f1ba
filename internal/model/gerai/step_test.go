package gerai

import (
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// A step without a gradient makes no transpose, and one with a gradient makes the transpose that
// its edges have.
func TestTransposeWhereWanted(t *testing.T) {
	g, x := random(t, 20, 30, 0.3)
	m := build(t, g, x, Default(), nn.Uniform(2, 0.5))
	for _, without := range []bool{true, false} {
		tape := autograd.NewTape()
		tape.NoGrad = without
		if _, err := m.Loss(tape, 0, draw(g, 8), Objective{}); err != nil {
			t.Fatal(err)
		}
		if without {
			if len(m.plan.back.Idx) != 0 {
				t.Error("a transpose that nothing reads")
			}
			continue
		}
		to, back := m.plan.to, m.plan.back
		if back.Rows != to.Cols || len(back.Idx) != len(to.Idx) {
			t.Fatalf("transpose of %d nodes and %d edges, want %d and %d", back.Rows, len(back.Idx), to.Cols, len(to.Idx))
		}
		for c := range to.Rows {
			for e := to.Ptr[c]; e < to.Ptr[c+1]; e++ {
				v, k := to.Idx[e], int64(m.plan.across[e])
				if k < back.Ptr[v] || k >= back.Ptr[v+1] || back.Idx[k] != int32(c) {
					t.Fatalf("edge %d of centre %d and node %d is at %d of the transpose", e, c, v, k)
				}
			}
		}
	}
}

// The gradient of the penalty is 2 Gamma/Sum times the parameter, to the bit where nothing else
// has a gradient, and the loss has the sum of all squares.
func TestPenalty(t *testing.T) {
	g, x := random(t, 20, 300, 0.1)
	m := build(t, g, x, Default(), nn.Uniform(2, 0.5))
	o := Objective{Gamma: 3, Sum: 7}
	without, with := gradients(t, m, draw(g, 2), Objective{}), gradients(t, m, draw(g, 2), o)
	sum := 0.0
	for _, p := range m.Params() {
		sum += tensor.SumSq(p.Value.Data)
		for i, d := range without[p.Name] {
			if want := 2 * tensor.Float(o.Gamma/o.Sum) * p.Value.Data[i]; d == 0 && with[p.Name][i] != want {
				t.Fatalf("element %d of %s: %v, want %v", i, p.Name, with[p.Name][i], want)
			}
		}
	}
	if got, want := float64(with["loss"][0]-without["loss"][0]), sum*o.Gamma/o.Sum; math.Abs(got-want) > 1e-4*want {
		t.Errorf("the penalty is %v, want %v", got, want)
	}
}

// Every parameter is on the tape before the sections of a step begin, none twice.
func TestEnter(t *testing.T) {
	g, x := random(t, 9, 12, 0.4)
	m, tape := build(t, g, x, Default(), nn.Zeros), autograd.NewTape()
	m.enter(tape)
	got := map[*autograd.Param]bool{}
	for i := range tape.Grads().Len() {
		got[tape.Grads().Param(i)] = true
	}
	for _, p := range m.Params() {
		if !got[p] {
			t.Errorf("%s is missing", p.Name)
		}
	}
	if len(got) != len(m.Params()) || tape.Len() != len(got) {
		t.Errorf("%d parameters and %d nodes, want %d", len(got), tape.Len(), len(m.Params()))
	}
}
