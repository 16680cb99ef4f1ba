package privacy

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy/correlated"
)

var (
	gauss = Gaussian{Sigma: 0.2374, Sensitivity: 0.2, Unit: Edge, Neighbouring: AddRemove}
	sum   = Gaussian{Sigma: 2, Sensitivity: 1, Norm: 0.5, Unit: Sample, Neighbouring: Replace}
	lap   = Laplace{Scale: 2, Sensitivity: 1, Unit: Interaction, Neighbouring: Replace}
	ball  = SphericalLaplace{Scale: 3, Sensitivity: 1, Unit: Edge, Neighbouring: AddRemove}
	ldp   = PureLDP{Epsilon: 20, Unit: Feature}
	dg    = DiscreteGaussian{Sigma: 1024, Sensitivity: 1040, Dimension: 64, Unit: User, Neighbouring: ZeroOut}
	dl    = DiscreteLaplace{Scale: 512, Sensitivity: 256, Unit: Edge, Neighbouring: AddRemove}
	rr    = RandomizedResponse{Epsilon: 3, Categories: 2, Unit: Cell}
	exp   = Exponential{Epsilon: 0.5, Unit: Interaction, Neighbouring: Replace}
	sums  = stream()
	cut   = TruncatedGaussian{1.1, 1, 0.25, 100, 30, Record, AddRemove}
	once  = AllocatedGaussian{1.1, 1, 2, 235, Record, AddRemove}
	bare  = Unprotected{What: "labels", Why: "the loss sees them", Unit: Interaction}
)

// stream returns the sums of a week in which a user is twice, with noise of a buffered strategy.
func stream() CorrelatedGaussian {
	e := CorrelatedGaussian{NoiseMultiplier: 8, Sensitivity: 5, Unit: User, Neighbouring: Replace}
	e.Design = correlated.BufferedDesign(7, []correlated.Buffer{{Weight: 0.25, Decay: 0.9}, {Weight: 0.5, Decay: 0.125}})
	e.Times, e.Apart = 2, 3
	return e
}

// Every kind, nested in every way once.
var allEvents = []Event{
	gauss, sum, lap, ball, dg, dl, ldp, rr, exp, sums, once, cut, bare, Unprotected{What: "x", Why: "y"},
	Composed{[]Event{gauss, lap}}, Parallel{Events: []Event{ldp}},
	SelfComposed{gauss, 7}, Sampled{gauss, 0.5, Poisson}, Sampled{lap, 1, WithoutReplacement},
	Composed{[]Event{SelfComposed{Parallel{[]Event{Sampled{ldp, 0.25, Poisson}, bare}, true}, 2}, gauss}},
}

func TestEventRoundTrip(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range allEvents {
		b, err := MarshalEvent(e)
		if err != nil {
			t.Fatalf("%#v: %v", e, err)
		}
		if seen[string(b)] {
			t.Errorf("%s twice", b)
		}
		seen[string(b)] = true
		got, err := UnmarshalEvent(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if d := cmp.Diff(e, got); d != "" {
			t.Errorf("%s:\n%s", b, d)
		}
	}
}

func TestInvalidEvents(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, events := range map[string][]Event{
		"sigma is":            {Gaussian{0, 1, 0, Edge, AddRemove}, Gaussian{nan, 1, 0, Edge, AddRemove}, Gaussian{inf, 1, 0, Edge, AddRemove}, Gaussian{-1, 1, 0, Edge, AddRemove}},
		"sensitivity is":      {Gaussian{1, 0, 0, Edge, AddRemove}, Laplace{1, nan, Edge, AddRemove}, SphericalLaplace{1, -1, Edge, AddRemove}},
		"scale is":            {Laplace{0, 1, Edge, AddRemove}, DiscreteLaplace{inf, 1, Edge, AddRemove}},
		"unknown unit":        {Gaussian{1, 1, 0, "node", AddRemove}, PureLDP{1, ""}, Unprotected{"a", "b", "c"}},
		"unknown neighbourin": {Gaussian{1, 1, 0, Edge, ""}, Laplace{1, 1, Edge, "both"}},
		"epsilon is":          {PureLDP{inf, User}, PureLDP{0, User}, RandomizedResponse{0, 2, Cell}, Exponential{nan, Edge, Replace}},
		"most is":             {TruncatedGaussian{1, 1, 0.5, 9, 0, Record, AddRemove}},
		"dimension is":        {DiscreteGaussian{1, 1, 0, Edge, AddRemove}},
		"categories is":       {RandomizedResponse{1, 1, Cell}},
		"no events":           {Composed{}, Parallel{}},
		"no event":            {SelfComposed{nil, 1}, Sampled{nil, 1, Poisson}, nil, Composed{[]Event{nil}}},
		"count is":            {SelfComposed{gauss, 0}, SelfComposed{gauss, -3}},
		"unknown sampling":    {Sampled{gauss, 1, "shuffled"}},
		"must not be empty":   {Unprotected{What: "a"}, Unprotected{Why: "b"}},
		"event 1: gaussian":   {Composed{[]Event{gauss, Gaussian{}}}},

		"times is": {AllocatedGaussian{1, 1, 0, 3, Record, AddRemove},
			AllocatedGaussian{1, 1, 4, 3, Record, AddRemove}},
		"rate is": {TruncatedGaussian{1, 1, 0, 9, 3, Record, AddRemove},
			TruncatedGaussian{1, 1, 1.1, 9, 3, Record, AddRemove},
			Sampled{gauss, 0, Poisson}, Sampled{gauss, 1.5, Poisson}, Sampled{gauss, nan, Poisson}},
	} {
		for _, e := range events {
			if _, err := MarshalEvent(e); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%#v: error %v, want one with %q", e, err, want)
			}
		}
	}
}

func TestUnmarshalEventRefuses(t *testing.T) {
	deep := strings.Repeat(`{"kind":"self-composed","count":1,"event":`, 40) + `{"kind":"pure-ldp","epsilon":1,"unit":"user"}` + strings.Repeat("}", 40)
	for _, s := range []string{
		"", "null", "[]", "{}", `{"kind":"exponential"}`, `{"kind":"gaussian"}`, `{"kind":"pure-ldp","epsilon":1,"unit":"user","x":1}`,
		`{"kind":"pure-ldp","epsilon":1,"unit":"user"}{}`, `{"kind":"pure-ldp","epsilon":1e999,"unit":"user"}`,
		`{"kind":"composed","events":[{"kind":"nothing"}]}`, `{"kind":"self-composed","count":1}`,
		`{"kind":"self-composed","count":1.5,"event":{"kind":"pure-ldp","epsilon":1,"unit":"user"}}`, deep,
	} {
		if e, err := UnmarshalEvent([]byte(s)); err == nil {
			t.Errorf("%.60s: accepted as %#v", s, e)
		}
	}
}

func TestBudget(t *testing.T) {
	for _, b := range []Budget{{1, 0}, {5, 2.5e-7}, {1e-9, 0.999}} {
		if err := b.Validate(); err != nil {
			t.Errorf("%v: %v", b, err)
		}
	}
	for _, b := range []Budget{{0, 0.1}, {math.NaN(), 0}, {math.Inf(1), 0}, {1, 1}, {1, -1e-9}, {1, math.NaN()}} {
		if b.Validate() == nil {
			t.Errorf("%v accepted", b)
		}
	}
}

func FuzzUnmarshalEvent(f *testing.F) {
	for _, e := range allEvents {
		b, err := MarshalEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := UnmarshalEvent(b)
		if err != nil {
			return
		}
		c, err := MarshalEvent(e)
		if err != nil {
			t.Fatalf("accepted %q, cannot write it: %v", b, err)
		}
		again, err := UnmarshalEvent(c)
		if err != nil || !cmp.Equal(e, again) {
			t.Fatalf("%q: %v, %v", b, again, err)
		}
	})
}
