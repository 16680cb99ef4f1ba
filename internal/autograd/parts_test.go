package autograd_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// portion is a model of a batch of 60 rows: a look-up, a table that is used whole as well, a map, a bias.
type portion struct {
	table, both, w, b *autograd.Param
	idx               []int32
	drop              float64
}

func newPortion(drop float64) *portion {
	p := &portion{table: param("table", 40, 6), both: param("both", 7, 6), w: param("w", 5, 6), b: param("b", 1, 5), drop: drop}
	for i := range 60 {
		p.idx = append(p.idx, int32(i*i%40))
	}
	return p
}

func (p *portion) params() []*autograd.Param { return []*autograd.Param{p.table, p.both, p.w, p.b} }

// loss returns the sum over rows lo to hi.
func (p *portion) loss(t *autograd.Tape, lo, hi int) *autograd.Node {
	idx := p.idx[lo:hi]
	at := make([]int32, len(idx))
	for i, k := range idx {
		at[i] = k % 7
	}
	x := t.Rows(p.table, idx).Add(t.Rows(p.both, at)) // (n, 6)
	x = x.Dropout(p.drop, rng.Seed(3).Stream("parts").Sub(uint64(lo)))
	return x.Linear(t.Use(p.w), t.Use(p.b)).Tanh().SumSq().Add(t.Use(p.both).SumSq().Scale(float64(hi-lo) / 60))
}

func (p *portion) parts(t *autograd.Tape, n int) *autograd.Node {
	return t.Parts(n, func(t *autograd.Tape, k int) *autograd.Node { return p.loss(t, k*60/n, (k+1)*60/n) })
}

// The loss and all gradients are those of the whole batch, for any number of parts, times what follows.
func TestPartsAreTheWhole(t *testing.T) {
	p := newPortion(0)
	whole, tape := autograd.NewTape(), autograd.NewTape()
	want := p.loss(whole, 0, 60).Scale(0.5)
	whole.Backward(want)
	for _, n := range []int{1, 2, 5, 60, 3} { // on one tape: its memory is used again
		tape.Reset()
		got := p.parts(tape, n).Scale(0.5)
		tape.Backward(got)
		if math.Abs(got.Scalar()-want.Scalar()) > 1e-5*math.Abs(want.Scalar()) {
			t.Errorf("%d parts: loss %v, want %v", n, got.Scalar(), want.Scalar())
		}
		if _, _, ok := tape.Grads().Sparse(p.table); !ok {
			t.Errorf("%d parts: the gradient of a table that is looked up is not sparse", n)
		}
		for _, q := range p.params() {
			g, w := gradient(t, tape.Grads(), q), gradient(t, whole.Grads(), q)
			for i, v := range w.Data {
				if math.Abs(float64(g.Data[i]-v)) > 1e-5*(1+math.Abs(float64(v))) {
					t.Fatalf("%d parts: gradient %d of %s is %v, want %v", n, i, q.Name, g.Data[i], v)
				}
			}
		}
	}
}

// Parts beside operations of the tape, and two sets of them, add up.
func TestPartsGradients(t *testing.T) {
	for _, drop := range []float64{0, 0.3} {
		p := newPortion(drop)
		err := gradcheck.Options{Max: 12}.Check(p.params(), func(t *autograd.Tape) *autograd.Node {
			t.SetTraining(true)
			own := t.Rows(p.table, []int32{1, 2, 2}).SumSq().Add(t.Use(p.w).SumSq())
			return p.parts(t, 4).Scale(-0.01).Add(own).Add(p.parts(t, 3).Scale(0.02)).Add(t.Use(p.b).SumSq())
		})
		if err != nil {
			t.Errorf("dropout %v: %v", drop, err)
		}
	}
}

// The same bytes for any number of workers, step after step.
func TestPartsOfAnyWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	var want []string
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		p, tape := newPortion(0.2), autograd.NewTape()
		var got []string
		for range 20 {
			tape.Reset()
			loss := p.parts(tape, 7)
			tape.Backward(loss)
			text := fmt.Sprint(loss.Scalar())
			for _, q := range p.params() {
				text += fmt.Sprint(gradient(t, tape.Grads(), q).Data)
			}
			got = append(got, text)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) || got[0] != got[19] {
			t.Errorf("%d workers: other bytes", workers)
		}
	}
}

// Parts take over the settings of their tape: evaluation drops nothing and leaves no gradients, and rows
// are asked for before they are read.
func TestPartsHaveTheSettingsOfTheirTape(t *testing.T) {
	p, tape := newPortion(0.5), autograd.NewTape()
	var mu sync.Mutex
	asked := map[string]int{}
	tape.BeforeRead = func(p *autograd.Param, rows []int32) {
		mu.Lock()
		defer mu.Unlock()
		asked[p.Name] += len(rows)
	}
	tape.SetTraining(false)
	p.drop = 0.5
	still := p.parts(tape, 4).Scalar()
	if asked["table"] != 60 || asked["both"] != 60 {
		t.Errorf("rows were asked for: %v", asked)
	}
	p.drop = 0
	tape.Reset()
	if got := p.parts(tape, 4).Scalar(); got != still {
		t.Errorf("evaluation gives %v with dropout, %v without", still, got)
	}
	tape.Reset()
	tape.NoGrad = true
	if loss := p.parts(tape, 4); loss.Needs() || tape.Grads().Len() != 0 || loss.Scalar() != still {
		t.Errorf("without gradients: needs them %v, %d parameters, %v, want %v", loss.Needs(), tape.Grads().Len(), loss.Scalar(), still)
	}
	tape.NoGrad = false
	tape.Reset()
	tape.GuardNaN = true
	p.table.Value.Data[0] = tensor.Float(math.NaN())
	if e := mustFail(t, func() { p.parts(tape, 4) }); len(e.Params) == 0 || e.Params[0] != "table" {
		t.Errorf("a NaN in a part: %v", e)
	}
}

// What parts cannot do is refused, and the tape serves again afterwards.
func TestPartsRefuse(t *testing.T) {
	p, tape := newPortion(0), autograd.NewTape()
	loss := func() {
		tape.Reset()
		tape.Apart = false
		tape.Backward(p.parts(tape, 3))
	}
	loss()
	want := slices.Clone(gradient(t, tape.Grads(), p.w).Data)
	for name, bad := range map[string]func(){
		"examples apart": func() { tape.Apart = true; p.parts(tape, 2) },
		"a node of the outer tape": func() {
			x := tape.Use(p.w)
			tape.Parts(3, func(t *autograd.Tape, _ int) *autograd.Node { return t.Use(p.w).Add(x).SumAll() })
		},
		"no scalar": func() {
			tape.Parts(3, func(t *autograd.Tape, _ int) *autograd.Node { return t.Use(p.w) })
		},
		"a loss of the outer tape": func() {
			tape.NoGrad = true
			defer func() { tape.NoGrad = false }()
			x := tape.Use(p.w).SumAll()
			tape.Parts(3, func(t *autograd.Tape, _ int) *autograd.Node { return x })
		},
	} {
		tape.Reset()
		if e := mustFail(t, bad); e.Message == "" {
			t.Errorf("%s: %v", name, e)
		}
		if loss(); !slices.Equal(gradient(t, tape.Grads(), p.w).Data, want) {
			t.Errorf("%s: the step after it has another gradient", name)
		}
	}
	tape.Reset()
	empty := tape.Parts(0, func(t *autograd.Tape, _ int) *autograd.Node { return nil })
	if tape.Backward(empty); empty.Scalar() != 0 || tape.Grads().Len() != 0 {
		t.Errorf("no parts: %v", empty.Scalar())
	}
}
