package optim

import (
	"fmt"
	"strings"

	"privrec/internal/tensor"
)

// State names: <prefix>.steps, then for each parameter <prefix>.a/<name>, <prefix>.b/<name> and
// <prefix>.last/<name>. Integers are stored as four digits to the base 65536, which are exact in
// either float width.

// digits writes x as four digits, lowest first.
func digits(dst []tensor.Float, x uint64) {
	for i := range 4 {
		dst[i] = tensor.Float(x >> (16 * i) & 0xffff)
	}
}

// number returns the number whose digits were written by digits.
func number(src []tensor.Float) (x uint64, err error) {
	for i := range 4 {
		d := src[i]
		if !(d >= 0 && d <= 0xffff) || d != tensor.Float(uint64(d)) {
			return 0, fmt.Errorf("digit %v", d)
		}
		x |= uint64(d) << (16 * i)
	}
	return x, nil
}

// State implements Optimizer.
func (m *memory) State() []NamedTensor {
	steps := tensor.New(1, 4)
	digits(steps.Data, uint64(m.steps))
	state := []NamedTensor{{Name: m.prefix + ".steps", Value: steps}}
	for _, name := range m.order {
		s := m.slots[name]
		state = append(state, NamedTensor{Name: m.prefix + ".a/" + name, Value: s.a})
		if m.pair {
			state = append(state, NamedTensor{Name: m.prefix + ".b/" + name, Value: s.b})
		}
		if s.last != nil {
			last := tensor.New(len(s.last), 4)
			for i, k := range s.last {
				digits(tensor.Row(last, i), uint64(k))
			}
			state = append(state, NamedTensor{Name: m.prefix + ".last/" + name, Value: last})
		}
	}
	return state
}

// Load implements Optimizer.
func (m *memory) Load(state []NamedTensor) error {
	n := memory{prefix: m.prefix, pair: m.pair, lazy: m.lazy, steps: -1}
	for _, e := range state {
		key, name, _ := strings.Cut(e.Name, "/")
		s := n.slots[name]
		if s == nil && name != "" {
			s = &slot{}
			n.keep(name, s)
		}
		switch {
		case key == m.prefix+".steps" && name == "" && e.Value.Rows == 1 && e.Value.Cols == 4:
			k, err := number(e.Value.Data)
			if err != nil || k > 1<<31-1 {
				return fmt.Errorf("optim: state %q: not a step count", e.Name)
			}
			n.steps = int(k)
		case key == m.prefix+".a" && name != "" && s.a.Data == nil:
			s.a = contiguous(e.Value)
		case key == m.prefix+".b" && name != "" && m.pair && s.b.Data == nil:
			s.b = contiguous(e.Value)
		case key == m.prefix+".last" && name != "" && m.lazy && e.Value.Cols == 4 && s.last == nil:
			s.last = make([]int32, e.Value.Rows)
			for i := range s.last {
				k, err := number(tensor.Row(e.Value, i))
				if err != nil || k > 1<<31-1 {
					return fmt.Errorf("optim: state %q: row %d is not a step", e.Name, i)
				}
				s.last[i] = int32(k)
			}
		default:
			return fmt.Errorf("optim: state %q (%d x %d) is not of a %s optimiser, or is there twice", e.Name,
				e.Value.Rows, e.Value.Cols, m.prefix)
		}
	}
	if n.steps < 0 {
		return fmt.Errorf("optim: state without %s.steps", m.prefix)
	}
	for _, name := range n.order {
		s := n.slots[name]
		switch {
		case s.a.Data == nil, m.pair && s.b.Data == nil, m.lazy && s.last == nil:
			return fmt.Errorf("optim: state of %q is incomplete", name)
		case m.pair && (s.a.Rows != s.b.Rows || s.a.Cols != s.b.Cols), m.lazy && len(s.last) != s.a.Rows:
			return fmt.Errorf("optim: parts of the state of %q differ in shape", name)
		}
	}
	m.steps, m.slots, m.order, m.loaded = n.steps, n.slots, n.order, true
	return nil
}

// contiguous returns a copy of m, never with nil data.
func contiguous(m tensor.Matrix) tensor.Matrix {
	c := tensor.NewLarge(m.Rows, m.Cols)
	if m.Cols > 0 {
		for i := range m.Rows {
			copy(tensor.Row(c, i), tensor.Row(m, i))
		}
	}
	return c
}
