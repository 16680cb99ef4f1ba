package hrnn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// made returns a model whose biases are not 0.
func made(t testing.TB, items int, c Config) *Model {
	t.Helper()
	m, err := New(items, c, 3)
	if err != nil {
		t.Fatal(err)
	}
	fill := nn.Uniform(5, 0.5)
	for _, p := range []*autograd.Param{m.Bias, m.SessionB, m.UserB, m.First.B} {
		fill(p.Value, p.Name)
	}
	return m
}

// plainGRU is a gated recurrent unit from its formulas: x gives to the gates, u are the state's weights.
func plainGRU(x []float64, u [][]float64, h []float64) []float64 {
	d := len(h)
	out, reset := make([]float64, d), make([]float64, d)
	for k := range d {
		reset[k] = h[k] / (1 + math.Exp(-x[k]-modeltest.Dot(u[k], h)))
	}
	for k := range d {
		z := 1 / (1 + math.Exp(-x[d+k]-modeltest.Dot(u[d+k], h)))
		out[k] = h[k] + z*(math.Tanh(x[2*d+k]+modeltest.Dot(u[2*d+k], reset))-h[k])
	}
	return out
}

// plain reads the sessions of one user and returns the state after every item.
func plain(m *Model, sessions [][]int32) (states [][]float64) {
	rows := func(p *autograd.Param) [][]float64 { return modeltest.Rows(p.Value) }
	sum := func(x, y []float64) []float64 {
		out := slices.Clone(x)
		for k, v := range y {
			out[k] += v
		}
		return out
	}
	d := m.Config.Dim
	s, c := make([]float64, d), make([]float64, d)
	known := false
	for _, session := range sessions {
		h, user := make([]float64, d), make([]float64, d) // what the session begins with
		if known {
			user = plainGRU(modeltest.Affine(rows(m.UserW), s, rows(m.UserB)[0]), rows(m.UserU), c)
			for k, v := range modeltest.Affine(rows(m.First.W), user, rows(m.First.B)[0]) {
				h[k] = math.Tanh(v)
			}
		}
		for at, item := range session {
			x := sum(rows(m.In)[item], rows(m.SessionB)[0])
			if m.All != nil {
				x = sum(x, modeltest.Affine(rows(m.All), user, nil))
			}
			h = plainGRU(x, rows(m.SessionU), h)
			states = append(states, h)
			if at < len(session)-1 {
				s, c, known = h, user, true
			}
		}
	}
	return states
}

// drawSessions draws what users do; some sessions have one item.
func drawSessions(rt *rapid.T, items int) [][][]int32 {
	session := rapid.SliceOfN(rapid.Int32Range(1, int32(items)), 1, 4)
	return rapid.SliceOfN(rapid.SliceOfN(session, 0, 4), 1, 5).Draw(rt, "users")
}

func sequenceOf(sessions [][]int32) (s Sequence) {
	for _, session := range sessions {
		for at, item := range session {
			s.Items, s.Begins = append(s.Items, item), append(s.Begins, at == 0)
		}
	}
	return s
}

var variants = []string{VariantInit, VariantAll}

// near fails on vectors that differ by more than rounding.
func near(what string, want, got []float64) error {
	for k := range want {
		if !(math.Abs(want[k]-got[k]) < 2e-5) {
			return fmt.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	return nil
}

func TestReadEqualsTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const items = 6
		m := made(t, items, Config{Dim: rapid.IntRange(1, 4).Draw(rt, "d"), Variant: rapid.SampledFrom(variants).Draw(rt, "variant"),
			DropoutSession: 0.5, DropoutUser: 0.5, DropoutInit: 0.5}) // which a ranking does not have
		users := drawSessions(rt, items)
		var all []Sequence
		want := make([][][]float64, len(users))
		for u, sessions := range users {
			all, want[u] = append(all, sequenceOf(sessions)), plain(m, sessions)
		}
		// Read in two parts: the second begins a session, as a test part does.
		tape := autograd.NewTape()
		tape.SetTraining(false)
		mem := NewMemory(len(users), m.Config.Dim)
		cut := make([]int, len(users))
		for part := range 2 {
			var now []Sequence
			for u, s := range all {
				if part == 0 {
					for at, b := range s.Begins {
						if b && at > 0 {
							cut[u] = at // the last session
						}
					}
					now = append(now, Sequence{s.Items[:cut[u]], s.Begins[:cut[u]]})
				} else {
					now = append(now, Sequence{s.Items[cut[u]:], s.Begins[cut[u]:]})
				}
			}
			m.Read(tape, mem, now, func(place int, read []int32, h tensor.Matrix) {
				for k, u := range read {
					at := place
					if part == 1 {
						at += cut[u]
					}
					if err := near(fmt.Sprintf("user %d, place %d", u, at), want[u][at], modeltest.Rows(h)[k]); err != nil {
						rt.Fatal(err)
					}
					want[u][at] = nil
				}
			})
		}
		for u, w := range want {
			for at, state := range w {
				if state != nil {
					rt.Fatalf("user %d, place %d was not read", u, at)
				}
			}
		}
	})
}

// TestLessonsPredictFromTheStatesOfARanking goes through a schedule as training does, without
// dropout, and finds the states that the formulas give for reading.
func TestLessonsPredictFromTheStatesOfARanking(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const items = 6
		m := made(t, items, Config{Dim: 2, Variant: rapid.SampledFrom(variants).Draw(rt, "variant")})
		users := drawSessions(rt, items)
		var lessons [][]Lesson
		var want [][]float64
		var targets []int32
		for _, sessions := range users {
			s := sequenceOf(sessions)
			lessons = append(lessons, Lessons(nil, s.Items, func(place int) bool { return s.Begins[place] }, nil))
			states, at := plain(m, sessions), 0
			for _, session := range sessions {
				for k := range session {
					if k < len(session)-1 {
						want, targets = append(want, states[at]), append(targets, session[k+1])
					}
					at++
				}
			}
		}
		width := rapid.IntRange(1, 4).Draw(rt, "width")
		plan := Schedule(lessons, width)
		if len(plan)%width != 0 {
			rt.Fatalf("%d lessons for mini-batches of %d", len(plan), width)
		}
		type got struct {
			target int32
			state  []float64
		}
		var all []got
		now, tape := NewState(width, 2), autograd.NewTape()
		for lo := 0; lo < len(plan); lo += width {
			var in []int32
			var begins []Begin
			for _, l := range plan[lo : lo+width] {
				in, begins = append(in, l.In), append(begins, l.Begin)
			}
			tape.Reset()
			session, user := m.Step(tape, now, in, begins, uint64(lo))
			for k, l := range plan[lo : lo+width] {
				copy(tensor.Row(now.Session, k), tensor.Row(session.V, k))
				copy(tensor.Row(now.User, k), tensor.Row(user.V, k))
				if l.In != 0 {
					all = append(all, got{l.Out, modeltest.Rows(session.V)[k]})
				}
			}
		}
		if len(all) != len(want) {
			rt.Fatalf("%d lessons, want %d", len(all), len(want))
		}
		for k, target := range targets { // in another order
			i := slices.IndexFunc(all, func(g got) bool { return g.target == target && near("", want[k], g.state) == nil })
			if i < 0 {
				rt.Fatalf("no lesson predicts %d from %v", target, want[k])
			}
			all = slices.Delete(all, i, i+1)
		}
	})
}

// TestScheduleAsThePublishedProgramHasIt moves pointers as that program does: from the shortest
// rest of a session to the next one. It ends when a place finds no further user; until then the
// two agree.
func TestScheduleAsThePublishedProgramHasIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const items = 9
		session := rapid.SliceOfN(rapid.Int32Range(1, items), 2, 5)
		users := rapid.SliceOfN(rapid.SliceOfN(session, 1, 3), 1, 9).Draw(rt, "users")
		width := rapid.IntRange(1, len(users)).Draw(rt, "width")

		var lessons [][]Lesson
		for _, sessions := range users {
			s := sequenceOf(sessions)
			lessons = append(lessons, Lessons(nil, s.Items, func(place int) bool { return s.Begins[place] }, nil))
		}
		plan := Schedule(lessons, width)

		type place struct{ user, session, at int }
		places := make([]place, width)
		begins := make([]Begin, width)
		for k := range places {
			places[k].user, begins[k] = k, User
		}
		next, step, finished := width, 0, false
		for !finished {
			least := math.MaxInt
			for _, p := range places {
				least = min(least, len(users[p.user][p.session])-p.at)
			}
			for range least - 1 {
				for k := range places {
					p := &places[k]
					s := users[p.user][p.session]
					want := Lesson{In: s[p.at], Out: s[p.at+1], Begin: begins[k]}
					if got := plan[step*width+k]; got != want {
						rt.Fatalf("step %d, place %d: %v, want %v", step, k, got, want)
					}
					p.at++
					begins[k] = Nothing
				}
				step++
			}
			for k := range places {
				p := &places[k]
				if len(users[p.user][p.session])-p.at > 1 {
					continue
				}
				p.session, p.at, begins[k] = p.session+1, 0, Session
				if p.session < len(users[p.user]) {
					continue
				}
				if next == len(users) {
					finished = true
					break
				}
				*p, begins[k] = place{user: next}, User
				next++
			}
		}
	})
}

func TestHeldOutTargetsAreReadAndNotLearned(t *testing.T) {
	s := sequenceOf([][]int32{{1, 2, 3}, {4}, {5, 6}})
	got := Lessons(nil, s.Items, func(place int) bool { return s.Begins[place] }, func(place int) bool { return place != 1 })
	want := []Lesson{{1, 0, User}, {2, 3, Nothing}, {5, 6, Session}}
	if !slices.Equal(got, want) {
		t.Errorf("lessons %v, want %v", got, want)
	}
	if got := Schedule([][]Lesson{want, nil, want[:1]}, 2); !slices.Equal(got, []Lesson{want[0], want[0], want[1], {Begin: User}, want[2], {Begin: User}}) {
		t.Errorf("schedule %v", got)
	}
}

// TestTOP1 computes equation 6 as it stands, with the terms of j = i.
func TestTOP1(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "n")
		y := tensor.New(n, n)
		for i := range y.Data {
			y.Data[i] = tensor.Float(rapid.Float64Range(-1, 1).Draw(rt, "y"))
		}
		want, size := 0.0, float64(n)
		for i := range n {
			own := float64(tensor.Row(y, i)[i])
			for j := range n {
				v := float64(tensor.Row(y, i)[j])
				want += (modeltest.Sigmoid(v-own) + modeltest.Sigmoid(v*v)) / size / size
			}
			want -= modeltest.Sigmoid(own*own) / size / size
		}
		tape := autograd.NewTape()
		if got := TOP1(tape, tape.Const(y)).Scalar(); !(math.Abs(got-want) < 1e-6) {
			rt.Fatalf("loss %v, want %v", got, want)
		}
	})
}

func TestGradients(t *testing.T) {
	for _, variant := range variants {
		t.Run(variant, func(t *testing.T) {
			m := made(t, 5, Config{Dim: 3, Variant: variant, DropoutSession: 0.2, DropoutUser: 0.2, DropoutInit: 0.2})
			states := NewState(4, 3)
			for _, s := range []tensor.Matrix{states.Session, states.User} {
				nn.Uniform(9, 0.9)(s, "states")
			}
			err := gradcheck.Check(m.Params(), func(t *autograd.Tape) *autograd.Node {
				session, _ := m.Step(t, states, []int32{1, 2, 2, 5}, []Begin{Nothing, Session, User, Session}, 7)
				return m.Loss(t, session.Gather([]int32{0, 1, 3}), []int32{3, 3, 4})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoGradientGoesBackBeyondAnItem: states are values.
func TestNoGradientGoesBackBeyondAnItem(t *testing.T) {
	m := made(t, 4, Config{Dim: 2, Variant: VariantInit})
	tape := autograd.NewTape()
	session, _ := m.Step(tape, NewState(2, 2), []int32{1, 2}, []Begin{Nothing, User}, 0)
	tape.Backward(m.Loss(tape, session, []int32{3, 4}))
	for _, p := range []*autograd.Param{m.UserW, m.UserU, m.UserB, m.First.W, m.First.B} {
		if _, ok := tape.Grads().Dense(p); ok {
			t.Errorf("%s has a gradient where no session begins", p.Name)
		}
	}
}

func TestScoreAll(t *testing.T) {
	m := made(t, 4, Config{Dim: 3, Variant: VariantInit})
	h := tensor.New(2, 3)
	nn.Uniform(1, 1)(h, "h")
	all, tape := tensor.New(2, 4), autograd.NewTape()
	m.ScoreAll(h, all)
	some := m.Scores(tape, tape.Const(h), []int32{4, 1, 3, 2}).V
	for i := range 2 {
		for k, item := range []int{4, 1, 3, 2} {
			got := []float64{float64(tensor.Row(all, i)[item-1]), float64(tensor.Row(some, i)[k])}
			want := modeltest.Dot(modeltest.Rows(h)[i], modeltest.Rows(m.Out.Value)[item]) + modeltest.Rows(m.Bias.Value)[item][0]
			if err := near("score", []float64{want, want}, got); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []Config{{Variant: VariantInit}, {Dim: 2}, {Dim: 2, Variant: VariantAll, DropoutUser: 1}, {Dim: 2, Variant: VariantInit, DropoutInit: math.NaN()}} {
		if _, err := New(3, c, 1); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	if _, err := New(0, Default(VariantInit), 1); err == nil {
		t.Error("a model of no items was made")
	}
	m, err := New(3, Default(VariantAll), 1)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range m.Params() {
		names[p.Name] = true
	}
	if len(names) != 11 {
		t.Errorf("names %v", names)
	}
}
