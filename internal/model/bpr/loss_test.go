package bpr

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// plainLoss is the formula, pair by pair, for n negatives a positive.
func plainLoss(u, p tensor.Matrix, n int, scale, count float64) float64 {
	sum := 0.0
	for k := range u.Rows * n {
		user, x := k%u.Rows, 0.0
		for j := range u.Cols {
			x += float64(u.Data[user*u.Stride+j]) * (float64(p.Data[user*p.Stride+j]) - float64(p.Data[(u.Rows+k)*p.Stride+j]))
		}
		sum += math.Log(1 + math.Exp(-scale*x))
	}
	return sum / count / float64(n)
}

func TestLossEqualsTheFormula(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, d := rapid.IntRange(0, 300).Draw(rt, "pairs"), rapid.IntRange(1, 9).Draw(rt, "d")
		n := rapid.IntRange(1, 4).Draw(rt, "negatives")
		scale, count := rapid.Float64Range(0.1, 10).Draw(rt, "scale"), rapid.Float64Range(1, 50).Draw(rt, "count")
		init := nn.Normal(rng.Seed(rapid.Uint64().Draw(rt, "seed")), 0.5)
		u, p := nn.NewParam("u", b, d, init), nn.NewParam("p", (1+n)*b, d, init)
		tape := autograd.NewTape()
		y := Loss(tape.Use(u), tape.Use(p), scale, count)
		if want := plainLoss(u.Value, p.Value, n, scale, count); math.Abs(y.Scalar()-want) > 1e-5*(1+want) {
			rt.Fatalf("loss %v, want %v", y.Scalar(), want)
		}
		tape.Backward(y)
	})
}

func TestLossGradient(t *testing.T) {
	init := nn.Normal(4, 0.7)
	for _, items := range []int{10, 20} { // one and three negatives
		u, p := nn.NewParam("u", 5, 3, init), nn.NewParam("p", items, 3, init)
		err := gradcheck.Check([]*autograd.Param{u, p}, func(t *autograd.Tape) *autograd.Node {
			return Loss(t.Use(u), t.Use(p), 2.5, 4).Add(Penalty(0.3, 4, t.Use(u), t.Use(p)))
		})
		if err != nil {
			t.Errorf("%d items: %v", items, err)
		}
	}
}

// A side without a gradient is left alone.
func TestLossOfOneSide(t *testing.T) {
	init := nn.Normal(4, 0.7)
	u, p := nn.NewParam("u", 5, 3, init), nn.NewParam("p", 10, 3, init)
	for _, c := range []struct {
		name  string
		param *autograd.Param
		loss  func(t *autograd.Tape) *autograd.Node
	}{
		{"users", u, func(t *autograd.Tape) *autograd.Node { return Loss(t.Use(u), t.Const(p.Value), 1, 5) }},
		{"items", p, func(t *autograd.Tape) *autograd.Node { return Loss(t.Const(u.Value), t.Use(p), 1, 5) }},
	} {
		if err := gradcheck.Check([]*autograd.Param{c.param}, c.loss); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Scores far apart neither overflow nor lose the slope.
func TestLossFarOut(t *testing.T) {
	for _, c := range []struct{ x, loss, slope float64 }{
		{-1000, 1000, -1}, {1000, 0, 0}, {0, math.Ln2, -0.5}, {-60, 60, -1},
	} {
		u, p := autograd.NewParam("u", 1, 1), autograd.NewParam("p", 2, 1)
		u.Value.Data[0], p.Value.Data[0] = 1, tensor.Float(c.x)
		tape := autograd.NewTape()
		y := Loss(tape.Use(u), tape.Use(p), 1, 1)
		tape.Backward(y)
		g, _ := tape.Grads().Dense(p)
		if math.Abs(y.Scalar()-c.loss) > 1e-6*(1+c.loss) || math.Abs(float64(g.Data[0])-c.slope) > 1e-6 || g.Data[1] != -g.Data[0] {
			t.Errorf("at %v: loss %v, slopes %v, want %v and %v", c.x, y.Scalar(), g.Data, c.loss, c.slope)
		}
	}
}

func TestLossRefusesShapes(t *testing.T) {
	for _, rows := range []int{0, 2, 3, 5} {
		func() {
			defer func() {
				if _, ok := recover().(*autograd.Error); !ok {
					t.Errorf("%d items for 2 users: no error of the tape", rows)
				}
			}()
			tape := autograd.NewTape()
			Loss(tape.Const(tensor.New(2, 3)), tape.Const(tensor.New(rows, 3)), 1, 1)
		}()
	}
}

func TestPenalty(t *testing.T) {
	tape := autograd.NewTape()
	x, y := tensor.New(1, 2), tensor.New(2, 1)
	copy(x.Data, []tensor.Float{3, 4})
	copy(y.Data, []tensor.Float{1, -2})
	if got := Penalty(0.5, 10, tape.Const(x), tape.Const(y)).Scalar(); math.Abs(got-0.25*30/10) > 1e-6 {
		t.Errorf("penalty %v, want %v", got, 0.25*30/10)
	}
	if Penalty(0, 10, tape.Const(x)) != nil || Penalty(1, 10) != nil {
		t.Error("a penalty of nothing")
	}
}

// Bytes do not depend on the number of workers.
func TestLossWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	init := nn.Normal(4, 0.7)
	u, p := nn.NewParam("u", 1000, 16, init), nn.NewParam("p", 2000, 16, init)
	var want []tensor.Float
	for _, n := range []int{1, 2, 5} {
		tensor.SetWorkers(n)
		tape := autograd.NewTape()
		y := Loss(tape.Use(u), tape.Use(p), 1, 1000)
		tape.Backward(y)
		g, _ := tape.Grads().Dense(p)
		got := append([]tensor.Float{y.V.Data[0]}, g.Data...)
		if want == nil {
			want = got
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%d workers: element %d is %v, with one %v", n, i, got[i], want[i])
			}
		}
	}
}
