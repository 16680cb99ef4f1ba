package autograd

import "privrec/internal/tensor"

const (
	arenaMin   = 1 << 15 // floats of the first slab
	arenaAlign = 16      // floats; buffers start on a cache line
)

// arena hands out the buffers of one step. The first steps grow it slab by slab; reset then merges
// the slabs into one, so that a steady state allocates nothing and stays on the same pages.
type arena struct {
	slabs [][]tensor.Float
	slab  int // the slab being filled
	used  int // floats taken from it
	full  int // floats in the slabs before it
}

// take returns n floats of undefined content, cut off from what follows them.
func (a *arena) take(n int) []tensor.Float {
	size := (n + arenaAlign - 1) &^ (arenaAlign - 1)
	for a.slab < len(a.slabs) && a.used+size > len(a.slabs[a.slab]) {
		a.full += len(a.slabs[a.slab])
		a.slab++
		a.used = 0
	}
	if a.slab == len(a.slabs) {
		a.slabs = append(a.slabs, make([]tensor.Float, max(arenaMin, size, a.full/2&^(arenaAlign-1))))
	}
	s := a.slabs[a.slab][a.used : a.used+n : a.used+n]
	a.used += size
	return s
}

// reset takes every buffer back.
func (a *arena) reset() {
	if a.slab > 0 {
		total := a.full + a.used
		a.slabs = nil // let the old slabs go before the new one is made
		a.slabs = [][]tensor.Float{make([]tensor.Float, (total+total/8)&^(arenaAlign-1))}
	}
	a.slab, a.used, a.full = 0, 0, 0
}
