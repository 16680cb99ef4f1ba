package forgetting

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// logistic scores by vectors of users that are fixed, so that its loss is convex in those of the items.
type logistic struct {
	users tensor.Matrix
	item  *autograd.Param
}

func (m logistic) Params() []*autograd.Param { return []*autograd.Param{m.item} }

func (m logistic) Encode(t *autograd.Tape, _ int, users, items []int32) (bpr.Encoded, error) {
	u := t.Buffer(len(users), m.users.Cols)
	for k, user := range users {
		copy(tensor.Row(u, k), tensor.Row(m.users, int(user)))
	}
	z := t.Rows(m.item, items)
	return bpr.Encoded{Users: t.Const(u), Items: z, Penalised: []*autograd.Node{z}}, nil
}

// convex returns a logistic model of 60 users, 20 items and 3 columns, and the triples of its first users and of the
// others.
func convex(t *testing.T, lost int) (m logistic, first, rest []bpr.Triples) {
	t.Helper()
	m = logistic{nn.NewParam("fixed", 60, 3, nn.Normal(3, 1)).Value, nn.NewParam("item", 20, 3, nn.Normal(4, 0.1))}
	d := planted(60, 20, 6)
	for k, users := range [][2]int{{0, lost}, {lost, 60}} {
		var some []int32
		for u := users[0]; u < users[1]; u++ {
			some = append(some, int32(u))
		}
		g, err := graphOf(d, some)
		if err != nil {
			t.Fatal(err)
		}
		triples, err := triplesOf(g, 5)
		if err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			first = triples
		} else {
			rest = triples
		}
	}
	return m, first, rest
}

// penalty of the convex cases.
const convexL2 = 0.1

// descend returns the minimiser of the summed loss over triples, by many small steps down its gradient.
func descend(t *testing.T, m logistic, triples []bpr.Triples) []float64 {
	t.Helper()
	var read int64
	s := slope{l2: convexL2, tape: autograd.NewTape(), read: &read}
	g := make([]float64, width(m.Params()))
	for range 4000 {
		clear(g)
		if err := s.add(t.Context(), m, triples, 1, g); err != nil {
			t.Fatal(err)
		}
		moved(m.Params(), copies(m.Params()), -0.02, g)
	}
	if n := norm(g); n > 1e-3 {
		t.Fatalf("the gradient after the descent is %g long", n)
	}
	return values(m)
}

func values(m logistic) (all []float64) {
	for _, v := range m.item.Value.Data {
		all = append(all, float64(v))
	}
	return all
}

func far(x, y []float64) float64 {
	sum := 0.0
	for k := range x {
		sum += (x[k] - y[k]) * (x[k] - y[k])
	}
	return math.Sqrt(sum)
}

// On a convex loss the step leads to the retrained parameters: from the minimum with 3 of 60 users to less than a
// hundredth of the way that their leaving makes, and with 12 users to less than a twentieth, since the error is of
// second order in their share. A step with a tenth of the right side, a planted fault, stays far away.
func TestInfluenceEqualsRetrainingOnAConvexLoss(t *testing.T) {
	for _, c := range []struct {
		lost  int
		error float64
	}{{3, 0.01}, {12, 0.05}} {
		m, lost, rest := convex(t, c.lost)
		descend(t, m, rest)
		want := values(m)
		before := descend(t, m, slices.Concat(lost, rest))
		var read int64
		s := slope{l2: convexL2, tape: autograd.NewTape(), read: &read}
		if _, err := s.newtonStep(t.Context(), m, m, lost, rest, nil, 1e-9, 200); err != nil {
			t.Fatal(err)
		}
		all := far(before, want)
		if got := far(values(m), want) / all; got > c.error {
			t.Errorf("%d users: %.4f of the way is left, want at most %g", c.lost, got, c.error)
		}
		short := slices.Clone(before)
		for k, v := range values(m) {
			short[k] += 0.1 * (v - before[k])
		}
		if got := far(short, want) / all; got < 0.5 {
			t.Errorf("%d users: a tenth of the step leaves only %.4f of the way", c.lost, got)
		}
	}
}

// The products with the curvature are those of the Hessian, which a plain loop computes, where scores are linear.
func TestCurvatureIsTheHessianOfALogisticLoss(t *testing.T) {
	m, _, rest := convex(t, 5)
	n := width(m.Params())
	h := make([][]float64, n) // (n, n)
	for k := range h {
		h[k] = make([]float64, n)
	}
	for _, part := range rest {
		b := len(part.Users)
		for k, u := range part.Users {
			i, j, w := int(part.Items[k]), int(part.Items[b+k]), tensor.Row(m.users, int(u))
			x := 0.0
			for c := range w {
				x += float64(w[c]) * float64(m.item.Value.Data[i*3+c]-m.item.Value.Data[j*3+c])
			}
			s := 1 / (1 + math.Exp(-x))
			for a := range w {
				for c := range w {
					v := s * (1 - s) * float64(w[a]) * float64(w[c])
					h[i*3+a][i*3+c] += v
					h[j*3+a][j*3+c] += v
					h[i*3+a][j*3+c] -= v
					h[j*3+a][i*3+c] -= v
				}
				h[i*3+a][i*3+a] += convexL2
				h[j*3+a][j*3+a] += convexL2
			}
		}
	}
	var read int64
	s := slope{l2: convexL2, tape: autograd.NewTape(), read: &read}
	product, out := s.curvature(t.Context(), m, rest), make([]float64, n)
	for try := range 3 {
		v := make([]float64, n)
		for k := range v {
			v[k] = math.Sin(float64(1 + k*(try+2)))
		}
		if err := product(v, out); err != nil {
			t.Fatal(err)
		}
		want := make([]float64, n)
		for k := range want {
			want[k] = dot(h[k], v)
		}
		if got := far(out, want) / norm(want); got > 2e-3 {
			t.Errorf("product %d is %g away", try, got)
		}
	}
}

func TestConjugate(t *testing.T) {
	spd := func(v, out []float64) error {
		for k := range v {
			out[k] = float64(k+1) * v[k]
		}
		return nil
	}
	b := []float64{1, 2, 3, 4}
	x, n, err := conjugate(t.Context(), b, 1, 10, spd)
	if err != nil || n > 4 {
		t.Fatalf("%d products, %v", n, err)
	}
	for k, v := range x {
		if want := b[k] / float64(k+2); math.Abs(v-want) > 1e-6 {
			t.Errorf("x[%d] is %g, want %g", k, v, want)
		}
	}
	if _, n, _ = conjugate(t.Context(), b, 1, 2, spd); n != 2 {
		t.Errorf("%d products, want 2", n)
	}
	negative := func(v, out []float64) error {
		for k := range v {
			out[k] = -5 * v[k]
		}
		return nil
	}
	if x, n, err = conjugate(t.Context(), b, 2, 10, negative); err != nil || n != 1 || x[0] != 0.5 {
		t.Errorf("negative curvature: %v after %d products, %v", x, n, err)
	}
	if x, n, err = conjugate(t.Context(), make([]float64, 4), 2, 10, spd); err != nil || n != 0 || norm(x) != 0 {
		t.Errorf("nothing to solve: %v after %d products, %v", x, n, err)
	}
}

// The vectors of users who are held stay as they are.
func TestNewtonStepHoldsUsers(t *testing.T) {
	s := ready(t, planted(60, 40, 6), func(c *Config) { c.Train.Epochs = 5 })
	first, err := s.fitted(t.Context(), s.env.Seed, s.forgotten, s.remaining)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.influence(t.Context(), first, 1)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := s.network(s.rest, s.env.Seed)
	if err != nil {
		t.Fatal(err)
	}
	user := func(m *network, u int32) []tensor.Float { return tensor.Row(m.Params()[0].Value, int(u)) }
	for _, u := range s.forgotten {
		if !slices.Equal(user(kept, u), user(fresh, u)) {
			t.Fatalf("user %d keeps a vector that was trained", u)
		}
	}
	moved := 0
	for _, u := range s.remaining {
		if !slices.Equal(user(kept, u), user(first, u)) {
			moved++
		}
	}
	if moved < len(s.remaining)/2 {
		t.Errorf("the step moves %d of %d remaining users", moved, len(s.remaining))
	}
}
