package rap

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// state holds the attacker's part of a checkpoint: its parameters, and the state of its optimiser.
type state struct {
	Attacker []kept `json:"attacker"`
	Adam     []kept `json:"adam"`
}

// kept holds a matrix by the bits of its numbers.
type kept struct {
	Name       string `json:"name"`
	Rows, Cols int
	Bits       []byte `json:"bits"`
}

// Save implements train.Extra.
func (g *game) Save() ([]byte, error) {
	var s state
	for _, p := range g.attacker.Params() {
		k, err := keep(autograd.NamedTensor{Name: p.Name, Value: p.Value})
		if err != nil {
			return nil, err
		}
		s.Attacker = append(s.Attacker, k)
	}
	for _, t := range g.adam.State() {
		k, err := keep(t)
		if err != nil {
			return nil, err
		}
		s.Adam = append(s.Adam, k)
	}
	return json.Marshal(s)
}

// Load implements train.Extra. It fails on the state of an attacker of another shape, and on a
// build of another float width.
func (g *game) Load(b []byte) error {
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("attacker: %w", err)
	}
	params := g.attacker.Params()
	if len(s.Attacker) != len(params) {
		return fmt.Errorf("attacker: %d parameters are kept, it has %d", len(s.Attacker), len(params))
	}
	values := make([]tensor.Matrix, len(params))
	for i, p := range params {
		k := s.Attacker[i]
		if k.Name != p.Name || k.Rows != p.Value.Rows || k.Cols != p.Value.Cols {
			return fmt.Errorf("attacker: parameter %q (%d x %d) is kept where it has %q (%d x %d)", k.Name, k.Rows,
				k.Cols, p.Name, p.Value.Rows, p.Value.Cols)
		}
		var err error
		if values[i], err = k.matrix(); err != nil {
			return err
		}
	}
	var moments []autograd.NamedTensor
	for _, k := range s.Adam {
		m, err := k.matrix()
		if err != nil {
			return err
		}
		moments = append(moments, autograd.NamedTensor{Name: k.Name, Value: m})
	}
	if err := g.adam.Load(moments); err != nil {
		return fmt.Errorf("attacker: %w", err)
	}
	for i, p := range params {
		for r := range p.Value.Rows {
			copy(tensor.Row(p.Value, r), tensor.Row(values[i], r))
		}
	}
	return nil
}

// keep returns the bits of a matrix.
func keep(t autograd.NamedTensor) (kept, error) {
	k := kept{Name: t.Name, Rows: t.Value.Rows, Cols: t.Value.Cols}
	for r := range t.Value.Rows {
		var err error
		if k.Bits, err = binary.Append(k.Bits, binary.LittleEndian, tensor.Row(t.Value, r)); err != nil {
			return kept{}, fmt.Errorf("attacker: %q: %w", t.Name, err)
		}
	}
	return k, nil
}

// matrix returns the kept matrix.
func (k kept) matrix() (tensor.Matrix, error) {
	if want := k.Rows * k.Cols * binary.Size(tensor.Float(0)); k.Rows < 0 || k.Cols < 0 || len(k.Bits) != want {
		return tensor.Matrix{}, fmt.Errorf("attacker: %q (%d x %d) has %d bytes, want %d", k.Name, k.Rows, k.Cols,
			len(k.Bits), want)
	}
	m := tensor.New(k.Rows, k.Cols)
	return m, binary.Read(bytes.NewReader(k.Bits), binary.LittleEndian, m.Data[:k.Rows*k.Cols])
}
