package exposure

import (
	"testing"
	"unsafe"

	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// wide tells which of the two float widths this build has.
const wide = unsafe.Sizeof(tensor.Float(0)) == 8

// pairsOf is n pairs of random items below vocab, with an unknown item, a short slate, an unknown target, a
// repeated target and an empty slate among them where n allows.
func pairsOf(n, t, l, vocab int, seed rng.Seed) *slate.Pairs {
	s := seed.Stream("pairs")
	p := &slate.Pairs{T: t, L: l, Users: make([]int32, n), Complete: make([]bool, n)}
	draw := func() int32 { return slate.FirstItem + int32(s.IntN(vocab-int(slate.FirstItem))) }
	for range n * t {
		p.Slates = append(p.Slates, draw())
	}
	for range n * l {
		p.Behaviours = append(p.Behaviours, draw())
	}
	if n > 1 {
		p.Slate(1)[0] = slate.OOV
		p.Slate(1)[t-1] = slate.Pad
	}
	if n > 2 {
		p.Behaviour(2)[0] = slate.OOV
		p.Behaviour(2)[l-1] = p.Behaviour(2)[l/2]
	}
	if n > 3 {
		for j := range t {
			p.Slate(3)[j] = slate.Pad
		}
	}
	return p
}

// small is a config of width d.
func small(encoder, decoder string, d int) Config {
	c := Paper(encoder, decoder)
	c.Dim, c.FFN, c.Smoothing = d, d+1, 0.01
	return c
}

// shaken is a new model whose every parameter was drawn anew, biases and gains too, so that nothing cancels.
func shaken(t testing.TB, c Config, vocab, T, L int) *Model {
	t.Helper()
	m, err := New(c, vocab, T, L, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Params() {
		s := rng.Seed(11).Stream(p.Name)
		for i := range p.Value.Data {
			p.Value.Data[i] += tensor.Float(0.4 * s.NormFloat64())
		}
	}
	return m
}

// everyPair calls f for the twelve attacks.
func everyPair(t *testing.T, f func(t *testing.T, encoder, decoder string)) {
	for _, e := range encoders {
		for _, d := range decoders {
			t.Run(e+"+"+d, func(t *testing.T) { f(t, e, d) })
		}
	}
}

func rowsOf(n int) []int32 { return count(nil, n, 1) }

// lossOf is the loss of all pairs in evaluation or training.
func lossOf(t testing.TB, m *Model, p *slate.Pairs, training bool) float64 {
	t.Helper()
	tape := autograd.NewTape()
	tape.SetTraining(training)
	l, err := m.On(p).Loss(tape, 0, rowsOf(p.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return l.Scalar()
}

// gradientsOf is the dense gradient of every parameter, by name.
func gradientsOf(t testing.TB, m *Model, p *slate.Pairs) map[string][]tensor.Float {
	t.Helper()
	tape := autograd.NewTape()
	l, err := m.On(p).Loss(tape, 5, rowsOf(p.Len()))
	if err != nil {
		t.Fatal(err)
	}
	tape.Backward(l)
	all := map[string][]tensor.Float{}
	for _, q := range m.Params() {
		g := make([]tensor.Float, len(q.Value.Data))
		if d, ok := tape.Grads().Dense(q); ok {
			copy(g, d.Data)
		} else if rows, vals, ok := tape.Grads().Sparse(q); ok {
			for i, r := range rows {
				copy(g[int(r)*q.Value.Cols:], tensor.Row(vals, i))
			}
		}
		all[q.Name] = g
	}
	return all
}

// listsOf is what Rank says of every row, copied.
func listsOf(t testing.TB, m *Model, p *slate.Pairs, rows []int32, depth int, candidates func(int32) []int32) [][][]int32 {
	t.Helper()
	var all [][][]int32
	err := m.Rank(t.Context(), p, rows, depth, candidates, func(_ int32, lists [][]int32) error {
		var own [][]int32
		for _, l := range lists {
			own = append(own, append([]int32{}, l...))
		}
		all = append(all, own)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func near(a, b float64) bool {
	tol := 3e-5
	if wide {
		tol = 1e-10
	}
	d := a - b
	return max(d, -d) <= tol*max(1, a, -a)
}

// set writes v to the parameter of that name, row by row.
func set(t testing.TB, m *Model, name string, at func(i, j int) float64) {
	t.Helper()
	for _, p := range m.Params() {
		if p.Name == name {
			for i := range p.Value.Rows {
				for j := range p.Value.Cols {
					p.Value.Data[i*p.Value.Stride+j] = tensor.Float(at(i, j))
				}
			}
			return
		}
	}
	t.Fatalf("no parameter %q", name)
}
