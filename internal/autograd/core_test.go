package autograd_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

var nan = tensor.Float(math.NaN())

// TestNaNBehindZero: a product hides a NaN behind a zero weight if the kernel skips zeros; the
// guard names it all the same.
func TestNaNBehindZero(t *testing.T) {
	w := autograd.NewParam("W_in", 2, 3) // all zero
	tp := autograd.NewTape()
	tp.GuardNaN = true
	e := mustFail(t, func() {
		tp.Const(tensor.From(1, 2, []tensor.Float{1, nan})).MatMul(tp.Use(w))
	})
	if !strings.Contains(e.Error(), "const#0") || !strings.Contains(e.Error(), "NaN at (0,1)") {
		t.Errorf("constant: %v", e)
	}
	w.Value.Data[4] = nan
	tp.Reset()
	e = mustFail(t, func() { tp.Const(tensor.New(1, 2)).MatMul(tp.Use(w)) })
	if !strings.Contains(e.Error(), "param#1") || !slices.Contains(e.Params, "W_in") {
		t.Errorf("parameter: %v", e)
	}
	tp.Reset()
	e = mustFail(t, func() { tp.Rows(w, []int32{0, 1}) })
	if !strings.Contains(e.Error(), "rows#0") || !slices.Contains(e.Params, "W_in") {
		t.Errorf("look-up: %v", e)
	}
}

func TestGuardNamesTheOperation(t *testing.T) {
	p := &autograd.Param{Name: "p", Value: tensor.From(2, 2, []tensor.Float{1, 2, 3, -1})}
	tp := autograd.NewTape()
	tp.GuardNaN = true
	e := mustFail(t, func() { tp.Use(p).Log() })
	if !strings.Contains(e.Error(), "log#1: produced NaN at (1,1)") {
		t.Errorf("forward: %v", e)
	}
}

// TestBackwardGuard plants a NaN in the way back of a fused operation.
func TestBackwardGuard(t *testing.T) {
	p := param("p", 1, 2)
	tp := autograd.NewTape()
	tp.GuardNaN = true
	x := tp.Use(p)
	y := tp.Fused("bad", 1, 2, x)
	copy(y.V.Data, x.V.Data)
	y = tp.Custom("bad", y, func() { x.AddGrad().Data[1] = nan })
	e := mustFail(t, func() { tp.Backward(y.SumAll()) })
	if e.Op != "bad#1" || !strings.Contains(e.Message, "in the gradient of param#0") || !slices.Contains(e.Params, "p") {
		t.Errorf("%v", e)
	}
}

func TestShapeMisuse(t *testing.T) {
	a, b := param("left", 2, 3), param("right", 4, 5)
	for _, c := range []struct {
		op string
		f  func(t tape, x, z node)
	}{
		{"add", func(t tape, x, z node) { x.Add(z) }},
		{"sub", func(t tape, x, z node) { x.Sub(z) }},
		{"mul", func(t tape, x, z node) { x.Mul(z) }},
		{"matmul", func(t tape, x, z node) { x.MatMul(z) }},
		{"matmulT", func(t tape, x, z node) { x.MatMulT(z) }},
		{"linear", func(t tape, x, z node) { x.Linear(z, nil) }},
		{"linear", func(t tape, x, z node) { x.Linear(x, z) }},
		{"concatLinear", func(t tape, x, z node) { t.ConcatLinear(autograd.Affine{X: x, W: z}) }},
		{"stackLinear", func(t tape, x, z node) { t.StackLinear(autograd.Affine{X: x, W: z}) }},
		{"addRow", func(t tape, x, z node) { x.AddRow(z) }},
		{"mulCol", func(t tape, x, z node) { x.MulCol(z) }},
		{"rowDot", func(t tape, x, z node) { x.RowDot(z) }},
		{"concatCols", func(t tape, x, z node) { x.ConcatCols(z) }},
		{"stackRows", func(t tape, x, z node) { t.StackRows(x, z) }},
		{"layerNorm", func(t tape, x, z node) { x.LayerNorm(z, z) }},
		{"gruGates", func(t tape, x, z node) { t.GRUGates(x, z, z, true) }},
		{"gruStates", func(t tape, x, z node) { t.GRUStates(x, z, z, []int{0, 2}, true) }},
		{"gruStatesBefore", func(t tape, x, z node) { t.GRUStatesBefore(x, z, z, []int{0, 2}) }},
		{"attention", func(t tape, x, z node) { t.Attention(x, z, z, autograd.AttentionShape{Query: []int32{0, 2}, Heads: 1}) }},
	} {
		tp := autograd.NewTape()
		e := mustFail(t, func() { c.f(tp, tp.Use(a), tp.Use(b)) })
		if e.Op != c.op || !slices.Contains(e.Shapes, [2]int{2, 3}) || !slices.Contains(e.Params, "left") {
			t.Errorf("%s: %v", c.op, e)
		}
	}
	for _, c := range []struct {
		want string
		f    func(t tape, x node)
	}{
		{"index 2 at position 1 outside [0, 2)", func(t tape, x node) { x.Gather([]int32{1, 2}) }},
		{"index -1", func(t tape, x node) { t.Rows(a, []int32{-1}) }},
		{"index 3", func(t tape, x node) { x.CrossEntropy([]int32{0, 3}) }},
		{"1 targets", func(t tape, x node) { x.CrossEntropy([]int32{0}) }},
		{"rise from 0 to 2", func(t tape, x node) { x.SegmentSum([]int32{0, 1}) }},
		{"rise from 0 to 2", func(t tape, x node) { x.SegmentMean(nil) }},
		{"fall at position 2", func(t tape, x node) { x.SegmentSum([]int32{0, 3, 2}) }},
		{"not one column", func(t tape, x node) { x.SegmentSoftmax([]int32{0, 2}) }},
		{"not square", func(t tape, x node) { x.CausalSoftmax() }},
		{"columns [2, 4)", func(t tape, x node) { x.SliceCols(2, 4) }},
		{"rows [-1, 1)", func(t tape, x node) { x.SliceRows(-1, 1) }},
		{"probability 1", func(t tape, x node) { x.Dropout(1, rng.Stream{}) }},
		{"1 sources, 2 targets", func(t tape, x node) { t.EdgeSum(x, []int32{0}, []int32{0, 1}, nil, 2) }},
		{"index 2", func(t tape, x node) { t.EdgeSum(x, []int32{0}, []int32{2}, nil, 2) }},
		{"matrix (5,4)", func(t tape, x node) { t.SpMM(sparse, sparse.Transpose(), x) }},
		{"2 heads", func(t tape, x node) { t.Attention(x, x, x, autograd.AttentionShape{Query: []int32{0, 2}, Heads: 2}) }},
		{"not a scalar", func(t tape, x node) { t.Backward(x) }},
		{"not a scalar", func(t tape, x node) { x.Scalar() }},
		{"another tape", func(t tape, x node) { autograd.NewTape().Use(a).Add(x) }},
		{"another tape", func(t tape, x node) { autograd.NewTape().Backward(x.SumAll()) }},
		{"called twice", func(t tape, x node) { y := x.SumAll(); t.Backward(y); t.Backward(y) }},
		{"records no gradients", func(t tape, x node) { t.NoGrad = true; t.Backward(x.SumAll()) }},
		{"overwritten by AddNoise", func(t tape, x node) {
			y := x.Scale(2)
			y.AddNoise("noise", plusOne)
			y.Add(x)
		}},
		{"overwritten by AddNoise", func(t tape, x node) {
			y := x.SumAll()
			y.AddNoise("noise", plusOne)
			y.Scalar()
		}},
		{"overwritten by AddNoise", func(t tape, x node) {
			y := x.SumAll()
			y.AddNoise("noise", plusOne)
			t.Backward(y)
		}},
	} {
		tp := autograd.NewTape()
		if e := mustFail(t, func() { c.f(tp, tp.Use(a)) }); !strings.Contains(e.Error(), c.want) {
			t.Errorf("%v, want %q", e, c.want)
		}
	}
}

// TestConstantsHaveNoGradient: nothing is computed for a value no parameter feeds into.
func TestConstantsHaveNoGradient(t *testing.T) {
	w := param("w", 2, 3)
	tp := autograd.NewTape()
	x := tp.Const(random("x", 4, 3, 1))
	h := x.Tanh()
	y := h.Linear(tp.Use(w), nil)
	tp.Backward(y.SumAll())
	if x.Needs() || h.Needs() || x.G.Data != nil || h.G.Data != nil {
		t.Error("a gradient was made for a constant")
	}
	if _, ok := tp.Grads().Dense(w); !ok {
		t.Error("no gradient for the parameter")
	}
	tp.Reset()
	tp.NoGrad = true
	if tp.Use(w).Tanh().Needs() {
		t.Error("NoGrad, yet a gradient is wanted")
	}
}

// TestSparseRows: look-ups coalesce; with a dense use beside them they are added to it.
func TestSparseRows(t *testing.T) {
	p := param("p", 5, 2)
	tp := autograd.NewTape()
	one := tp.Const(tensor.From(1, 2, []tensor.Float{1, 1}))
	loss := tp.Rows(p, []int32{4, 1, 4}).RowDot(one).SumAll().Add(tp.Rows(p, []int32{1}).SumAll())
	tp.Backward(loss)
	rows, vals, ok := tp.Grads().Sparse(p)
	if !ok || !slices.Equal(rows, []int32{1, 4}) || !slices.Equal(vals.Data, []tensor.Float{2, 2, 2, 2}) {
		t.Errorf("rows %v, values %v", rows, vals.Data)
	}
	if _, ok := tp.Grads().Dense(p); ok {
		t.Error("dense as well")
	}
	if n := tp.Grads().Norm(); n != 4 {
		t.Errorf("norm %v, want 4", n)
	}
	tp.Grads().Scale(0.5)
	if vals.Data[0] != 1 {
		t.Errorf("scaled to %v", vals.Data)
	}
	tp.Reset()
	tp.Backward(tp.Rows(p, []int32{4, 1, 4}).SumAll().Add(tp.Use(p).SumAll()))
	d, ok := tp.Grads().Dense(p)
	if want := []tensor.Float{1, 1, 2, 2, 1, 1, 1, 1, 3, 3}; !ok || !slices.Equal(d.Data, want) {
		t.Errorf("dense %v, want %v", d.Data, want)
	}
	tp.Reset()
	tp.Rows(p, []int32{2}) // looked up, but not part of the loss
	tp.Backward(tp.Const(tensor.New(1, 1)).SumAll())
	if _, _, ok := tp.Grads().Sparse(p); ok || tp.Grads().Norm() != 0 {
		t.Error("a gradient for a value the loss does not depend on")
	}
}

// TestPerExampleGradients: their sum is the batch gradient, for batches of 0, 1 and 5.
func TestPerExampleGradients(t *testing.T) {
	table, w, b := param("table", 6, 3), param("w", 4, 3), param("b", 1, 4)
	all := parms{table, w, b}
	ids, targets := []int32{0, 5, 5, 2, 1}, []int32{3, 0, 1, 1, 2}
	loss := func(tp tape, lo, hi int) node { // sum over examples
		x := tp.Rows(table, ids[lo:hi]).Linear(tp.Use(w), tp.Use(b)).Tanh()
		return x.CrossEntropy(targets[lo:hi]).Scale(float64(hi - lo))
	}
	for _, n := range []int{0, 1, 5} {
		batch, tp, sum := autograd.NewTape(), autograd.NewTape(), autograd.NewTape().Grads()
		batch.Backward(loss(batch, 0, n))
		for round := range 2 { // the second after Clear
			sum.Clear()
			for i := range n {
				tp.Reset()
				tp.Backward(loss(tp, i, i+1))
				tp.Grads().AddTo(sum, 2)
			}
			for _, p := range all {
				want, got := gradient(t, batch.Grads(), p), gradient(t, sum, p)
				for k := range want.Data {
					if !near(2*float64(want.Data[k]), float64(got.Data[k])) {
						t.Fatalf("n=%d round %d: %s[%d] = %v, want %v", n, round, p.Name, k, got.Data[k], want.Data[k])
					}
				}
			}
		}
	}
}

// TestBeforeRead: the hook sees every way a parameter enters, before its value is read.
func TestBeforeRead(t *testing.T) {
	p := param("p", 3, 1)
	var seen [][]int32
	tp := autograd.NewTape()
	tp.BeforeRead = func(q *autograd.Param, rows []int32) {
		seen = append(seen, rows)
		q.Value.Data[2] = 42
	}
	if v := tp.Rows(p, []int32{2}).V.Data[0]; v != 42 {
		t.Errorf("read %v before the hook", v)
	}
	tp.Use(p)
	tp.Use(p)
	if len(seen) != 2 || !slices.Equal(seen[0], []int32{2}) || seen[1] != nil {
		t.Errorf("calls %v", seen)
	}
}

// TestStridedLeaves: a parameter or constant that is a view works in every kind of operation.
func TestStridedLeaves(t *testing.T) {
	wide := random("wide", 4, 7, 1)
	view := tensor.ColsView(wide, 2, 5)
	flat := tensor.New(4, 3)
	for i := range 4 {
		copy(tensor.Row(flat, i), tensor.Row(view, i))
	}
	f := func(v tensor.Matrix) []tensor.Float {
		p := &autograd.Param{Name: "p", Value: v}
		tp := autograd.NewTape()
		x := tp.Use(p)
		y := x.MatMulT(x).SumAll().Add(x.Tanh().Add(tp.Const(v)).SumAll()).Add(tp.Rows(p, []int32{1, 1}).SumSq())
		tp.Backward(y.Add(tp.TiedCrossEntropy(x.Scale(2), p, 1, []int32{1, 2, 3, 1})))
		return append([]tensor.Float{y.V.Data[0]}, gradient(t, tp.Grads(), p).Data...)
	}
	if a, b := f(view), f(flat); !slices.Equal(a, b) {
		t.Errorf("strided %v, flat %v", a, b)
	}
}

// TestDropout: about p of the elements are zero, the others scaled, and evaluation is identity.
// The band is six standard deviations: a false alarm has probability 2e-9.
func TestDropout(t *testing.T) {
	const n, p = 20000, 0.3
	x := tensor.New(n, 1)
	for i := range x.Data {
		x.Data[i] = 1
	}
	tp := autograd.NewTape()
	y := tp.Const(x).Dropout(p, rng.Seed(1).Stream("dropout"))
	zeros := 0
	for _, v := range y.V.Data {
		if v == 0 {
			zeros++
		} else if v != tensor.Float(1/(1-p)) {
			t.Fatalf("element %v", v)
		}
	}
	if d := math.Abs(float64(zeros) - n*p); d > 6*math.Sqrt(n*p*(1-p)) {
		t.Errorf("%d zeros of %d", zeros, n)
	}
	tp.SetTraining(false)
	if z := tp.Const(x); z.Dropout(p, rng.Stream{}) != z {
		t.Error("dropout acts in evaluation")
	}
}

// TestDropoutFollowsTheStream: element i is kept where the i-th uniform number of the stream is at
// least p, whatever the number of workers and in matrices of several chunks.
func TestDropoutFollowsTheStream(t *testing.T) {
	const n, p = 50_003, 0.2
	stream := rng.Seed(1).Stream("dropout")
	u := make([]float64, n)
	s := stream
	if _, single := any(tensor.Float(0)).(float32); single {
		v := make([]float32, n)
		s.Uniforms(v)
		for i := range u {
			u[i] = float64(v[i])
		}
	} else {
		for i := range u {
			u[i] = s.Float64()
		}
	}
	x := tensor.New(n, 1)
	for i := range x.Data {
		x.Data[i] = 1
	}
	defer tensor.SetWorkers(tensor.Workers())
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		y := autograd.NewTape().Const(x).Dropout(p, stream)
		for i, v := range y.V.Data {
			if (v != 0) != (u[i] >= p) {
				t.Fatalf("%d workers: element %d is %v, its number %v", workers, i, v, u[i])
			}
		}
	}
}

// TestNodesAreNotShared: two operations on one node are two values; a softmax and the log of a
// softmax of the same node must not become one.
func TestNodesAreNotShared(t *testing.T) {
	tp := autograd.NewTape()
	x := tp.Use(param("x", 2, 3))
	a, b := x.Softmax(), x.Softmax()
	l := b.Log()
	if a == b || !slices.Equal(a.V.Data, b.V.Data) || slices.Equal(a.V.Data, l.V.Data) {
		t.Error("softmax and log-softmax of one node interfere")
	}
	for i, v := range a.V.Data {
		if !near(math.Log(float64(v)), float64(l.V.Data[i])) {
			t.Errorf("log-softmax %v of %v", l.V.Data[i], v)
		}
	}
}

// TestEdgeSumIsSpMM compares the two forms of aggregation.
func TestEdgeSumIsSpMM(t *testing.T) {
	tp := autograd.NewTape()
	x := tp.Const(random("x", 4, 3, 1))
	a, b := tp.EdgeSum(x, src, dst, weights, 5), tp.SpMM(sparse, sparse.Transpose(), x)
	for i, v := range a.V.Data {
		if !near(float64(v), float64(b.V.Data[i])) {
			t.Fatalf("edges %v, matrix %v", a.V.Data, b.V.Data)
		}
	}
}

// TestZeroWidth: matrices without columns go through whatever moves rows.
func TestZeroWidth(t *testing.T) {
	none, w, bias := param("none", 3, 0), param("w", 0, 3), param("b", 1, 0)
	wide, v := param("wide", 3, 3), param("v", 2, 3)
	tp := autograd.NewTape()
	x := tp.Use(none)
	y := x.Gather([]int32{2, 0}).ConcatCols(x.SliceRows(1, 3), tp.Rows(none, []int32{2, 2}))
	if y.Rows() != 2 || y.Cols() != 0 {
		t.Errorf("(%d, %d)", y.Rows(), y.Cols())
	}
	z := tp.ConcatLinear(autograd.Affine{X: tp.Use(wide), W: tp.Use(w), B: tp.Use(bias)}, autograd.Affine{X: tp.Use(wide), W: tp.Use(v)},
		autograd.Affine{X: tp.Use(wide), W: tp.Use(w)})
	if z.Rows() != 3 || z.Cols() != 2 {
		t.Errorf("(%d, %d)", z.Rows(), z.Cols())
	}
	tp.Backward(y.SumAll().Add(z.SumAll()))
}

// TestRowsStayWithin: the float64 norm of a clipped or normalised row is c at most, rounding included, and
// close to it; the way back is finite. Rows are of all sizes that squares in float64 allow.
func TestRowsStayWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, bounds = 2000, 50 // 1e5 rows by each rule
	worst, slack := 0.0, 0.0
	if tensor.Float(1)+tensor.Float(1e-12) != 1 {
		slack = 1e-15 // the sum below rounds as much as the rows do
	}
	for range bounds {
		cols := 1 + r.IntN(20)
		c := math.Exp(float64(r.IntN(40) - 20))
		p := autograd.NewParam("x", rows, cols)
		for i := range rows {
			size := math.Pow(10, float64(r.IntN(70)-35))
			for k := range cols {
				p.Value.Data[i*cols+k] = tensor.Float(size * r.NormFloat64())
			}
		}
		for name, f := range map[string]func(x node) node{
			"clip": func(x node) node { return x.ClipRows(c) }, "normalize": func(x node) node { return x.NormalizeRows(c, 1e-30*c) },
		} {
			tp := autograd.NewTape()
			y := f(tp.Use(p))
			tp.Backward(y.SumAll())
			g, _ := tp.Grads().Dense(p)
			for i := range rows {
				sq, old := 0.0, 0.0
				for k := range cols {
					v, o := float64(y.V.Data[i*cols+k]), float64(p.Value.Data[i*cols+k])
					sq, old = sq+v*v, old+o*o
				}
				norm := math.Sqrt(sq)
				if !(norm <= c*(1+slack)) {
					t.Fatalf("%s: norm %v, over %v by %g", name, norm, c, norm/c-1)
				}
				// Factors under 1e-36 lose digits to gradual underflow.
				if old = math.Sqrt(old) / c; old < 1e36 && (name == "normalize" && old > 1e-30 || old > 1) {
					worst = max(worst, 1-norm/c)
				}
			}
			if k, ok := tensor.Finite(g.Data); !ok {
				t.Fatalf("%s: gradient %v", name, g.Data[k])
			}
		}
	}
	if worst > 1e-6 {
		t.Errorf("a norm falls short by %g", worst)
	}
}
