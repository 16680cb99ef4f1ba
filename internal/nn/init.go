package nn

import (
	"math"
	"strings"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Init fills a new parameter. Random ones draw from a stream keyed by the parameter's name.
type Init func(dst tensor.Matrix, name string)

// Uniform draws from [-a, a).
func Uniform(seed rng.Seed, a float64) Init {
	return func(dst tensor.Matrix, name string) {
		s := seed.Stream("init/" + name)
		each(dst, func() float64 { return a * (2*s.Float64() - 1) })
	}
}

// Normal draws from a normal distribution of mean 0.
func Normal(seed rng.Seed, std float64) Init {
	return func(dst tensor.Matrix, name string) {
		s := seed.Stream("init/" + name)
		each(dst, func() float64 { return std * s.NormFloat64() })
	}
}

// Xavier draws from [-a, a) with a = sqrt(6/(rows+cols)) (Glorot & Bengio 2010, equation 16).
// The biases of this package's layers become zero.
func Xavier(seed rng.Seed) Init {
	return func(dst tensor.Matrix, name string) {
		if isBias(name) {
			Zeros(dst, name)
			return
		}
		Uniform(seed, math.Sqrt(6/float64(dst.Rows+dst.Cols)))(dst, name)
	}
}

// isBias tells by its name whether a parameter is a bias of a layer; by its shape it might as well be
// the weights of one output.
func isBias(name string) bool {
	for _, end := range []string{".b", ".bih", ".bhh"} { // of Linear, and of the recurrent cells
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// Zeros is an Init that sets everything to zero.
func Zeros(dst tensor.Matrix, _ string) { each(dst, func() float64 { return 0 }) }

func each(m tensor.Matrix, f func() float64) {
	for i := range m.Rows {
		for j := range m.Cols {
			m.Data[i*m.Stride+j] = tensor.Float(f())
		}
	}
}

// NewParam returns an initialised parameter.
func NewParam(name string, rows, cols int, init Init) *autograd.Param {
	p := autograd.NewParam(name, rows, cols)
	init(p.Value, name)
	return p
}

// NewTableParam is NewParam for a big table, which is kept outside the garbage collector's heap and
// lives until the program ends.
func NewTableParam(name string, rows, cols int, init Init) *autograd.Param {
	p := &autograd.Param{Name: name, Value: tensor.NewTable(rows, cols)}
	init(p.Value, name)
	return p
}

// Layer is anything with parameters.
type Layer interface{ Params() []*autograd.Param }

// Params is the parameters of several layers, one after the other.
func Params(layers ...Layer) []*autograd.Param {
	var all []*autograd.Param
	for _, l := range layers {
		all = append(all, l.Params()...)
	}
	return all
}
