package gradcheck_test

import (
	"errors"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/tensor"
)

// cube is x³ with a derivative that is wrong by the factor given.
func cube(factor tensor.Float) func(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	return func(t *autograd.Tape, x *autograd.Node) *autograd.Node {
		y := t.Fused("cube", x.Rows(), x.Cols(), x)
		for i, v := range x.V.Data {
			y.V.Data[i] = v * v * v
		}
		return t.Custom("cube", y, func() {
			g := x.AddGrad()
			for i, v := range x.V.Data {
				g.Data[i] += factor * 3 * v * v * y.G.Data[i]
			}
		})
	}
}

func TestCheckFindsFaults(t *testing.T) {
	p := autograd.NewParam("x", 2, 2)
	copy(p.Value.Data, []tensor.Float{0.5, -1, 2, 1.5})
	before := append([]tensor.Float(nil), p.Value.Data...)
	check := func(factor tensor.Float) error {
		return gradcheck.Check([]*autograd.Param{p}, func(tp *autograd.Tape) *autograd.Node {
			return cube(factor)(tp, tp.Use(p)).SumAll()
		})
	}
	if err := check(1); err != nil {
		t.Errorf("right derivative: %v", err)
	}
	for _, f := range []tensor.Float{0, -1, 0.95, 1.05} {
		var m *gradcheck.Mismatch
		if err := check(f); !errors.As(err, &m) || !strings.Contains(err.Error(), "x[0][0]") {
			t.Errorf("derivative times %v: %v", f, err)
		}
	}
	for i, v := range before {
		if p.Value.Data[i] != v {
			t.Fatal("values not restored")
		}
	}
}

func TestCheckSparseAndUnused(t *testing.T) {
	p, q := autograd.NewParam("table", 4, 2), autograd.NewParam("unused", 1, 1)
	for i := range p.Value.Data {
		p.Value.Data[i] = tensor.Float(i) / 4
	}
	err := gradcheck.Check([]*autograd.Param{p, q}, func(tp *autograd.Tape) *autograd.Node {
		return tp.Rows(p, []int32{3, 1, 3}).Tanh().SumAll()
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMaxSpreads breaks the gradient of one column after the other: a part of the elements, as many as
// there are rows, still meets each of them.
func TestMaxSpreads(t *testing.T) {
	const rows, cols = 64, 8
	p := autograd.NewParam("x", rows, cols)
	for i := range p.Value.Data {
		p.Value.Data[i] = 0.5
	}
	for broken := range cols {
		err := gradcheck.Options{Max: rows}.Check([]*autograd.Param{p}, func(tp *autograd.Tape) *autograd.Node {
			x := tp.Use(p)
			y := tp.Fused("double", rows, cols, x)
			for i, v := range x.V.Data {
				y.V.Data[i] = 2 * v
			}
			return tp.Custom("double", y, func() {
				g := x.AddGrad()
				for i := range g.Data {
					if i%cols != broken {
						g.Data[i] += 2 * y.G.Data[i]
					}
				}
			}).SumAll()
		})
		if err == nil {
			t.Errorf("a wrong column %d went unnoticed", broken)
		}
	}
}
