package correlated

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// drawStrategy draws a strategy of steps: banded, buffered or any column.
func drawStrategy(t *rapid.T, n int) Strategy {
	var s Strategy
	var err error
	switch rapid.IntRange(0, 2).Draw(t, "strategy") {
	case 0:
		s, err = Banded(n, rapid.IntRange(1, n).Draw(t, "bands"))
	case 1:
		s, err = Buffered(n, drawBuffers(t))
	default:
		column := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, n).Draw(t, "column")
		column[0] = math.Abs(column[0]) + 0.5
		s, err = Toeplitz(n, column)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawBuffers draws one to three valid buffers.
func drawBuffers(t *rapid.T) []Buffer {
	all := make([]Buffer, rapid.IntRange(1, 3).Draw(t, "buffers"))
	for i := range all {
		all[i] = Buffer{rapid.Float64Range(0, 1).Draw(t, "weight") / float64(len(all)+1),
			rapid.Float64Range(0, 1).Draw(t, "decay")}
	}
	return all
}

// noise returns the rows that a generator makes of rows of z.
func noise(t *rapid.T, g *Generator, z *mat.Dense) *mat.Dense {
	n, width := z.Dims()
	out := mat.NewDense(n, width, nil)
	for i := range n {
		row := slices.Clone(z.RawRowView(i))
		if err := g.Next(row); err != nil {
			t.Fatal(err)
		}
		out.SetRow(i, row)
	}
	return out
}

// drawRows draws rows of z.
func drawRows(t *rapid.T, n, width int) *mat.Dense {
	return mat.NewDense(n, width, rapid.SliceOfN(rapid.Float64Range(-3, 3), n*width, n*width).Draw(t, "z"))
}

// TestGeneratorInverts multiplies what a generator makes of z by the dense C: that is z again.
func TestGeneratorInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, width := rapid.IntRange(1, 12).Draw(t, "steps"), rapid.IntRange(1, 4).Draw(t, "width")
		s := drawStrategy(t, n)
		g, err := s.Generator(State{Width: width})
		if err != nil {
			t.Fatal(err)
		}
		z := drawRows(t, n, width)
		y := noise(t, g, z)
		var back mat.Dense
		back.Mul(s.dense(), y)
		largest := 1.0
		for _, v := range y.RawMatrix().Data {
			largest = math.Max(largest, math.Abs(v))
		}
		if !mat.EqualApprox(&back, z, 1e-13*float64(n)*largest) {
			t.Errorf("C y is\n%v, want\n%v", mat.Formatted(&back), mat.Formatted(z))
		}
		if err := g.Next(make([]float64, width)); err == nil {
			t.Errorf("a step after the last of %d", n)
		}
	})
}

// TestGeneratorResumes stores the state at any step as JSON: what goes on from it makes the same rows to the last bit,
// and its memory is that of the start.
func TestGeneratorResumes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, width := rapid.IntRange(1, 12).Draw(t, "steps"), rapid.IntRange(1, 3).Draw(t, "width")
		s := drawStrategy(t, n)
		z := drawRows(t, n, width)
		at := rapid.IntRange(0, n).Draw(t, "stored after")
		var rows [2][]float64
		for i := range rows {
			g, err := s.Generator(State{Width: width})
			if err != nil {
				t.Fatal(err)
			}
			size := len(g.Memory)
			for step := range n {
				if i == 1 && step == at {
					text, err := json.Marshal(g.State)
					if err != nil {
						t.Fatal(err)
					}
					var st State
					if err := json.Unmarshal(text, &st); err != nil {
						t.Fatal(err)
					}
					if g, err = s.Generator(st); err != nil {
						t.Fatal(err)
					}
				}
				row := slices.Clone(z.RawRowView(step))
				if err := g.Next(row); err != nil {
					t.Fatal(err)
				}
				rows[i] = append(rows[i], row...)
			}
			if len(g.Memory) != size {
				t.Errorf("memory grew from %d to %d numbers", size, len(g.Memory))
			}
		}
		if !slices.Equal(rows[0], rows[1]) {
			t.Errorf("stored after %d steps: rows %v, want %v", at, rows[1], rows[0])
		}
	})
}

// TestMemoryIsBounded states how much a generator remembers at 10,000 steps.
func TestMemoryIsBounded(t *testing.T) {
	banded, err := Banded(10_000, 30)
	if err != nil {
		t.Fatal(err)
	}
	blt, err := Buffered(10_000, []Buffer{{0.3, 0.99}, {0.3, 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	for rows, s := range map[int]Strategy{29: banded, 2: blt} {
		g, err := s.Generator(State{Width: 7})
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Memory) != 7*rows {
			t.Errorf("memory of %d numbers, want %d rows of 7", len(g.Memory), rows)
		}
	}
}

func TestGeneratorRefuses(t *testing.T) {
	s, err := Banded(5, 3)
	if err != nil {
		t.Fatal(err)
	}
	for want, st := range map[string]State{
		"width is 0":             {},
		"step is -1":             {Step: -1, Width: 1},
		"step is 6":              {Step: 6, Width: 1, Memory: []float64{1, 2}},
		"memory of 3":            {Step: 1, Width: 1, Memory: []float64{1, 2, 3}},
		"memory of 0":            {Step: 1, Width: 1},
		"memory 1 is NaN":        {Step: 1, Width: 1, Memory: []float64{1, math.NaN()}},
		"memory 0 is +Inf":       {Step: 0, Width: 1, Memory: []float64{math.Inf(1), 0}},
		"want 2 rows of 9000000": {Step: 2, Width: 9000000, Memory: []float64{1}},
	} {
		if _, err := s.Generator(st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", st, err, want)
		}
	}
	g, err := s.Generator(State{Width: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]float64{nil, {1}, {1, 2, 3}} {
		if err := g.Next(row); err == nil || g.Step != 0 {
			t.Errorf("a row of %d: error %v, step %d", len(row), err, g.Step)
		}
	}
	tree, err := Tree(5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Generator(State{Width: 1}); err == nil || fmt.Sprint(err) == "" {
		t.Errorf("a generator of a tree: %v", err)
	}
}
