package exposure

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
)

// plain is the model in float64 on one pair, written from the formulas, without dropout: loops over numbers,
// no tape, no packing, no tiles.
type plain struct {
	m     *Model
	value map[string][][]float64
}

type vec = []float64

func newPlain(m *Model) plain {
	p := plain{m, map[string][][]float64{}}
	for _, q := range m.Params() {
		var rows [][]float64
		for i := range q.Value.Rows {
			row := make(vec, q.Value.Cols)
			for j := range row {
				row[j] = float64(q.Value.Data[i*q.Value.Stride+j])
			}
			rows = append(rows, row)
		}
		p.value[q.Name] = rows
	}
	return p
}

// table is one of the three item matrices, or what stands for it.
func (p plain) table(name string) [][]float64 {
	for _, n := range []string{name, "output.W", "item"} {
		if v, ok := p.value[n]; ok {
			return v
		}
	}
	return nil
}

func times(w [][]float64, x vec) vec {
	y := make(vec, len(w))
	for i, row := range w {
		for j, v := range row {
			y[i] += v * x[j]
		}
	}
	return y
}

func plus(x vec, others ...vec) vec {
	y := slices.Clone(x)
	for _, o := range others {
		for i, v := range o {
			y[i] += v
		}
	}
	return y
}

func scaledBy(s float64, x vec) vec {
	y := slices.Clone(x)
	for i := range y {
		y[i] *= s
	}
	return y
}

func each2(f func(float64) float64, x vec) vec {
	y := slices.Clone(x)
	for i, v := range y {
		y[i] = f(v)
	}
	return y
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func (p plain) linear(name string, x vec) vec {
	return plus(times(p.value[name+".W"], x), p.value[name+".b"][0])
}

func (p plain) norm(name string, x vec) vec {
	mean, v := 0.0, 0.0
	for _, a := range x {
		mean += a / float64(len(x))
	}
	for _, a := range x {
		v += (a - mean) * (a - mean) / float64(len(x))
	}
	y := make(vec, len(x))
	for i, a := range x {
		y[i] = p.value[name+".gain"][0][i]*(a-mean)/math.Sqrt(v+autograd.LayerNormEps) + p.value[name+".shift"][0][i]
	}
	return y
}

// attention is eq. 4 and 5 for one row x over the rows of memory.
func (p plain) attention(name string, x vec, memory []vec) vec {
	d := len(x)
	w := d / p.m.Heads
	q := p.linear(name+".query", x)
	var all vec
	for h := range p.m.Heads {
		var score vec
		sum := 0.0
		for _, r := range memory {
			k, s := p.linear(name+".key", r), 0.0
			for j := h * w; j < (h+1)*w; j++ {
				s += q[j] * k[j]
			}
			score = append(score, math.Exp(s/math.Sqrt(float64(w))))
			sum += score[len(score)-1]
		}
		out := make(vec, w)
		for i, r := range memory {
			v := p.linear(name+".value", r)
			for j := range out {
				out[j] += score[i] / sum * v[h*w+j]
			}
		}
		all = append(all, out...)
	}
	return p.linear(name+".out", all)
}

// block is a transformer block on the rows of x; a decoder's row looks back only, and at the memory.
func (p plain) block(name string, x, memory []vec, decoder bool) []vec {
	var out []vec
	for i, r := range x {
		seen := x
		if decoder {
			seen = x[:i+1]
		}
		r = p.norm(name+".self.norm", plus(r, p.attention(name+".self", r, seen)))
		if decoder {
			r = p.norm(name+".cross.norm", plus(r, p.attention(name+".cross", r, memory)))
		}
		relu := func(v float64) float64 { return max(v, 0) }
		out = append(out, p.norm(name+".ffn.norm", plus(r, p.linear(name+".ffn.down", each2(relu, p.linear(name+".ffn.up", r))))))
	}
	return out
}

// encode is the memory of a slate: T rows where a transformer decoder reads an attention; the pooled vector
// T times where it reads a pooling; one row otherwise.
func (p plain) encode(tokens []int32) []vec {
	m := p.m
	var x []vec
	if m.Decoder != "transformer" && (m.Encoder == "attention" || m.PoolStart) {
		tokens = append([]int32{slate.Start}, tokens...)
	}
	for _, k := range tokens {
		if k != slate.Pad && (k != slate.OOV || !m.SkipUnknown) {
			x = append(x, scaledBy(m.scale(), p.value["item"][k]))
		}
	}
	if m.Encoder == "attention" {
		for k := range m.Blocks {
			x = p.block(fmt.Sprintf("encoder.%d", k), x, nil, false)
		}
		for i := range x {
			x[i] = p.norm("encoder.norm", x[i])
		}
		if m.Decoder == "transformer" {
			return x
		}
		return x[:1]
	}
	c := make(vec, m.Dim)
	for j := range c {
		for i, r := range x {
			if m.Encoder == "mean" {
				c[j] += r[j] / float64(len(x))
			} else if i == 0 || r[j] > c[j] {
				c[j] = r[j]
			}
		}
	}
	if m.Decoder == "transformer" {
		return slices.Repeat([]vec{c}, m.t)
	}
	return []vec{c}
}

// decode is the states of a sequence-wise decoder that is fed the given tokens.
func (p plain) decode(memory []vec, fed []int32) []vec {
	m, d := p.m, p.m.Dim
	c := memory[0]
	h, cell := c, c
	var x, out []vec
	for k, y := range fed {
		if m.Decoder == "transformer" {
			e := scaledBy(m.scale(), p.table("decoder.item")[y])
			for j := range e {
				angle := float64(k) / math.Pow(10000, float64(j/2*2)/float64(d))
				e[j] += []float64{math.Sin(angle), math.Cos(angle)}[j%2]
			}
			x = append(x, e)
			continue
		}
		in := append(slices.Clone(p.table("")[y]), c...)
		name := m.Decoder
		gi := plus(times(p.value[name+".Wih"], in), p.value[name+".bih"][0])
		gh := plus(times(p.value[name+".Whh"], h), p.value[name+".bhh"][0])
		next := make(vec, d)
		for j := range d {
			if name == "gru" {
				r, u := logistic(gi[j]+gh[j]), logistic(gi[d+j]+gh[d+j])
				g := math.Tanh(gi[2*d+j] + r*gh[2*d+j])
				next[j] = (1-u)*g + u*h[j]
			} else {
				a := plus(gi, gh)
				if j == 0 {
					cell = slices.Clone(cell)
				}
				cell[j] = logistic(a[d+j])*cell[j] + logistic(a[j])*math.Tanh(a[2*d+j])
				next[j] = logistic(a[3*d+j]) * math.Tanh(cell[j])
			}
		}
		h = next
		out = append(out, h)
	}
	if m.Decoder != "transformer" {
		return out
	}
	for k := range m.Blocks {
		x = p.block(fmt.Sprintf("decoder.%d", k), x, memory, true)
	}
	for _, r := range x {
		out = append(out, p.norm("decoder.norm", r))
	}
	return out
}

// logSoftmax of the output layer.
func (p plain) logSoftmax(h vec) vec {
	z := plus(times(p.table("output.W"), h), p.value["output.b"][0])
	sum := 0.0
	for _, v := range z {
		sum += math.Exp(v)
	}
	for i := range z {
		z[i] -= math.Log(sum)
	}
	return z
}

// loss is that of all pairs.
func (p plain) loss(pairs *slate.Pairs) float64 {
	sum, counted := 0.0, 0.0
	for i := range pairs.Len() {
		clicks, memory := pairs.Behaviour(i), p.encode(pairs.Slate(i))
		if p.m.Decoder == "point" { // eq. 9 and 10 with a dense target
			q := slices.Repeat(vec{p.m.Smoothing}, p.m.vocab)
			any := false
			for _, y := range clicks {
				if y >= slate.FirstItem {
					q[y], any = 1/float64(len(clicks)), true
				}
			}
			if any {
				for v, l := range p.logSoftmax(memory[0]) {
					sum -= q[v] * l
				}
				counted++
			}
			continue
		}
		fed := append([]int32{slate.Start}, clicks...)
		for k, h := range p.decode(memory, fed) {
			y := slate.End
			if k < len(clicks) {
				y = clicks[k]
			}
			if y != slate.OOV {
				sum -= p.logSoftmax(h)[y]
				counted++
			}
		}
	}
	return sum / counted
}

// TestLossEqualsTheFormulas compares the loss of every attack with the formulas, number by number, in both
// profiles.
func TestLossEqualsTheFormulas(t *testing.T) {
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		for _, c := range []Config{Paper(encoder, decoder), Code(encoder, decoder)} {
			c.Dim, c.FFN, c.Smoothing = 6, 5, 0.02
			for _, skip := range []bool{false, true} {
				c.SkipUnknown, c.Blocks = skip, map[bool]int{false: 1, true: 2}[skip]
				m := shaken(t, c, 17, 4, 3)
				p := pairsOf(6, 4, 3, 17, 9)
				if encoder == "attention" && decoder == "transformer" {
					copy(p.Slate(3), p.Slate(4)) // no rows to attend to: not defined
				}
				if got, want := lossOf(t, m, p, false), newPlain(m).loss(p); !near(got, want) {
					t.Errorf("skip %t, tie %s: %v, want %v", skip, c.Tie, got, want)
				}
			}
		}
	})
}
