package autograd_test

import (
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

type (
	tape  = *autograd.Tape
	node  = *autograd.Node
	parms = []*autograd.Param
)

// opCase is one operation at one combination of shapes. build gets the parameters, of the shapes
// listed, as dense leaves.
type opCase struct {
	name   string
	shapes [][2]int
	build  func(t tape, x []node) node
	set    func(p parms) // moves values away from, or onto, a kink
}

func positive(p parms) {
	for _, q := range p {
		for i, v := range q.Value.Data {
			q.Value.Data[i] = v*v + 0.3
		}
	}
}

// apart moves values near zero away from it, so that a step does not cross the kink.
func apart(p parms) {
	for _, q := range p {
		for i, v := range q.Value.Data {
			if v > -0.1 && v < 0.1 {
				q.Value.Data[i] = 0.5
			}
		}
	}
}

// norms scales row i of every parameter to norm n[i].
func norms(n ...float64) func(parms) {
	return func(p parms) {
		for _, q := range p {
			tensor.NormalizeRows(q.Value, q.Value, 1, 1e-12, make([]tensor.Float, q.Value.Rows))
			for i, v := range n {
				tensor.Scale(tensor.Float(v), tensor.Row(q.Value, i))
			}
		}
	}
}

var (
	offsets  = []int32{0, 2, 2, 5, 6, 6}
	repeated = []int32{2, 0, 2, 1, 2, 0}
	src      = []int32{0, 1, 1, 3, 3, 0}
	dst      = []int32{2, 0, 0, 3, 1, 2}
	weights  = []tensor.Float{0.5, 1, -2, 1.5, 0.25, 3}
	sparse   = must(tensor.FromTriplets(5, 4, dst, src, weights))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func opCases() []opCase {
	sq := [2]int{4, 4}
	m := [2]int{6, 3}
	cases := []opCase{
		{"add", [][2]int{m, m}, func(t tape, x []node) node { return x[0].Add(x[1]) }, nil},
		{"sub", [][2]int{m, m}, func(t tape, x []node) node { return x[0].Sub(x[1]) }, nil},
		{"mul", [][2]int{m, m}, func(t tape, x []node) node { return x[0].Mul(x[1]) }, nil},
		{"add itself", [][2]int{m}, func(t tape, x []node) node { return x[0].Add(x[0]) }, nil},
		{"sub itself", [][2]int{m}, func(t tape, x []node) node { return x[0].Sub(x[0]).Add(x[0]) }, nil},
		{"square", [][2]int{m}, func(t tape, x []node) node { return x[0].Mul(x[0]) }, nil},
		{"used four times", [][2]int{m}, func(t tape, x []node) node {
			y := x[0].Tanh()
			return y.Mul(y).Add(y).Add(y.Sigmoid()).Sub(x[0])
		}, nil},
		{"addRow", [][2]int{m, {1, 3}}, func(t tape, x []node) node { return x[0].AddRow(x[1]) }, nil},
		{"addRow to one row", [][2]int{{1, 3}, {1, 3}}, func(t tape, x []node) node { return x[0].AddRow(x[1]) }, nil},
		{"mulCol", [][2]int{m, {6, 1}}, func(t tape, x []node) node { return x[0].MulCol(x[1]) }, nil},
		{"rowDot", [][2]int{m, m}, func(t tape, x []node) node { return x[0].RowDot(x[1]) }, nil},
		{"rowDot with one row", [][2]int{m, {1, 3}}, func(t tape, x []node) node { return x[0].RowDot(x[1]) }, nil},
		{"rowDot itself", [][2]int{m}, func(t tape, x []node) node { return x[0].RowDot(x[0]) }, nil},
		{"scale", [][2]int{m}, func(t tape, x []node) node { return x[0].Scale(-1.7) }, nil},
		{"scale by zero", [][2]int{m}, func(t tape, x []node) node { return x[0].Scale(0).Add(x[0]) }, nil},
		{"matmul", [][2]int{{5, 3}, {3, 4}}, func(t tape, x []node) node { return x[0].MatMul(x[1]) }, nil},
		{"matmul itself", [][2]int{sq}, func(t tape, x []node) node { return x[0].MatMul(x[0]) }, nil},
		{"matmul row by column", [][2]int{{1, 3}, {3, 1}}, func(t tape, x []node) node { return x[0].MatMul(x[1]) }, nil},
		{"matmul inner one", [][2]int{{4, 1}, {1, 3}}, func(t tape, x []node) node { return x[0].MatMul(x[1]) }, nil},
		{"matmulT", [][2]int{{5, 3}, {4, 3}}, func(t tape, x []node) node { return x[0].MatMulT(x[1]) }, nil},
		{"matmulT itself", [][2]int{{4, 3}}, func(t tape, x []node) node { return x[0].MatMulT(x[0]) }, nil},
		{"matmulT with one row", [][2]int{{5, 3}, {1, 3}}, func(t tape, x []node) node { return x[0].MatMulT(x[1]) }, nil},
		{"matmulT of one row, itself", [][2]int{{1, 3}}, func(t tape, x []node) node { return x[0].MatMulT(x[0]) }, nil},
		{"linear", [][2]int{{5, 3}, {4, 3}, {1, 4}}, func(t tape, x []node) node { return x[0].Linear(x[1], x[2]) }, nil},
		{"linear without bias", [][2]int{{5, 3}, {4, 3}}, func(t tape, x []node) node { return x[0].Linear(x[1], nil) }, nil},
		{"linear of nothing", [][2]int{{0, 3}, {4, 3}, {1, 4}}, func(t tape, x []node) node { return x[0].Linear(x[1], x[2]) }, nil},
		{"linear, many rows", [][2]int{{300, 2}, {2, 2}, {1, 2}}, func(t tape, x []node) node { return x[0].Linear(x[1], x[2]) }, nil},
		{"concatLinear", [][2]int{{5, 3}, {4, 3}, {1, 4}, {5, 2}, {3, 2}}, func(t tape, x []node) node {
			return t.ConcatLinear(autograd.Affine{X: x[0], W: x[1], B: x[2]}, autograd.Affine{X: x[3], W: x[4]})
		}, nil},
		{"stackLinear, a shared bias, no rows", [][2]int{{5, 3}, {4, 3}, {1, 4}, {2, 6}, {4, 6}, {0, 3}}, func(t tape, x []node) node {
			return t.StackLinear(autograd.Affine{X: x[0], W: x[1], B: x[2]}, autograd.Affine{X: x[3], W: x[4], B: x[2]}, autograd.Affine{X: x[5], W: x[1]})
		}, nil},
		{"concatCols", [][2]int{{4, 1}, {4, 3}, {4, 2}}, func(t tape, x []node) node { return x[0].ConcatCols(x[1], x[2]) }, nil},
		{"concatCols of six", [][2]int{{4, 2}}, func(t tape, x []node) node {
			return x[0].ConcatCols(x[0], x[0].Scale(2), x[0], x[0].Tanh(), x[0])
		}, nil},
		{"stackRows", [][2]int{{1, 3}, {4, 3}, {0, 3}}, func(t tape, x []node) node { return t.StackRows(x[0], x[1], x[2], x[0].Tanh(), x[1]) }, nil},
		{"sliceCols", [][2]int{{4, 5}}, func(t tape, x []node) node { return x[0].SliceCols(1, 3).Mul(x[0].SliceCols(2, 4)) }, nil},
		{"sliceCols, none", [][2]int{{4, 5}}, func(t tape, x []node) node { return x[0].SliceCols(2, 2) }, nil},
		{"sliceRows", [][2]int{{5, 2}}, func(t tape, x []node) node { return x[0].SliceRows(1, 3).Mul(x[0].SliceRows(2, 4)) }, nil},
		{"gather", [][2]int{{4, 3}}, func(t tape, x []node) node { return x[0].Gather(repeated) }, nil},
		{"gather nothing", [][2]int{{4, 3}}, func(t tape, x []node) node { return x[0].Gather(nil) }, nil},
		{"segmentSum", [][2]int{m}, func(t tape, x []node) node { return x[0].SegmentSum(offsets) }, nil},
		{"segmentSum, no segment", [][2]int{{0, 3}}, func(t tape, x []node) node { return x[0].SegmentSum([]int32{0}) }, nil},
		{"segmentMean", [][2]int{m}, func(t tape, x []node) node { return x[0].SegmentMean(offsets) }, nil},
		{"segmentSoftmax", [][2]int{{6, 1}}, func(t tape, x []node) node { return x[0].SegmentSoftmax(offsets) }, nil},
		{"edgeSum", [][2]int{{4, 3}}, func(t tape, x []node) node { return t.EdgeSum(x[0], src, dst, nil, 5) }, nil},
		{"edgeSum, weighted", [][2]int{{4, 3}}, func(t tape, x []node) node { return t.EdgeSum(x[0], src, dst, weights, 4) }, nil},
		{"edgeSum, no edges", [][2]int{{4, 3}}, func(t tape, x []node) node { return t.EdgeSum(x[0], nil, nil, nil, 2) }, nil},
		{"spmm", [][2]int{{4, 3}}, func(t tape, x []node) node { return t.SpMM(sparse, sparse.Transpose(), x[0]) }, nil},
		{"sigmoid", [][2]int{m}, func(t tape, x []node) node { return x[0].Sigmoid() }, nil},
		{"tanh", [][2]int{m}, func(t tape, x []node) node { return x[0].Tanh() }, nil},
		{"exp", [][2]int{m}, func(t tape, x []node) node { return x[0].Exp() }, nil},
		{"log", [][2]int{m}, func(t tape, x []node) node { return x[0].Log() }, positive},
		{"logSigmoid", [][2]int{m}, func(t tape, x []node) node { return x[0].Scale(5).LogSigmoid() }, nil},
		{"relu", [][2]int{m}, func(t tape, x []node) node { return x[0].ReLU() }, apart},
		{"softmax", [][2]int{m}, func(t tape, x []node) node { return x[0].Softmax() }, nil},
		{"softmax of one column", [][2]int{{3, 1}}, func(t tape, x []node) node { return x[0].Softmax() }, nil},
		{"softmax of no column", [][2]int{{3, 0}}, func(t tape, x []node) node { return x[0].Softmax() }, nil},
		{"softmax and its log", [][2]int{m}, func(t tape, x []node) node { return x[0].Softmax().Log().Add(x[0].Softmax()) }, nil},
		{"causalSoftmax", [][2]int{sq}, func(t tape, x []node) node { return x[0].CausalSoftmax() }, nil},
		{"layerNorm", [][2]int{{6, 5}, {1, 5}, {1, 5}}, func(t tape, x []node) node { return x[0].LayerNorm(x[1], x[2]) }, nil},
		{"layerNormWith", [][2]int{{6, 5}, {1, 5}, {1, 5}}, func(t tape, x []node) node { return x[0].LayerNormWith(x[1], x[2], 0.5) }, nil},
		{"normalizeRows", [][2]int{m}, func(t tape, x []node) node { return x[0].NormalizeRows(0.5, 1e-12) }, norms(1, 2, 3, 0.7, 1.5, 0.9)},
		{"normalizeRows under eps", [][2]int{m}, func(t tape, x []node) node { return x[0].NormalizeRows(0.5, 1) }, norms(0, 0.5, 0.2, 2, 3, 0.9)},
		{"clipRows", [][2]int{m}, func(t tape, x []node) node { return x[0].ClipRows(1) }, norms(0, 0.5, 1.5, 3, 0.9, 1.1)},
		{"sumAll", [][2]int{m}, func(t tape, x []node) node { return x[0].Tanh().SumAll() }, nil},
		{"meanAll", [][2]int{m}, func(t tape, x []node) node { return x[0].Tanh().MeanAll() }, nil},
		{"sumSq", [][2]int{m}, func(t tape, x []node) node { return x[0].SumSq() }, nil},
		{"dropout", [][2]int{m}, func(t tape, x []node) node { return x[0].Dropout(0.4, rng.Seed(3).Stream("drop")) }, nil},
		{"addNoise", [][2]int{m}, func(t tape, x []node) node {
			return x[0].Scale(2).AddNoise("noise", plusOne).Tanh()
		}, nil},
		{"addNoise to a value in use", [][2]int{m}, func(t tape, x []node) node {
			y := x[0].Tanh()
			return y.AddNoise("noise", plusOne).Mul(y)
		}, nil},
		{"crossEntropy", [][2]int{m}, func(t tape, x []node) node { return x[0].CrossEntropy(repeated) }, nil},
		{"crossEntropy of nothing", [][2]int{{0, 3}, m}, func(t tape, x []node) node { return x[0].CrossEntropy(nil).Add(x[1].SumAll()) }, nil},
		{"gruGates, update", [][2]int{{5, 9}, {5, 9}, {5, 3}}, func(t tape, x []node) node { return t.GRUGates(x[0], x[1], x[2], true) }, nil},
		{"gruGates, keep", [][2]int{{5, 9}, {5, 9}, {5, 3}}, func(t tape, x []node) node { return t.GRUGates(x[0], x[1], x[2], false) }, nil},
		{"gruGates, one operand", [][2]int{{5, 9}}, func(t tape, x []node) node {
			return t.GRUGates(x[0], x[0], x[0].SliceCols(3, 6), false)
		}, nil},
		{"gruStates, update", [][2]int{{7, 6}, {6, 2}, {1, 6}}, func(t tape, x []node) node {
			return t.GRUStates(x[0], x[1], x[2], []int{0, 3, 6, 7}, true)
		}, nil},
		{"gruStates, keep", [][2]int{{7, 6}, {6, 2}, {1, 6}}, func(t tape, x []node) node {
			return t.GRUStates(x[0], x[1], x[2], []int{0, 4, 7}, false).Add(x[0].SliceCols(0, 2))
		}, nil},
		{"gruStatesBefore", [][2]int{{7, 6}, {6, 2}, {1, 6}}, func(t tape, x []node) node {
			return t.GRUStatesBefore(x[0], x[1], x[2], []int{0, 3, 6, 7})
		}, nil},
		{"gruStates, one step", [][2]int{{3, 6}, {6, 2}, {1, 6}}, func(t tape, x []node) node {
			return t.GRUStates(x[0], x[1], x[2], []int{0, 3}, false)
		}, nil},
		{"attention", [][2]int{{6, 4}, {6, 4}, {6, 2}}, func(t tape, x []node) node {
			return t.Attention(x[0], x[1], x[2], autograd.AttentionShape{Query: offsets, Heads: 2})
		}, nil},
		{"attention, causal", [][2]int{{6, 4}}, func(t tape, x []node) node {
			return t.Attention(x[0], x[0], x[0], autograd.AttentionShape{Query: offsets, Heads: 1, Causal: true})
		}, nil},
		{"attention, other keys", [][2]int{{3, 4}, {6, 4}, {6, 4}}, func(t tape, x []node) node {
			return t.Attention(x[0], x[1], x[2], autograd.AttentionShape{Query: []int32{0, 1, 1, 3, 3, 3}, Key: offsets, Heads: 2})
		}, nil},
	}
	return cases
}

func plusOne(data []tensor.Float, rows, cols int) {
	for i := range data {
		data[i]++
	}
}

// TestGradients checks every operation of the table against central differences.
func TestGradients(t *testing.T) {
	for _, c := range opCases() {
		t.Run(c.name, func(t *testing.T) {
			var p parms
			for i, s := range c.shapes {
				p = append(p, param(c.name+string(rune('a'+i)), s[0], s[1]))
			}
			if c.set != nil {
				c.set(p)
			}
			err := gradcheck.Check(p, func(tp tape) node {
				tp.GuardNaN = true
				x := make([]node, len(p))
				for i, q := range p {
					x[i] = tp.Use(q)
				}
				return weigh(c.build(tp, x))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestGradientsAtKinks pins the one-sided choices that central differences cannot see.
func TestGradientsAtKinks(t *testing.T) {
	for _, c := range []struct {
		name  string
		x     []tensor.Float
		build func(node) node
		want  []float64
	}{
		{"relu at 0", []tensor.Float{0, -1, 2}, func(x node) node { return x.ReLU() }, []float64{0, 0, 1}},
		{"clip on the bound", []tensor.Float{0.6, 0.8}, func(x node) node { return x.ClipRows(1) }, []float64{1, 1}},
		{"clip of zero", []tensor.Float{0, 0}, func(x node) node { return x.ClipRows(1) }, []float64{1, 1}},
		{"normalize of zero", []tensor.Float{0, 0}, func(x node) node { return x.NormalizeRows(2, 0.5) }, []float64{4, 4}},
		{"normalize at eps", []tensor.Float{0.5, 0}, func(x node) node { return x.NormalizeRows(2, 0.5) }, []float64{4, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &autograd.Param{Name: "x", Value: tensor.From(1, len(c.x), c.x)}
			if c.name == "clip on the bound" { // make the norm exactly 1
				p.Value.Data[0], p.Value.Data[1] = 1, 0
			}
			tp := autograd.NewTape()
			tp.Backward(c.build(tp.Use(p)).SumAll())
			g := gradient(t, tp.Grads(), p)
			for i, w := range c.want {
				if float64(g.Data[i]) != w {
					t.Errorf("gradient %v, want %v", g.Data, c.want)
				}
			}
		})
	}
}
