// Package ggnntest computes the gated graph networks a second time, straight
// from their formulas: one session, dense n x n adjacency, float64, loops. Tests
// compare the packed implementations with it, so it shares only the parameters'
// values with them.
package ggnntest

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/tensor"
)

// Dense is a matrix, given by its rows.
type Dense [][]float64

// New returns a zero matrix.
func New(rows, cols int) Dense {
	m := make(Dense, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

// Values copies the value of a parameter.
func Values(p *autograd.Param) Dense {
	m := New(p.Value.Rows, p.Value.Cols)
	for i := range m {
		for j, v := range tensor.Row(p.Value, i) {
			m[i][j] = float64(v)
		}
	}
	return m
}

// Mul returns the product a b.
func Mul(a, b Dense) Dense {
	y := New(len(a), len(b[0]))
	for i := range a {
		for k, x := range a[i] {
			for j := range y[i] {
				y[i][j] += x * b[k][j]
			}
		}
	}
	return y
}

// Affine returns W x + b for every row of x; b may be nil.
func Affine(w, b *autograd.Param, x Dense) Dense {
	weights := Values(w)
	y := New(len(x), len(weights))
	for i := range x {
		for j, row := range weights {
			y[i][j] = Dot(row, x[i])
			if b != nil {
				y[i][j] += float64(b.Value.Data[j])
			}
		}
	}
	return y
}

// Dot returns the inner product.
func Dot(x, y []float64) (s float64) {
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Join returns the rows of several matrices side by side.
func Join(parts ...Dense) Dense {
	y := make(Dense, len(parts[0]))
	for i := range y {
		for _, p := range parts {
			y[i] = append(y[i], p[i]...)
		}
	}
	return y
}

// Repeat returns a matrix of n equal rows.
func Repeat(row []float64, n int) Dense { return slices.Repeat(Dense{row}, n) }

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Batch is a small data set and some of its prefixes.
type Batch struct {
	Items        int
	Sequences    [][]int32 // one a user, two items or more
	User, Length []int32   // all prefixes that have a label
	Samples      []int32   // the batch: indices of prefixes, repeats allowed
}

// Draw returns a batch drawn with pick, a source of integers in lo..hi. Items repeat, so that there are self loops,
// repeated transitions and prefixes of one item.
func Draw(pick func(name string, lo, hi int) int) Batch {
	b := Batch{Items: pick("items", 2, 7)}
	for u := range pick("users", 1, 3) {
		seq := make([]int32, pick("length", 2, 12))
		for p := range seq {
			seq[p] = int32(pick("item", 1, b.Items))
		}
		b.Sequences = append(b.Sequences, seq)
		for l := 1; l < len(seq); l++ {
			b.User, b.Length = append(b.User, int32(u)), append(b.Length, int32(l))
		}
	}
	for range pick("samples", 1, 6) { // each once: one pass perturbs a sample once
		if s := int32(pick("sample", 0, len(b.User)-1)); !slices.Contains(b.Samples, s) {
			b.Samples = append(b.Samples, s)
		}
	}
	return b
}

// Pack returns the batch in the form that the models take.
func (b Batch) Pack() (*graph.Packed, error) {
	s, err := graph.NewSessions(b.Sequences, b.Items)
	if err != nil {
		return nil, err
	}
	g := new(graph.Packed)
	g.Pack(s, b.User, b.Length, b.Samples)
	return g, nil
}

// Prefix returns the prefix of sample i of the batch.
func (b Batch) Prefix(i int) []int32 {
	at := b.Samples[i]
	return b.Sequences[b.User[at]][:b.Length[at]]
}

// Precise reports whether this build computes in float64.
const Precise = unsafe.Sizeof(tensor.Float(0)) == 8

// Tolerance returns the largest difference that rounding explains, relative to
// the largest value of a vector.
func Tolerance() float64 {
	if Precise {
		return 1e-11
	}
	return 1e-4
}

// Compare runs a model on the packed batch and compares every sample's vector
// with the one that dense computes from the sample's own graph.
func (b Batch) Compare(packed func(*autograd.Tape, *graph.Packed) *autograd.Node,
	dense func(sample int, s Session) []float64) error {
	g, err := b.Pack()
	if err != nil {
		return err
	}
	z := packed(autograd.NewTape(), g)
	for i := range b.Samples {
		if err := Near(tensor.Row(z.V, i), dense(i, NewSession(b.Prefix(i)))); err != nil {
			return fmt.Errorf("sample %d, prefix %v: %w", i, b.Prefix(i), err)
		}
	}
	return nil
}

// Row copies row i of a matrix.
func Row(m tensor.Matrix, i int) []float64 {
	x := make([]float64, m.Cols)
	for k, v := range tensor.Row(m, i) {
		x[k] = float64(v)
	}
	return x
}

// Near returns an error for the first element that differs by more than rounding.
func Near(got []tensor.Float, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	scale := 1.0
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for k, w := range want {
		if !(math.Abs(float64(got[k])-w) <= Tolerance()*scale) {
			return fmt.Errorf("value %d is %.12g, want %.12g", k, float64(got[k]), w)
		}
	}
	return nil
}
