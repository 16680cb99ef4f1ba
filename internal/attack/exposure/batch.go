package exposure

import (
	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
)

// slates holds a batch of slates, packed: the tokens of slate i are tokens[off[i]:off[i+1]].
type slates struct {
	tokens, off []int32
	one         []int32 // 0, 1, ... n: the offsets of one row a slate
}

// lay packs the slates of the given rows. It leaves out tokens that are not embedded: Pad, and OOV if the model skips
// it. With start, every slate begins with the start token.
func (s *slates) lay(c *Config, p *slate.Pairs, rows []int32, start bool) {
	s.tokens, s.off = s.tokens[:0], append(s.off[:0], 0)
	for _, r := range rows {
		if start {
			s.tokens = append(s.tokens, slate.Start)
		}
		for _, x := range p.Slate(int(r)) {
			if x != slate.Pad && (x != slate.OOV || !c.SkipUnknown) {
				s.tokens = append(s.tokens, x)
			}
		}
		s.off = append(s.off, int32(len(s.tokens)))
	}
	s.one = count(s.one, len(rows)+1, 1)
}

func (s *slates) len() int { return len(s.off) - 1 }

// batch holds the input of the loss of some pairs. It reuses its memory from step to step.
type batch struct {
	slates
	in    []int32 // sequence-wise: tokens fed to the decoder, (Start, b_1 .. b_L) of every pair
	class []int32 // targets; sequence-wise (b_1 .. b_L, End), negative where unknown
	many  []int32 // point-wise: offsets of the pairs' distinct known targets

	repeat []int32          // scratch of a recurrent decoder: the pair of every row
	out    []*autograd.Node // scratch of a recurrent decoder: its states
}

// lay fills b with the given rows of p and returns how many pairs (point-wise) or steps count.
func (b *batch) lay(m *Model, p *slate.Pairs, rows []int32) (count int) {
	b.slates.lay(&m.Config, p, rows, m.startsSlate())
	n, steps := len(rows), m.l+1
	b.in, b.class, b.many = b.in[:0], b.class[:0], append(b.many[:0], 0)
	if m.dec == nil {
		for _, r := range rows {
			from := len(b.class)
			for _, y := range p.Behaviour(int(r)) {
				if known(y) && !contains(b.class[from:], y) {
					b.class = append(b.class, y)
				}
			}
			if len(b.class) > from {
				count++
			}
			b.many = append(b.many, int32(len(b.class)))
		}
		return count
	}
	b.in, b.class = extend(b.in, n*steps), extend(b.class, n*steps)
	for i, r := range rows {
		clicks := p.Behaviour(int(r))
		for t := range steps {
			in, target := slate.Start, slate.End
			if t > 0 {
				in = clicks[t-1]
			}
			if t < m.l {
				target = clicks[t]
			}
			if !known(target) && target != slate.End {
				target = -1
			} else {
				count++
			}
			at := m.dec.row(i, t, n, steps)
			b.in[at], b.class[at] = in, target
		}
	}
	return count
}

// startsSlate reports whether slates begin with the start token: the CLS of attention, or the one that the released
// program pools over. A transformer decoder reads the items themselves.
func (m *Model) startsSlate() bool {
	return m.Decoder != "transformer" && (m.Encoder == "attention" || m.PoolStart)
}

// known reports whether a token is an item of the vocabulary and not a special.
func known(x int32) bool { return x >= slate.FirstItem }

func contains(list []int32, x int32) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// extend returns s with n elements, in its own memory if that is enough.
func extend(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	return s[:n]
}

// count fills s with 0, step, 2·step, ... n elements.
func count(s []int32, n, step int) []int32 {
	s = extend(s, n)
	for i := range s {
		s[i] = int32(i * step)
	}
	return s
}
