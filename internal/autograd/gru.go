package autograd

import "privrec/internal/tensor"

// GRUGates returns the next state of a GRU cell, given its pre-activations. gi and gh (n, 3d) come from the input and
// from the state, biases included, in the order r, z, n; h (n, d) is the state:
//
//	r = sigmoid(gi_r + gh_r); z = sigmoid(gi_z + gh_z); c = tanh(gi_n + r ∘ gh_n)
//	h' = h + z ∘ (c - h)    if update: z takes the new state (Chung et al. 2014, DIPSGNN)
//	h' = c + z ∘ (h - c)    if not: z keeps the old state (PyTorch, cuDNN)
//
// The reset gate acts after the product with the state's weights.
func (t *Tape) GRUGates(gi, gh, h *Node, update bool) *Node {
	n, d := h.Rows(), h.Cols()
	if gi.Rows() != n || gh.Rows() != n || gi.Cols() != 3*d || gh.Cols() != 3*d {
		fail("gruGates", "pre-activations are not three times as wide as the state", gi, gh, h)
	}
	y := t.node("gruGates", n, d, gi, gh, h)
	s := t.Buffer(n, 3*d) // r, z, c
	t.each(n, 12*d, job{kernel: gruKernel, dst: y.V.Data, a: gi.flat(), b: gh.flat(), c: h.flat(), d: s.Data, w: d,
		flag: update})
	if y.need {
		y.back = func() {
			di, dh, dg := t.Buffer(n, 3*d), t.Buffer(n, 3*d), t.Buffer(n, d)
			t.each(n, 12*d, job{kernel: gruBack, a: y.dy(), b: gh.flat(), c: h.flat(), d: s.Data,
				dst: di.Data, e: dh.Data, f: dg.Data, w: d, flag: update})
			if gi.need {
				gi.give(di)
			}
			if gh.need {
				gh.give(dh)
			}
			if h.need {
				h.give(dg)
			}
		}
	}
	return y.checked()
}

func gruKernel(j *job, lo, hi int) {
	d := j.w
	for i := lo; i < hi; i++ {
		gi, gh, s := j.a[i*3*d:(i+1)*3*d], j.b[i*3*d:(i+1)*3*d], j.d[i*3*d:(i+1)*3*d]
		h, y := j.c[i*d:(i+1)*d], j.dst[i*d:(i+1)*d]
		r, z, c := s[:d], s[d:2*d], s[2*d:]
		copy(s[:2*d], gi[:2*d])
		tensor.Add(s[:2*d], gh[:2*d])
		tensor.Sigmoid(s[:2*d], s[:2*d])
		tensor.Mul(c, r, gh[2*d:])
		tensor.Add(c, gi[2*d:])
		tensor.Tanh(c, c)
		from, to := h, c
		if !j.flag {
			from, to = c, h
		}
		tensor.Blend(y, to, from, z)
	}
}

// gruBack writes the gradients of gi, gh and h.
func gruBack(j *job, lo, hi int) {
	d := j.w
	for i := lo; i < hi; i++ {
		at, all := i*d, 3*i*d
		tensor.GRUBack(!j.flag, j.a[at:at+d], j.c[at:at+d], j.d[all:all+3*d], j.b[all:all+3*d], j.dst[all:all+3*d],
			j.e[all:all+3*d], j.f[at:at+d])
	}
}
