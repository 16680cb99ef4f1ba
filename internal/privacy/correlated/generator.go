package correlated

import (
	"errors"
	"fmt"
	"math"
)

// State holds all that a Generator remembers between two steps: a few rows, whatever the number of steps. Stored as
// JSON and read again, it goes on to the last bit.
type State struct {
	Step   int       `json:"step"`             // steps that are done
	Width  int       `json:"width"`            // length of a row
	Memory []float64 `json:"memory,omitempty"` // rows of length Width, one after the other; empty before the first step
}

// Generator turns independent normal rows z into the noise of each step, C^-1 z, row by row. What is released of step t
// is its own part plus row t of C^-1 z, so that the released sums are the sums plus B z. Memory is bands-1 rows for a
// banded strategy, and a row for each buffer of a buffered one (see Buffered). A copy of State may be stored at any
// step.
type Generator struct {
	State
	of   Strategy
	rows int // of memory
}

// Generator returns a generator of the strategy's noise that goes on from a state. State{Width: w} is the start, with
// rows of length w. It fails for a tree, whose noise is that of its nodes, and on a state of another strategy.
func (s Strategy) Generator(from State) (*Generator, error) {
	switch {
	case s.tree:
		return nil, errors.New("a tree has noise for its nodes, and none for steps")
	case from.Width < 1:
		return nil, fmt.Errorf("state: width is %d, want at least 1", from.Width)
	case from.Step < 0 || from.Step > s.steps:
		return nil, fmt.Errorf("state: step is %d, want 0 to %d", from.Step, s.steps)
	}
	rows := len(s.column) - 1
	if s.buffers != nil {
		rows = len(s.buffers)
	}
	fresh := from.Step == 0 && len(from.Memory) == 0
	if !fresh && len(from.Memory) != rows*from.Width {
		return nil, fmt.Errorf("state: memory of %d numbers, want %d rows of %d", len(from.Memory), rows, from.Width)
	}
	for i, v := range from.Memory {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("state: memory %d is %v, want a finite number", i, v)
		}
	}
	g := &Generator{State{from.Step, from.Width, make([]float64, rows*from.Width)}, s, rows}
	copy(g.Memory, from.Memory)
	return g, nil
}

// Next replaces the row of z of the next step by the row of C^-1 z. It fails after the last step and on a row of
// another length.
func (g *Generator) Next(row []float64) error {
	switch {
	case len(row) != g.Width:
		return fmt.Errorf("a row of %d numbers, want %d", len(row), g.Width)
	case g.Step >= g.of.steps:
		return fmt.Errorf("step %d, want at most %d", g.Step+1, g.of.steps)
	}
	if g.of.buffers != nil {
		g.buffered(row)
	} else {
		g.banded(row)
	}
	g.Step++
	return nil
}

// banded subtracts the earlier rows y of the memory, as C y = z says it: c[0] y[t] = z[t] - c[1] y[t-1] - c[2] y[t-2]
// and so on. Row t is at t modulo the number of rows.
func (g *Generator) banded(row []float64) {
	at := 0
	if g.rows > 0 {
		at = g.Step % g.rows
	}
	for k := 1; k <= min(g.rows, g.Step); k++ {
		from := at - k
		if from < 0 {
			from += g.rows
		}
		c, y := g.of.column[k], g.Memory[from*g.Width:]
		for j := range row {
			row[j] -= c * y[j]
		}
	}
	if first := g.of.column[0]; first != 1 {
		for j := range row {
			row[j] /= first
		}
	}
	if g.rows > 0 {
		copy(g.Memory[at*g.Width:], row)
	}
}

// buffered subtracts the buffers: y[t] = z[t] - sum of weight s[t], where s[t+1] = decay s[t] + y[t] in each buffer.
func (g *Generator) buffered(row []float64) {
	for i, b := range g.of.buffers {
		s := g.Memory[i*g.Width:]
		for j := range row {
			row[j] -= b.Weight * s[j]
		}
	}
	for i, b := range g.of.buffers {
		s := g.Memory[i*g.Width:]
		for j, y := range row {
			s[j] = b.Decay*s[j] + y
		}
	}
}
