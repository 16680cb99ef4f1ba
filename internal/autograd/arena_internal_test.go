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
