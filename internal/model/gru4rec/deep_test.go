package gru4rec

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// plainDeep is the deep model on one sequence, from its formulas: a row for each item read.
func plainDeep(m *Deep, seq []int32) ggnntest.Dense {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	var x ggnntest.Dense
	for _, i := range seq {
		x = append(x, ggnntest.Values(m.Item)[i])
	}
	for _, l := range m.Layers {
		d := l.Whh.Value.Cols
		h := make([]float64, d)
		for p := range x {
			gi, gh := ggnntest.Affine(l.Wih, l.Bih, x[p:p+1])[0], ggnntest.Affine(l.Whh, l.Bhh, ggnntest.Dense{h})[0]
			next := make([]float64, d)
			for k := range d {
				z := sigmoid(gi[d+k] + gh[d+k])
				c := math.Tanh(gi[2*d+k] + sigmoid(gi[k]+gh[k])*gh[2*d+k])
				next[k] = (1-z)*c + z*h[k]
			}
			x[p], h = next, next
		}
	}
	return ggnntest.Affine(m.Out.W, m.Out.B, x)
}

// refill gives all parameters, biases included, other values.
func refill(m *Deep, init nn.Init) {
	for _, p := range m.Params() {
		init(p.Value, p.Name)
	}
}

func drawDeep(rt *rapid.T) (*Deep, [][]int32) {
	pick := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
	items := pick("items", 1, 5)
	m, err := NewDeep(items, Config{Dim: pick("d", 1, 4), Hidden: pick("hidden", 1, 4), Layers: pick("layers", 1, 3), Length: 9}, 1)
	if err != nil {
		rt.Fatal(err)
	}
	refill(m, nn.Uniform(7, 1))
	seqs := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32Range(1, int32(items)), 2, 7), 1, 5).Draw(rt, "sequences")
	return m, seqs
}

// The rows of a batch are those of the formulas, whatever is beside them: for sequences to be
// continued, and for windows to be learned.
func TestDeepEqualsTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, seqs := drawDeep(rt)
		var whole, learned Batch
		var wantWhole, wantLearned ggnntest.Dense
		var targets []int32
		for _, s := range seqs {
			rows := plainDeep(m, s)
			if err := whole.Add(s); err != nil {
				rt.Fatal(err)
			}
			wantWhole = append(wantWhole, rows[len(s)-1])
			first := rapid.IntRange(1, len(s)-1).Draw(rt, "first")
			if err := learned.AddPairs(s, first); err != nil {
				rt.Fatal(err)
			}
			wantLearned, targets = append(wantLearned, rows[first-1:len(s)-1]...), append(targets, s[first:]...)
		}
		for _, c := range []struct {
			b    *Batch
			want ggnntest.Dense
		}{{&whole, wantWhole}, {&learned, wantLearned}} {
			got := m.Forward(autograd.NewTape(), c.b, 0).V
			if got.Rows != len(c.want) {
				rt.Fatalf("%d rows, want %d", got.Rows, len(c.want))
			}
			for i, row := range c.want {
				for k, v := range row {
					if d := math.Abs(float64(tensor.Row(got, i)[k]) - v); !(d < 1e-4) {
						rt.Fatalf("row %d: %v, want %v", i, tensor.Row(got, i), row)
					}
				}
			}
		}
		for i, want := range targets {
			if learned.Targets[i] != want {
				rt.Fatalf("targets %v, want %v", learned.Targets, targets)
			}
		}
	})
}

func TestDeepGradients(t *testing.T) {
	m, err := NewDeep(4, Config{Dim: 3, Hidden: 2, Layers: 2, Length: 9}, 3)
	if err != nil {
		t.Fatal(err)
	}
	refill(m, nn.Uniform(7, 0.8))
	var b Batch
	for _, s := range [][]int32{{1, 2}, {4, 3, 3, 1}, {2, 2, 1}} {
		if err := b.AddPairs(s, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := gradcheck.Check(m.Params(), func(t *autograd.Tape) *autograd.Node { return m.CrossEntropy(t, &b, 0) }); err != nil {
		t.Error(err)
	}
	ggnntest.CheckParams(t, m.Params(), 11, "item")
}

// Dropout is of the items read, in training alone, and each step has its own.
func TestDeepDropout(t *testing.T) {
	m, err := NewDeep(4, Config{Dim: 8, Hidden: 3, Layers: 1, Length: 9, Dropout: 0.5}, 3)
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	if err := b.AddPairs([]int32{1, 2, 3, 4}, 1); err != nil {
		t.Fatal(err)
	}
	loss := func(training bool, step int) float64 {
		tape := autograd.NewTape()
		tape.SetTraining(training)
		return m.CrossEntropy(tape, &b, step).Scalar()
	}
	if loss(true, 1) != loss(true, 1) || loss(true, 1) == loss(true, 2) || loss(false, 1) != loss(false, 2) || loss(false, 1) == loss(true, 1) {
		t.Error("masks do not follow mode and step")
	}
}

func TestDeepRefuses(t *testing.T) {
	good := Config{Dim: 1, Hidden: 1, Layers: 1, Length: 1}
	for want, change := range map[string]func(c *Config){
		"dim is 0":      func(c *Config) { c.Dim = 0 },
		"hidden is 0":   func(c *Config) { c.Hidden = 0 },
		"layers is 0":   func(c *Config) { c.Layers = 0 },
		"length is 0":   func(c *Config) { c.Length = 0 },
		"dropout is 1":  func(c *Config) { c.Dropout = 1 },
		"dropout is -1": func(c *Config) { c.Dropout = -1 },
	} {
		c := good
		change(&c)
		if _, err := NewDeep(3, c, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := NewDeep(0, good, 1); err == nil {
		t.Error("no items")
	}
	var b Batch
	if b.Add(nil) == nil || b.AddPairs([]int32{1}, 1) == nil || b.AddPairs([]int32{1, 2}, 0) == nil {
		t.Error("sequences without anything to learn")
	}
}
