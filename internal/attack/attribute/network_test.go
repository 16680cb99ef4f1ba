package attribute

import (
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// TestNetworkPlain compares the network with loops over its equation.
func TestNetworkPlain(t *testing.T) {
	s := rng.Seed(3).Stream("network")
	x, _ := planted(9, 3, true, s.Sub(0))
	for i := range x.Data {
		x.Data[i] *= tensor.Float(1 + i%3)
	}
	n := newNetwork(x.Cols, 3, s.Sub(1))
	p := room(x.Rows, 3)
	if err := n.fill(x, p); err != nil {
		t.Fatal(err)
	}
	for i := range p {
		want := make([]float64, 3)
		for c := range want {
			want[c] = float64(n.second.B.Value.Data[c])
			for k := range hidden {
				h := float64(n.shift.Value.Data[k])
				for j, v := range tensor.Row(x, i) {
					h += float64(v) * float64(tensor.Row(n.first.Value, j)[k])
				}
				want[c] += max(0, h) * float64(tensor.Row(n.second.W.Value, c)[k])
			}
		}
		softmax(want)
		for c := range want {
			if math.Abs(p[i][c]-want[c]) > 1e-5 {
				t.Fatalf("row %d: %v, want %v", i, p[i], want)
			}
		}
	}
}

// TestNetworkGradient checks the gradients of the loss of a batch with a repeated user and a row of zeros.
func TestNetworkGradient(t *testing.T) {
	s := rng.Seed(4).Stream("network")
	x, class := planted(6, 3, true, s.Sub(0))
	clear(tensor.Row(x, 2))
	tensor.Row(x, 3)[0] = 4
	n, rows := newNetwork(x.Cols, 3, s.Sub(1)), sparseOf(x)
	for k := range hidden { // far from where the units switch on
		n.shift.Value.Data[k] = tensor.Float(3 - 6*(k%2))
	}
	users, target := []int32{5, 0, 2, 3, 0}, []int32{class[5], class[0], class[2], class[3], class[0]}
	err := gradcheck.Check(n.params(), func(t *autograd.Tape) *autograd.Node { return n.logits(t, rows, users).CrossEntropy(target) })
	if err != nil {
		t.Error(err)
	}
}

// TestNetworkLearns: before training the loss is that of even guesses, afterwards it is that of a rule which is
// almost certain.
func TestNetworkLearns(t *testing.T) {
	s := rng.Seed(6).Stream("network")
	x, class := planted(400, 3, true, s.Sub(0))
	loss := func(p [][]float64) float64 {
		sum := 0.0
		for i, c := range class {
			sum -= math.Log(p[i][c])
		}
		return sum / float64(len(class))
	}
	p := room(x.Rows, 3)
	if err := newNetwork(x.Cols, 3, s.Sub(1).Sub(0)).fill(x, p); err != nil {
		t.Fatal(err)
	}
	before, after := loss(p), loss(guess(t, "dnn", x, class, 3, x, s.Sub(1)))
	if math.Abs(before-math.Log(3)) > 0.1 || after > 0.1 {
		t.Errorf("loss %v, then %v", before, after)
	}
}
