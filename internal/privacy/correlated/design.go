package correlated

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Names of the strategies of a Design.
const (
	NameBanded   = "banded"   // see Banded
	NameTree     = "tree"     // see Tree
	NameBuffered = "blt"      // see Buffered
	NameComposed = "composed" // see Composed
	NameToeplitz = "toeplitz" // see Toeplitz
)

// Design states a strategy by its name and numbers, so that a reader can make it again. It is comparable.
type Design struct {
	Name    string  `json:"strategy"`
	Steps   int     `json:"steps"`
	Bands   int     `json:"bands,omitempty"`   // of banded
	Weights Numbers `json:"weights,omitempty"` // of the buffers of blt
	Decays  Numbers `json:"decays,omitempty"`  // of the buffers of blt, as many
	Column  Numbers `json:"column,omitempty"`  // of toeplitz
}

// BufferedDesign returns the design of Buffered.
func BufferedDesign(n int, buffers []Buffer) Design {
	var weights, decays []float64
	for _, b := range buffers {
		weights, decays = append(weights, b.Weight), append(decays, b.Decay)
	}
	return Design{Name: NameBuffered, Steps: n, Weights: NumbersOf(weights), Decays: NumbersOf(decays)}
}

// Strategy returns the strategy of a design. It fails on an unknown name, a number out of range, and one that is of
// another strategy.
func (d Design) Strategy() (Strategy, error) {
	rest := d
	rest.Name, rest.Steps = "", 0
	var s Strategy
	var err error
	switch d.Name {
	case NameBanded:
		rest.Bands = 0
		s, err = Banded(d.Steps, d.Bands)
	case NameTree:
		s, err = Tree(d.Steps)
	case NameComposed:
		s, err = Composed(d.Steps)
	case NameBuffered:
		rest.Weights, rest.Decays = "", ""
		weights, decays := d.Weights.Floats(), d.Decays.Floats()
		if len(weights) != len(decays) {
			return Strategy{}, fmt.Errorf("%d weights and %d decays, want one of both for each buffer", len(weights),
				len(decays))
		}
		buffers := make([]Buffer, len(weights))
		for i := range buffers {
			buffers[i] = Buffer{weights[i], decays[i]}
		}
		s, err = Buffered(d.Steps, buffers)
	case NameToeplitz:
		rest.Column = ""
		s, err = Toeplitz(d.Steps, d.Column.Floats())
	default:
		return Strategy{}, fmt.Errorf("unknown strategy %q", d.Name)
	}
	if err == nil && rest != (Design{}) {
		err = fmt.Errorf("numbers that are not of the strategy %s", d.Name)
	}
	return s, err
}

// Numbers is a list of numbers that can be compared: its JSON text, empty for none.
type Numbers string

// NumbersOf returns a list of numbers. One that is not finite makes a list that no design accepts.
func NumbersOf(list []float64) Numbers {
	if len(list) == 0 {
		return ""
	}
	text := []byte{'['}
	for i, v := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, v, 'g', -1, 64)
	}
	return Numbers(append(text, ']'))
}

// Floats returns the numbers of a list, or nil if the text is not one that NumbersOf makes of finite numbers.
func (n Numbers) Floats() []float64 {
	var list []float64
	if err := json.Unmarshal([]byte(n), &list); err != nil || NumbersOf(list) != n {
		return nil
	}
	return list
}

// MarshalJSON writes the numbers as a JSON list.
func (n Numbers) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("[]"), nil
	}
	return []byte(n), nil
}

// UnmarshalJSON reads a JSON list of numbers.
func (n *Numbers) UnmarshalJSON(b []byte) error {
	var list []float64
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*n = NumbersOf(list)
	return nil
}
