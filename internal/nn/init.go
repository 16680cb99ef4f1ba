package nn

import (
	"math"
	"strings"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Init fills a new parameter. An Init with random numbers draws them from a stream that depends on its
// seed and the parameter's name.
type Init func(dst tensor.Matrix, name string)

// Uniform returns an Init that draws uniformly from [-a, a).
func Uniform(seed rng.Seed, a float64) Init {
	return func(dst tensor.Matrix, name string) {
		s := seed.Stream("init/" + name)
		each(dst, func() float64 { return a * (2*s.Float64() - 1) })
	}
}

// Normal returns an Init that draws from a normal distribution of mean 0 and standard deviation std.
func Normal(seed rng.Seed, std float64) Init {
	return func(dst tensor.Matrix, name string) {
		s := seed.Stream("init/" + name)
		each(dst, func() float64 { return std * s.NormFloat64() })
	}
}

// Xavier returns an Init that draws uniformly from [-a, a) with a = sqrt(6/(rows+cols)) (Glorot &
// Bengio 2010, equation 16). It sets the biases of this package's layers to zero.
func Xavier(seed rng.Seed) Init {
	return func(dst tensor.Matrix, name string) {
		if isBias(name) {
			Zeros(dst, name)
			return
		}
		Uniform(seed, math.Sqrt(6/float64(dst.Rows+dst.Cols)))(dst, name)
	}
}

// isBias reports by its name whether a parameter is a bias of a layer. Its shape does not tell, since the weights of
// one output have the same.
func isBias(name string) bool {
	for _, end := range []string{".b", ".bih", ".bhh"} { // of Linear, and of the recurrent cells
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// Zeros sets all elements to zero. It is an [Init].
func Zeros(dst tensor.Matrix, _ string) { each(dst, func() float64 { return 0 }) }

func each(m tensor.Matrix, f func() float64) {
	for i := range m.Rows {
		for j := range m.Cols {
			m.Data[i*m.Stride+j] = tensor.Float(f())
		}
	}
}

// NewParam returns a parameter (rows, cols) filled by init.
func NewParam(name string, rows, cols int, init Init) *autograd.Param {
	p := autograd.NewParam(name, rows, cols)
	init(p.Value, name)
	return p
}

// NewTableParam returns a parameter like NewParam, for a big table. Its memory lies outside the garbage collector's
// heap, until tensor.Free or the end of the program.
func NewTableParam(name string, rows, cols int, init Init) *autograd.Param {
	p := &autograd.Param{Name: name, Value: tensor.NewTable(rows, cols)}
	init(p.Value, name)
	return p
}

// Layer is a part of a model that has parameters.
type Layer interface{ Params() []*autograd.Param }

// Params returns the parameters of several layers, one layer after the other.
func Params(layers ...Layer) []*autograd.Param {
	var all []*autograd.Param
	for _, l := range layers {
		all = append(all, l.Params()...)
	}
	return all
}
