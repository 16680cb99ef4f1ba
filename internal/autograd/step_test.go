package autograd_test

import (
	"fmt"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// session is a session-graph network of the size of DIPSGNN's, on made-up sessions: the step that
// allocations, worker independence and speed are measured on.
type session struct {
	items                       *autograd.Param
	win, bin, wout, bout        *autograd.Param
	wih, bih, whh, bhh          *autograd.Param
	w1, w2, b2, q, w3, b3       *autograd.Param
	all                         []*autograd.Param
	nodes, src, dst, pos, owner []int32
	offsets, last, targets      []int32
	noise                       rng.Stream
	d                           int
}

func newSession(v, batch, d int) *session {
	m := &session{d: d, noise: rng.Seed(5).Stream("noise")}
	p := func(name string, rows, cols int) *autograd.Param {
		p := &autograd.Param{Name: name, Value: random(name, rows, cols, 0.1)}
		m.all = append(m.all, p)
		return p
	}
	m.items = p("items", v+1, d)
	m.win, m.bin, m.wout, m.bout = p("win", d, d), p("bin", 1, d), p("wout", d, d), p("bout", 1, d)
	m.wih, m.bih, m.whh, m.bhh = p("wih", 3*d, 2*d), p("bih", 1, 3*d), p("whh", 3*d, d), p("bhh", 1, 3*d)
	m.w1, m.w2, m.b2, m.q = p("w1", d, d), p("w2", d, d), p("b2", 1, d), p("q", 1, d)
	m.w3, m.b3 = p("w3", d, 2*d), p("b3", 1, d)
	m.offsets = []int32{0}
	for b := range batch {
		first := int32(len(m.nodes))
		n := 1 + (b*37)%13
		for i := range n {
			m.nodes = append(m.nodes, int32(1+(b*101+i*i*17)%v))
		}
		for i := range n + n/3 { // some nodes twice
			m.pos = append(m.pos, first+int32(i*5%n))
			m.owner = append(m.owner, int32(b))
			if i > 0 {
				m.src = append(m.src, m.pos[len(m.pos)-2])
				m.dst = append(m.dst, m.pos[len(m.pos)-1])
			}
		}
		m.last = append(m.last, m.pos[len(m.pos)-1])
		m.offsets = append(m.offsets, int32(len(m.pos)))
		m.targets = append(m.targets, int32(1+(b*677)%v))
	}
	return m
}

func (m *session) addNoise(data []tensor.Float, rows, cols int) {
	s := m.noise
	var block [256]float32
	for lo := 0; lo < len(data); lo += len(block) {
		s.Normals32(block[:])
		for i := range data[lo:min(len(data), lo+len(block))] {
			data[lo+i] += 0.1 * tensor.Float(block[i])
		}
	}
}

func (m *session) loss(t *autograd.Tape) *autograd.Node {
	h := t.Rows(m.items, m.nodes)     // (n, d)
	hb := h.NormalizeRows(0.2, 1e-12) // (n, d)
	n := len(m.nodes)
	in := t.EdgeSum(hb, m.src, m.dst, nil, n).AddNoise("noiseIn", m.addNoise)
	out := t.EdgeSum(hb, m.dst, m.src, nil, n).AddNoise("noiseOut", m.addNoise)
	x := t.ConcatLinear(autograd.Affine{X: in, W: t.Use(m.win), B: t.Use(m.bin)},
		autograd.Affine{X: out, W: t.Use(m.wout), B: t.Use(m.bout)}) // (n, 2d)
	gi, gh := x.Linear(t.Use(m.wih), t.Use(m.bih)), hb.Linear(t.Use(m.whh), t.Use(m.bhh))
	g := t.GRUGates(gi, gh, hb, true) // (n, d)
	s := g.Gather(m.pos)              // (p, d)
	l := g.Gather(m.last)             // (b, d)
	a := l.Linear(t.Use(m.w1), nil).Gather(m.owner).Add(s.Linear(t.Use(m.w2), t.Use(m.b2))).Sigmoid()
	zg := s.MulCol(a.RowDot(t.Use(m.q))).SegmentSum(m.offsets) // (b, d)
	zu := zg.ConcatCols(l).Linear(t.Use(m.w3), t.Use(m.b3))
	return t.TiedCrossEntropy(zu, m.items, 1, m.targets)
}

// TestStepAllocations: a training step in steady state makes next to no garbage.
func TestStepAllocations(t *testing.T) {
	m := newSession(700, 30, 100)
	tp, adam := autograd.NewTape(), optim.NewAdam(1e-5)
	step := func() {
		tp.Reset()
		tp.Backward(m.loss(tp))
		if err := adam.Step(m.all, tp.Grads(), 0.001); err != nil {
			t.Fatal(err)
		}
	}
	step()
	step()
	n := testing.AllocsPerRun(5, step)
	t.Logf("%d nodes, %.0f objects a step", tp.Len(), n)
	if n >= 80 {
		t.Errorf("%.0f objects a step", n)
	}
	tp.NoGrad = true
	eval := testing.AllocsPerRun(5, func() { tp.Reset(); m.loss(tp) })
	t.Logf("evaluation: %.0f objects", eval)
	if eval >= 30 {
		t.Errorf("evaluation: %.0f objects", eval)
	}
}

// TestWorkersGiveTheSameBits: loss, gradients and parameters after some steps, with 1, 2, 5 and 7
// workers.
func TestWorkersGiveTheSameBits(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	var want [][]tensor.Float
	for _, workers := range []int{1, 2, 5, 7} {
		tensor.SetWorkers(workers)
		m := newSession(3000, 60, 36)
		tp, adam := autograd.NewTape(), optim.NewAdam(1e-5)
		var got [][]tensor.Float
		for range 3 {
			tp.Reset()
			loss := m.loss(tp)
			tp.Backward(loss)
			got = append(got, slices.Clone(loss.V.Data))
			for _, p := range m.all {
				g, _ := tp.Grads().Dense(p)
				got = append(got, slices.Clone(g.Data))
			}
			if err := adam.Step(m.all, tp.Grads(), 0.01); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range m.all {
			got = append(got, p.Value.Data)
		}
		if want == nil {
			want = got
		}
		for i := range want {
			if !slices.Equal(want[i], got[i]) {
				t.Fatalf("%d workers: result %d differs", workers, i)
			}
		}
	}
}

// TestOpsWithWorkers: every operation of the table, on rows enough to be split, gives the same bits
// forward and backward.
func TestOpsWithWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	const k = 500 // copies of each operand, side by side or below each other
	x := random("x", 6*k, 40, 1)
	w, b := random("w", 40, 40, 1), random("b", 1, 40, 1)
	col := random("col", 6*k, 1, 1)
	var off, idx []int32
	for i := range 2*k + 1 {
		off = append(off, int32(3*i))
	}
	for i := range 6 * k {
		idx = append(idx, int32(i*i%(6*k)))
	}
	targets := make([]int32, 6*k)
	for name, f := range map[string]func(t tape, x, w, b, col node) node{
		"elementwise": func(t tape, x, w, b, col node) node { return x.Mul(x.Sub(x.Scale(0.5))).Sigmoid().Add(x.Tanh()) },
		"linear":      func(t tape, x, w, b, col node) node { return x.Linear(w, b).AddRow(b).LayerNorm(b, b) },
		"rows": func(t tape, x, w, b, col node) node {
			return x.MulCol(col).Softmax().NormalizeRows(1, 1e-9).ClipRows(0.5)
		},
		"index": func(t tape, x, w, b, col node) node { return x.Gather(idx).SegmentMean(off) },
		"edges": func(t tape, x, w, b, col node) node { return t.EdgeSum(x, idx, idx, nil, 6*k) },
		"gru": func(t tape, x, w, b, col node) node {
			return t.GRUGates(x.ConcatCols(x, x), x.ConcatCols(x, x), x, false)
		},
		"attention": func(t tape, x, w, b, col node) node {
			return t.Attention(x, x, x, autograd.AttentionShape{Query: off, Heads: 4, Causal: true})
		},
		"softmax loss": func(t tape, x, w, b, col node) node {
			return x.CrossEntropy(targets).Add(x.RowDot(b).LogSigmoid().MeanAll())
		},
	} {
		var want []tensor.Float
		for _, workers := range []int{1, 2, 7} {
			tensor.SetWorkers(workers)
			tp := autograd.NewTape()
			var ps []*autograd.Param
			for i, v := range []tensor.Matrix{x, w, b, col} {
				ps = append(ps, &autograd.Param{Name: fmt.Sprint(i), Value: v})
			}
			y := f(tp, tp.Use(ps[0]), tp.Use(ps[1]), tp.Use(ps[2]), tp.Use(ps[3]))
			tp.Backward(weigh(y))
			got := slices.Clone(y.V.Data)
			for _, p := range ps {
				got = append(got, gradient(t, tp.Grads(), p).Data...)
			}
			if want == nil {
				want = got
			} else if !slices.Equal(want, got) {
				t.Errorf("%s: %d workers give other bits", name, workers)
			}
		}
	}
}

// BenchmarkStep is one training step of the session network, optimiser included.
func BenchmarkStep(b *testing.B) {
	for _, v := range []int{2810, 98226} {
		b.Run(fmt.Sprint(v), func(b *testing.B) {
			m := newSession(v, 100, 100)
			tp, adam := autograd.NewTape(), optim.NewAdam(1e-5)
			b.ReportAllocs()
			for b.Loop() {
				tp.Reset()
				tp.Backward(m.loss(tp))
				if err := adam.Step(m.all, tp.Grads(), 0.001); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTiedCrossEntropy is the loss alone, forward and backward, for 100 rows of width 100.
func BenchmarkTiedCrossEntropy(b *testing.B) {
	for _, v := range []int{2810, 98226} {
		b.Run(fmt.Sprint(v), func(b *testing.B) {
			table := &autograd.Param{Name: "table", Value: random("table", v+1, 100, 0.1)}
			h := &autograd.Param{Name: "h", Value: random("h", 100, 100, 1)}
			targets := targetsIn(1, v+1, 100)
			tp := autograd.NewTape()
			b.ReportAllocs()
			for b.Loop() {
				tp.Reset()
				tp.Backward(tp.TiedCrossEntropy(tp.Use(h), table, 1, targets))
			}
			b.ReportMetric(6*100*100*float64(v)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
