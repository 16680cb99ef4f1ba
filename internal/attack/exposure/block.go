package exposure

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/rng"
)

// block is a transformer block with the normalisation after each part (eq. 6 and 7): x' = LN(x + Drop(MHA(x))), z =
// LN(x' + Drop(FFN(x'))). In a decoder a row attends only to itself and earlier rows, and attention over the memory
// comes between the two parts.
type block struct {
	self, cross          *nn.Attention // cross nil in an encoder
	up, down             *nn.Linear    // FFN(x) = down(ReLU(up(x)))
	ofSelf, ofCross, ofF part
}

// part holds the operations after each part of a block: dropout, residual connection, normalisation.
type part struct {
	norm *nn.LayerNorm
	drop *nn.Dropout
}

func newBlocks(of string, c Config, decoder bool, init nn.Init, seed rng.Seed) []*block {
	var all []*block
	for k := range c.Blocks {
		name := fmt.Sprintf("%s.%d", of, k)
		newPart := func(what string) part {
			return part{nn.NewLayerNorm(name+"."+what+".norm", c.Dim), nn.NewDropout(name+"."+what, c.Dropout, seed)}
		}
		b := &block{
			self:   nn.NewAttention(name+".self", c.Dim, c.Heads, decoder, init),
			up:     nn.NewLinear(name+".ffn.up", c.Dim, c.FFN, true, init),
			down:   nn.NewLinear(name+".ffn.down", c.FFN, c.Dim, true, init),
			ofSelf: newPart("self"), ofF: newPart("ffn"),
		}
		if decoder {
			b.cross, b.ofCross = nn.NewAttention(name+".cross", c.Dim, c.Heads, false, init), newPart("cross")
		}
		all = append(all, b)
	}
	return all
}

// Params implements nn.Layer.
func (b *block) Params() []*autograd.Param {
	all := nn.Params(b.self, b.ofSelf.norm)
	if b.cross != nil {
		all = append(all, nn.Params(b.cross, b.ofCross.norm)...)
	}
	return append(all, nn.Params(b.up, b.down, b.ofF.norm)...)
}

// forward maps x, packed by off, to as many rows. They attend to seen, which holds x or more rows than x, and
// in a decoder to m.
func (b *block) forward(t *autograd.Tape, x *autograd.Node, off []int32, seen, m memory, step uint64) *autograd.Node {
	x = b.ofSelf.after(t, x, b.self.Forward(t, x, seen.rows, off, seen.off), step)
	if b.cross != nil {
		x = b.ofCross.after(t, x, b.cross.Forward(t, x, m.rows, off, m.off), step)
	}
	return b.ofF.after(t, x, b.down.Forward(t, b.up.Forward(t, x).ReLU()), step)
}

func (p *part) after(t *autograd.Tape, x, y *autograd.Node, step uint64) *autograd.Node {
	return p.norm.Forward(t, x.Add(p.drop.Forward(t, y, step)))
}
