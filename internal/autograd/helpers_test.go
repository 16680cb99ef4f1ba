package autograd_test

import (
	"errors"
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// random is a matrix of standard normals times scale, a function of its name.
func random(name string, rows, cols int, scale float64) tensor.Matrix {
	s := rng.Seed(7).Stream(name)
	m := tensor.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = tensor.Float(scale * s.NormFloat64())
	}
	return m
}

func param(name string, rows, cols int) *autograd.Param {
	return &autograd.Param{Name: name, Value: random(name, rows, cols, 1)}
}

// weigh turns any node into a scalar that depends on each element differently.
func weigh(y *autograd.Node) *autograd.Node {
	return y.Mul(y.Tape().Const(random("weigh", y.Rows(), y.Cols(), 1))).SumAll()
}

// gradient is the dense form of a parameter's gradient.
func gradient(t *testing.T, g *autograd.Grads, p *autograd.Param) tensor.Matrix {
	t.Helper()
	m := tensor.New(p.Value.Rows, p.Value.Cols)
	if d, ok := g.Dense(p); ok {
		copy(m.Data, d.Data)
	} else if rows, vals, ok := g.Sparse(p); ok {
		for i, r := range rows {
			if i > 0 && rows[i-1] >= r {
				t.Fatalf("sparse rows of %s not ascending and unique: %v", p.Name, rows)
			}
			copy(tensor.Row(m, int(r)), tensor.Row(vals, i))
		}
	}
	return m
}

// mustFail returns the *autograd.Error that f panics with.
func mustFail(t *testing.T, f func()) (e *autograd.Error) {
	t.Helper()
	defer func() {
		t.Helper()
		v := recover()
		if v == nil {
			t.Fatal("no panic")
		}
		err, ok := v.(error)
		if !ok || !errors.As(err, &e) {
			t.Fatalf("panic with %v, not an *autograd.Error", v)
		}
	}()
	f()
	return nil
}

// near compares with a relative tolerance of the build's float width.
func near(a, b float64) bool {
	tol := 2e-5
	if tensor.Float(1)+tensor.Float(1e-12) != 1 {
		tol = 1e-11
	}
	return math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b))
}
