package exposure

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// decoder is a sequence-wise decoder (section 3.2.2, eq. 11). From a memory and the clicks so far it computes the state
// of the next click, latest click first. Scores are products of the state with the output layer.
type decoder interface {
	nn.Layer
	// table returns the model's table of the items fed in.
	table() *autograd.Param
	// row returns the row of step t of pair i in the inputs and states of n pairs with the given number of steps.
	row(i, t, n, steps int) int
	// states returns all states (n·(L+1), d) from the true clicks b.in, for training.
	states(t *autograd.Tape, m memory, b *batch, step uint64) *autograd.Node
	// begin starts decoding from the decoder's own predictions, on a tape without gradients.
	begin(t *autograd.Tape, m memory) walk
}

// walk is a decoding in progress. next turns each pair's input into the state (n, d) that scores the next click.
type walk interface {
	next(fed []int32) *autograd.Node
}

// newDecoder returns nil for a point-wise decoder, which is the output layer alone.
func newDecoder(c Config, items *autograd.Param, l int, init nn.Init, seed rng.Seed) decoder {
	drop := nn.NewDropout("decoder.input", c.Dropout, seed)
	switch c.Decoder {
	case "gru":
		return &recurrent{items: items, drop: drop, byState: c.ContextDecode == ContextState,
			gru: nn.NewGRUCell("gru", 2*c.Dim, c.Dim, nn.ResetAfter, nn.GateKeep, init)}
	case "lstm":
		return &recurrent{items: items, drop: drop, byState: c.ContextDecode == ContextState,
			lstm: nn.NewLSTMCell("lstm", 2*c.Dim, c.Dim, init)}
	case "transformer":
		return &transformer{items: items, drop: drop, scale: c.scale(),
			blocks: newBlocks("decoder", c, true, init, seed),
			norm:   nn.NewLayerNorm("decoder.norm", c.Dim), place: places(l+1, c.Dim)}
	}
	return nil
}

// recurrent is the LSTM (eq. 12) or GRU decoder (eq. 13), one layer, in the cell forms of PyTorch. Its input
// is the last click beside the context. Its state starts as the context, as does the LSTM's cell.
type recurrent struct {
	items   *autograd.Param
	drop    *nn.Dropout
	byState bool
	gru     *nn.GRUCell // one of the two
	lstm    *nn.LSTMCell
}

// Params implements nn.Layer.
func (r *recurrent) Params() []*autograd.Param {
	if r.gru != nil {
		return r.gru.Params()
	}
	return r.lstm.Params()
}

func (r *recurrent) table() *autograd.Param { return r.items }

// row puts step after step, so that a step is a block of rows.
func (r *recurrent) row(i, t, n, _ int) int { return t*n + i }

// input returns the part of the cell's gates that does not depend on its state.
func (r *recurrent) input(t *autograd.Tape, x *autograd.Node) *autograd.Node {
	if r.gru != nil {
		return r.gru.Input(t, x)
	}
	return r.lstm.Input(t, x)
}

// step returns the next state from the gates' input and the state; c is the LSTM's cell.
func (r *recurrent) step(t *autograd.Tape, gi, h, c *autograd.Node) (h2, c2 *autograd.Node) {
	if r.gru != nil {
		return r.gru.Step(t, gi, h), nil
	}
	return r.lstm.Step(t, gi, h, c)
}

func (r *recurrent) states(t *autograd.Tape, m memory, b *batch, step uint64) *autograd.Node {
	n := m.rows.Rows()
	steps := len(b.in) / max(1, n)
	b.repeat = extend(b.repeat, len(b.in))
	for k := range b.repeat {
		b.repeat[k] = int32(k % n)
	}
	x := r.drop.Forward(t, t.Rows(r.items, b.in), step)     // (steps·n, d)
	gi := r.input(t, x.ConcatCols(m.rows.Gather(b.repeat))) // (steps·n, 3d or 4d)
	h, c := m.rows, m.rows
	b.out = b.out[:0]
	for k := range steps {
		h, c = r.step(t, gi.SliceRows(k*n, (k+1)*n), h, c)
		b.out = append(b.out, h)
	}
	return stackRows(t, b.out)
}

func (r *recurrent) begin(t *autograd.Tape, m memory) walk {
	return &recurrentWalk{r: r, t: t, context: m.rows, h: m.rows, c: m.rows}
}

type recurrentWalk struct {
	r             *recurrent
	t             *autograd.Tape
	context, h, c *autograd.Node
}

func (w *recurrentWalk) next(fed []int32) *autograd.Node {
	x := w.t.Rows(w.r.items, fed).ConcatCols(w.context)
	w.h, w.c = w.r.step(w.t, w.r.input(w.t, x), w.h, w.c)
	if w.r.byState {
		w.context = w.h
	}
	return w.h
}

// transformer is the attention-based decoder: items and sinusoidal positions, attention of every step to itself and
// earlier steps, attention over the memory.
type transformer struct {
	items  *autograd.Param
	drop   *nn.Dropout
	scale  float64
	blocks []*block
	norm   *nn.LayerNorm
	place  tensor.Matrix // (L+1, d)
}

// places returns the table of positions of Vaswani et al. 2017, section 3.5 (n, d): sin and cos of
// p/10000^(2i/d) in turn.
func places(n, d int) tensor.Matrix {
	m := tensor.New(n, d)
	for p := range n {
		for j := range d {
			angle := float64(p) * math.Exp(-math.Log(10000)*float64(j&^1)/float64(d))
			if j%2 == 0 {
				m.Data[p*m.Stride+j] = tensor.Float(math.Sin(angle))
			} else {
				m.Data[p*m.Stride+j] = tensor.Float(math.Cos(angle))
			}
		}
	}
	return m
}

// Params implements nn.Layer.
func (d *transformer) Params() []*autograd.Param {
	var all []*autograd.Param
	for _, b := range d.blocks {
		all = append(all, b.Params()...)
	}
	return append(all, d.norm.Params()...)
}

func (d *transformer) table() *autograd.Param { return d.items }

// row puts pair after pair, as attention needs it.
func (d *transformer) row(i, t, _, steps int) int { return i*steps + t }

func (d *transformer) states(t *autograd.Tape, m memory, b *batch, step uint64) *autograd.Node {
	return d.run(t, m, b.in, b.slates.len(), step)
}

// run returns all states of n pairs with equally many inputs.
func (d *transformer) run(t *autograd.Tape, m memory, in []int32, n int, step uint64) *autograd.Node {
	steps, w := len(in)/max(1, n), d.place.Cols
	place := t.Buffer(len(in), w)
	for k := range in {
		copy(tensor.Row(place, k), tensor.Row(d.place, k%steps))
	}
	off := count(nil, n+1, steps)
	if m.off == nil {
		m.off = count(nil, n+1, 1)
	}
	x := t.Rows(d.items, in)
	if d.scale != 1 {
		x = x.Scale(d.scale)
	}
	x = d.drop.Forward(t, x.Add(t.Const(place)), step)
	for _, b := range d.blocks {
		x = b.forward(t, x, off, memory{rows: x}, m, step)
	}
	return d.norm.Forward(t, x)
}

func (d *transformer) begin(t *autograd.Tape, m memory) walk {
	return &transformerWalk{d: d, t: t, m: m}
}

// transformerWalk computes all steps again at every step, which costs little beside the output layer.
type transformerWalk struct {
	d   *transformer
	t   *autograd.Tape
	m   memory
	fed [][]int32
}

func (w *transformerWalk) next(fed []int32) *autograd.Node {
	w.fed = append(w.fed, append([]int32(nil), fed...))
	n, steps := len(fed), len(w.fed)
	in, last := make([]int32, n*steps), make([]int32, n)
	for i := range n {
		for k := range steps {
			in[i*steps+k] = w.fed[k][i]
		}
		last[i] = int32(i*steps + steps - 1)
	}
	return w.d.run(w.t, w.m, in, n, 0).Gather(last)
}
