package correlated

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestDesigns makes the strategy of each design, and the design again of its JSON.
func TestDesigns(t *testing.T) {
	for text, want := range map[string]Strategy{
		`{"strategy":"banded","steps":4,"bands":2}`: {column: []float64{1, 0.5}, steps: 4},
		`{"strategy":"composed","steps":2}`:         {column: []float64{1, 1}, steps: 2},
		`{"strategy":"tree","steps":7}`:             {steps: 7, tree: true},
		`{"strategy":"blt","steps":4,"weights":[0.5],"decays":[0.25]}`: {column: []float64{1, 0.5, 0.125, 1. / 32},
			steps: 4},
		`{"strategy":"toeplitz","steps":5,"column":[1,-1e-07,0.5,1e+21]}`: {column: []float64{1, -1e-7, 0.5, 1e21}, steps: 5},
	} {
		var d Design
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(text, err)
		}
		s, err := d.Strategy()
		if err != nil {
			t.Fatal(text, err)
		}
		p := Participation{2, 1}
		got, err := s.Sensitivity(p)
		if err != nil {
			t.Fatal(err)
		}
		if least := largest(want, 2, 1); s.steps != want.steps || got < least-1e-9*least {
			t.Errorf("%s: sensitivity %v of %d steps, want %v of %d", text, got, s.steps, least, want.steps)
		}
		b, err := json.Marshal(d)
		if err != nil || string(b) != text {
			t.Errorf("%s comes back as %s, %v", text, b, err)
		}
	}
	buffers := []Buffer{{0.1, 0.9}, {1. / 3, 0.2}}
	s, err := BufferedDesign(6, buffers).Strategy()
	if err != nil || len(s.buffers) != 2 || s.buffers[0] != buffers[0] || s.buffers[1] != buffers[1] {
		t.Errorf("%v, %v, want %v", s.buffers, err, buffers)
	}
}

func TestDesignsRefused(t *testing.T) {
	for want, d := range map[string]Design{
		"unknown strategy":       {Name: "root", Steps: 3},
		"0 steps":                {Name: NameTree},
		"0 bands":                {Name: NameBanded, Steps: 3},
		"not of the strategy":    {Name: NameTree, Steps: 3, Bands: 2},
		"2 weights and 1 decays": {Name: NameBuffered, Steps: 3, Weights: "[0.1,0.2]", Decays: "[0.5]"},
		"0 buffers":              {Name: NameBuffered, Steps: 3},
		"a column of 0":          {Name: NameToeplitz, Steps: 3, Column: "[1, 2]"},
		"column of 0 entries":    {Name: NameToeplitz, Steps: 3, Column: NumbersOf([]float64{1, math.NaN()})},
	} {
		if _, err := d.Strategy(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", d, err, want)
		}
	}
	var n Numbers
	for _, text := range []string{`1`, `"x"`, `[1,"a"]`, `{}`} {
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s is a list", text)
		}
	}
	if b, err := json.Marshal(NumbersOf([]float64{math.Inf(1)})); err == nil {
		t.Errorf("infinity is written as %s", b)
	}
}
