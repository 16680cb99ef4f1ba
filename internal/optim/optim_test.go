package optim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/optim"
	"privrec/internal/tensor"
)

// tolerance of one build's float width over some hundred steps.
func tolerance() float64 {
	if tensor.Float(1)+tensor.Float(1e-12) != 1 {
		return 1e-12
	}
	return 2e-5
}

func params(r *rand.Rand) []*autograd.Param {
	ps := []*autograd.Param{autograd.NewParam("table", 40, 3), autograd.NewParam("w", 5, 7), autograd.NewParam("b", 1, 2)}
	for _, p := range ps {
		for i := range p.Value.Data {
			p.Value.Data[i] = tensor.Float(r.NormFloat64())
		}
	}
	return ps
}

// batch is one step's gradients: rows of the table, and whole parameters.
type batch struct {
	rows  []int32
	dense []bool
	g     []tensor.Matrix
}

func random(r *rand.Rand, ps []*autograd.Param) batch {
	var b batch
	for range r.IntN(6) {
		b.rows = append(b.rows, int32(r.IntN(ps[0].Value.Rows)))
	}
	for i, p := range ps {
		b.dense = append(b.dense, i > 0 && r.IntN(4) > 0 || r.IntN(12) == 0)
		m := tensor.New(p.Value.Rows, p.Value.Cols)
		for k := range m.Data {
			m.Data[k] = tensor.Float(r.NormFloat64())
		}
		b.g = append(b.g, m)
	}
	return b
}

// grads puts the batch on a tape: the gradient of Σ g ∘ p is g.
func (b batch) grads(t *autograd.Tape, ps []*autograd.Param) *autograd.Grads {
	t.Reset()
	loss := t.Const(tensor.New(1, 1))
	if len(b.rows) > 0 {
		x := t.Rows(ps[0], b.rows)
		loss = loss.Add(x.Mul(t.Const(b.g[0]).Gather(b.rows)).SumAll())
	}
	for i, p := range ps {
		if b.dense[i] {
			loss = loss.Add(t.Use(p).Mul(t.Const(b.g[i])).SumAll())
		}
	}
	t.Backward(loss)
	return t.Grads()
}

// at is the gradient of element k of parameter i.
func (b batch) at(i, k, cols int) float64 {
	n := 0
	if i == 0 {
		for _, r := range b.rows {
			if int(r) == k/cols {
				n++
			}
		}
	}
	if b.dense[i] {
		n++
	}
	return float64(n) * float64(b.g[i].Data[k])
}

// rules are the textbook updates of one element, in float64.
var rules = map[string]struct {
	make func() optim.Optimizer
	step func(w, g float64, s *[2]float64, lr float64, t int) float64
}{
	"adam":               {func() optim.Optimizer { return optim.NewAdam(0.01) }, adamRule(0.01)},
	"adam without decay": {func() optim.Optimizer { return optim.NewAdam(0) }, adamRule(0)},
	"sgd": {func() optim.Optimizer { return &optim.SGD{} }, func(w, g float64, s *[2]float64, lr float64, t int) float64 {
		return w - lr*g
	}},
	"sgd with momentum": {func() optim.Optimizer { return &optim.SGD{Momentum: 0.9, L2: 0.1} }, func(w, g float64, s *[2]float64, lr float64, t int) float64 {
		s[0] = 0.9*s[0] + g + 0.1*w
		return w - lr*s[0]
	}},
	"adagrad":               {func() optim.Optimizer { return optim.NewAdagrad(0) }, adagradRule(0)},
	"adagrad with momentum": {func() optim.Optimizer { return optim.NewAdagrad(0.2) }, adagradRule(0.2)},
}

// adagradRule leaves elements without a gradient as they are; no random gradient is 0.
func adagradRule(momentum float64) func(w, g float64, s *[2]float64, lr float64, t int) float64 {
	return func(w, g float64, s *[2]float64, lr float64, _ int) float64 {
		if g == 0 {
			return w
		}
		s[0] += g * g
		s[1] = momentum*s[1] - lr*g/math.Sqrt(s[0]+1e-6)
		return w + s[1]
	}
}

func adamRule(l2 float64) func(w, g float64, s *[2]float64, lr float64, t int) float64 {
	return func(w, g float64, s *[2]float64, lr float64, t int) float64 {
		g += l2 * w
		s[0] = 0.9*s[0] + 0.1*g
		s[1] = 0.999*s[1] + 0.001*g*g
		m, v := s[0]/(1-math.Pow(0.9, float64(t))), s[1]/(1-math.Pow(0.999, float64(t)))
		return w - lr*m/(math.Sqrt(v)+1e-8)
	}
}

// TestAgainstTextbook follows every optimiser for 60 steps of random dense and sparse gradients.
func TestAgainstTextbook(t *testing.T) {
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			ps := params(r)
			var want [][]float64
			var state [][][2]float64
			for _, p := range ps {
				w := make([]float64, len(p.Value.Data))
				for i, v := range p.Value.Data {
					w[i] = float64(v)
				}
				want, state = append(want, w), append(state, make([][2]float64, len(w)))
			}
			o, tp := rule.make(), autograd.NewTape()
			for step := 1; step <= 60; step++ {
				lr := 0.1 / float64(1+step/20)
				b := random(r, ps)
				if err := o.Step(ps, b.grads(tp, ps), lr); err != nil {
					t.Fatal(err)
				}
				for i, p := range ps {
					for k := range want[i] {
						want[i][k] = rule.step(want[i][k], b.at(i, k, p.Value.Cols), &state[i][k], lr, step)
					}
				}
			}
			for i, p := range ps {
				for k, v := range p.Value.Data {
					if d := math.Abs(float64(v) - want[i][k]); !(d <= 10*tolerance()*max(1, math.Abs(want[i][k]))) {
						t.Fatalf("%s[%d] = %v, want %v", p.Name, k, v, want[i][k])
					}
				}
			}
			if o.Steps() != 60 {
				t.Errorf("%d steps", o.Steps())
			}
		})
	}
}

// TestLazyEqualsDense: over random touch patterns with long absences, with and without decay, and
// through changes of the learning rate.
func TestLazyEqualsDense(t *testing.T) {
	for _, l2 := range []float64{0, 1e-5, 0.01} {
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 5))
			a, b := params(r), params(rand.New(rand.NewPCG(seed, 5)))
			dense, lazy := optim.NewAdam(l2), optim.NewAdamLazy(l2)
			ta, tb := autograd.NewTape(), autograd.NewTape()
			tb.BeforeRead = lazy.Touch
			for step := range 1200 {
				lr := optim.StepDecay{Factor: 0.1, Every: 3}.LR(0.01, step/150)
				g := random(r, a)
				g.rows = slices.DeleteFunc(g.rows, func(k int32) bool { return k%2 == 0 && step > 10 }) // half the table is left alone
				g.dense[0] = step == 800                                                                // by then the first moments of that half are zero
				if err := dense.Step(a, g.grads(ta, a), lr); err != nil {
					t.Fatal(err)
				}
				if err := lazy.Step(b, g.grads(tb, b), lr); err != nil {
					t.Fatal(err)
				}
				if step%400 == 50 {
					lazy.Flush(b)
					same(t, fmt.Sprintf("l2 %v, seed %d, step %d", l2, seed, step), a, b)
				}
			}
			lazy.Flush(b)
			same(t, fmt.Sprintf("l2 %v, seed %d", l2, seed), a, b)
		}
	}
}

func same(t *testing.T, what string, a, b []*autograd.Param) {
	t.Helper()
	for i, p := range a {
		for k, v := range p.Value.Data {
			if d := math.Abs(float64(v - b[i].Value.Data[k])); !(d <= tolerance()*max(1, math.Abs(float64(v)))) {
				t.Fatalf("%s: %s[%d]: dense %v, lazy %v", what, p.Name, k, v, b[i].Value.Data[k])
			}
		}
	}
}

// TestLazyRestsToTheBit: rows left alone for as long as their first moments last end with dense Adam's
// weights and moments, bit by bit: weights are let rest only once no update can move them, also where the
// learning rate rises meanwhile.
func TestLazyRestsToTheBit(t *testing.T) {
	for _, c := range []struct {
		name string
		gap  int
		hat  bool
		lr   func(step int) float64
	}{
		{"before the first look", 90, false, nil},
		{"rest", 250, false, nil},
		{"long rest", 620, true, nil},
		{"from the first step", 300, true, nil},
		{"rate rises", 400, false, func(step int) float64 { return 1e-3 * math.Pow(10, float64(step/150)) }},
	} {
		r := rand.New(rand.NewPCG(uint64(c.gap), 11))
		make2 := func() *autograd.Param { return autograd.NewParam("table", 300, 8) }
		a, b := make2(), make2()
		for k := range a.Value.Data {
			a.Value.Data[k] = tensor.Float(r.NormFloat64() * math.Pow(10, -6*r.Float64()))
		}
		copy(b.Value.Data, a.Value.Data)
		dense, lazy := optim.NewAdam(0), optim.NewAdamLazy(0)
		dense.EpsHat, lazy.EpsHat = c.hat, c.hat
		ta, tb := autograd.NewTape(), autograd.NewTape()
		tb.BeforeRead = lazy.Touch
		all := make([]int32, a.Value.Rows)
		for k := range all {
			all[k] = int32(k)
		}
		warm := 5
		if c.name == "from the first step" {
			warm = 1
		}
		for step := range warm + c.gap {
			lr := 1e-3
			if c.lr != nil {
				lr = c.lr(step)
			}
			rows := all
			if step >= warm {
				rows = all[:1]
			}
			g := batch{rows: rows, dense: []bool{false}, g: []tensor.Matrix{tensor.New(len(all), 8)}}
			for k := range g.g[0].Data {
				g.g[0].Data[k] = tensor.Float(r.NormFloat64() * math.Pow(10, -9*r.Float64()))
			}
			if err := dense.Step([]*autograd.Param{a}, g.grads(ta, []*autograd.Param{a}), lr); err != nil {
				t.Fatal(err)
			}
			if err := lazy.Step([]*autograd.Param{b}, g.grads(tb, []*autograd.Param{b}), lr); err != nil {
				t.Fatal(err)
			}
		}
		lazy.Flush([]*autograd.Param{b})
		for k, v := range a.Value.Data {
			if v != b.Value.Data[k] {
				t.Fatalf("%s: weight %d is %v, of dense Adam %v", c.name, k, b.Value.Data[k], v)
			}
		}
		sa, sb := dense.State(), lazy.State()
		for i := range 3 { // steps and the two moments
			for k, v := range sa[i].Value.Data {
				if v != sb[i].Value.Data[k] {
					t.Fatalf("%s: %s[%d] is %v, of dense Adam %v", c.name, sb[i].Name, k, sb[i].Value.Data[k], v)
				}
			}
		}
	}
}

func TestLazyRefusesArrears(t *testing.T) {
	ps := params(rand.New(rand.NewPCG(1, 1)))
	o, tp := optim.NewAdamLazy(0), autograd.NewTape() // BeforeRead not set
	step := func(rows ...int32) error {
		tp.Reset()
		tp.Backward(tp.Rows(ps[0], rows).SumAll())
		return o.Step(ps, tp.Grads(), 0.1)
	}
	if err := step(1); err != nil {
		t.Fatal(err)
	}
	if err := step(1); err != nil {
		t.Fatal(err)
	}
	if err := step(2); err == nil || !strings.Contains(err.Error(), `row 2 of "table"`) {
		t.Errorf("error %v", err)
	}
	if o.Steps() != 2 {
		t.Errorf("%d steps after a refused one", o.Steps())
	}
}

// TestResume: after State and Load into a fresh optimiser the run goes on with the same bits.
func TestResume(t *testing.T) {
	kinds := map[string]func() optim.Optimizer{"lazy": func() optim.Optimizer { return optim.NewAdamLazy(0.01) }}
	for name, rule := range rules {
		kinds[name] = rule.make
	}
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) {
			run := func(resume bool) ([]*autograd.Param, optim.Optimizer) {
				r := rand.New(rand.NewPCG(3, 4))
				ps := params(r)
				o, tp := make(), autograd.NewTape()
				attach := func() {
					if l, ok := o.(*optim.AdamLazy); ok {
						tp.BeforeRead = l.Touch
					}
				}
				attach()
				for step := range 40 {
					if resume && step%13 == 5 {
						state := clone(o.State())
						o = make()
						attach()
						if err := o.Load(state); err != nil {
							t.Fatal(err)
						}
						for i, p := range ps { // as a program that starts anew would
							q := *p
							ps[i] = &q
						}
					}
					if err := o.Step(ps, random(r, ps).grads(tp, ps), 0.1/float64(1+step/10)); err != nil {
						t.Fatal(err)
					}
				}
				if l, ok := o.(*optim.AdamLazy); ok {
					l.Flush(ps)
				}
				return ps, o
			}
			a, oa := run(false)
			b, ob := run(true)
			for i := range a {
				if !slices.Equal(a[i].Value.Data, b[i].Value.Data) {
					t.Errorf("%s differs after a resume", a[i].Name)
				}
			}
			sa, sb := oa.State(), ob.State()
			for i := range sa {
				if sa[i].Name != sb[i].Name || !slices.Equal(sa[i].Value.Data, sb[i].Value.Data) {
					t.Errorf("state %s differs after a resume", sa[i].Name)
				}
			}
			if oa.Steps() != 40 || ob.Steps() != 40 {
				t.Errorf("%d and %d steps", oa.Steps(), ob.Steps())
			}
		})
	}
}

func clone(state []optim.NamedTensor) []optim.NamedTensor {
	var c []optim.NamedTensor
	for _, e := range state {
		m := tensor.New(e.Value.Rows, e.Value.Cols)
		copy(m.Data, e.Value.Data)
		c = append(c, optim.NamedTensor{Name: e.Name, Value: m})
	}
	return c
}

func TestStepAndLoadRefuse(t *testing.T) {
	ps := params(rand.New(rand.NewPCG(1, 1)))
	tp := autograd.NewTape()
	tp.Backward(tp.Use(ps[0]).SumAll().Add(tp.Use(ps[1]).SumAll()))
	g := tp.Grads()
	for _, c := range []struct {
		want string
		err  error
	}{
		{"learning rate NaN", optim.NewAdam(0).Step(ps, g, math.NaN())},
		{"learning rate -1", (&optim.SGD{}).Step(ps, g, -1)},
		{"adam with betas 0 and 0, eps 0", (&optim.Adam{}).Step(ps, g, 1)},
		{"sgd with momentum 1", (&optim.SGD{Momentum: 1}).Step(ps, g, 1)},
		{"adagrad with momentum -1", (&optim.Adagrad{Momentum: -1, Eps: 1}).Step(ps, g, 1)},
		{"adagrad with momentum 0, eps 0", (&optim.Adagrad{}).Step(ps, g, 1)},
		{`gradient of "w", which is not among`, optim.NewAdam(0).Step(ps[:1], g, 1)},
		{"without adam.steps", optim.NewAdam(0).Load(nil)},
		{"adamlazy.rates", optim.NewAdamLazy(0).Load(nil)},
		{"not of a adam optimiser", optim.NewAdam(0).Load((&optim.SGD{}).State())},
		{"not a step count", optim.NewAdam(0).Load([]optim.NamedTensor{{Name: "adam.steps", Value: tensor.From(1, 4, []tensor.Float{0.5, 0, 0, 0})}})},
		{"incomplete", optim.NewAdam(0).Load([]optim.NamedTensor{
			{Name: "adam.steps", Value: tensor.New(1, 4)}, {Name: "adam.a/x", Value: tensor.New(1, 4)}})},
		{"incomplete", optim.NewAdamLazy(0).Load([]optim.NamedTensor{
			{Name: "adamlazy.steps", Value: tensor.New(1, 4)}, {Name: "adamlazy.a/x", Value: tensor.New(1, 4)},
			{Name: "adamlazy.b/x", Value: tensor.New(1, 4)}, {Name: "adamlazy.rates", Value: tensor.New(0, 8)}})},
		{"differ in shape", optim.NewAdam(0).Load([]optim.NamedTensor{
			{Name: "adam.steps", Value: tensor.New(1, 4)}, {Name: "adam.a/x", Value: tensor.New(1, 4)}, {Name: "adam.b/x", Value: tensor.New(2, 4)}})},
		{"there twice", (&optim.SGD{}).Load([]optim.NamedTensor{
			{Name: "sgd.steps", Value: tensor.New(1, 4)}, {Name: "sgd.a/x", Value: tensor.New(1, 4)}, {Name: "sgd.a/x", Value: tensor.New(1, 4)}})},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
	o := optim.NewAdam(0)
	if err := o.Step(ps, g, 0.1); err != nil {
		t.Fatal(err)
	}
	twin := *ps[1]
	if err := o.Step([]*autograd.Param{ps[0], ps[1], &twin}, g, 0.1); err == nil || !strings.Contains(err.Error(), `two parameters are named "w"`) {
		t.Errorf("twins: %v", err)
	}
	other := optim.NewAdam(0)
	if err := other.Load(o.State()); err != nil {
		t.Fatal(err)
	}
	if err := other.Step(ps[:1], optimGrads(ps[0]), 0.1); err == nil || !strings.Contains(err.Error(), `state of "w", which is not among the parameters`) {
		t.Errorf("left over: %v", err)
	}
	q := autograd.NewParam("w", 2, 2)
	tp.Reset()
	tp.Backward(tp.Use(q).SumAll())
	if err := other.Step([]*autograd.Param{ps[0], q, ps[2]}, tp.Grads(), 0.1); err == nil || !strings.Contains(err.Error(), `state of "w" is 5 x 7, the parameter 2 x 2`) {
		t.Errorf("shape: %v", err)
	}
}

func optimGrads(p *autograd.Param) *autograd.Grads {
	tp := autograd.NewTape()
	tp.Backward(tp.Use(p).SumAll())
	return tp.Grads()
}

// TestStepWorkers: the same bits for any number of workers, complete when Step returns.
func TestStepWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	var want []tensor.Float
	for _, n := range []int{1, 2, 7} {
		tensor.SetWorkers(n)
		p := autograd.NewParam("big", 3000, 37)
		for i := range p.Value.Data {
			p.Value.Data[i] = tensor.Float(i%101) / 50
		}
		o, tp := optim.NewAdam(1e-3), autograd.NewTape()
		for step := range 3 {
			tp.Reset()
			x := tp.Rows(p, []int32{1, 2999, 5, 1, 1700})
			if step == 1 {
				x = tp.Use(p)
			}
			tp.Backward(x.Mul(x).SumAll())
			if err := o.Step([]*autograd.Param{p}, tp.Grads(), 0.1); err != nil {
				t.Fatal(err)
			}
		}
		if want == nil {
			want = slices.Clone(p.Value.Data)
		} else if !slices.Equal(want, p.Value.Data) {
			t.Errorf("%d workers give other bits", n)
		}
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s    optim.StepDecay
		want []float64
	}{
		{optim.StepDecay{Factor: 0.1, Every: 3, TickBefore: true}, []float64{1e-2, 1e-2, 1e-3, 1e-3, 1e-3, 1e-4, 1e-4, 1e-4, 1e-5, 1e-5}},
		{optim.StepDecay{Factor: 0.1, Every: 3}, []float64{1e-2, 1e-2, 1e-2, 1e-3, 1e-3, 1e-3, 1e-4}},
		{optim.StepDecay{Factor: 0.5, Every: 1}, []float64{0.01, 0.005, 0.0025}},
		{optim.StepDecay{Factor: 0.5}, []float64{0.01, 0.01}},
	} {
		for e, w := range c.want {
			if lr := c.s.LR(0.01, e); math.Abs(lr-w) > 1e-12*w {
				t.Errorf("%+v: epoch %d has %v, want %v", c.s, e, lr, w)
			}
		}
	}
}

// TestFlushAfterLoad: rows in arrears are caught up before the first step of a resumed run.
func TestFlushAfterLoad(t *testing.T) {
	ps := params(rand.New(rand.NewPCG(1, 1)))
	o, tp := optim.NewAdamLazy(0.01), autograd.NewTape()
	tp.BeforeRead = o.Touch
	for row := range int32(3) {
		tp.Reset()
		tp.Backward(tp.Rows(ps[0], []int32{row}).SumAll())
		if err := o.Step(ps, tp.Grads(), 0.1); err != nil {
			t.Fatal(err)
		}
	}
	again := optim.NewAdamLazy(0.01)
	if err := again.Load(clone(o.State())); err != nil {
		t.Fatal(err)
	}
	var copies []*autograd.Param
	for _, p := range ps {
		q := autograd.NewParam(p.Name, p.Value.Rows, p.Value.Cols)
		copy(q.Value.Data, p.Value.Data)
		copies = append(copies, q)
	}
	o.Flush(ps)
	again.Flush(copies)
	for i, p := range ps {
		if !slices.Equal(p.Value.Data, copies[i].Value.Data) {
			t.Errorf("%s is behind after Load and Flush", p.Name)
		}
	}
}

// TestTouchFromSeveralTapes is for the race detector, and counts that no step is taken twice.
func TestTouchFromSeveralTapes(t *testing.T) {
	run := func(tapes int) []tensor.Float {
		ps := params(rand.New(rand.NewPCG(1, 1)))
		o, tp := optim.NewAdamLazy(0.01), autograd.NewTape()
		tp.BeforeRead = o.Touch
		for range 3 {
			tp.Reset()
			tp.Backward(tp.Rows(ps[0], []int32{0}).SumAll())
			if err := o.Step(ps, tp.Grads(), 0.1); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for range tapes {
			wg.Go(func() {
				tp := autograd.NewTape()
				tp.BeforeRead = o.Touch
				tp.Rows(ps[0], []int32{1, 2, 0, 2}).SumAll()
			})
		}
		wg.Wait()
		return ps[0].Value.Data
	}
	if !slices.Equal(run(1), run(4)) {
		t.Error("rows depend on how many tapes read them")
	}
}

func TestRefusesTwins(t *testing.T) {
	for name, rule := range rules {
		p, q := autograd.NewParam("w", 2, 2), autograd.NewParam("w", 2, 2)
		for _, ps := range [][]*autograd.Param{{p, q}, {p, p}} {
			tp := autograd.NewTape()
			tp.Backward(tp.Use(p).SumAll())
			err := rule.make().Step(ps, tp.Grads(), 0.1)
			if err == nil || !strings.Contains(err.Error(), `two parameters are named "w"`) {
				t.Errorf("%s: %v", name, err)
			}
			if p.Value.Data[0] != 0 {
				t.Errorf("%s: a refused step changed something", name)
			}
		}
	}
}
