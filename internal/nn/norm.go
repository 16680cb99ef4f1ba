package nn

import (
	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// LayerNorm normalises each row to mean 0 and variance 1, then scales and shifts it
// (Ba, Kiros & Hinton 2016).
type LayerNorm struct {
	Gain, Shift *autograd.Param // (1, d), starting at 1 and 0
	Eps         float64         // added to the variance; 0 means autograd.LayerNormEps
}

// NewLayerNorm returns layer normalisation of width d.
func NewLayerNorm(name string, d int) *LayerNorm {
	ones := func(m tensor.Matrix, _ string) { each(m, func() float64 { return 1 }) }
	return &LayerNorm{Gain: NewParam(name+".gain", 1, d, ones), Shift: NewParam(name+".shift", 1, d, Zeros)}
}

// Forward normalises the rows of x (n, d).
func (l *LayerNorm) Forward(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	eps := l.Eps
	if eps == 0 {
		eps = autograd.LayerNormEps
	}
	return x.LayerNormWith(t.Use(l.Gain), t.Use(l.Shift), eps)
}

// Params implements Layer.
func (l *LayerNorm) Params() []*autograd.Param { return []*autograd.Param{l.Gain, l.Shift} }

// Dropout sets elements to zero in training. Its masks depend on the seed, its name and the indices
// that Forward gets.
type Dropout struct {
	Rate   float64 // probability of zero, in [0, 1)
	stream rng.Stream
}

// NewDropout returns dropout that draws its masks from a stream of its own, by its name.
func NewDropout(name string, rate float64, seed rng.Seed) *Dropout {
	return &Dropout{Rate: rate, stream: seed.Stream("dropout/" + name)}
}

// Forward drops elements of x by the mask of the given indices: the global step and, where a tape holds
// part of a batch, the number of the part.
func (d *Dropout) Forward(t *autograd.Tape, x *autograd.Node, index ...uint64) *autograd.Node {
	return x.Dropout(d.Rate, d.stream.Sub(index...))
}

// Params implements Layer. Dropout has no parameters.
func (d *Dropout) Params() []*autograd.Param { return nil }
