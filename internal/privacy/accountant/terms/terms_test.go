package terms

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"privrec/internal/privacy"
)

var (
	gauss = privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	loud  = privacy.Gaussian{Sigma: 4, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	lap   = privacy.Laplace{Scale: 3, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	bare  = privacy.Unprotected{What: "labels", Why: "the loss sees them"}
)

func self(e privacy.Event, n int64) privacy.Event { return privacy.SelfComposed{Event: e, Count: n} }
func all(e ...privacy.Event) privacy.Event        { return privacy.Composed{Events: e} }
func split(e ...privacy.Event) privacy.Event      { return privacy.Parallel{Events: e} }
func poisson(e privacy.Event, q float64) privacy.Event {
	return privacy.Sampled{Event: e, Rate: q, Method: privacy.Poisson}
}
func fixed(e privacy.Event, q float64) privacy.Event {
	return privacy.Sampled{Event: e, Rate: q, Method: privacy.WithoutReplacement}
}

func term(e privacy.Event, n int64) Term {
	return Term{Leaf: e, Rate: 1, Relation: privacy.AddRemove, Count: n}
}

func sampledTerm(e privacy.Event, q float64, m privacy.Sampling, n int64) Term {
	return Term{Leaf: e, Rate: q, Method: m, Relation: privacy.AddRemove, Count: n}
}

func flatten(t *testing.T, e privacy.Event, n int64) List {
	t.Helper()
	l, err := Flatten(e, n, privacy.User, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFlatten(t *testing.T) {
	for name, c := range map[string]struct {
		event privacy.Event
		count int64
		want  List
	}{
		"leaf":                {gauss, 1, List{Terms: []Term{term(gauss, 1)}}},
		"count":               {gauss, 7, List{Terms: []Term{term(gauss, 7)}}},
		"counts multiply":     {self(self(gauss, 3), 5), 7, List{Terms: []Term{term(gauss, 105)}}},
		"equal terms add up":  {all(gauss, lap, self(gauss, 4)), 2, List{Terms: []Term{term(gauss, 10), term(lap, 2)}}},
		"unequal stay":        {all(gauss, loud), 1, List{Terms: []Term{term(gauss, 1), term(loud, 1)}}},
		"sampled":             {self(poisson(gauss, 0.1), 9), 1, List{Terms: []Term{sampledTerm(gauss, 0.1, privacy.Poisson, 9)}}},
		"rate one":            {poisson(all(gauss, lap), 1), 1, List{Terms: []Term{term(gauss, 1), term(lap, 1)}}},
		"fixed size":          {fixed(lap, 0.25), 2, List{Terms: []Term{sampledTerm(lap, 0.25, privacy.WithoutReplacement, 2)}}},
		"rates multiply":      {poisson(poisson(gauss, 0.5), 0.25), 1, List{Terms: []Term{sampledTerm(gauss, 0.125, privacy.Poisson, 1)}}},
		"unprotected once":    {all(bare, gauss, bare), 3, List{Terms: []Term{term(gauss, 3)}, WithoutNoise: []privacy.Unprotected{bare}}},
		"sampled unprotected": {poisson(bare, 0.1), 1, List{WithoutNoise: []privacy.Unprotected{bare}}},
		"parallel": {self(split(gauss, lap, bare), 4), 2, List{
			Parallels: []Branches{{Of: []List{{Terms: []Term{term(gauss, 1)}}, {Terms: []Term{term(lap, 1)}}, {}}, Count: 8}}, WithoutNoise: []privacy.Unprotected{bare}}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, flatten(t, c.event, c.count), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

// Several Gaussians on one sample are one Gaussian, with at least their cost.
func TestFlattenJoins(t *testing.T) {
	l := flatten(t, poisson(all(gauss, self(loud, 3)), 0.1), 5)
	if len(l.Terms) != 1 || l.Terms[0].Count != 5 || l.Terms[0].Rate != 0.1 {
		t.Fatalf("got %+v", l)
	}
	g := l.Terms[0].Leaf.(privacy.Gaussian)
	mu2, want := math.Pow(g.Sensitivity/g.Sigma, 2), 0.25+3*0.0625
	if mu2 < want || mu2 > want*(1+1e-14) {
		t.Errorf("mu² is %v, want %v or a little more", mu2, want)
	}
}

func TestFlattenRefuses(t *testing.T) {
	edge := gauss
	edge.Unit = privacy.Edge
	replace := gauss
	replace.Neighbouring = privacy.Replace
	local := privacy.PureLDP{Epsilon: 1, Unit: privacy.User}
	open := bare
	open.Unit = privacy.Edge
	for name, c := range map[string]struct {
		event privacy.Event
		count int64
		is    error
		want  string
	}{
		"unit":                  {edge, 1, ErrUnit, "gaussian about edge"},
		"relation":              {replace, 1, ErrUnit, "gaussian about user, replace"},
		"local":                 {local, 1, ErrUnit, "pure-ldp about user, replace"},
		"unprotected unit":      {open, 1, ErrUnit, "labels unprotected for edge"},
		"deep":                  {all(gauss, self(split(lap, edge), 2)), 1, ErrUnit, "event 1: event 1: gaussian"},
		"sampled mixture":       {poisson(all(gauss, lap), 0.5), 1, ErrForm, "anything but Gaussians"},
		"sampled repetition":    {poisson(self(lap, 2), 0.5), 1, ErrForm, "anything but Gaussians"},
		"sampled parallel":      {poisson(split(gauss), 0.5), 1, ErrForm, "sampled parallel"},
		"sample of a subset":    {poisson(fixed(gauss, 0.5), 0.5), 1, ErrForm, "sample of a sample"},
		"subset of a subset":    {fixed(fixed(gauss, 0.5), 0.5), 1, ErrForm, "sample of a sample"},
		"sample of repeated":    {poisson(self(poisson(gauss, 0.5), 2), 0.5), 1, ErrForm, "anything but Gaussians"},
		"no event":              {nil, 1, nil, "no event"},
		"count":                 {gauss, 0, nil, "count is 0"},
		"invalid":               {privacy.Gaussian{}, 1, nil, "sigma is 0"},
		"overflow":              {self(self(gauss, math.MaxInt64/2), 3), 1, nil, "overflow"},
		"overflow of a sum":     {all(self(gauss, math.MaxInt64), gauss), 1, nil, "overflow"},
		"overflow of branches":  {self(self(split(gauss), math.MaxInt64/2), 3), 1, nil, "overflow"},
		"underflow of the rate": {poisson(poisson(gauss, 1e-200), 1e-200), 1, nil, "underflows"},
		"underflow of the join": {poisson(all(privacy.Gaussian{Sigma: 1e-300, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, gauss), 0.5), 1, nil, "joined release"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Flatten(c.event, c.count, privacy.User, privacy.AddRemove)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v, want %q (%v)", err, c.want, c.is)
			}
		})
	}
	if _, err := Flatten(local, 1, privacy.User, privacy.Replace); err != nil {
		t.Errorf("a local randomiser under replace: %v", err)
	}
}

func TestWorst(t *testing.T) {
	for name, c := range map[string]struct {
		event privacy.Event
		want  []Term
	}{
		"less noise":        {split(loud, gauss, loud), []Term{term(gauss, 1)}},
		"more releases":     {split(gauss, self(gauss, 3)), []Term{term(gauss, 3)}},
		"not sampled":       {split(poisson(gauss, 0.5), gauss, fixed(gauss, 0.5)), []Term{term(gauss, 1)}},
		"higher rate":       {split(poisson(gauss, 0.5), poisson(gauss, 0.25)), []Term{sampledTerm(gauss, 0.5, privacy.Poisson, 1)}},
		"superset":          {split(gauss, all(lap, gauss), lap), []Term{term(lap, 1), term(gauss, 1)}},
		"counted, composed": {all(self(split(gauss, loud), 4), gauss), []Term{term(gauss, 5)}},
		"nested":            {split(split(loud, gauss), loud), []Term{term(gauss, 1)}},
		"empty branch":      {split(bare, gauss), []Term{term(gauss, 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := flatten(t, c.event, 1).Worst()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	for name, e := range map[string]privacy.Event{
		"kinds":              split(gauss, lap),
		"noise or releases":  split(gauss, self(loud, 9)),
		"rate or noise":      split(poisson(gauss, 0.1), poisson(loud, 0.2)),
		"one for two":        split(all(gauss, loud), self(gauss, 1), lap),
		"two kinds of draws": split(poisson(gauss, 0.5), fixed(gauss, 0.5)),
		"inside":             split(split(gauss, lap), gauss),
	} {
		t.Run(name, func(t *testing.T) {
			if ts, err := flatten(t, e, 1).Worst(); !errors.Is(err, ErrForm) {
				t.Errorf("%+v, error %v, want ErrForm", ts, err)
			}
		})
	}
}

// One branch is compared with the others kind by kind.
func TestCovers(t *testing.T) {
	local := func(e privacy.Event) Term { return Term{Leaf: e, Rate: 1, Relation: privacy.Replace, Count: 1} }
	rr := func(eps float64, k int64) Term {
		return local(privacy.RandomizedResponse{Epsilon: eps, Categories: k, Unit: privacy.User})
	}
	ldp := func(eps float64) Term { return local(privacy.PureLDP{Epsilon: eps, Unit: privacy.User}) }
	quiet := lap
	quiet.Scale = 1
	for i, c := range []struct {
		s, t Term
		want bool
	}{
		{ldp(2), ldp(1), true}, {ldp(1), ldp(2), false}, {ldp(1), rr(1, 2), false},
		{rr(2, 3), rr(2, 3), true}, {rr(2, 3), rr(1, 3), true}, {rr(1, 3), rr(2, 3), false}, {rr(2, 3), rr(2, 4), false},
		{term(quiet, 1), term(lap, 1), true}, {term(lap, 1), term(quiet, 1), false},
		{term(lap, 1), term(gauss, 1), false},
	} {
		if got := covers(c.s, c.t); got != c.want {
			t.Errorf("%d: covers(%+v, %+v) = %v", i, c.s, c.t, got)
		}
	}
}

// However a composition is bracketed, the terms are the same.
func TestBracketsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		leaf := rapid.SampledFrom([]privacy.Event{gauss, loud, lap, poisson(gauss, 0.5), fixed(lap, 0.25), bare})
		events := rapid.SliceOfN(leaf, 1, 6).Draw(rt, "events")
		cut := rapid.IntRange(0, len(events)-1).Draw(rt, "cut")
		n := rapid.Int64Range(1, 9).Draw(rt, "n")
		flat := flatten(t, all(events...), n)
		nested := all(append(events[:cut:cut], all(events[cut:]...))...)
		if d := cmp.Diff(flat, flatten(t, self(nested, n), 1), cmpopts.EquateEmpty()); d != "" {
			rt.Error(d)
		}
		twice, err := flat.Add(flat)
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(flatten(t, all(events...), 2*n), twice, cmpopts.EquateEmpty()); d != "" {
			rt.Error(d)
		}
	})
}

// The rate of a sample of a sample is never below the product.
func TestRatesRoundUp(t *testing.T) {
	up := false
	for i := range 200 {
		a, b := 1/float64(i+3), 1/float64(2*i+7)
		got := flatten(t, poisson(poisson(gauss, a), b), 1).Terms[0].Rate
		if math.FMA(a, b, -got) > 0 {
			t.Errorf("%v of %v is %v, below the product", a, b, got)
		}
		if got > a*b*(1+0x1p-51) {
			t.Errorf("%v of %v is %v, far above the product", a, b, got)
		}
		up = up || got > a*b
	}
	if !up {
		t.Error("no product was rounded down")
	}
}
