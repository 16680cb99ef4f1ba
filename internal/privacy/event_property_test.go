package privacy

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/privacy/correlated"
)

var (
	units     = []Unit{Edge, Interaction, User, Sample, Feature, Record, Cell, Position}
	relations = []Neighbouring{AddRemove, Replace, ZeroOut}
)

// draw is a valid event of at most so many levels.
func draw(t *rapid.T, levels int) Event {
	number := func(name string) float64 { return math.Pow(10, rapid.Float64Range(-300, 300).Draw(t, name)) }
	steps := func(name string) float64 { return math.Max(1, number(name)) }
	unit, relation := rapid.SampledFrom(units).Draw(t, "unit"), rapid.SampledFrom(relations).Draw(t, "relation")
	some := func() []Event {
		list := make([]Event, rapid.IntRange(1, 3).Draw(t, "events"))
		for i := range list {
			list[i] = draw(t, levels-1)
		}
		return list
	}
	kinds := 16
	if levels <= 1 {
		kinds = 12
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		g := Gaussian{Sigma: number("sigma"), Sensitivity: number("sensitivity"), Unit: unit, Neighbouring: relation}
		if rapid.Bool().Draw(t, "norms are known") {
			g.Norm = g.Sensitivity * rapid.Float64Range(0.5, 3).Draw(t, "norm")
		}
		return g
	case 1:
		return Laplace{number("scale"), number("sensitivity"), unit, relation}
	case 2:
		return DiscreteGaussian{number("sigma"), steps("sensitivity"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "dimension"), unit, relation}
	case 3:
		return DiscreteLaplace{number("scale"), steps("sensitivity"), unit, relation}
	case 4:
		return PureLDP{number("epsilon"), unit}
	case 5:
		return RandomizedResponse{number("epsilon"), rapid.Int64Range(2, math.MaxInt64).Draw(t, "categories"), unit}
	case 6:
		return Exponential{number("epsilon"), unit, relation}
	case 7:
		u := Unprotected{What: rapid.StringN(1, 20, -1).Draw(t, "what"), Why: rapid.StringN(1, 20, -1).Draw(t, "why"), Unit: unit}
		if rapid.Bool().Draw(t, "everything") {
			u.Unit = ""
		}
		return u
	case 8:
		return SphericalLaplace{number("scale"), number("sensitivity"), unit, relation}
	case 9:
		e := CorrelatedGaussian{NoiseMultiplier: number("noise multiplier"), Unit: unit, Neighbouring: relation}
		e.Steps = rapid.IntRange(1, 20).Draw(t, "steps")
		e.Times, e.Apart = rapid.IntRange(1, 30).Draw(t, "times"), rapid.IntRange(1, 30).Draw(t, "apart")
		switch rapid.IntRange(0, 3).Draw(t, "strategy") {
		case 0:
			e.Name, e.Bands = correlated.NameBanded, rapid.IntRange(1, e.Steps).Draw(t, "bands")
		case 1:
			e.Name = correlated.NameTree
		case 2:
			e.Design = correlated.BufferedDesign(e.Steps, []correlated.Buffer{{
				Weight: rapid.Float64Range(0, 1).Draw(t, "weight"), Decay: rapid.Float64Range(0, 1).Draw(t, "decay")}})
		default:
			first := math.Pow(10, rapid.Float64Range(-99, 99).Draw(t, "first")) // of those allowed
			e.Name, e.Column = correlated.NameToeplitz, correlated.NumbersOf([]float64{first})
		}
		least, err := e.Least()
		if err != nil || !(least > 0 && least < 1e300) {
			t.Fatalf("%+v: least sensitivity %v, %v", e, least, err)
		}
		e.Sensitivity = least * rapid.Float64Range(1, 9).Draw(t, "more")
		return e
	case 10:
		times := rapid.Int64Range(1, math.MaxInt64).Draw(t, "times")
		return AllocatedGaussian{number("sigma"), number("sensitivity"), times,
			rapid.Int64Range(times, math.MaxInt64).Draw(t, "steps"), unit, relation}
	case 11:
		return TruncatedGaussian{number("sigma"), number("sensitivity"),
			rapid.Float64Range(1e-9, 0.999).Draw(t, "rate"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "records"),
			rapid.Int64Range(1, math.MaxInt64).Draw(t, "most"), unit, relation}
	case 12:
		return Composed{some()}
	case 13:
		return Parallel{some(), rapid.Bool().Draw(t, "fixed")}
	case 14:
		return SelfComposed{draw(t, levels-1), rapid.Int64Range(1, math.MaxInt64).Draw(t, "count")}
	}
	return Sampled{draw(t, levels-1), rapid.Float64Range(0x1p-1000, 1).Draw(t, "rate"), rapid.SampledFrom([]Sampling{Poisson, WithoutReplacement}).Draw(t, "method")}
}

// Every event survives its text to the bit, and its text is its own: unlike events
// have unlike texts.
func TestEventsSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, 4), draw(t, 2)
		text := func(e Event) string {
			s, err := MarshalEvent(e)
			if err != nil {
				t.Fatalf("%#v: %v", e, err)
			}
			back, err := UnmarshalEvent(s)
			if err != nil || !cmp.Equal(back, e) {
				t.Fatalf("%s comes back as %#v, %v", s, back, err)
			}
			return string(s)
		}
		if (text(a) == text(b)) != cmp.Equal(a, b) {
			t.Fatalf("%#v and %#v: %s", a, b, text(a))
		}
	})
}

// One field out of range, at any depth, and the whole event is refused by
// Validate, by MarshalEvent and from its text.
func TestOneBadFieldIsEnough(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := []Event{
		Gaussian{0, 1, 0, Edge, AddRemove}, Gaussian{1, inf, 0, Edge, AddRemove}, Gaussian{1, 1, 0, "x", AddRemove}, Gaussian{1, 1, 0, Edge, "x"},
		Gaussian{1, 1, -1, Edge, Replace}, Gaussian{1, 1, 0.49, Edge, Replace}, Gaussian{1, 1, nan, Edge, Replace}, Gaussian{1, 1, inf, Edge, Replace},
		Laplace{-1, 1, Edge, AddRemove}, Laplace{1, 0, Edge, AddRemove}, Laplace{1, 1, "", AddRemove}, Laplace{1, 1, Edge, ""},
		SphericalLaplace{0, 1, Edge, AddRemove}, SphericalLaplace{1, nan, Edge, AddRemove}, SphericalLaplace{1, 1, "", AddRemove}, SphericalLaplace{1, 1, Edge, ""},
		DiscreteGaussian{nan, 1, 1, Edge, Replace}, DiscreteGaussian{1, 0, 1, Edge, Replace}, DiscreteGaussian{1, 1, 0, Edge, Replace},
		DiscreteGaussian{1, 1, 1, "", Replace}, DiscreteGaussian{1, 1, 1, Edge, ""},
		DiscreteLaplace{0, 1, Edge, Replace}, DiscreteLaplace{1, nan, Edge, Replace}, DiscreteLaplace{1, 1, "", Replace}, DiscreteLaplace{1, 1, Edge, ""},
		PureLDP{0, User}, PureLDP{1, ""}, RandomizedResponse{-1, 2, User}, RandomizedResponse{1, 1, User}, RandomizedResponse{1, 2, ""},
		Exponential{0, User, Replace}, Exponential{1, "", Replace}, Exponential{1, User, ""},
		Unprotected{"", "why", ""}, Unprotected{"what", "", ""}, Unprotected{"what", "why", "x"},
		Composed{}, Parallel{}, SelfComposed{gauss, 0}, SelfComposed{nil, 1}, Sampled{gauss, 0, Poisson}, Sampled{gauss, 2, Poisson}, Sampled{gauss, 1, ""}, Sampled{nil, 1, Poisson},
	}
	for _, e := range bad {
		for name, whole := range map[string]Event{
			"alone": e, "composed": Composed{[]Event{gauss, e}}, "parallel": Parallel{Events: []Event{e, gauss}},
			"repeated": SelfComposed{e, 2}, "sampled": Sampled{e, 0.5, Poisson},
			"deep": SelfComposed{Sampled{Composed{[]Event{Parallel{[]Event{ldp, e}, true}}}, 0.5, WithoutReplacement}, 3},
		} {
			if whole.Validate() == nil {
				t.Errorf("%s %#v: valid", name, e)
			}
			if b, err := MarshalEvent(whole); err == nil || b != nil {
				t.Errorf("%s %#v: written as %s", name, e, b)
			}
		}
	}
	if (Composed{[]Event{gauss, nil}}).Validate() == nil {
		t.Error("a missing event is valid")
	}
}

// Texts of which one key is missing, doubled, or one too many: whatever is accepted
// is a complete event, and nothing unknown is dropped in silence.
func TestEventKeys(t *testing.T) {
	for _, e := range allEvents {
		b, err := MarshalEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(b, &keys); err != nil {
			t.Fatal(err)
		}
		for key := range keys {
			left := map[string]json.RawMessage{}
			for k, v := range keys {
				if k != key {
					left[k] = v
				}
			}
			less, err := json.Marshal(left)
			if err != nil {
				t.Fatal(err)
			}
			optional := map[string]string{"unit": "unprotected", "norm": "gaussian"}
			if got, err := UnmarshalEvent(less); err == nil && optional[key] != got.Kind() {
				t.Errorf("%s without %s: accepted as %#v", b, key, got)
			}
			misspelt := strings.Replace(string(b), `"`+key+`":`, `"`+key+`s":`, 1)
			if got, err := UnmarshalEvent([]byte(misspelt)); err == nil {
				t.Errorf("%s: accepted as %#v", misspelt, got)
			}
		}
		for _, extra := range []string{`{"note":1,`, `{"sigmas":3,`} {
			more := strings.Replace(string(b), "{", extra, 1)
			if got, err := UnmarshalEvent([]byte(more)); err == nil {
				t.Errorf("%s: accepted as %#v", more, got)
			}
		}
	}
}

// An entry charges what one unit pays for: all releases unless a bound is known,
// and never more than there are.
func TestCharged(t *testing.T) {
	for _, c := range []struct{ count, perUnit, want int64 }{{5, 0, 5}, {5, 3, 3}, {5, 5, 5}, {5, 9, 5}, {1, 1, 1}, {math.MaxInt64, 0, math.MaxInt64}} {
		if got := (Entry{Count: c.count, PerUnit: c.perUnit}).Charged(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	add := Gaussian{Sigma: 1, Sensitivity: 1, Unit: Edge, Neighbouring: AddRemove}
	exchange := Gaussian{Sigma: 1, Sensitivity: 1, Unit: Edge, Neighbouring: Replace}
	for name, c := range map[string]struct {
		event                Event
		count, perUnit, want int64
	}{
		"one more":               {add, 9, 3, 3},
		"one exchanged":          {exchange, 9, 3, 6}, // in three, and the other in three others
		"in most":                {exchange, 5, 3, 5},
		"in all that are known":  {exchange, 9, 0, 9},
		"on a sample":            {Sampled{Event: SelfComposed{Event: exchange, Count: 2}, Rate: 0.5, Method: Poisson}, 9, 3, 6},
		"of its own value":       {PureLDP{Epsilon: 1, Unit: Cell}, 9, 3, 3},
		"the same, beside noise": {Composed{Events: []Event{PureLDP{Epsilon: 1, Unit: Edge}, exchange}}, 9, 3, 6},
		"a bound without end":    {exchange, math.MaxInt64 - 2, math.MaxInt64 - 1, math.MaxInt64 - 2},
	} {
		if got := (Entry{Count: c.count, PerUnit: c.perUnit, Event: c.event}).Charged(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Every unit and relation is one of the constants, and nothing else is.
func TestWords(t *testing.T) {
	if diff := cmp.Diff(units, Units()); diff != "" {
		t.Errorf("Units lists other units:\n%s", diff)
	}
	for _, u := range units {
		if err := u.Validate(); err != nil {
			t.Error(err)
		}
		for _, wrong := range []Unit{u + " ", Unit(strings.ToUpper(string(u))), u + "s", ""} {
			if err := wrong.Validate(); err == nil || !strings.Contains(err.Error(), "unknown unit") {
				t.Errorf("unit %q: %v", string(wrong), err)
			}
		}
	}
	for _, n := range relations {
		if err := n.Validate(); err != nil {
			t.Error(err)
		}
		for _, wrong := range []Neighbouring{n + " ", Neighbouring(strings.ToUpper(string(n))), ""} {
			if err := wrong.Validate(); err == nil || !strings.Contains(err.Error(), "unknown neighbouring") {
				t.Errorf("relation %q: %v", string(wrong), err)
			}
		}
	}
	for _, n := range []Noise{Research, Secure} {
		if n.Validate() != nil || (n+"!").Validate() == nil {
			t.Errorf("noise %q", string(n))
		}
	}
}
