package nn_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

const seed = rng.Seed(11)

var start = nn.Uniform(seed, 0.7)

func input(name string, rows, cols int) *autograd.Param {
	return nn.NewParam(name, rows, cols, nn.Normal(seed, 1))
}

// weigh turns any node into a scalar that depends on each element differently.
func weigh(y *autograd.Node) *autograd.Node {
	return y.Mul(y.Tape().Const(input("weigh", y.Rows(), y.Cols()).Value)).SumAll()
}

// TestLayerGradients checks every layer, and inputs through it, against central differences.
func TestLayerGradients(t *testing.T) {
	x, h, c := input("x", 4, 3), input("h", 4, 5), input("c", 4, 5)
	off := []int32{0, 3, 3, 4}
	type tape = *autograd.Tape
	type node = *autograd.Node
	cases := map[string]struct {
		layer nn.Layer
		run   func(t tape, l nn.Layer) node
	}{
		"linear":         {nn.NewLinear("l", 3, 4, true, start), func(t tape, l nn.Layer) node { return l.(*nn.Linear).Forward(t, t.Use(x)) }},
		"linear no bias": {nn.NewLinear("l", 3, 4, false, start), func(t tape, l nn.Layer) node { return l.(*nn.Linear).Forward(t, t.Use(x)) }},
		"mlp": {nn.NewMLP("m", []int{3, 4, 2, 2}, (*autograd.Node).Tanh, start), func(t tape, l nn.Layer) node {
			return l.(*nn.MLP).Forward(t, t.Use(x))
		}},
		"lstm": {nn.NewLSTMCell("c", 3, 5, start), func(t tape, l nn.Layer) node {
			cell := l.(*nn.LSTMCell)
			h1, c1 := cell.Forward(t, t.Use(x), t.Use(h), t.Use(c))
			h2, c2 := cell.Forward(t, t.Use(x), h1, c1)
			return h2.ConcatCols(c2)
		}},
		"attention": {nn.NewAttention("a", 5, 1, false, start), func(t tape, l nn.Layer) node {
			return l.(*nn.Attention).Forward(t, t.Use(h), t.Use(c), off, nil)
		}},
		"attention, causal, 5 heads": {nn.NewAttention("a", 5, 5, true, start), func(t tape, l nn.Layer) node {
			return l.(*nn.Attention).Forward(t, t.Use(h), t.Use(h), off, off)
		}},
		"layer norm": {nn.NewLayerNorm("n", 5), func(t tape, l nn.Layer) node { return l.(*nn.LayerNorm).Forward(t, t.Use(h)) }},
		"dropout":    {nn.NewDropout("d", 0.3, seed), func(t tape, l nn.Layer) node { return l.(*nn.Dropout).Forward(t, t.Use(h), 7) }},
	}
	for _, reset := range []nn.Reset{nn.ResetAfter, nn.ResetBefore} {
		for _, gate := range []nn.Gate{nn.GateKeep, nn.GateUpdate} {
			cases[fmt.Sprintf("gru, reset %d, gate %d", reset, gate)] = struct {
				layer nn.Layer
				run   func(t tape, l nn.Layer) node
			}{nn.NewGRUCell("g", 3, 5, reset, gate, start), func(t tape, l nn.Layer) node {
				cell := l.(*nn.GRUCell)
				return cell.Forward(t, t.Use(x), cell.Forward(t, t.Use(x), t.Use(h)))
			}}
		}
	}
	for name, k := range cases {
		t.Run(name, func(t *testing.T) {
			params := append([]*autograd.Param{x, h, c}, k.layer.Params()...)
			if err := gradcheck.Check(params, func(tp *autograd.Tape) *autograd.Node { return weigh(k.run(tp, k.layer)) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// vec is float64 arithmetic for the formulas written out below.
type vec []float64

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// affine is W[lo:lo+d]·x + b[lo:lo+d].
func affine(w, b *autograd.Param, x vec, lo, d int) vec {
	y := make(vec, d)
	for i := range y {
		y[i] = float64(b.Value.Data[lo+i])
		for k, v := range x {
			y[i] += float64(w.Value.Data[(lo+i)*w.Value.Stride+k]) * v
		}
	}
	return y
}

func rows(p *autograd.Param) []vec {
	var all []vec
	for i := range p.Value.Rows {
		v := vec{}
		for _, x := range tensor.Row(p.Value, i) {
			v = append(v, float64(x))
		}
		all = append(all, v)
	}
	return all
}

func compare(t *testing.T, got *autograd.Node, want []vec) {
	t.Helper()
	for i, w := range want {
		for k, v := range w {
			if d := math.Abs(float64(tensor.Row(got.V, i)[k]) - v); !(d < 1e-6) {
				t.Fatalf("(%d,%d): %v, want %v", i, k, tensor.Row(got.V, i)[k], v)
			}
		}
	}
}

// TestGRUFormulas writes the four variants out, element by element.
func TestGRUFormulas(t *testing.T) {
	const in, d = 3, 5
	x, h := input("x", 4, in), input("h", 4, d)
	for _, reset := range []nn.Reset{nn.ResetAfter, nn.ResetBefore} {
		for _, gate := range []nn.Gate{nn.GateKeep, nn.GateUpdate} {
			c := nn.NewGRUCell("g", in, d, reset, gate, start)
			var want []vec
			for i, xi := range rows(x) {
				hi := rows(h)[i]
				ir, iz, ic := affine(c.Wih, c.Bih, xi, 0, d), affine(c.Wih, c.Bih, xi, d, d), affine(c.Wih, c.Bih, xi, 2*d, d)
				hr, hz := affine(c.Whh, c.Bhh, hi, 0, d), affine(c.Whh, c.Bhh, hi, d, d)
				r, rh, y := make(vec, d), make(vec, d), make(vec, d)
				for k := range r {
					r[k] = sigmoid(ir[k] + hr[k])
					rh[k] = r[k] * hi[k]
				}
				after, before := affine(c.Whh, c.Bhh, hi, 2*d, d), affine(c.Whh, c.Bhh, rh, 2*d, d)
				for k := range y {
					z := sigmoid(iz[k] + hz[k])
					n := math.Tanh(ic[k] + r[k]*after[k])
					if reset == nn.ResetBefore {
						n = math.Tanh(ic[k] + before[k])
					}
					if gate == nn.GateKeep {
						y[k] = (1-z)*n + z*hi[k]
					} else {
						y[k] = (1-z)*hi[k] + z*n
					}
				}
				want = append(want, y)
			}
			tp := autograd.NewTape()
			compare(t, c.Forward(tp, tp.Use(x), tp.Use(h)), want)
		}
	}
}

func TestLSTMFormula(t *testing.T) {
	const in, d = 3, 4
	x, h, c := input("x", 4, in), input("h", 4, d), input("c", 4, d)
	l := nn.NewLSTMCell("l", in, d, start)
	var wantH, wantC []vec
	for i, xi := range rows(x) {
		a, b := affine(l.Wih, l.Bih, xi, 0, 4*d), affine(l.Whh, l.Bhh, rows(h)[i], 0, 4*d)
		hv, cv := make(vec, d), make(vec, d)
		for k := range cv {
			gate := func(n int) float64 { return a[n*d+k] + b[n*d+k] }
			cv[k] = sigmoid(gate(1))*rows(c)[i][k] + sigmoid(gate(0))*math.Tanh(gate(2))
			hv[k] = sigmoid(gate(3)) * math.Tanh(cv[k])
		}
		wantH, wantC = append(wantH, hv), append(wantC, cv)
	}
	tp := autograd.NewTape()
	h2, c2 := l.Forward(tp, tp.Use(x), tp.Use(h), tp.Use(c))
	compare(t, h2, wantH)
	compare(t, c2, wantC)
}

// TestAttentionLooksAtItsSegment: changing a later row, or another segment, changes nothing.
func TestAttentionLooksAtItsSegment(t *testing.T) {
	a := nn.NewAttention("a", 4, 2, true, start)
	x := input("x", 5, 4)
	run := func() []tensor.Float {
		tp := autograd.NewTape()
		return slices.Clone(a.Forward(tp, tp.Use(x), tp.Use(x), []int32{0, 3, 5}, nil).V.Data)
	}
	before := run()
	x.Value.Data[2*4] += 1 // row 2: the last of its segment
	after := run()
	for i := range 5 {
		if same := slices.Equal(before[i*4:i*4+4], after[i*4:i*4+4]); same != (i != 2) {
			t.Errorf("row %d changed: %t", i, !same)
		}
	}
}

// TestInit: values depend on seed and name, not on what was made before; ranges are as promised.
func TestInit(t *testing.T) {
	a := nn.NewParam("a", 40, 50, start)
	nn.NewParam("b", 3, 3, start)
	again := nn.NewParam("a", 40, 50, start)
	if !slices.Equal(a.Value.Data, again.Value.Data) {
		t.Error("the same name has other values")
	}
	if b := nn.NewParam("b", 40, 50, start); slices.Equal(a.Value.Data, b.Value.Data) {
		t.Error("another name has the same values")
	}
	if b := nn.NewParam("a", 40, 50, nn.Uniform(seed+1, 0.7)); slices.Equal(a.Value.Data, b.Value.Data) {
		t.Error("another seed has the same values")
	}
	// Six standard deviations of the mean of squares: a false alarm has probability 2e-9.
	n := float64(len(a.Value.Data))
	for name, c := range map[string]struct {
		init          nn.Init
		variance, kur float64 // fourth moment over squared second
		bound         float64
	}{
		"uniform": {start, 0.49 / 3, 1.8, 0.7},
		"normal":  {nn.Normal(seed, 0.3), 0.09, 3, 3},
		"xavier":  {nn.Xavier(seed), 6.0 / 90 / 3, 1.8, math.Sqrt(6.0 / 90)},
	} {
		p := nn.NewParam("spread", 40, 50, c.init)
		for _, v := range p.Value.Data {
			if math.Abs(float64(v)) > c.bound {
				t.Fatalf("%s: value %v", name, v)
			}
		}
		got := tensor.SumSq(p.Value.Data) / n
		if d := math.Abs(got - c.variance); d > 6*c.variance*math.Sqrt((c.kur-1)/n) {
			t.Errorf("%s: variance %v, want %v", name, got, c.variance)
		}
		if mean := tensor.Sum(p.Value.Data) / n; math.Abs(mean) > 6*math.Sqrt(c.variance/n) {
			t.Errorf("%s: mean %v", name, mean)
		}
	}
	one := nn.NewLinear("score", 9, 1, true, nn.Xavier(seed))
	if tensor.SumSq(one.W.Value.Data) == 0 {
		t.Error("weights of a single output are taken for a bias")
	}
	cell := nn.NewGRUCell("gru", 3, 3, nn.ResetAfter, nn.GateKeep, nn.Xavier(seed))
	if tensor.SumSq(cell.Bih.Value.Data) != 0 || tensor.SumSq(cell.Bhh.Value.Data) != 0 {
		t.Error("biases of a cell are not zero")
	}
	if b := one.B; tensor.SumSq(b.Value.Data) != 0 {
		t.Error("xavier bias is not zero")
	}
}

// TestDropoutKeys: the mask depends on name and step, not on what was drawn before.
func TestDropoutKeys(t *testing.T) {
	ones := tensor.New(1, 64)
	for i := range ones.Data {
		ones.Data[i] = 1
	}
	mask := func(name string, step uint64) []tensor.Float {
		tp := autograd.NewTape()
		return slices.Clone(nn.NewDropout(name, 0.5, seed).Forward(tp, tp.Const(ones), step).V.Data)
	}
	a := mask("a", 1)
	if !slices.Equal(a, mask("a", 1)) || slices.Equal(a, mask("a", 2)) || slices.Equal(a, mask("b", 1)) {
		t.Error("masks are not keyed by name and step")
	}
}

func TestParamNames(t *testing.T) {
	names := map[string]bool{}
	for _, p := range nn.Params(nn.NewLinear("l", 2, 2, true, start), nn.NewGRUCell("g", 2, 2, 0, 0, start),
		nn.NewLSTMCell("c", 2, 2, start), nn.NewAttention("a", 2, 1, false, start), nn.NewLayerNorm("n", 2),
		nn.NewMLP("m", []int{2, 2, 2}, nil, start), nn.NewDropout("d", 0, seed)) {
		if names[p.Name] {
			t.Errorf("two parameters are named %s", p.Name)
		}
		names[p.Name] = true
	}
	if len(names) != 2+4+4+8+2+4 {
		t.Errorf("%d parameters", len(names))
	}
}
