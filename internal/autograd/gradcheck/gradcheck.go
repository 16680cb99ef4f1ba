// Package gradcheck compares gradients with central differences, element by element.
package gradcheck

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Options sets how exact a check is. The zero value takes the defaults of the float width.
type Options struct {
	Step float64 // half the distance of the two points; 0 means 1e-5 in float64, 1e-2 in float32
	Tol  float64 // relative tolerance; 0 means 1e-6 in float64, 1e-2 in float32
	Max  int     // most elements checked of a parameter, chosen at random by its name; 0 means all
}

// Mismatch reports an element of a gradient that differs from its central difference.
type Mismatch struct {
	Param             string
	Row, Col          int
	Analytic, Numeric float64
	Allowed           float64 // largest absolute difference that would have passed
}

// Error returns a message that says where the two differ and by how much.
func (m *Mismatch) Error() string {
	return fmt.Sprintf("gradcheck: %s[%d][%d]: gradient %.9g, central difference %.9g, off by %.3g (allowed %.3g)",
		m.Param, m.Row, m.Col, m.Analytic, m.Numeric, math.Abs(m.Analytic-m.Numeric), m.Allowed)
}

// Check compares the gradients of loss with central differences, with the default options.
func Check(params []*autograd.Param, loss func(*autograd.Tape) *autograd.Node) error {
	return Options{}.Check(params, loss)
}

// wide says whether this build has float64 elements.
const wide = unsafe.Sizeof(tensor.Float(0)) == 8

// Check differentiates loss, which must build the same graph at each call, with respect to params, and returns a
// *Mismatch if an element differs by more than
//
//	Tol · max(|analytic|, |numeric|, scale/10) + 32 · eps · |loss| / (2·Step)
//
// where scale is the largest gradient found. The second term covers the rounding of the loss. Check restores the values
// of the parameters.
func (o Options) Check(params []*autograd.Param, loss func(*autograd.Tape) *autograd.Node) error {
	eps := 0x1p-53
	step, tol := 1e-5, 1e-6
	if !wide {
		eps, step, tol = 0x1p-24, 1e-2, 1e-2
	}
	if o.Step > 0 {
		step = o.Step
	}
	if o.Tol > 0 {
		tol = o.Tol
	}
	t := autograd.NewTape()
	l := loss(t)
	base := math.Abs(l.Scalar())
	t.Backward(l)
	grads := make([]tensor.Matrix, len(params))
	scale := 0.0
	for i, p := range params {
		grads[i] = dense(t.Grads(), p)
		for _, v := range grads[i].Data {
			scale = max(scale, math.Abs(float64(v)))
		}
	}
	probe := autograd.NewTape()
	probe.NoGrad = true
	at := func() float64 {
		probe.Reset()
		return loss(probe).Scalar()
	}
	for i, p := range params {
		for _, k := range o.elements(p) {
			row, col := int(k)/p.Value.Cols, int(k)%p.Value.Cols
			x := &p.Value.Data[row*p.Value.Stride+col]
			old := *x
			*x = old + tensor.Float(step)
			up, hi := *x, at()
			*x = old - tensor.Float(step)
			down, lo := *x, at()
			*x = old
			numeric := (hi - lo) / float64(up-down)
			analytic := float64(grads[i].Data[k])
			allowed := tol*max(math.Abs(analytic), math.Abs(numeric), scale/10) + 32*eps*max(base,
				math.Abs(hi))/(2*step)
			if diff := math.Abs(analytic - numeric); !(diff <= allowed) {
				return &Mismatch{p.Name, row, col, analytic, numeric, allowed}
			}
		}
	}
	return nil
}

// elements returns the elements of p to check. It draws them, because evenly spaced elements could all lie in one
// column.
func (o Options) elements(p *autograd.Param) []int32 {
	n := p.Value.Rows * p.Value.Cols
	if o.Max <= 0 || n <= o.Max {
		o.Max = n
	}
	s := rng.Seed(0).Stream("gradcheck/" + p.Name)
	return slices.Sorted(slices.Values(s.Perm(n)[:o.Max]))
}

// dense returns the gradient of p, dense or row-sparse, as a matrix; zero if there is none.
func dense(g *autograd.Grads, p *autograd.Param) tensor.Matrix {
	m := tensor.New(p.Value.Rows, p.Value.Cols)
	if len(m.Data) == 0 {
		return m
	}
	if d, ok := g.Dense(p); ok {
		for i := range d.Rows {
			copy(tensor.Row(m, i), tensor.Row(d, i))
		}
	}
	if rows, vals, ok := g.Sparse(p); ok {
		for i, r := range rows {
			copy(tensor.Row(m, int(r)), tensor.Row(vals, i))
		}
	}
	return m
}
