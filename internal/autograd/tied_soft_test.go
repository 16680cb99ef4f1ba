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

// dense is TiedSoftmax with the logits and the targets as matrices: logits h·pᵀ + bias, their log softmax
// by exponentials and sums, weighed by q.
func denseSoftmax(tp tape, h node, table, bias *autograd.Param, q autograd.SoftTargets) node {
	b, v := h.Rows(), table.Value.Rows
	weights := tensor.New(b, v)
	counted := 0
	for i := range b {
		own := q.Class[i : i+1]
		if q.Off != nil {
			own = q.Class[q.Off[i]:q.Off[i+1]]
		} else if own[0] < 0 {
			own = nil
		}
		if len(own) == 0 {
			continue
		}
		counted++
		row := tensor.Row(weights, i)
		for j := range row {
			row[j] = tensor.Float(q.Rest)
		}
		for _, c := range own {
			row[c] = tensor.Float(q.On)
		}
	}
	z := h.MatMulT(tp.Use(table))
	if bias != nil {
		z = z.AddRow(tp.Use(bias))
	}
	ones := tensor.New(1, v)
	for j := range ones.Data {
		ones.Data[j] = 1
	}
	lse := z.Exp().MatMulT(tp.Const(ones)).Log() // (b, 1)
	logp := z.Sub(lse.MatMul(tp.Const(ones)))    // (b, v)
	return logp.Mul(tp.Const(weights)).SumAll().Scale(-1 / max(1, float64(counted)))
}

// softTargets are n rows over v classes with up to four classes each, some rows with none.
func softTargets(n, v int, on, rest float64) autograd.SoftTargets {
	q := autograd.SoftTargets{Off: []int32{0}, On: on, Rest: rest}
	for i := range n {
		for k := range min(v, (i*5+2)%5) {
			q.Class = append(q.Class, int32((i*7919+k*(v/5+1))%v))
		}
		q.Off = append(q.Off, int32(len(q.Class)))
	}
	return q
}

// TestTiedSoftmax compares the tiled form with the dense one through one and several tiles, groups and
// chunks of rows, with and without bias and smoothing, alone and mixed with other uses of the table.
func TestTiedSoftmax(t *testing.T) {
	oneHot := func(n, v int) autograd.SoftTargets {
		q := autograd.OneHot(targetsIn(0, v, n))
		for i := 2; i < n; i += 3 {
			q.Class[i] = -1
		}
		return q
	}
	smooth := func(n, v int) autograd.SoftTargets { return softTargets(n, v, 0.25, 0.01) }
	for _, c := range []struct{ b, v, d int }{{1, 5, 1}, {5, 63, 3}, {7, 64, 4}, {9, 65, 5}, {4, 1100, 6}, {3, 9000, 3}, {530, 150, 2}} {
		for name, q := range map[string]autograd.SoftTargets{"one class": oneHot(c.b, c.v), "smoothed": smooth(c.b, c.v)} {
			for _, bias := range []*autograd.Param{nil, param("bias", 1, c.v)} {
				for _, mixed := range []bool{false, true} {
					t.Run(fmt.Sprint(c, name, bias != nil, mixed), func(t *testing.T) {
						table, h := param("table", c.v, c.d), param("h", c.b, c.d)
						params := parms{table, h}
						if bias != nil {
							params = append(params, bias)
						}
						run := func(loss func(tp tape, h node) node) (l float64, grads []tensor.Matrix) {
							tp := autograd.NewTape()
							y := loss(tp, tp.Use(h))
							if mixed {
								y = y.Scale(0.3).Add(weigh(tp.Rows(table, []int32{0, 3, 3}))).Add(tp.Use(table).SumSq().Scale(0.01))
							}
							tp.Backward(y)
							for _, p := range params {
								grads = append(grads, gradient(t, tp.Grads(), p))
							}
							return y.Scalar(), grads
						}
						l1, g1 := run(func(tp tape, h node) node { return tp.TiedSoftmax(h, table, bias, q) })
						l2, g2 := run(func(tp tape, h node) node { return denseSoftmax(tp, h, table, bias, q) })
						if !near(l1, l2) {
							t.Errorf("loss %v, want %v", l1, l2)
						}
						for k, p := range params {
							for i := range g1[k].Data {
								if !near(float64(g1[k].Data[i]), float64(g2[k].Data[i])) {
									t.Fatalf("gradient of %s at %d: %v, want %v", p.Name, i, g1[k].Data[i], g2[k].Data[i])
								}
							}
						}
						free := autograd.NewTape()
						free.NoGrad = true
						if l := free.TiedSoftmax(free.Use(h), table, bias, q).Scalar(); !near(l, l1) && !mixed {
							t.Errorf("without gradients: loss %v, want %v", l, l1)
						}
					})
				}
			}
		}
	}
}

// TestTiedSoftmaxByHand: three classes with logits 0, log 2 and log 5, so that the softmax is 1/8, 2/8, 5/8.
func TestTiedSoftmaxByHand(t *testing.T) {
	l2, l5 := math.Log(2), math.Log(5)
	table := &autograd.Param{Name: "table", Value: tensor.From(3, 1, []tensor.Float{0, tensor.Float(l2), 0})}
	bias := &autograd.Param{Name: "bias", Value: tensor.From(1, 3, []tensor.Float{0, 0, tensor.Float(l5)})}
	h := &autograd.Param{Name: "h", Value: tensor.From(1, 1, []tensor.Float{1})}
	for _, c := range []struct {
		name string
		q    autograd.SoftTargets
		loss float64
		db   [3]float64
	}{
		{"one class", autograd.OneHot([]int32{1}), math.Log(4), [3]float64{1.0 / 8, 2.0/8 - 1, 5.0 / 8}},
		// weights 0.1, 0.5, 0.5: Q = 1.1
		{"two classes, smoothed", autograd.SoftTargets{Class: []int32{1, 2}, Off: []int32{0, 2}, On: 0.5, Rest: 0.1},
			0.1*math.Log(8) + 0.5*math.Log(4) + 0.5*math.Log(8.0/5),
			[3]float64{1.1/8 - 0.1, 1.1*2/8 - 0.5, 1.1*5/8 - 0.5}},
		{"none", autograd.OneHot([]int32{-1}), 0, [3]float64{}},
	} {
		tp := autograd.NewTape()
		l := tp.TiedSoftmax(tp.Use(h), table, bias, c.q)
		tp.Backward(l)
		if !near(l.Scalar(), c.loss) {
			t.Errorf("%s: loss %v, want %v", c.name, l.Scalar(), c.loss)
		}
		db, de, dh := gradient(t, tp.Grads(), bias), gradient(t, tp.Grads(), table), gradient(t, tp.Grads(), h)
		for i, want := range c.db { // h is 1: the table has the bias's gradient
			if !near(float64(db.Data[i]), want) || !near(float64(de.Data[i]), want) {
				t.Errorf("%s: gradient of class %d: bias %v, table %v, want %v", c.name, i, db.Data[i], de.Data[i], want)
			}
		}
		if want := l2 * c.db[1]; !near(float64(dh.Data[0]), want) {
			t.Errorf("%s: gradient of h %v, want %v", c.name, dh.Data[0], want)
		}
	}
}

func TestTiedSoftmaxGradient(t *testing.T) {
	table, bias, h := param("table", 131, 3), param("bias", 1, 131), param("h", 4, 3)
	smooth := autograd.SoftTargets{Class: []int32{1, 130, 64, 65, 0}, Off: []int32{0, 2, 2, 4, 5}, On: 0.4, Rest: 0.003}
	for name, loss := range map[string]func(tp tape) node{
		"one class": func(tp tape) node {
			return tp.TiedSoftmax(tp.Use(h), table, bias, autograd.OneHot([]int32{1, -1, 130, 64}))
		},
		"smoothed": func(tp tape) node { return tp.TiedSoftmax(tp.Use(h), table, bias, smooth) },
		"twice, scaled": func(tp tape) node {
			x := tp.Use(h)
			a := tp.TiedSoftmax(x, table, bias, smooth)
			return a.Add(tp.TiedSoftmax(x.Tanh(), table, nil, autograd.OneHot([]int32{5, 6, 7, 0})).Scale(-0.5))
		},
		"of its own rows": func(tp tape) node {
			return tp.TiedSoftmax(tp.Rows(table, []int32{3, 3, 9, 4}), table, bias, smooth)
		},
	} {
		if err := (gradcheck.Options{Max: 120}).Check(parms{table, bias, h}, loss); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTiedSoftmaxExtremes: no overflow for logits in the thousands; no rows.
func TestTiedSoftmaxExtremes(t *testing.T) {
	table := param("table", 200, 2)
	for i := range table.Value.Data {
		table.Value.Data[i] = 40
	}
	tensor.Scale(50, tensor.Row(table.Value, 7))
	h := &autograd.Param{Name: "h", Value: tensor.From(2, 2, []tensor.Float{1, 1, -1, -1})}
	tp := autograd.NewTape()
	tp.GuardNaN = true
	l := tp.TiedSoftmax(tp.Use(h), table, nil, autograd.OneHot([]int32{7, 3}))
	if want := math.Log(199) / 2; !near(l.Scalar(), want) {
		t.Errorf("loss %v, want %v", l.Scalar(), want)
	}
	tp.Backward(l)
	tp.Reset()
	empty := tp.TiedSoftmax(tp.Const(tensor.New(0, 2)), table, nil, autograd.OneHot(nil))
	tp.Backward(empty)
	g, ok := tp.Grads().Dense(table)
	if n := tensor.SumSq(g.Data); empty.Scalar() != 0 || !ok || n != 0 {
		t.Errorf("no rows: loss %v, gradient norm %v", empty.Scalar(), n)
	}
}

func TestTiedSoftmaxMisuse(t *testing.T) {
	table, bias, h := param("items", 5, 3), param("bias", 1, 5), param("h", 2, 3)
	for _, c := range []struct {
		want string
		h    *autograd.Param
		b    *autograd.Param
		q    autograd.SoftTargets
	}{
		{"target 5 of row 1 outside [0, 5)", h, bias, autograd.OneHot([]int32{0, 5})},
		{"3 targets", h, bias, autograd.OneHot([]int32{1, 1, 1})},
		{"targets of 1 rows", h, bias, autograd.SoftTargets{Class: []int32{1}, Off: []int32{0, 1}, On: 1}},
		{"offsets fall", h, bias, autograd.SoftTargets{Class: []int32{1, 2}, Off: []int32{0, 3, 2}, On: 1}},
		{"target 2 twice in row 0", h, bias, autograd.SoftTargets{Class: []int32{2, 2}, Off: []int32{0, 2, 2}, On: 1}},
		{"widths differ", param("h", 2, 4), bias, autograd.OneHot([]int32{1, 1})},
		{"widths differ", h, param("bias", 1, 4), autograd.OneHot([]int32{1, 1})},
	} {
		tp := autograd.NewTape()
		e := mustFail(t, func() { tp.TiedSoftmax(tp.Use(c.h), table, c.b, c.q) })
		if !strings.Contains(e.Error(), c.want) || !strings.Contains(e.Error(), "items") {
			t.Errorf("%v, want %q and the parameter", e, c.want)
		}
	}
}

// TestTiedSoftmaxWorkers: the same bytes for 1, 2 and 5 workers.
func TestTiedSoftmaxWorkers(t *testing.T) {
	table, bias, h := param("table", 3000, 8), param("bias", 1, 3000), param("h", 300, 8)
	q := softTargets(300, 3000, 0.2, 1e-4)
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	var want []tensor.Float
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		tp := autograd.NewTape()
		l := tp.TiedSoftmax(tp.Use(h), table, bias, q)
		tp.Backward(l)
		got := []tensor.Float{l.V.Data[0]}
		for _, p := range (parms{table, bias, h}) {
			got = append(got, gradient(t, tp.Grads(), p).Data...)
		}
		if want == nil {
			want = got
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%d workers: float %d is %v, not %v", workers, i, got[i], want[i])
			}
		}
	}
}

// BenchmarkTiedSoftmax is the loss alone, forward and backward, for 256 rows of width 64 with a bias.
func BenchmarkTiedSoftmax(b *testing.B) {
	for _, v := range []int{2810, 57265} {
		table := &autograd.Param{Name: "table", Value: random("table", v, 64, 0.1)}
		bias := &autograd.Param{Name: "bias", Value: random("bias", 1, v, 0.1)}
		h := &autograd.Param{Name: "h", Value: random("h", 256, 64, 1)}
		for name, q := range map[string]autograd.SoftTargets{"one class": autograd.OneHot(targetsIn(0, v, 256)), "smoothed": softTargets(256, v, 0.25, 1e-5)} {
			b.Run(fmt.Sprint(v, " ", name), func(b *testing.B) {
				tp := autograd.NewTape()
				b.ReportAllocs()
				for b.Loop() {
					tp.Reset()
					tp.Backward(tp.TiedSoftmax(tp.Use(h), table, bias, q))
				}
				b.ReportMetric(6*256*64*float64(v)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
