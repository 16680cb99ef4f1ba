package exposure

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// trained runs some steps of an attack with the training of the text.
func trained(t testing.TB, m *Model, p *slate.Pairs, steps, batch int) (losses []float64) {
	t.Helper()
	o, how := m.On(p), PaperTraining()
	adam := how.Optimizer()
	tape, order := autograd.NewTape(), rng.Seed(4).Stream("order")
	for step := range steps {
		rows := make([]int32, batch)
		for i := range rows {
			rows[i] = int32(order.IntN(p.Len()))
		}
		tape.Reset()
		l, err := o.Loss(tape, step, rows)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, l.Scalar())
		tape.Backward(l)
		if err := adam.Step(m.Params(), tape.Grads(), 1e-2); err != nil {
			t.Fatal(err)
		}
	}
	return losses
}

// TestWorkersDoNotShow: parameters and lists after some steps are the same bytes for 1, 2 and 5 workers.
func TestWorkersDoNotShow(t *testing.T) {
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		const vocab = 1500
		p := pairsOf(300, 4, 3, vocab, 3)
		var params [][]tensor.Float
		var lists [][][]int32
		for _, workers := range []int{1, 2, 5} {
			tensor.SetWorkers(workers)
			m, err := New(small(encoder, decoder, 16), vocab, 4, 3, 5)
			if err != nil {
				t.Fatal(err)
			}
			trained(t, m, p, 2, 270)
			got := listsOf(t, m, p, nil, 5, nil)
			if params == nil {
				for _, q := range m.Params() {
					params = append(params, q.Value.Data)
				}
				lists = got
				continue
			}
			for k, q := range m.Params() {
				if !slices.Equal(q.Value.Data, params[k]) {
					t.Fatalf("%d workers: %s differs", workers, q.Name)
				}
			}
			for i := range lists {
				if !slices.EqualFunc(lists[i], got[i], func(a, b []int32) bool { return slices.Equal(a, b) }) {
					t.Fatalf("%d workers: lists of row %d differ", workers, i)
				}
			}
		}
	})
}

// TestAttacksLearn: where the clicks are a function of the slate's one item, every attack finds them.
func TestAttacksLearn(t *testing.T) {
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		const n, vocab, T, L = 24, 28, 3, 3
		p := &slate.Pairs{T: T, L: L, Users: make([]int32, n), Complete: make([]bool, n)}
		click := func(x, k int) int32 { return slate.FirstItem + int32((x*5+k*7+1)%n) }
		for x := range n {
			for range T {
				p.Slates = append(p.Slates, slate.FirstItem+int32(x))
			}
			for k := range L {
				p.Behaviours = append(p.Behaviours, click(x, k))
			}
		}
		c := small(encoder, decoder, 32)
		if decoder == "point" && encoder != "attention" {
			c.Tie = TieCode // one matrix makes such scores symmetric: x hints at y as y at x, and the clicks here do not
		}
		m, err := New(c, vocab, T, L, 2)
		if err != nil {
			t.Fatal(err)
		}
		losses := trained(t, m, p, 150, n)
		if last := losses[len(losses)-1]; !(last < losses[0]) || math.IsNaN(last) {
			t.Errorf("loss from %v to %v", losses[0], last)
		}
		hits := 0
		for x, lists := range listsOf(t, m, p, nil, L, nil) {
			if decoder == "point" {
				for k := range L {
					if contains(lists[0], click(x, k)) {
						hits++
					}
				}
				continue
			}
			for k, list := range lists {
				if list[0] == click(x, k) {
					hits++
				}
			}
		}
		if hits < n*L*9/10 {
			t.Errorf("%d of %d clicks found, loss %v", hits, n*L, losses[len(losses)-1])
		}
	})
}

// TestSeeds: equal seeds give equal models, others do not; a matrix has the spread of Xavier's normal law
// within five standard errors of a spread, a false alarm in 10^6 seeds, and this seed is fixed.
func TestSeeds(t *testing.T) {
	make := func(seed rng.Seed, init string) *Model {
		c := Paper("mean", "gru")
		c.Init = init
		m, err := New(c, 500, 10, 5, seed)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b, c := make(1, "xavier-normal"), make(1, "xavier-normal"), make(2, "xavier-normal")
	for i, p := range a.Params() {
		if !slices.Equal(p.Value.Data, b.Params()[i].Value.Data) {
			t.Errorf("%s differs between equal seeds", p.Name)
		}
		if p.Value.Rows > 1 && slices.Equal(p.Value.Data, c.Params()[i].Value.Data) {
			t.Errorf("%s is the same for another seed", p.Name)
		}
	}
	want := math.Sqrt(2.0 / 628)
	for _, init := range []string{"xavier-normal", "xavier-uniform"} {
		x := make(1, init).enc.items.Value.Data
		if std := math.Sqrt(tensor.SumSq(x) / float64(len(x))); math.Abs(std/want-1) > 5/math.Sqrt(2*float64(len(x))) {
			t.Errorf("%s: spread %v, want %v", init, std, want)
		}
		if top := float64(tensor.Max(x)) / want; init == "xavier-uniform" && top > math.Sqrt(3) {
			t.Errorf("%s: greatest value %v spreads", init, top)
		}
	}
}

// TestSteadyStep: once its memory is there, a training step of the mean and GRU attack allocates next to
// nothing: closures of the way back, no matrices.
func TestSteadyStep(t *testing.T) {
	m, err := New(small("mean", "gru", 16), 3000, 10, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := pairsOf(600, 10, 5, 3000, 1)
	o, adam, tape := m.On(p), PaperTraining().Optimizer(), autograd.NewTape()
	params, rows, steps := m.Params(), rowsOf(256), 0
	step := func() {
		tape.Reset()
		l, err := o.Loss(tape, steps, rows)
		if err != nil {
			t.Fatal(err)
		}
		tape.Backward(l)
		if err := adam.Step(params, tape.Grads(), 1e-3); err != nil {
			t.Fatal(err)
		}
		steps++
	}
	for range 3 {
		step()
	}
	// A collection in between empties pools, which then fill again: the quietest of four windows counts.
	const n = 10
	bytes, count := uint64(math.MaxUint64), uint64(math.MaxUint64)
	for range 4 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			step()
		}
		runtime.ReadMemStats(&after)
		bytes, count = min(bytes, (after.TotalAlloc-before.TotalAlloc)/n), min(count, (after.Mallocs-before.Mallocs)/n)
	}
	if bytes > 16<<10 {
		t.Errorf("%d bytes a step", bytes)
	}
	if count > 100 {
		t.Errorf("%d allocations a step", count)
	}
}
