package autograd

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"privrec/internal/tensor"
)

// TestArena: buffers of a step do not overlap, start on cache lines, cannot grow into each other,
// and steps of varying size settle on one slab.
func TestArena(t *testing.T) {
	var a arena
	r := rand.New(rand.NewPCG(1, 2))
	for step := range 20 {
		var all [][]tensor.Float
		for k := range 30 {
			n := r.IntN(4000)
			if k%10 == 3 {
				n = 40000 // more than the first slab
			}
			b := a.take(n)
			if len(b) != n || cap(b) != n {
				t.Fatalf("%d floats asked, %d of %d given", n, len(b), cap(b))
			}
			for i := range b {
				b[i] = tensor.Float(k)
			}
			if step > 0 && n > 0 && uintptr(unsafe.Pointer(&b[0]))%64 != 0 {
				t.Fatal("buffer not on a cache line")
			}
			all = append(all, b)
		}
		for k, b := range all {
			for _, v := range b {
				if v != tensor.Float(k) {
					t.Fatalf("step %d: buffers %d and %v overlap", step, k, v)
				}
			}
		}
		a.reset()
		if len(a.slabs) != 1 {
			t.Fatalf("step %d: %d slabs after reset", step, len(a.slabs))
		}
	}
	if b := a.take(0); len(b) != 0 {
		t.Error("empty buffer is not empty")
	}
}

// TestArenaGive: a buffer that is given back is the next one of its size, and the others are not.
func TestArenaGive(t *testing.T) {
	var a arena
	const n = spareLeast
	x, y, small := a.take(n), a.take(2*n), a.take(1)
	a.give(x)
	a.give(y)
	a.give(small)
	if b := a.take(n + 1); &b[0] == &x[0] || &b[0] == &y[0] {
		t.Error("a buffer of another size is handed out again")
	}
	if b := a.take(1); &b[0] == &small[0] {
		t.Error("a small buffer is handed out again")
	}
	if b := a.take(n); &b[0] != &x[0] {
		t.Error("a buffer that was given back is not handed out again")
	}
	if b := a.take(n); &b[0] == &x[0] {
		t.Error("a buffer is handed out twice")
	}
	a.reset()
	if len(a.spare) != 0 {
		t.Errorf("%d buffers are left after reset", len(a.spare))
	}
}

// TestBackwardReusesMemory: a chain of operations needs two gradients at a time, and gradients that
// an operand has taken over, or that meet in a value, are left alone.
func TestBackwardReusesMemory(t *testing.T) {
	const rows, cols, depth = 32, 64, 20
	p := NewParam("p", rows, cols)
	for i := range p.Value.Data {
		p.Value.Data[i] = tensor.Float(i%7) / 10
	}
	tp := NewTape()
	tp.GuardNaN = true
	for range 2 { // the second step has one slab
		tp.Reset()
		x := tp.Use(p)
		for range depth {
			x = x.Scale(0.9).Add(x.Scale(0.1)) // the identity, with a gradient that is passed on and one that is copied
		}
		loss := x.SumAll()
		used := tp.arena.used
		tp.Backward(loss)
		if more := tp.arena.used - used; tp.arena.slab == 0 && more > 6*rows*cols {
			t.Errorf("backward took %d floats, want at most those of six gradients of %d", more, rows*cols)
		}
	}
	if tp.arena.slab != 0 {
		t.Error("the second step has more than one slab")
	}
	g, ok := tp.Grads().Dense(p)
	if !ok {
		t.Fatal("no gradient")
	}
	for i, v := range g.Data {
		if d := v - 1; d > 1e-5 || d < -1e-5 {
			t.Fatalf("gradient %d is %v, want 1", i, v)
		}
	}
}

// TestResetReusesMemory: the same step twice gets the same buffers, whatever the nodes.
func TestResetReusesMemory(t *testing.T) {
	tp := NewTape()
	step := func() *tensor.Float {
		tp.Reset()
		x := tp.Const(tensor.New(100, 100))
		for range 200 { // more nodes than a slab holds
			x = x.Scale(1)
		}
		return &x.V.Data[0]
	}
	step()
	step()
	if a, b := step(), step(); a != b {
		t.Error("buffers move in steady state")
	}
	if tp.Len() != 201 {
		t.Errorf("%d nodes", tp.Len())
	}
}
