package exposure

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/dataset/slate"
	"privrec/internal/tensor"
)

// TestGradients compares the gradient of every parameter of every attack with central differences, with
// dropout, in both kinds of tying, on pairs with unknown and missing items.
func TestGradients(t *testing.T) {
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		for _, tie := range []string{TiePaper, TieCode} {
			c := small(encoder, decoder, 4)
			c.Tie, c.PoolStart = tie, tie == TieCode
			m := shaken(t, c, 11, 4, 3)
			p := pairsOf(4, 4, 3, 11, 1)
			o := m.On(p)
			loss := func(tp *autograd.Tape) *autograd.Node {
				l, err := o.Loss(tp, 7, []int32{0, 1, 2, 3})
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			how := gradcheck.Options{Step: 1e-7, Tol: 1e-5} // kinks of ReLU and max lie everywhere: small steps
			if !wide {
				how = gradcheck.Options{Step: 2e-3, Tol: 3e-2}
			}
			if err := how.Check(m.Params(), loss); err != nil {
				t.Errorf("tie %s: %v", tie, err)
			}
		}
	})
}

// TestMaxTakesTheFirst: of equal greatest elements the first has the gradient.
func TestMaxTakesTheFirst(t *testing.T) {
	x := &autograd.Param{Name: "x", Value: tensor.From(5, 2, []tensor.Float{1, 7, 3, 7, 3, 2, -1, -2, -1, -3})}
	tp := autograd.NewTape()
	y := segmentMax(tp.Use(x), []int32{0, 3, 3, 5})
	if want := []tensor.Float{3, 7, 0, 0, -1, -2}; !slices.Equal(y.V.Data, want) {
		t.Errorf("maxima %v, want %v", y.V.Data, want)
	}
	tp.Backward(y.Mul(tp.Const(tensor.From(3, 2, []tensor.Float{10, 20, 30, 40, 50, 60}))).SumAll())
	g, _ := tp.Grads().Dense(x)
	if want := []tensor.Float{0, 20, 10, 0, 0, 0, 50, 60, 0, 0}; !slices.Equal(g.Data, want) {
		t.Errorf("gradient %v, want %v", g.Data, want)
	}
}

// TestDecodersLookBack: what is fed at a step changes no state before it, and the states from it on.
func TestDecodersLookBack(t *testing.T) {
	for _, decoder := range decoders[1:] {
		const n, steps, vocab = 2, 5, 12
		m := shaken(t, small("attention", decoder, 6), vocab, 4, steps-1)
		var b batch
		b.lay(m, pairsOf(n, 4, steps-1, vocab, 2), rowsOf(n))
		states := func() tensor.Matrix {
			tp := autograd.NewTape()
			tp.SetTraining(false)
			v := m.dec.states(tp, m.enc.context(tp, &b.slates, 0, decoder), &b, 0).V
			return tensor.From(v.Rows, v.Cols, slices.Clone(v.Data))
		}
		for at := range steps {
			before := states()
			k := m.dec.row(1, at, n, steps)
			old := b.in[k]
			b.in[k] = slate.FirstItem + (old-slate.FirstItem+3)%(vocab-slate.FirstItem)
			after := states()
			b.in[k] = old
			for i := range n {
				for s := range steps {
					row := m.dec.row(i, s, n, steps)
					same := slices.Equal(tensor.Row(before, row), tensor.Row(after, row))
					if want := i == 0 || s < at; same != want {
						t.Errorf("%s: fed at step %d of pair 1, the state of pair %d at step %d stays: %t", decoder, at, i, s, same)
					}
				}
			}
		}
	}
}

// TestTiedMatrixCollectsAllUses: its gradient is the sum of those that the separate matrices of the same
// values would have.
func TestTiedMatrixCollectsAllUses(t *testing.T) {
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		c := small(encoder, decoder, 6)
		tied := shaken(t, c, 15, 4, 3)
		c.Tie = TieCode
		apart := shaken(t, c, 15, 4, 3)
		tables := 0
		for _, q := range apart.Params() {
			from := tied.enc.items
			if !slices.Contains([]string{"item", "output.W", "decoder.item"}, q.Name) {
				from = nil
				for _, r := range tied.Params() {
					if r.Name == q.Name {
						from = r
					}
				}
			} else {
				tables++
			}
			copy(q.Value.Data, from.Value.Data)
		}
		if want := map[string]int{"transformer": 3}[decoder]; want > 0 && tables != want {
			t.Errorf("%d matrices, want %d", tables, want)
		}
		p := pairsOf(6, 4, 3, 15, 4)
		one, many := gradientsOf(t, tied, p), gradientsOf(t, apart, p)
		for i, got := range one["item"] {
			want := 0.0
			for _, name := range []string{"item", "output.W", "decoder.item"} {
				if g := many[name]; g != nil {
					want += float64(g[i])
				}
			}
			if !near(float64(got), want) {
				t.Fatalf("element %d: %v, want %v", i, got, want)
			}
		}
	})
}

// TestValidationLoss: it is the loss without dropout, whatever the batch, and unknown targets do not count.
func TestValidationLoss(t *testing.T) {
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		m := shaken(t, small(encoder, decoder, 4), 20, 4, 3)
		p := pairsOf(23, 4, 3, 20, 5)
		for j := range 3 {
			p.Behaviour(9)[j] = slate.OOV // a pair without a known target
		}
		want := lossOf(t, m, p, false)
		if train := lossOf(t, m, p, true); decoder != "point" && train == want {
			t.Errorf("dropout does nothing")
		}
		for _, batch := range []int{1, 5, 23, 100} {
			if got, err := m.ValidationLoss(t.Context(), p, batch); err != nil || !near(got, want) {
				t.Errorf("batch %d: %v, %v, want %v", batch, got, err, want)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	m := shaken(t, small("mean", "gru", 4), 20, 4, 3)
	p := pairsOf(5, 4, 3, 20, 5)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough"))
	nothing := func(int32, [][]int32) error { return nil }
	unknown := pairsOf(1, 4, 3, 20, 5)
	unknown.Slate(0)[0] = 20
	bad := shaken(t, small("mean", "gru", 4), 20, 4, 3)
	bad.enc.items.Value.Data[4*int(p.Slate(0)[0])] = tensor.Float(math.NaN())
	for _, c := range []struct {
		want string
		f    func() error
	}{
		{"slates of 5", func() error { _, err := m.ValidationLoss(t.Context(), pairsOf(1, 5, 3, 20, 1), 4); return err }},
		{"behaviours of 2", func() error { return m.Rank(t.Context(), pairsOf(1, 4, 2, 20, 1), nil, 3, nil, nothing) }},
		{"behaviours of 2", func() error {
			_, err := m.On(pairsOf(1, 4, 2, 20, 1)).Loss(autograd.NewTape(), 0, nil)
			return err
		}},
		{"0 pairs at a time", func() error { _, err := m.ValidationLoss(t.Context(), p, 0); return err }},
		{"enough", func() error { _, err := m.ValidationLoss(ctx, p, 2); return err }},
		{"enough", func() error { return m.Rank(ctx, p, nil, 3, nil, nothing) }},
		{"index 20", func() error { return m.Rank(t.Context(), unknown, nil, 3, nil, nothing) }},
		{"index 20", func() error { _, err := m.ValidationLoss(t.Context(), unknown, 4); return err }},
		{"row 2: candidate 20", func() error {
			return m.Rank(t.Context(), p, []int32{2}, 3, func(int32) []int32 { return []int32{20} }, nothing)
		}},
		{"holds NaN", func() error { return bad.Rank(t.Context(), p, nil, 3, nil, nothing) }},
		{"halt", func() error {
			return m.Rank(t.Context(), p, nil, 3, nil, func(int32, [][]int32) error { return errors.New("halt") })
		}},
	} {
		if err := c.f(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	none := pairsOf(2, 4, 3, 20, 5)
	for i := range none.Behaviours {
		none.Behaviours[i] = slate.OOV
	}
	point := shaken(t, small("mean", "point", 4), 20, 4, 3)
	if _, err := point.ValidationLoss(t.Context(), none, 2); err == nil {
		t.Error("a validation without a known target has a loss")
	}
}

// TestConfigs: the two profiles hold for all attacks; every field is checked under its name in files.
func TestConfigs(t *testing.T) {
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		for _, c := range []Config{Paper(encoder, decoder), Code(encoder, decoder)} {
			if field, problem := c.Check(); field != "" {
				t.Errorf("%s: %s", field, problem)
			}
			m, err := New(c, 9, 4, 2, 1)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, p := range m.Params() {
				if seen[p.Name] {
					t.Errorf("two parameters %q", p.Name)
				}
				seen[p.Name] = true
			}
			if want := map[bool]int{true: 1, false: 2}[decoder == "point"]; c.Tie == TiePaper && seen["output.W"] || want == 0 {
				t.Error("a tied model has an output matrix of its own")
			}
		}
	})
	for _, c := range []struct {
		field  string
		change func(c *Config)
	}{
		{"encoder", func(c *Config) { c.Encoder = "sum" }}, {"decoder", func(c *Config) { c.Decoder = "rnn" }},
		{"dim", func(c *Config) { c.Dim = 0 }}, {"heads", func(c *Config) { c.Heads = 0 }}, {"heads", func(c *Config) { c.Heads = 3 }},
		{"ffn", func(c *Config) { c.FFN = 0 }}, {"blocks", func(c *Config) { c.Blocks = 0 }},
		{"dropout", func(c *Config) { c.Dropout = 1 }}, {"dropout", func(c *Config) { c.Dropout = math.NaN() }},
		{"smoothing", func(c *Config) { c.Smoothing = -1 }}, {"init", func(c *Config) { c.Init = "" }},
		{"tie", func(c *Config) { c.Tie = "all" }}, {"context_decode", func(c *Config) { c.ContextDecode = "none" }},
	} {
		cfg := Paper("attention", "gru")
		c.change(&cfg)
		if field, _ := cfg.Check(); field != c.field {
			t.Errorf("%q is blamed, want %q", field, c.field)
		}
		if _, err := New(cfg, 9, 4, 2, 1); err == nil || !strings.Contains(err.Error(), c.field) {
			t.Errorf("New: %v, want %q", err, c.field)
		}
	}
	for _, s := range [][3]int{{4, 10, 5}, {9, 0, 5}, {9, 10, 0}} {
		if _, err := New(Paper("mean", "gru"), s[0], s[1], s[2], 1); err == nil {
			t.Errorf("sizes %v are accepted", s)
		}
	}
	for _, c := range []Training{PaperTraining(), CodeTraining()} {
		if field, problem := c.Check(); field != "" {
			t.Errorf("%s: %s", field, problem)
		}
		if c.Optimizer() == nil {
			t.Error("no optimiser")
		}
		for field, change := range map[string]func(c *Training){
			"rate": func(c *Training) { c.Rate = 0 }, "beta1": func(c *Training) { c.Beta1 = 1 }, "beta2": func(c *Training) { c.Beta2 = -1 },
			"eps": func(c *Training) { c.Eps = 0 }, "warm_up": func(c *Training) { c.WarmUp = -1 }, "batch": func(c *Training) { c.Batch = 0 },
		} {
			d := c
			change(&d)
			if got, _ := d.Check(); got != field {
				t.Errorf("%q is blamed, want %q", got, field)
			}
		}
	}
}
