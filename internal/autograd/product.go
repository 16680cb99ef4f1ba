package autograd

import "privrec/internal/tensor"

// product describes c = op(a) op(b) + beta c, where op transposes if tA or tB is set.
type product struct {
	tA, tB  bool
	a, b, c tensor.Matrix
	beta    tensor.Float
}

func (p *product) run() { tensor.Gemm(p.tA, p.tB, 1, p.a, p.b, p.beta, p.c) }

// shareLeast is the least number of multiplications and additions for which a product is handed to another core.
const shareLeast = 2e5

// single reports whether the product fits one core, and is large enough for a core of its own.
func (p *product) single() bool {
	m, n, k := p.c.Rows, p.c.Cols, p.a.Cols
	if p.tA {
		k = p.a.Rows
	}
	return tensor.Alone(m, n, k) && 2*float64(m)*float64(n)*float64(k) >= shareLeast
}

// productBack adds dx to the gradient of x and dw to that of w if these are wanted. Both come without c and beta. Two
// products too small to be cut run at the same time.
func (t *Tape) productBack(x, w *Node, dx, dw product) {
	if w.apart() {
		t.keep(w, dw.a, dw.b, 0)
	}
	toX, toW := x.need, w.need && !w.apart()
	if toX {
		dx.c, dx.beta = x.acc()
	}
	if toW && x != w {
		dw.c, dw.beta = w.acc()
		if toX && dx.single() && dw.single() {
			t.pair = [2]product{dx, dw}
			tensor.Parallel(len(t.pair), 1, t.runPair)
			t.pair = [2]product{}
			return
		}
	}
	if toX {
		dx.run()
	}
	if toW {
		if x == w { // dx is in the gradient by now
			dw.c, dw.beta = w.acc()
		}
		dw.run()
	}
}
