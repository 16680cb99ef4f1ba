package autograd

import (
	"unsafe"

	"privrec/internal/tensor"
)

const (
	arenaMin   = 1 << 15 // floats of the first slab
	arenaAlign = 16      // floats; buffers start on a cache line
	spareLeast = 1 << 10 // floats of a buffer that is worth using twice
)

// arena hands out the buffers of one step. The first steps grow it slab by slab; reset then merges
// the slabs into one, so that a steady state allocates nothing and stays on the same pages. A buffer
// that is given back is handed out again within the step: it is still in cache.
type arena struct {
	spare [][]tensor.Float
	slabs [][]tensor.Float
	slab  int // the slab being filled
	used  int // floats taken from it
	full  int // floats in the slabs before it
}

// take returns n floats of undefined content, cut off from what follows them.
func (a *arena) take(n int) []tensor.Float {
	if n >= spareLeast {
		for k := len(a.spare) - 1; k >= 0; k-- {
			if s := a.spare[k]; len(s) == n {
				a.spare = append(a.spare[:k], a.spare[k+1:]...)
				return s
			}
		}
	}
	size := (n + arenaAlign - 1) &^ (arenaAlign - 1)
	for a.slab < len(a.slabs) && a.used+size > len(a.slabs[a.slab]) {
		a.full += len(a.slabs[a.slab])
		a.slab++
		a.used = 0
	}
	if a.slab == len(a.slabs) {
		a.slabs = append(a.slabs, slab(max(arenaMin, size, a.full/2&^(arenaAlign-1))))
	}
	s := a.slabs[a.slab][a.used : a.used+n : a.used+n]
	a.used += size
	return s
}

// give takes back a buffer before reset does.
func (a *arena) give(s []tensor.Float) {
	if len(s) >= spareLeast {
		a.spare = append(a.spare, s)
	}
}

// reset takes every buffer back.
func (a *arena) reset() {
	a.spare = a.spare[:0]
	if a.slab > 0 {
		total := a.full + a.used
		a.slabs = nil // let the old slabs go before the new one is made
		a.slabs = [][]tensor.Float{slab((total + total/8) &^ (arenaAlign - 1))}
	}
	a.slab, a.used, a.full = 0, 0, 0
}

// slab returns n floats.
func slab(n int) []tensor.Float { return tensor.NewLarge(1, n).Data }

// release returns the memory of the gradient of y to the tape, once its backward has run, unless an operand has taken
// it over.
func (y *Node) release() {
	if y.t.Apart || len(y.G.Data) == 0 {
		return
	}
	first, last := &y.G.Data[0], &y.G.Data[len(y.G.Data)-1]
	for k := range y.nin {
		if g := y.operand(k).G.Data; len(g) > 0 && !before(&g[len(g)-1], first) && !before(last, &g[0]) {
			return
		}
	}
	y.t.giveBack(y.G.Data)
	y.G = tensor.Matrix{}
}

// giveBack takes back a buffer that is no longer used, unless it may be among the factors of a gradient. Under GuardNaN
// a later read of it is noticed.
func (t *Tape) giveBack(s []tensor.Float) {
	if t.Apart {
		return
	}
	if t.GuardNaN {
		poison(s)
	}
	t.arena.give(s)
}

// before reports whether an element lies before another in memory.
func before(x, y *tensor.Float) bool { return uintptr(unsafe.Pointer(x)) < uintptr(unsafe.Pointer(y)) }
