package accountant

import (
	"reflect"
	"slices"
	"testing"

	"privrec/internal/privacy"
)

// asks is a question to an account of sampled Gaussians.
type asks struct {
	method   Method
	unit     privacy.Unit
	relation privacy.Neighbouring
	rate     float64
	sigma    float64
	count    int64
	also     float64 // sigma of another release; 0: none
	delta    float64
	epsilon  float64 // 0: delta is given
}

// account returns an account of what is asked about.
func (x asks) account(t *testing.T) *Account {
	t.Helper()
	a, err := New(x.method, x.unit, x.relation)
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(sigma float64) privacy.Event {
		return privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: x.unit, Neighbouring: x.relation}
	}
	e := privacy.Event(privacy.Sampled{Event: leaf(x.sigma), Rate: x.rate, Method: privacy.Poisson})
	if err := a.Charge(e, x.count); err != nil {
		t.Fatal(err)
	}
	if x.also > 0 {
		if err := a.Charge(leaf(x.also), 1); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// answer returns the answer, of one's own computation where fresh is true.
func (x asks) answer(t *testing.T, fresh bool) Result {
	t.Helper()
	a := x.account(t)
	if fresh {
		a.During(t.Context())
	}
	ask := func() (Result, error) { return a.Spent(x.delta) }
	if x.epsilon > 0 {
		ask = func() (Result, error) { return a.DeltaAt(x.epsilon) }
	}
	r, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A kept answer is the computed one, and questions that differ in anything have answers of their own.
func TestRecentAnswers(t *testing.T) {
	one := asks{Contour, privacy.User, privacy.AddRemove, 0.01, 1.1, 100, 0, 1e-5, 0}
	all := []asks{one}
	vary := func(change func(x *asks)) {
		x := one
		change(&x)
		all = append(all, x)
	}
	vary(func(x *asks) { x.method = RDP })
	vary(func(x *asks) { x.method = PLD })
	vary(func(x *asks) { x.unit = privacy.Record })
	vary(func(x *asks) { x.rate = 0.02 })
	vary(func(x *asks) { x.sigma = 1.2 })
	vary(func(x *asks) { x.count = 101 })
	vary(func(x *asks) { x.also = 3 })
	vary(func(x *asks) { x.also = 4 })
	vary(func(x *asks) { x.delta = 1e-6 })
	vary(func(x *asks) { x.epsilon = 1 })
	vary(func(x *asks) { x.epsilon = 1.5 })
	for range 2 { // the second time all are kept
		for i, x := range all {
			if got, want := x.answer(t, false), x.answer(t, true); !reflect.DeepEqual(got, want) {
				t.Errorf("question %d: kept %+v, computed %+v", i, got, want)
			}
		}
	}
	for _, x := range all {
		key, keeps := x.account(t).asked(question{delta: x.delta, epsilon: x.epsilon, forDelta: x.epsilon > 0})
		if x.epsilon > 0 {
			key, keeps = x.account(t).asked(question{epsilon: x.epsilon, forDelta: true})
		}
		if _, ok := recent.get(key); !keeps || !ok {
			t.Errorf("%+v: the answer is not kept", x)
		}
	}
	// A caller's change of an answer stays its own.
	noted := asks{Contour, privacy.User, privacy.AddRemove, 1e-6, 1, 1, 0, 5e-7, 0}
	first := noted.answer(t, false)
	if len(first.Notes) == 0 {
		t.Fatal("the answer has no note")
	}
	first.Notes[0] = "changed"
	if again := noted.answer(t, false); slices.Contains(again.Notes, "changed") {
		t.Error("an answer changed with that of another caller")
	}
}

// Everything that an answer depends on is in the key, each by itself.
func TestRecentKeys(t *testing.T) {
	base := *asks{Contour, privacy.User, privacy.AddRemove, 0.01, 1.1, 100, 3, 1e-5, 0}.account(t)
	keys := map[asked]bool{}
	add := func(a Account, q question) {
		key, keeps := a.asked(q)
		if !keeps || keys[key] {
			t.Errorf("%+v, %+v: kept %t, under the key of another question %t", a, q, keeps, keys[key])
		}
		keys[key] = true
	}
	add(base, question{})
	add(base, question{forDelta: true})
	add(base, question{delta: 0.1})
	add(base, question{epsilon: 0.1})
	other := base
	other.method = PLD
	add(other, question{})
	other = base
	other.unit = privacy.Record
	add(other, question{})
	other = base
	other.relation = privacy.Replace
	add(other, question{})
	for i := range base.list.Terms {
		other = base
		other.list.Terms = slices.Clone(base.list.Terms)
		other.list.Terms[i].Count++
		add(other, question{})
	}
	if len(base.list.Terms) != 2 {
		t.Errorf("%d terms, want 2", len(base.list.Terms))
	}
}

// pointing is an event that is not compared by its values.
type pointing struct {
	privacy.Gaussian
	More *float64
}

// Answers are kept of events that are compared by their values, and only the last ones.
func TestRecentAnswersAreBounded(t *testing.T) {
	for of, want := range map[any]bool{
		privacy.Gaussian{}: true, privacy.AllocatedGaussian{}: true, pointing{}: false,
		struct{ Of privacy.Event }{}: false,
	} {
		if got := isPlain(reflect.TypeOf(of)); got != want {
			t.Errorf("%T: %t", of, got)
		}
	}
	var s answers
	for i := range mostRecent + 10 {
		s.keep(asked{delta: float64(i)}, Result{Epsilon: float64(i)})
	}
	if len(s.known) != mostRecent || len(s.order) != mostRecent {
		t.Errorf("%d answers in %d places", len(s.known), len(s.order))
	}
	if _, ok := s.get(asked{delta: 9}); ok {
		t.Error("the oldest answers are kept")
	}
	if r, ok := s.get(asked{delta: mostRecent + 9}); !ok || r.Epsilon != mostRecent+9 {
		t.Errorf("the last answer is %+v, %t", r, ok)
	}
}
