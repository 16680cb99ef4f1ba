package perexample_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/perexample"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// net has every kind of use: rows looked up in a table that is the output too, the same weights twice, biases,
// a query, features, and a row that is added.
type net struct {
	table, user, w, b, x, q, shift *autograd.Param
	features                       tensor.Matrix
}

const classes, width = 100, 5 // several tiles

func newNet(s rng.Stream) *net {
	n := &net{
		table: autograd.NewParam("table", classes+1, width), user: autograd.NewParam("user", 3, width),
		w: autograd.NewParam("w", width, width), b: autograd.NewParam("b", 1, width), x: autograd.NewParam("x", width, 2*width),
		q: autograd.NewParam("q", 1, width), shift: autograd.NewParam("shift", 1, width), features: tensor.New(8, 3),
	}
	for _, p := range n.params() {
		for i := range p.Value.Data {
			p.Value.Data[i] = tensor.Float(s.Float64() - 0.5)
		}
	}
	for i := range n.features.Data {
		n.features.Data[i] = tensor.Float(s.Float64() - 0.5)
	}
	return n
}

func (n *net) params() []*autograd.Param {
	return []*autograd.Param{n.table, n.user, n.w, n.b, n.x, n.q, n.shift}
}

// example is a list of sessions with a target each; several make a group, as a user's samples do.
type example struct {
	sessions [][]int32
	targets  []int32
	of       []int // whose features
}

// loss returns the mean loss over the sessions of the examples, and their layouts by items and by sessions.
func (n *net) loss(t *autograd.Tape, list []example) (*autograd.Node, []int32, []int32) {
	items, sessions := []int32{0}, []int32{0}
	var idx, off, targets []int32
	var each []int32
	off = append(off, 0)
	var of []int
	for _, e := range list {
		for i, s := range e.sessions {
			for range s {
				each = append(each, int32(len(targets)))
			}
			idx, targets, of = append(idx, s...), append(targets, e.targets[i]), append(of, e.of[i])
			off = append(off, int32(len(idx)))
		}
		items, sessions = append(items, int32(len(idx))), append(sessions, int32(len(targets)))
	}
	f := tensor.New(len(of), 3)
	for i, u := range of {
		copy(tensor.Row(f, i), tensor.Row(n.features, u))
	}
	w, b := t.Use(n.w), t.Use(n.b)
	h := t.Rows(n.table, idx)
	user := t.Const(f).MatMul(t.Use(n.user))
	h = h.Linear(w, b).Tanh()
	h = h.Linear(w, b).Add(user.Gather(each)) // the same weights again
	h = t.ConcatLinear(autograd.Affine{X: h.ConcatCols(user.Gather(each)), W: t.Use(n.x), B: b}).AddRow(t.Use(n.shift)).Tanh()
	h = h.MulCol(h.MatMulT(t.Use(n.q)))
	return t.TiedCrossEntropy(h.SegmentSum(off), n.table, 1, targets), items, sessions
}

// flat returns all gradients of one step as one vector, by an ordinary backward pass, times the number of sessions.
func (n *net) flat(list []example) []float64 {
	t := autograd.NewTape()
	l, _, sessions := n.loss(t, list)
	t.Backward(l)
	var out []float64
	for _, p := range n.params() {
		m, ok := t.Grads().Dense(p)
		if !ok {
			panic(p.Name)
		}
		for _, v := range m.Data {
			out = append(out, float64(v)*float64(sessions[len(list)]))
		}
	}
	return out
}

func drawn(rt *rapid.T) []example {
	list := make([]example, rapid.IntRange(1, 5).Draw(rt, "examples"))
	for k := range list {
		e := &list[k]
		for range rapid.IntRange(1, 3).Draw(rt, "sessions") {
			s := make([]int32, rapid.IntRange(1, rapid.SampledFrom([]int{1, 4, 30}).Draw(rt, "longest")).Draw(rt, "length"))
			for i := range s {
				s[i] = int32(rapid.SampledFrom([]int{1, 2, 3, 64, classes}).Draw(rt, "item"))
			}
			e.sessions, e.targets = append(e.sessions, s), append(e.targets, int32(rapid.IntRange(1, classes).Draw(rt, "target")))
			e.of = append(e.of, rapid.IntRange(0, 7).Draw(rt, "user"))
		}
	}
	return list
}

func norm(v []float64) float64 {
	sq := 0.0
	for _, x := range v {
		sq += x * x
	}
	return math.Sqrt(sq)
}

// Lengths and weighted sums are those of a loop that takes the examples one by one. With weights of one the sum is
// the gradient of the batch.
func TestEqualsALoop(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, list := newNet(rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("net")), drawn(rt)
		tape := autograd.NewTape()
		tape.Apart = true
		l, items, sessions := n.loss(tape, list)
		tape.Backward(l)
		g, err := perexample.Of(tape, items, sessions)
		if err != nil {
			rt.Fatal(err)
		}
		scale := float64(sessions[len(list)])
		norms := make([]float64, len(list))
		g.Norms(norms)
		weights := make([]tensor.Float, len(list))
		var want []float64
		for k := range list {
			one := n.flat(list[k : k+1])
			if got, is := norms[k]*scale, norm(one); !(got >= is*(1-2e-6)) || got > is*(1+1e-3)+1e-7 {
				rt.Fatalf("example %d: length %g, of its gradient %g", k, got, is)
			}
			weights[k] = tensor.Float(rapid.SampledFrom([]float64{0, 0.25, 1}).Draw(rt, "weight"))
			if want == nil {
				want = make([]float64, len(one))
			}
			for i, v := range one {
				want[i] += float64(weights[k]) * v
			}
		}
		compare(rt, "weighted", n.sum(g, weights), want, scale)
		for k := range weights {
			weights[k] = 1
		}
		compare(rt, "all", n.sum(g, weights), n.flat(list), scale)
	})
}

func (n *net) sum(g *perexample.Gradients, weights []tensor.Float) []tensor.Float {
	var all []tensor.Float
	parts := map[*autograd.Param]tensor.Matrix{}
	for _, p := range n.params() {
		parts[p] = tensor.New(p.Value.Rows, p.Value.Cols)
	}
	g.AddTo(weights, func(p *autograd.Param) tensor.Matrix { return parts[p] })
	for _, p := range n.params() {
		all = append(all, parts[p].Data...)
	}
	return all
}

func compare(rt *rapid.T, what string, got []tensor.Float, want []float64, scale float64) {
	for i, v := range want {
		if d := math.Abs(float64(got[i])*scale - v); d > 2e-5*(1+norm(want)) {
			rt.Fatalf("%s: value %d is %g, want %g", what, i, float64(got[i])*scale, v)
		}
	}
}

// What cannot be told apart is refused, and not left out.
func TestRefuses(t *testing.T) {
	p := autograd.NewParam("weights", 1, 2)
	tape := autograd.NewTape()
	tape.Apart = true
	l := tape.Const(tensor.From(1, 2, []tensor.Float{1, 2})).Mul(tape.Use(p)).SumSq()
	func() {
		defer func() {
			if r := recover(); r == nil || !strings.Contains(strings.ToLower(fmt.Sprint(r)), "weights cannot keep examples apart") {
				t.Errorf("an operation without factors: %v", r)
			}
		}()
		tape.Backward(l)
	}()
	tape.Reset()
	l = tape.Const(tensor.From(1, 2, []tensor.Float{1, 2})).MatMulT(tape.Use(p)).SumSq()
	tape.Backward(l)
	if _, err := perexample.Of(tape, []int32{0, 2}); err == nil || !strings.Contains(err.Error(), "weights is used in 1 rows") {
		t.Errorf("a layout that does not fit: %v", err)
	}
	if _, err := perexample.Of(tape, []int32{0, 1}, []int32{0, 1, 2}); err == nil {
		t.Error("layouts of different numbers of examples")
	}
}
