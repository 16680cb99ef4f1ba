package rap

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// small is an attacker on two attributes and a reading of three users, one of whom has no
// interactions.
func small(seed rng.Seed) (*Attacker, Reading) {
	a := New(7, 3, []int{2, 3}, nn.Uniform(seed, 0.8))
	return a, Reading{
		Items:  [][]int32{{3, 1, 6}, {}, {2, 5}},
		Labels: [][]int32{{0, 1, 1}, {2, 0, 1}},
	}
}

func weights(t *autograd.Tape) *autograd.Node {
	w := t.BufferZero(3, 7)
	for u, row := range [][7]tensor.Float{{0.9, 0, 0.1}, {0, 0.2, 0, 0.3, 0.5}, {0, 0.25, 0, 0.5, 0, 0, 0.25}} {
		copy(tensor.Row(w, u), row[:])
	}
	return t.Const(w)
}

// list leaves out the interactions of small's users.
func list(r Reading) tensor.Matrix {
	m := tensor.New(len(r.Items), 7)
	for u, items := range r.Items {
		for _, i := range items {
			tensor.Row(m, u)[i] = Outside
		}
	}
	return m
}

func TestGradientsOfTheAttacker(t *testing.T) {
	a, r := small(7)
	if err := gradcheck.Check(a.Params(), func(t *autograd.Tape) *autograd.Node { return a.Loss(t, r, weights(t)) }); err != nil {
		t.Error(err)
	}
}

// What reaches the vectors of users and items through the weights of the lists is the gradient
// of the attacker's loss, with the sign and the factor of equation 6.
func TestGradientsOfTheRecommender(t *testing.T) {
	a, r := small(8)
	users := nn.NewParam("user", 3, 4, nn.Uniform(1, 0.3))
	items := nn.NewParam("item", 7, 4, nn.Uniform(2, 0.3))
	own := autograd.NewTape()
	err := gradcheck.Check([]*autograd.Param{users, items}, func(t *autograd.Tape) *autograd.Node {
		w := Weights(t.Rows(users, []int32{2, 0, 1}), t.Use(items), list(r), 0.5)
		return a.Against(own, r, w).Scale(-1.7)
	})
	if err != nil {
		t.Error(err)
	}
}

// A gradient of the attacker's parameters never reaches the recommender's tape, whose
// optimiser would take them for its own.
func TestAgainstLeavesTheAttackerFixed(t *testing.T) {
	a, r := small(9)
	users := nn.NewParam("user", 3, 4, nn.Uniform(1, 0.3))
	items := nn.NewParam("item", 7, 4, nn.Uniform(2, 0.3))
	tape := autograd.NewTape()
	w := Weights(tape.Rows(users, []int32{0, 1, 2}), tape.Use(items), list(r), 0.1)
	y := a.Against(autograd.NewTape(), r, w)
	other := autograd.NewTape()
	if want := a.Loss(other, r, other.Const(w.V)).Scalar(); y.Scalar() != want {
		t.Errorf("loss %v, want %v", y.Scalar(), want)
	}
	tape.Backward(y)
	g := tape.Grads()
	if g.Len() != 2 {
		t.Errorf("%d parameters took part, want the two of the recommender", g.Len())
	}
	for i := range g.Len() {
		if p := g.Param(i); p != users && p != items {
			t.Errorf("parameter %q took part", p.Name)
		}
	}
}

// A user's state does not depend on how many interactions others have.
func TestUsersAreReadAlone(t *testing.T) {
	a, r := small(10)
	tape := autograd.NewTape()
	all := a.Infer(tape, r, weights(tape))
	for u := range r.Items {
		alone := autograd.NewTape()
		w := alone.Const(tensor.RowsView(weights(alone).V, u, u+1))
		one := a.Infer(alone, Reading{Items: r.Items[u : u+1]}, w)
		for k := range one {
			for c, v := range tensor.Row(one[k].V, 0) {
				if got := tensor.Row(all[k].V, u)[c]; math.Abs(float64(got-v)) > 1e-6 {
					t.Errorf("user %d, attribute %d, class %d: %v among others, %v alone", u, k, c, got, v)
				}
			}
		}
	}
}

// The weights of a list sum to one, and items outside it have none.
func TestWeights(t *testing.T) {
	_, r := small(1)
	users := nn.NewParam("user", 3, 4, nn.Uniform(1, 1))
	items := nn.NewParam("item", 7, 4, nn.Uniform(2, 1))
	tape := autograd.NewTape()
	w := Weights(tape.Use(users), tape.Use(items), list(r), 0.1)
	for u := range r.Items {
		sum := 0.0
		for i, x := range tensor.Row(w.V, u) {
			sum += float64(x)
			if outside := slices.Contains(r.Items[u], int32(i)); outside != (x < 1e-30) {
				t.Errorf("user %d, item %d: outside is %v, weight %v", u, i, outside, x)
			}
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("user %d: weights sum to %v", u, sum)
		}
	}
}

func TestParamsHaveDistinctNames(t *testing.T) {
	a, _ := small(1)
	seen := map[string]bool{}
	for _, p := range a.Params() {
		if seen[p.Name] {
			t.Errorf("two parameters are named %q", p.Name)
		}
		seen[p.Name] = true
	}
	if len(seen) != 1+4+4 {
		t.Errorf("%d parameters, want the table, four of the cell and two of each attribute", len(seen))
	}
}
