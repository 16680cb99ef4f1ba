package nn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// bfloat16 is x rounded, of two nearest values to the even one.
func bfloat16(x tensor.Float) tensor.Float {
	return tensor.Float(math.Float32frombits(uint32(math.RoundToEven(float64(math.Float32bits(float32(x)))/0x10000)) << 16))
}

// pair is a matrix of users and one of items.
type pair [2]tensor.Matrix

func (x pair) each(y pair, f func(x, y []tensor.Float)) {
	for side, m := range x {
		for i := range m.Rows {
			f(tensor.Row(m, i), tensor.Row(y[side], i))
		}
	}
}

// rounded returns a rounded copy.
func (x pair) rounded() pair {
	y := pair{tensor.New(x[0].Rows, x[0].Cols), tensor.New(x[1].Rows, x[1].Cols)}
	x.each(y, func(x, y []tensor.Float) {
		for k, v := range x {
			y[k] = bfloat16(v)
		}
	})
	return y
}

// byHand is what outcome returns for a propagation with two-byte copies, from products of rounded
// float32 tables and the equations of Propagation, where A~ is its own transpose.
func (s *setup) byHand(t testing.TB) (parts [][]tensor.Float) {
	t.Helper()
	plain := &nn.Propagation{Graph: s.p.Graph, Norm: s.p.Norm, Layers: 1, Weights: []float64{0, 1}}
	product := func(x pair) pair {
		y := pair{tensor.New(x[0].Rows, x[0].Cols), tensor.New(x[1].Rows, x[1].Cols)}
		if err := plain.Product(x[0], x[1], y[0], y[1]); err != nil {
			t.Fatal(err)
		}
		return y
	}
	weight := func(l int) tensor.Float { return tensor.Float(s.p.Weights[l]) }
	x := pair{s.users.Value, s.items.Value}
	z := pair{tensor.New(x[0].Rows, x[0].Cols), tensor.New(x[1].Rows, x[1].Cols)}
	x.each(z, func(x, z []tensor.Float) { tensor.ScaleTo(weight(0), z, x) })
	for l := 1; l <= s.p.Layers; l++ {
		x = product(x.rounded())
		x.each(z, func(x, z []tensor.Float) { tensor.Axpy(weight(l), x, z) })
	}
	tape := autograd.NewTape()
	all := [2]*autograd.Param{{Name: "zu", Value: z[0]}, {Name: "zi", Value: z[1]}}
	zu, zi := tape.Rows(all[0], s.batchU), tape.Rows(all[1], s.batchI)
	parts = append(parts, slices.Clone(zu.V.Data), slices.Clone(zi.V.Data))
	tape.Backward(zu.Tanh().SumAll().Add(zi.Mul(zi).Sigmoid().SumAll()))
	var gz pair
	for side, p := range all {
		gz[side] = tensor.New(p.Value.Rows, p.Value.Cols)
		rows, values, ok := tape.Grads().Sparse(p)
		if !ok {
			t.Fatal("no gradient by rows")
		}
		for k, i := range rows {
			copy(tensor.Row(gz[side], int(i)), tensor.Row(values, k))
		}
	}
	h := pair{tensor.New(x[0].Rows, x[0].Cols), tensor.New(x[1].Rows, x[1].Cols)}
	gz.each(h, func(g, h []tensor.Float) { tensor.ScaleTo(weight(s.p.Layers), h, g) })
	for l := s.p.Layers - 1; l >= 0; l-- {
		if l < s.p.Layers-1 {
			h = h.rounded()
		}
		h = product(h)
		gz.each(h, func(g, h []tensor.Float) { tensor.Axpy(weight(l), g, h) })
	}
	return append(parts, h[0].Data, h[1].Data)
}

// Rows and gradients have the bits of the equations, in any order of rows, for any number of
// workers, and whatever the batch before was.
func TestBfloat16EqualsByHand(t *testing.T) {
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	cases(t, func(t *testing.T, layers, cols int, frontier, moved bool) {
		s := larger(t, layers, cols, false, false, frontier)
		s.p.Bfloat16 = true
		if s.outcome(t); moved {
			if err := s.p.Arrange(anyOrder(s.p.Graph, 7)); err != nil {
				t.Fatal(err)
			}
		}
		for _, workers := range []int{1, 2, 5} {
			tensor.SetWorkers(workers)
			for k := range s.batchU {
				s.batchU[k] = (s.batchU[k]*7 + 3) % int32(s.p.Graph.Users)
			}
			want := s.byHand(t)
			for k, got := range s.outcome(t) {
				if !slices.Equal(got, want[k]) {
					t.Fatalf("part %d differs with %d workers", k, workers)
				}
			}
		}
	})
}

// Product gathers from copies; All and Each do not. The option may change between calls.
func TestBfloat16Product(t *testing.T) {
	s := larger(t, 2, 33, false, false, true)
	exact := s.everything(t)
	r := pair{s.users.Value, s.items.Value}.rounded()
	both := func() (users, items tensor.Matrix) {
		users, items = tensor.New(r[0].Rows, 33), tensor.New(r[1].Rows, 33)
		return users, items
	}
	wantU, wantI := both()
	if err := s.p.Product(r[0], r[1], wantU, wantI); err != nil {
		t.Fatal(err)
	}
	s.p.Bfloat16 = true
	parts := s.everything(t)
	if !slices.Equal(parts[6], wantU.Data) || !slices.Equal(parts[7], wantI.Data) {
		t.Error("not the product of rounded tables")
	}
	if !slices.Equal(parts[4], exact[4]) || !slices.Equal(parts[5], exact[5]) {
		t.Error("All rounds")
	}
	if slices.Equal(parts[0], exact[0]) {
		t.Error("Rows does not round")
	}
	s.p.Bfloat16 = false
	for k, got := range s.everything(t) {
		if !slices.Equal(got, exact[k]) {
			t.Errorf("part %d remembers the option", k)
		}
	}
}

// The search for a better order leaves the bits as they are.
func TestBfloat16Settles(t *testing.T) {
	defer nn.SetNearCache(0)()
	s := larger(t, 2, 16, false, false, true)
	s.p.Bfloat16 = true
	want := s.everything(t)
	for range nn.Settled/3 + 1 {
		for k, got := range s.everything(t) {
			if !slices.Equal(got, want[k]) {
				t.Fatalf("part %d differs", k)
			}
		}
	}
}

func TestBfloat16Refuses(t *testing.T) {
	for _, o := range []int{1, 2, 3} {
		s := newSetup(t, "sym", 2, o&1 != 0, o&2 != 0, true)
		s.p.Bfloat16 = true
		if _, _, err := s.p.Rows(autograd.NewTape(), s.users, s.items, s.batchU, s.batchI); err == nil || !strings.Contains(err.Error(), "two-byte copies") {
			t.Errorf("options %b: %v", o, err)
		}
	}
}
