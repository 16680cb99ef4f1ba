package sasrec

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// small is a model whose parameters are all away from their special initial values.
func small(t testing.TB, items int, c Config, seed rng.Seed) *Model {
	t.Helper()
	m, err := New(items, c, seed)
	if err != nil {
		t.Fatal(err)
	}
	init := nn.Uniform(seed, 0.9)
	for _, p := range m.Params() {
		init(p.Value, p.Name)
	}
	return m
}

func pack(t testing.TB, length int, add func(*Batch, []int32) error, sequences ...[]int32) *Batch {
	t.Helper()
	b := &Batch{}
	b.Reset(length)
	for _, s := range sequences {
		if err := add(b, s); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// rows is F for sequences to be continued.
func rows(t testing.TB, m *Model, sequences ...[]int32) tensor.Matrix {
	tape := autograd.NewTape()
	tape.SetTraining(false)
	return m.Forward(tape, pack(t, m.Config.Length, (*Batch).Add, sequences...), 0).V
}

// plain is F of one sequence, from the formulas of the paper and the program.
func plain(m *Model, sequence []int32) [][]float64 {
	d, n := m.Config.Dim, m.Config.Length
	s := sequence[max(0, len(sequence)-n):]
	at := func(p *autograd.Param, i int) []float64 {
		row := make([]float64, p.Value.Cols)
		for j, v := range tensor.Row(p.Value, i) {
			row[j] = float64(v)
		}
		return row
	}
	linear := func(l *nn.Linear, x []float64) []float64 {
		y := at(l.B, 0)
		for i := range y {
			for j, w := range at(l.W, i) {
				y[i] += w * x[j]
			}
		}
		return y
	}
	norm := func(l *nn.LayerNorm, x []float64) []float64 {
		mean, variance := 0.0, 0.0
		for _, v := range x {
			mean += v / float64(d)
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(d)
		}
		y, gain, shift := make([]float64, d), at(l.Gain, 0), at(l.Shift, 0)
		for j := range y {
			y[j] = gain[j]*(x[j]-mean)/math.Sqrt(variance+1e-8) + shift[j]
		}
		return y
	}
	sum := func(x, y []float64) []float64 {
		z := make([]float64, d)
		for j := range z {
			z[j] = x[j] + y[j]
		}
		return z
	}
	each := func(x [][]float64, f func([]float64) []float64) [][]float64 {
		y := make([][]float64, len(x))
		for i := range x {
			y[i] = f(x[i])
		}
		return y
	}
	var x [][]float64
	for i, item := range s {
		e, p := at(m.Item, int(item)), at(m.Position, n-len(s)+i)
		for j := range e {
			e[j] = e[j]*math.Sqrt(float64(d)) + p[j]
		}
		x = append(x, e)
	}
	for _, b := range m.blocks {
		paper := m.Config.Norm == NormPaper
		y := each(x, func(r []float64) []float64 { return norm(b.norms[0], r) })
		source, base := x, y
		if paper {
			source, base = y, x
		}
		q := each(y, func(r []float64) []float64 { return linear(b.query, r) })
		k := each(source, func(r []float64) []float64 { return linear(b.key, r) })
		v := each(source, func(r []float64) []float64 { return linear(b.value, r) })
		w := d / m.Config.Heads
		next := make([][]float64, len(x))
		for i := range x {
			next[i] = make([]float64, d)
			for h := range m.Config.Heads {
				weights, total := make([]float64, i+1), 0.0
				for j := range weights {
					dot := 0.0
					for c := h * w; c < (h+1)*w; c++ {
						dot += q[i][c] * k[j][c]
					}
					weights[j] = math.Exp(dot / math.Sqrt(float64(w)))
					total += weights[j]
				}
				for j := range weights {
					for c := h * w; c < (h+1)*w; c++ {
						next[i][c] += weights[j] / total * v[j][c]
					}
				}
			}
			next[i] = sum(base[i], next[i])
		}
		for i, r := range next {
			y := norm(b.norms[1], r)
			h := linear(b.up, y)
			for j := range h {
				h[j] = max(h[j], 0)
			}
			if !paper {
				r = y
			}
			next[i] = sum(r, linear(b.down, h))
		}
		x = next
	}
	return each(x, func(r []float64) []float64 { return norm(m.final, r) })
}

// near compares within what float32 rounding of some layers may do to numbers around 1.
func near(got tensor.Float, want float64) bool {
	return math.Abs(float64(got)-want) <= 2e-3*max(1, math.Abs(want))
}

func TestForwardEqualsTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
		c := Config{Heads: pick("heads", 1, 2), Blocks: pick("blocks", 1, 2), Length: pick("length", 1, 5), Norm: []string{NormCode, NormPaper}[pick("norm", 0, 1)]}
		c.Dim = c.Heads * pick("head width", 2, 3)
		const items = 6
		m := small(t, items, c, rng.Seed(pick("seed", 0, 1000)))
		var sequences [][]int32
		for range pick("sequences", 1, 4) {
			sequences = append(sequences, rapid.SliceOfN(rapid.Int32Range(1, items), 1, 7).Draw(rt, "sequence"))
		}
		f, at := rows(t, m, sequences...), 0
		for k, s := range sequences {
			for i, want := range plain(m, s) {
				for j, v := range want {
					if got := tensor.Row(f, at)[j]; !near(got, v) {
						rt.Fatalf("sequence %d, row %d: F[%d] is %v, the formulas give %v", k, i, j, got, v)
					}
				}
				at++
			}
		}
		if at != f.Rows {
			rt.Fatalf("%d rows for %d items read", f.Rows, at)
		}
	})
}

func shapes() []Config {
	return []Config{
		{Dim: 4, Blocks: 2, Heads: 1, Length: 3, Norm: NormCode},
		{Dim: 4, Blocks: 2, Heads: 2, Length: 4, Norm: NormPaper},
		{Dim: 3, Blocks: 1, Heads: 1, Length: 6, Norm: NormCode, Dropout: 0.3},
	}
}

// Every parameter's gradient under both losses; dropout masks are the same at each call.
func TestGradients(t *testing.T) {
	for i, c := range shapes() {
		m := small(t, 5, c, 11)
		b := pack(t, c.Length, (*Batch).AddPairs, []int32{1, 2, 3, 4, 2}, []int32{4, 5}, []int32{5, 1, 1})
		negatives := make([]int32, len(b.Targets))
		for k := range negatives {
			negatives[k] = 1 + (b.Targets[k]+1)%5
		}
		losses := map[string]func(*autograd.Tape) *autograd.Node{
			"all items": func(t *autograd.Tape) *autograd.Node { return m.CrossEntropy(t, b, 3) },
			"sampled":   func(t *autograd.Tape) *autograd.Node { return m.Sampled(t, b, negatives, 3) },
		}
		for name, loss := range losses {
			if err := gradcheck.Check(m.Params(), loss); err != nil {
				t.Errorf("shape %d, %s: %v", i, name, err)
			}
		}
	}
}

// What comes later changes nothing: the rows of a prefix are those of the whole.
func TestLaterItemsChangeNothing(t *testing.T) {
	for _, c := range shapes() {
		c.Length = 6
		m := small(t, 5, c, 5)
		s := []int32{3, 1, 4, 1, 5, 2}
		whole := rows(t, m, s)
		for n := 1; n < len(s); n++ {
			other := append(append([]int32{}, s[:n]...), 5, 5, 5, 5, 5, 5)[:len(s)]
			f := rows(t, m, other)
			for i := range n {
				for j, v := range tensor.Row(whole, i) {
					if got := tensor.Row(f, i)[j]; got != v {
						t.Fatalf("%v: row %d of %v is %v at %d, that of %v is %v", c, i, other, got, j, s, v)
					}
				}
			}
			same := true
			for j, v := range tensor.Row(whole, n) {
				same = same && tensor.Row(f, n)[j] == v
			}
			if same && other[n] != s[n] {
				t.Errorf("%v: row %d does not depend on its own item", c, n)
			}
		}
	}
}

// Padding before a sequence changes no bit, nor do the sequences beside it but rounding;
// items before the last n are not read.
func TestPackingChangesNothing(t *testing.T) {
	for _, c := range shapes() {
		m := small(t, 9, c, 7)
		sequences := [][]int32{{1, 2, 3}, {9}, {4, 4, 5, 6, 7, 8, 9, 1, 2}, {3, 8}}
		alone := make([]tensor.Matrix, len(sequences))
		for k, s := range sequences {
			alone[k] = rows(t, m, s)
			padded := rows(t, m, append(make([]int32, 4), s...))
			cut := rows(t, m, s[max(0, len(s)-c.Length):])
			for name, f := range map[string]tensor.Matrix{"padded": padded, "cut": cut} {
				if f.Rows != alone[k].Rows {
					t.Fatalf("%s: %d rows, want %d", name, f.Rows, alone[k].Rows)
				}
				for i, v := range f.Data {
					if v != alone[k].Data[i] {
						t.Fatalf("%v %s: %v, without it %v", s, name, v, alone[k].Data[i])
					}
				}
			}
		}
		together, at := rows(t, m, sequences...), 0
		tape := autograd.NewTape()
		tape.SetTraining(false)
		b := pack(t, c.Length, (*Batch).Add, sequences...)
		last := m.Continue(tape, b).V
		scores := tensor.New(b.Len(), m.Items())
		m.Score(tape, b, scores)
		for k, f := range alone {
			for i := range f.Rows {
				for j, v := range tensor.Row(f, i) {
					if got := tensor.Row(together, at)[j]; !near(got, float64(v)) {
						t.Errorf("sequence %d, row %d: %v together, %v alone", k, i, got, v)
					}
				}
				at++
			}
			end := tensor.Row(f, f.Rows-1)
			for j, v := range end {
				if got := tensor.Row(last, k)[j]; !near(got, float64(v)) {
					t.Errorf("sequence %d: continued by %v, the last row has %v", k, got, v)
				}
			}
			for item := 1; item <= m.Items(); item++ {
				want := float64(tensor.Dot(end, tensor.Row(m.Item.Value, item)))
				if got := tensor.Row(scores, k)[item-1]; !near(got, want) {
					t.Errorf("sequence %d: score of item %d is %v, want %v", k, item, got, want)
				}
			}
		}
	}
}

// With F = (1, 0) in every row and items whose first numbers are 0, log 2 and log 3, the
// softmax is 1/6, 1/3, 1/2 and the sigmoids 1/2, 2/3, 3/4.
func TestLossesByHand(t *testing.T) {
	m := small(t, 3, Config{Dim: 2, Blocks: 1, Heads: 1, Length: 4, Norm: NormCode}, 1)
	nn.Zeros(m.final.Gain.Value, "")
	m.final.Shift.Value.Data[0], m.final.Shift.Value.Data[1] = 1, 0
	for item, v := range map[int]float64{1: 0, 2: math.Log(2), 3: math.Log(3)} {
		tensor.Row(m.Item.Value, item)[0] = tensor.Float(v)
	}
	b := pack(t, 4, (*Batch).AddPairs, []int32{1, 2}, []int32{2, 1, 3})
	if got := fmt.Sprint(b.Targets); got != "[2 1 3]" {
		t.Fatalf("targets %s", got)
	}
	tape := autograd.NewTape()
	got := m.CrossEntropy(tape, b, 0).Scalar()
	if want := (math.Log(3) + math.Log(6) + math.Log(2)) / 3; math.Abs(got-want) > 1e-5 {
		t.Errorf("all items: %v, want %v", got, want)
	}
	// -log(2/3) - log(1/4), -log(1/2) - log(1/3), -log(3/4) - log(1/3)
	got = m.Sampled(tape, b, []int32{3, 2, 2}, 0).Scalar()
	if want := (math.Log(6) + math.Log(6) + math.Log(4)) / 3; math.Abs(got-want) > 1e-5 {
		t.Errorf("sampled: %v, want %v", got, want)
	}
}

// Targets that are not learned leave their rows to be read and out of the loss: it is the mean
// over the others, and the parameters get the gradients of that.
func TestSomeTargets(t *testing.T) {
	c := Config{Dim: 4, Blocks: 2, Heads: 2, Length: 3, Norm: NormCode}
	m := small(t, 5, c, 3)
	b := &Batch{}
	b.Reset(c.Length)
	even := func(place int) bool { return place%2 == 0 }
	for _, s := range [][]int32{{4, 1, 2, 3, 5}, {0, 1, 2}, {3, 4}} { // the first is cut, the second padded, the third has nothing to learn
		if err := b.AddSome(s, even); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(b.Items, b.Learned, b.Targets); got != "[1 2 3 1 3] [0 2 3] [2 5 2]" {
		t.Fatalf("items, rows and targets %s", got)
	}
	tape := autograd.NewTape()
	tape.SetTraining(false)
	h := m.Forward(tape, b, 0).V
	want := 0.0
	for k, row := range b.Learned {
		sum, target := 0.0, 0.0
		for i := 1; i <= m.Items(); i++ {
			r := float64(tensor.Dot(tensor.Row(h, int(row)), tensor.Row(m.Item.Value, i)))
			sum += math.Exp(r)
			if int32(i) == b.Targets[k] {
				target = r
			}
		}
		want += (math.Log(sum) - target) / float64(len(b.Learned))
	}
	if got := m.CrossEntropy(tape, b, 0).Scalar(); math.Abs(got-want) > 1e-5*want {
		t.Errorf("the loss is %v, want %v", got, want)
	}
	for _, loss := range []func(tape *autograd.Tape) *autograd.Node{
		func(tape *autograd.Tape) *autograd.Node { return m.CrossEntropy(tape, b, 0) },
		func(tape *autograd.Tape) *autograd.Node { return m.Sampled(tape, b, []int32{1, 4, 3}, 0) },
	} {
		if err := gradcheck.Check(m.Params(), loss); err != nil {
			t.Error(err)
		}
	}
}

// Dropout acts in training alone and is keyed by the step.
func TestDropoutIsKeyedByTheStep(t *testing.T) {
	c := Config{Dim: 8, Blocks: 1, Heads: 1, Length: 5, Norm: NormCode, Dropout: 0.5}
	m := small(t, 6, c, 3)
	b := pack(t, c.Length, (*Batch).AddPairs, []int32{1, 2, 3, 4, 5})
	loss := func(step int, training bool) float64 {
		tape := autograd.NewTape()
		tape.SetTraining(training)
		return m.CrossEntropy(tape, b, step).Scalar()
	}
	if loss(1, true) != loss(1, true) || loss(1, false) != loss(2, false) {
		t.Error("the same step gives two losses")
	}
	if loss(1, true) == loss(2, true) || loss(1, true) == loss(1, false) {
		t.Error("dropout does nothing")
	}
}

func TestNegatives(t *testing.T) {
	const items = 7
	users := [][]int32{{1, 3, 3, 7}, {}, {2, 4, 6, 1, 3, 5}}
	n, err := NewNegatives(users, items, 9)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 4000
	for u, have := range users {
		has, free := [items + 1]bool{}, items
		for _, item := range have {
			if !has[item] {
				has[item] = true
				free--
			}
		}
		count := [items + 1]int{}
		drawn := n.Draw(nil, 5, int32(u), draws)
		for _, item := range drawn {
			count[item]++
		}
		// A count is Binomial(4000, 1/free): 7 standard deviations fail once in 4e11.
		p := 1 / float64(free)
		for item := 1; item <= items; item++ {
			if has[item] && count[item] > 0 {
				t.Errorf("user %d is given item %d, which it has", u, item)
			}
			if !has[item] && math.Abs(float64(count[item])-draws*p) > 7*math.Sqrt(draws*p*(1-p))+1e-9 {
				t.Errorf("user %d is given item %d %d times of %d, with %d to choose from", u, item, count[item], draws, free)
			}
		}
		if again := n.Draw([]int32{9}, 5, int32(u), draws)[1:]; fmt.Sprint(again) != fmt.Sprint(drawn) {
			t.Errorf("user %d: the same step gives other negatives", u)
		}
	}
	if fmt.Sprint(n.Draw(nil, 1, 1, 20)) == fmt.Sprint(n.Draw(nil, 2, 1, 20)) {
		t.Error("two steps give the same negatives")
	}
	if _, err := NewNegatives([][]int32{{2, 1, 2}}, 2, 1); err == nil || !strings.Contains(err.Error(), "user 0 has all 2 items") {
		t.Errorf("a user with all items: %v", err)
	}
}

func TestBadInput(t *testing.T) {
	b := &Batch{}
	b.Reset(3)
	for _, c := range []struct {
		err  error
		want string
	}{
		{b.Add(nil), "no items to continue"},
		{b.Add([]int32{0, 0}), "no items to continue"},
		{b.Add([]int32{0, 2, 0}), "item 0 at place 1"},
		{b.AddPairs([]int32{0, 2}), "1 items, want 2 or more"},
		{b.AddPairs([]int32{2, -1}), "item -1 at place 1"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
	if b.Len() != 0 {
		t.Errorf("%d sequences in a batch that took none", b.Len())
	}
	for want, change := range map[string]func(*Config){
		"dim is 0":        func(c *Config) { c.Dim = 0 },
		"blocks is 0":     func(c *Config) { c.Blocks = 0 },
		"3 heads":         func(c *Config) { c.Heads = 3 },
		"length is 0":     func(c *Config) { c.Length = 0 },
		"dropout is 1":    func(c *Config) { c.Dropout = 1 },
		`norm is "other"`: func(c *Config) { c.Norm = "other" },
	} {
		c := Default()
		change(&c)
		if _, err := New(3, c, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := New(0, Default(), 1); err == nil {
		t.Error("a model of no items")
	}
}

func TestParamsHaveDistinctNames(t *testing.T) {
	m := small(t, 3, Config{Dim: 2, Blocks: 2, Heads: 1, Length: 3, Norm: NormCode}, 1)
	seen := map[string]bool{}
	for _, p := range m.Params() {
		if seen[p.Name] {
			t.Errorf("two parameters are named %q", p.Name)
		}
		seen[p.Name] = true
	}
	if len(seen) != 2+2*14+2 || m.Params()[0] != m.Item {
		t.Errorf("%d parameters, the first is %q", len(seen), m.Params()[0].Name)
	}
}
