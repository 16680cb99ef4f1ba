package dasl

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// spread makes a model whose values are large enough to matter.
func spread(users int, items [2]int, c Config, single bool, seed rng.Seed) *Model {
	m := New(users, items, c, single, seed)
	for _, p := range m.Params() {
		nn.Uniform(seed, 0.7)(p.Value, p.Name)
	}
	return m
}

// shapes are the settings that take different ways through the network.
func shapes() map[string]Config {
	out := map[string]Config{}
	for name, change := range map[string]func(c *Config){
		"paper":    func(*Config) {},
		"gate":     func(c *Config) { c.Attention = AttentionGate },
		"constant": func(c *Config) { c.Attention, c.GateValue = AttentionConstant, 0.3 },
		"other":    func(c *Config) { c.CrossUser = CrossUserOther },
		"mask":     func(c *Config) { c.Mask = MaskZeros },
		"no bias":  func(c *Config) { c.UserBias = false },
	} {
		c := Paper()
		c.Dim, c.Window = 4, 3
		change(&c)
		out[name] = c
	}
	c := Code()
	c.Dim, c.Window, c.Hidden = 4, 3, 5
	out["code"] = c
	return out
}

var sizes = [2]int{7, 5}

// some is a batch of n samples of a domain, with padding in front, padding between and a
// window of nothing else.
func some(n, domain int, c Config, seed rng.Seed) *Batch {
	s := seed.Stream("batch")
	b := &Batch{Own: make([]int32, n*c.Window), Cross: make([]int32, n*c.Window)}
	for i := range n {
		b.User = append(b.User, int32(s.IntN(4)))
		b.Pos = append(b.Pos, int32(1+s.IntN(sizes[domain])))
		b.Neg = append(b.Neg, int32(1+s.IntN(sizes[domain])))
		for t := range c.Window {
			b.Own[t*n+i] = int32(s.IntN(sizes[domain] + 1))
			b.Cross[t*n+i] = int32(s.IntN(sizes[1-domain] + 1))
			if i == 1 {
				b.Cross[t*n+i] = 0
			}
			if i == 2 {
				b.Own[t*n+i] = 0
			}
		}
	}
	return b
}

// plain computes p of sample i and the score of an item, in float64, from the formulas.
func plain(m *Model, domain int, b *Batch, i int, item int32) (p []float64, gate, score float64) {
	c, d := m.cfg, m.cfg.Dim
	n := len(b.User)
	row := func(q *autograd.Param, k int32) []float64 {
		var out []float64
		for _, v := range tensor.Row(q.Value, int(k)) {
			out = append(out, float64(v))
		}
		return out
	}
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	dot := func(a, b []float64) (s float64) {
		for k := range a {
			s += a[k] * b[k]
		}
		return s
	}
	own := m.sides[domain]
	user := row(own.User, b.User[i])
	read := func(s *side, beside []float64, ids []int32) (states [][]float64) {
		h := make([]float64, d)
		for t := range c.Window {
			id := ids[t*n+i]
			x := row(s.Item, id)
			pre := func(k int, state []float64) float64 {
				return dot(row(s.unit.item, int32(k)), x) + dot(row(s.unit.user, int32(k)), beside) + dot(row(s.unit.state, int32(k)), state) + row(s.unit.bias, 0)[k]
			}
			r, z, rh, next := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
			for k := range d {
				r[k], z[k] = sigmoid(pre(k, h)), sigmoid(pre(d+k, h))
				rh[k] = r[k] * h[k]
			}
			for k := range d {
				next[k] = z[k]*h[k] + (1-z[k])*math.Tanh(pre(2*d+k, rh))
			}
			if c.Mask != MaskZeros || id != 0 {
				h = next
			}
			states = append(states, h)
		}
		return states
	}
	weight := func(states [][]float64, ids []int32) (w []float64) {
		for t, h := range states {
			e := 0.0
			for k := range own.attend.W.Value.Rows {
				e += row(own.query, 0)[k] * math.Tanh(dot(row(own.attend.W, int32(k)), h)+row(own.attend.B, 0)[k])
			}
			x := math.Exp(e)
			if c.Mask == MaskZeros && ids[t*n+i] == 0 {
				x = 0
			}
			w = append(w, x)
		}
		return w
	}
	h := read(own, user, b.Own)
	wh := weight(h, b.Own)
	zo, zc := 0.0, 0.0
	for _, x := range wh {
		zo += x
	}
	var cr [][]float64
	var wc []float64
	if !m.single && c.Attention != AttentionConstant {
		other := m.sides[1-domain]
		beside := user
		if c.CrossUser == CrossUserOther {
			beside = row(other.User, b.User[i])
		}
		cr = read(other, beside, b.Cross)
		wc = weight(cr, b.Cross)
		for _, x := range wc {
			zc += x
		}
	}
	p = make([]float64, d)
	add := func(states [][]float64, w []float64) {
		for t, s := range states {
			for k := range d {
				if zo+zc > 0 {
					p[k] += w[t] / (zo + zc) * s[k]
				}
			}
		}
	}
	add(h, wh)
	if c.Attention == AttentionFull {
		add(cr, wc)
	}
	if c.Attention == AttentionConstant {
		for k := range p {
			p[k] *= c.GateValue
		}
	}
	q := append(row(own.Item, item), user...)
	if c.Head == HeadCode {
		pq := make([]float64, d)
		for k := range d {
			pq[k] = p[k] * q[k]
		}
		score = row(own.out.B, 0)[0]
		for k := range c.Hidden {
			score += row(own.out.W, 0)[k] * sigmoid(dot(row(own.hidden.W, int32(k)), pq)+row(own.hidden.B, 0)[k])
		}
	} else {
		score = dot(p, q)
	}
	score += row(own.ItemBias, item)[0]
	if own.UserBias != nil {
		score += row(own.UserBias, b.User[i])[0]
	}
	return p, zo / (zo + zc), score
}

func near(a, b float64) bool { return math.Abs(a-b) <= 2e-5*(1+math.Abs(b)) }

// Scores, sampled and of all items, and the loss are those of the formulas.
func TestScoresEqualTheFormulas(t *testing.T) {
	for name, c := range shapes() {
		for _, single := range []bool{false, true} {
			rapid.Check(t, func(rt *rapid.T) {
				seed := rng.Seed(rapid.IntRange(0, 1000).Draw(rt, "seed"))
				domain := 0
				if !single {
					domain = rapid.IntRange(0, 1).Draw(rt, "domain")
				}
				n := rapid.IntRange(1, 5).Draw(rt, "samples")
				m, b := spread(4, sizes, c, single, seed), some(n, domain, c, seed)
				tape := autograd.NewTape()
				tape.NoGrad = true
				all := tensor.New(n, sizes[domain])
				m.All(tape, domain, b, all)
				tape.Reset()
				tape.NoGrad = true
				pos := slices.Clone(m.Sampled(tape, domain, b, b.Pos, iota32(n)))
				want := 0.0
				for i := range n {
					for j := range sizes[domain] {
						if _, _, s := plain(m, domain, b, i, int32(j+1)); !near(float64(tensor.Row(all, i)[j]), s) {
							rt.Fatalf("%s, single %v: item %d of sample %d scores %v, want %v", name, single, j+1, i, tensor.Row(all, i)[j], s)
						}
					}
					_, _, p := plain(m, domain, b, i, b.Pos[i])
					_, _, g := plain(m, domain, b, i, b.Neg[i])
					if !near(float64(pos[i]), p) {
						rt.Fatalf("%s: sampled score %v, want %v", name, pos[i], p)
					}
					want += math.Log1p(math.Exp(-p)) + math.Log1p(math.Exp(g))
				}
				tape.Reset()
				tape.SetTraining(false)
				if got := m.Loss(tape, domain, 0, b).Scalar(); !near(got, want/float64(n)) {
					rt.Fatalf("%s: loss %v, want %v", name, got, want/float64(n))
				}
			})
		}
	}
}

func iota32(n int) (out []int32) {
	for i := range n {
		out = append(out, int32(i))
	}
	return out
}

// Gradients of both losses agree with differences, dropout included.
func TestGradients(t *testing.T) {
	for name, c := range shapes() {
		for domain := range 2 {
			m, b := spread(4, sizes, c, false, 3), some(4, domain, c, 5)
			if err := gradcheck.Check(m.Params(), func(t *autograd.Tape) *autograd.Node { return m.Loss(t, domain, 7, b) }); err != nil {
				t.Errorf("%s, domain %d: %v", name, domain, err)
			}
		}
		m, b := spread(4, sizes, c, true, 3), some(4, 0, c, 5)
		if err := gradcheck.Check(m.Params(), func(t *autograd.Tape) *autograd.Node { return m.Loss(t, 0, 7, b) }); err != nil {
			t.Errorf("%s, single: %v", name, err)
		}
		m = spread(4, sizes, c, false, 3)
		if err := gradcheck.Check(m.Params(), m.Alignment); err != nil {
			t.Errorf("%s, alignment: %v", name, err)
		}
	}
}

// A recurrence so wide that the product of the gradients and the items' weights may be cut takes another way back.
func TestWideRecurrence(t *testing.T) {
	const steps, samples, d = 2, 3, (uncut + 2) / 3
	params := []*autograd.Param{
		autograd.NewParam("x", steps*samples, d/2), autograd.NewParam("w", 3*d, d/2), autograd.NewParam("v", samples, 3*d), autograd.NewParam("u", 3*d, d),
	}
	for _, p := range params {
		nn.Uniform(6, 0.05)(p.Value, p.Name)
	}
	loss := func(t *autograd.Tape) *autograd.Node {
		return recur(t, t.Use(params[0]), t.Use(params[1]), t.Use(params[2]), t.Use(params[3]), make([]int32, steps*samples), false).SumSq()
	}
	if err := (gradcheck.Options{Max: 40}).Check(params, loss); err != nil {
		t.Error(err)
	}
}

// The alignment is that of its formula, in both forms.
func TestAlignmentEqualsTheFormula(t *testing.T) {
	for name, c := range shapes() {
		m := spread(4, sizes, c, false, 9)
		half := c.Dim / 2
		sum := 0.0
		for u := range 4 {
			a, b := tensor.Row(m.sides[0].User.Value, u), tensor.Row(m.sides[1].User.Value, u)
			dot, na, nb := 0.0, 0.0, 0.0
			for j := range half {
				x := 0.0
				if c.Align.Bias {
					x = float64(m.XB.Value.Data[j])
				}
				for k := range half {
					x += float64(b[k]) * float64(tensor.Row(m.X.Value, k)[j])
				}
				dot, na, nb = dot+float64(a[j])*x, na+float64(a[j])*float64(a[j]), nb+x*x
			}
			if c.Align.Distance == DistanceCosine {
				dot /= math.Sqrt(na * nb)
			}
			sum += 1 - dot
		}
		want := sum / 4
		if c.Align.Orthogonal > 0 {
			squares := 0.0
			for i := range half {
				for j := range half {
					x := 0.0
					if i == j {
						x = -1
					}
					for k := range half {
						x += float64(tensor.Row(m.X.Value, k)[i]) * float64(tensor.Row(m.X.Value, k)[j])
					}
					squares += x * x
				}
			}
			want += c.Align.Orthogonal * math.Sqrt(squares)
		}
		tape := autograd.NewTape()
		if got := m.Alignment(tape).Scalar(); !near(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// "gate" is g times what the own history alone gives, g in (0,1) of both histories; with
// the inner product and without item biases no ranking depends on the other history.
func TestGateIdentity(t *testing.T) {
	c := shapes()["gate"]
	m := spread(4, sizes, c, false, 11)
	for i := range m.sides[0].ItemBias.Value.Data {
		m.sides[0].ItemBias.Value.Data[i] = 0
	}
	const n = 5
	b := some(n, 0, c, 12)
	other := *b
	other.Cross = slices.Clone(b.Cross)
	for k := range other.Cross {
		other.Cross[k] = int32(1 + k%sizes[1])
	}
	order := func(b *Batch) (orders [][]int, scale []float64) {
		tape, all := autograd.NewTape(), tensor.New(n, sizes[0])
		tape.NoGrad = true
		m.All(tape, 0, b, all)
		for i := range n {
			row := tensor.Row(all, i)
			idx := make([]int, len(row))
			for j := range idx {
				idx[j] = j
			}
			slices.SortFunc(idx, func(x, y int) int {
				if row[x] > row[y] {
					return -1
				}
				return 1
			})
			orders = append(orders, idx)
			scale = append(scale, float64(row[idx[0]]-row[idx[len(idx)-1]]))
		}
		return orders, scale
	}
	one, spread1 := order(b)
	two, spread2 := order(&other)
	differ := false
	for i := range n {
		if !slices.Equal(one[i], two[i]) {
			t.Errorf("sample %d: the ranking depends on the other history: %v, %v", i, one[i], two[i])
		}
		p, g, _ := plain(m, 0, b, i, 1)
		q, h, _ := plain(m, 0, &other, i, 1)
		if g <= 0 || g >= 1 {
			t.Errorf("gate %v", g)
		}
		for k := range p {
			if math.Abs(p[k]/g-q[k]/h) > 1e-9 {
				t.Errorf("sample %d: p is not a multiple of that of the own history", i)
			}
		}
		if math.Abs(spread1[i]/g-spread2[i]/h) > 1e-4*(spread1[i]/g) {
			t.Errorf("sample %d: the spread of the scores is not in proportion to the gate", i)
		}
		differ = differ || math.Abs(g-h) > 1e-3
	}
	if !differ {
		t.Error("the gates are all alike: the test says nothing")
	}
	full := shapes()["paper"]
	m.cfg = full // the same values, all rows summed: now the ranking does depend on it
	one, _ = order(b)
	two, _ = order(&other)
	if slices.EqualFunc(one, two, slices.Equal[[]int]) {
		t.Error("with all rows summed the other history must matter")
	}
}

// AdamLazy, whose rows catch up when they are read, is Adam: three kinds of steps on one
// state. Equal to 1e-5 of the largest value after 60 steps.
func TestLazyAdamIsAdam(t *testing.T) {
	c := shapes()["paper"]
	run := func(o optim.Optimizer) *Model {
		m := spread(4, [2]int{40, 30}, c, false, 21)
		tape := autograd.NewTape()
		if l, ok := o.(*optim.AdamLazy); ok {
			tape.BeforeRead = l.Touch
		}
		for step := range 60 {
			tape.Reset()
			var loss *autograd.Node
			if step%20 == 19 {
				loss = m.Alignment(tape)
			} else {
				loss = m.Loss(tape, step/10%2, step, some(3, step/10%2, c, rng.Seed(step)))
			}
			tape.Backward(loss)
			if err := o.Step(m.Params(), tape.Grads(), 0.01); err != nil {
				t.Fatal(err)
			}
		}
		if l, ok := o.(*optim.AdamLazy); ok {
			l.Flush(m.Params())
		}
		return m
	}
	dense, lazy := run(optim.NewAdam(0)), run(optim.NewAdamLazy(0))
	begun := spread(4, [2]int{40, 30}, c, false, 21)
	for k, p := range dense.Params() {
		q, moved := lazy.Params()[k], 0.0
		for i := range p.Value.Rows {
			for j, v := range tensor.Row(p.Value, i) {
				if w := tensor.Row(q.Value, i)[j]; math.Abs(float64(v-w)) > 1e-5 {
					t.Fatalf("%s[%d][%d]: %v and lazily %v", p.Name, i, j, v, w)
				}
				moved = max(moved, math.Abs(float64(v-tensor.Row(begun.Params()[k].Value, i)[j])))
			}
		}
		if moved == 0 {
			t.Errorf("%s did not move", p.Name)
		}
	}
}

// Values are the same bytes for any number of workers.
func TestWorkers(t *testing.T) {
	c := Paper()
	c.Dim = 32
	var want []tensor.Float
	defer tensor.SetWorkers(tensor.Workers())
	for _, workers := range []int{1, 3} {
		tensor.SetWorkers(workers)
		m := spread(4, sizes, c, false, 3)
		tape := autograd.NewTape()
		tape.Backward(m.Loss(tape, 0, 1, some(64, 0, c, 3)))
		var got []tensor.Float
		for _, p := range m.Params() {
			if g, ok := tape.Grads().Dense(p); ok {
				got = append(got, g.Data...)
			}
			if _, vals, ok := tape.Grads().Sparse(p); ok {
				got = append(got, vals.Data...)
			}
		}
		if want == nil {
			want = got
		} else if !slices.Equal(want, got) {
			t.Error("gradients depend on the number of workers")
		}
	}
}

// Kernels begin as TensorFlow's: gates and candidate each Glorot over their own shape,
// biases of the gates 1.
func TestBeginning(t *testing.T) {
	c := Paper()
	m := New(50, [2]int{100, 80}, c, false, 1)
	u, d := m.sides[0].unit, c.Dim
	for _, part := range []struct {
		lo, hi int
		bound  float64
	}{{0, 2 * d, math.Sqrt(6 / float64(4*d))}, {2 * d, 3 * d, math.Sqrt(6 / float64(3*d))}} {
		top := 0.0
		for _, v := range tensor.RowsView(u.state.Value, part.lo, part.hi).Data[:(part.hi-part.lo)*d] {
			top = max(top, math.Abs(float64(v)))
		}
		if top > part.bound*(1+1e-6) || top < 0.99*part.bound {
			t.Errorf("rows %d to %d reach %v, want %v", part.lo, part.hi, top, part.bound)
		}
	}
	if b := u.bias.Value.Data; b[0] != 1 || b[2*d-1] != 1 || b[2*d] != 0 {
		t.Error("biases")
	}
	if got := m.sides[0].attend.W.Value.Rows; got != 20 {
		t.Errorf("attention is %d wide, want 2w", got)
	}
	if s := New(50, [2]int{100, 80}, c, true, 1); s.sides[0].attend.W.Value.Rows != 10 || len(s.sides) != 1 || s.X != nil {
		t.Error("DASL-single has one domain and attention of width w")
	}
	names := map[string]bool{}
	for _, p := range m.Params() {
		if names[p.Name] {
			t.Errorf("two parameters are named %q", p.Name)
		}
		names[p.Name] = true
	}
}
