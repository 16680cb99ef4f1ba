package autograd_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/tensor"
)

func targetsIn(lo, hi, n int) []int32 {
	idx := make([]int32, n)
	for i := range idx {
		idx[i] = int32(lo + (i*7919+i*i*31)%(hi-lo))
	}
	if n > 0 {
		idx[0] = int32(lo) // the ends of the table
		idx[n-1] = int32(hi - 1)
	}
	return idx
}

// TestTiedCrossEntropy compares the tiled form with the one that materialises the logits, through
// one and several tiles and groups, with rows before the classes, and mixed with other uses.
func TestTiedCrossEntropy(t *testing.T) {
	for _, c := range []struct{ b, v, d, lo int }{
		{1, 1, 1, 0}, {3, 1, 2, 1}, {5, 63, 3, 0}, {7, 64, 4, 1}, {9, 65, 5, 0}, {4, 1100, 6, 1}, {2, 9000, 3, 2},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			table, h := param("table", c.v+c.lo, c.d), param("h", c.b, c.d)
			targets := targetsIn(c.lo, c.v+c.lo, c.b)
			class := make([]int32, c.b)
			rows := make([]int32, c.v)
			for i, k := range targets {
				class[i] = k - int32(c.lo)
			}
			for i := range rows {
				rows[i] = int32(i + c.lo)
			}
			run := func(loss func(tp tape) node) (l float64, de, dh tensor.Matrix) {
				tp := autograd.NewTape()
				tp.GuardNaN = true
				y := loss(tp)
				tp.Backward(y)
				return y.Scalar(), gradient(t, tp.Grads(), table), gradient(t, tp.Grads(), h)
			}
			for name, mix := range map[string]func(tp tape, l node) node{
				"alone": func(tp tape, l node) node { return l },
				"mixed": func(tp tape, l node) node {
					return l.Scale(0.3).Add(weigh(tp.Rows(table, targets))).Add(tp.Use(table).SumSq().Scale(0.01))
				},
			} {
				l1, e1, h1 := run(func(tp tape) node {
					return mix(tp, tp.TiedCrossEntropy(tp.Use(h), table, c.lo, targets))
				})
				l2, e2, h2 := run(func(tp tape) node {
					return mix(tp, tp.Use(h).MatMulT(tp.Use(table).Gather(rows)).CrossEntropy(class))
				})
				if !near(l1, l2) {
					t.Errorf("%s: loss %v, want %v", name, l1, l2)
				}
				for i := range e1.Data {
					if !near(float64(e1.Data[i]), float64(e2.Data[i])) {
						t.Fatalf("%s: table gradient %d: %v, want %v", name, i, e1.Data[i], e2.Data[i])
					}
				}
				for i := range h1.Data {
					if !near(float64(h1.Data[i]), float64(h2.Data[i])) {
						t.Fatalf("%s: h gradient %d: %v, want %v", name, i, h1.Data[i], h2.Data[i])
					}
				}
			}
		})
	}
}

func TestTiedCrossEntropyGradient(t *testing.T) {
	table, h := param("table", 131, 3), param("h", 4, 3)
	for name, loss := range map[string]func(tp tape) node{
		"mean": func(tp tape) node { return tp.TiedCrossEntropy(tp.Use(h), table, 1, []int32{1, 130, 64, 65}) },
		"twice": func(tp tape) node {
			x := tp.Use(h)
			a := tp.TiedCrossEntropy(x, table, 1, []int32{1, 130, 64, 65})
			return a.Add(tp.TiedCrossEntropy(x.Tanh(), table, 0, []int32{5, 6, 7, 0}).Scale(-0.5))
		},
		"of its own rows": func(tp tape) node {
			return tp.TiedCrossEntropy(tp.Rows(table, []int32{3, 3, 9}), table, 1, []int32{4, 5, 3})
		},
	} {
		if err := (gradcheck.Options{Max: 120}).Check(parms{table, h}, loss); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTiedCrossEntropyExtremes: no overflow for logits in the thousands, no rows, no gradient.
func TestTiedCrossEntropyExtremes(t *testing.T) {
	table := param("table", 200, 2)
	for i := range table.Value.Data {
		table.Value.Data[i] = 40
	}
	tensor.Scale(50, tensor.Row(table.Value, 7)) // logits 4e3·... against 80·...
	h := &autograd.Param{Name: "h", Value: tensor.From(2, 2, []tensor.Float{1, 1, -1, -1})}
	tp := autograd.NewTape()
	tp.GuardNaN = true
	l := tp.TiedCrossEntropy(tp.Use(h), table, 0, []int32{7, 3})
	want := (0 + math.Log(199)) / 2 // each row's mass: all on row 7; spread over all others
	if !near(l.Scalar(), want) {
		t.Errorf("loss %v, want %v", l.Scalar(), want)
	}
	tp.Backward(l)

	tp.Reset()
	empty := tp.TiedCrossEntropy(tp.Const(tensor.New(0, 2)), table, 1, nil)
	tp.Backward(empty)
	g, ok := tp.Grads().Dense(table)
	if n := tensor.SumSq(g.Data); empty.Scalar() != 0 || !ok || n != 0 {
		t.Errorf("no rows: loss %v, gradient norm %v", empty.Scalar(), n)
	}

	tp.Reset()
	tp.NoGrad = true
	if e := tp.TiedCrossEntropy(tp.Use(h), table, 0, []int32{7, 3}); !near(e.Scalar(), want) {
		t.Errorf("without gradients: loss %v, want %v", e.Scalar(), want)
	}
}

func TestTiedCrossEntropyMisuse(t *testing.T) {
	table, h := param("items", 5, 3), param("h", 2, 3)
	for _, c := range []struct {
		want    string
		h       *autograd.Param
		lo      int
		targets []int32
	}{
		{"target 0 at position 1 outside [1, 5)", h, 1, []int32{1, 0}},
		{"target 5", h, 1, []int32{5, 1}},
		{"3 targets", h, 1, []int32{1, 1, 1}},
		{"no class from row 5", h, 5, []int32{5, 5}},
		{"widths differ", param("h", 2, 4), 0, []int32{1, 1}},
	} {
		tp := autograd.NewTape()
		e := mustFail(t, func() { tp.TiedCrossEntropy(tp.Use(c.h), table, c.lo, c.targets) })
		if !strings.Contains(e.Error(), c.want) || !strings.Contains(e.Error(), "items") {
			t.Errorf("%v, want %q and the parameter", e, c.want)
		}
	}
}
