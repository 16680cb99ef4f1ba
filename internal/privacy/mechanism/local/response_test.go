package local

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"privrec/internal/privacy"
	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/mechanismtest/choices"
	"privrec/internal/rng"
)

// respondMechanism is the sampler of randomised response with its choices
// enumerated.
func respondMechanism(m Response, x *big.Rat) law.Mechanism[int, int] {
	r := m.responder()
	return func(in int, c *law.Choices) int {
		d := mechanism.Draws{Forced: choices.Enumerated{C: c, X: x}}
		return int(r.respond(&d, uint64(in)))
	}
}

// The law of the shipped sampler is that of randomised response, and its worst
// ratio over all pairs e^eps exactly.
func TestResponseLaw(t *testing.T) {
	x := big.NewRat(5, 2)
	for _, k := range []int{2, 3, 7} {
		m := Response{Epsilon: mechanismtest.Log(x), Categories: int64(k)}
		mech := respondMechanism(m, x)
		want := law.Law[int]{}
		total := new(big.Rat).Add(x, big.NewRat(int64(k)-1, 1))
		for y := range k {
			want[y] = new(big.Rat).Inv(total)
		}
		want[1] = new(big.Rat).Quo(x, total)
		got, err := law.Enumerate(func(c *law.Choices) int { return mech(1, c) }, law.Limits{})
		if err != nil || mechanismtest.Difference(got, want) != "" {
			t.Errorf("%d categories: %s (%v)", k, mechanismtest.Difference(got, want), err)
		}
		for y, p := range map[int]float64{1: m.Keep(), 0: m.Other()} {
			if f, _ := got[y].Float64(); math.Abs(f/p-1) > 1e-14 {
				t.Errorf("%d categories: in closed form %g, want %g", k, p, f)
			}
		}
		found, err := law.Verify(mech, []law.Class[int]{{Name: "any", Pairs: law.Pairs(mechanismtest.UpTo(k)), Claim: x}}, law.Limits{})
		if err != nil || !found[0].Tight() {
			t.Errorf("%d categories: %v (%v)", k, found, err)
		}
	}
}

// The very thresholds never exceed e^eps, from an epsilon that hardly is one to
// one that no float64 could sample.
func TestResponseThresholds(t *testing.T) {
	for _, eps := range []float64{1e-18, 1e-9, 0.5, 10, 40, 85, 1000} {
		x, _ := mechanism.ExpBelow(eps).Rat(nil)
		m := Response{Epsilon: eps, Categories: 5}
		found, err := law.Verify(respondMechanism(m, nil), []law.Class[int]{{Name: "any", Pairs: law.Pairs(mechanismtest.UpTo(5)), Claim: mechanismtest.Above(x)}}, law.Limits{})
		if err != nil || !found[0].Holds() || found[0].Epsilon() < min(eps, 85)*(1-0.01) {
			t.Errorf("eps %g: %v (%v)", eps, found, err)
		}
	}
}

// Outputs follow the law: chi-square, false alarm 1e-9; faults do not.
func TestResponsesFollowTheLaw(t *testing.T) {
	const n, k, in = 200_000, 6, 4
	m := Response{Purpose: "rr", Epsilon: 1.3, Categories: k, Unit: privacy.Feature}
	p := func(m Response, in int, bits mechanism.Bits) float64 {
		data := make([]int, n)
		for i := range data {
			data[i] = in
		}
		if err := PerturbResponses(m, mechanismtest.LedgerFor(t, bits.Noise()), bits, data); err != nil {
			t.Fatal(err)
		}
		counts, stat := [k + 1]float64{}, 0.0
		for _, y := range data {
			counts[y]++
		}
		if counts[k] > 0 {
			return 0
		}
		right := Response{Epsilon: 1.3, Categories: k}
		for y := range k {
			want := n * right.Other()
			if y == 4 {
				want = n * right.Keep()
			}
			stat += (counts[y] - want) * (counts[y] - want) / want
		}
		return distuv.ChiSquared{K: k - 1}.Survival(stat)
	}
	bits := mechanism.Keyed(rng.Seed(3).Stream("rr"))
	short, more, other := m, m, m
	short.Categories--
	more.Categories++
	other.Epsilon = 1.35
	for name, c := range map[string]struct {
		p     float64
		fault bool
	}{
		"keyed": {p(m, in, bits), false}, "secret": {p(m, in, mechanism.Secret()), false},
		"one category short": {p(short, in, bits), true}, "one more": {p(more, in, bits), true},
		"another epsilon": {p(other, in, bits), true}, "the neighbour's value": {p(m, in-1, bits), true},
	} {
		if (c.p < 1e-9) != c.fault {
			t.Errorf("%s: as far from the law with probability %g", name, c.p)
		}
	}
}

// The self-check tells a sampler of other odds, and one that favours some of the
// others.
func TestResponseSelfCheck(t *testing.T) {
	m := Response{Purpose: "rr", Epsilon: 2, Categories: 50}
	for _, fault := range []string{"", "odds", "others"} {
		r, b := m.responder(), mechanism.Keyed(rng.Seed(3).Stream("rr"))
		d := b.Draws()
		if fault == "others" {
			d.Forced = &choices.Halved{D: d}
		}
		wrong := Response{Epsilon: 2.1, Categories: 50}.responder()
		for i := range uint64(50_000) {
			d.Row(i)
			if fault == "odds" {
				r.see(7, wrong.respond(&d, 7))
			} else {
				r.respond(&d, 7)
			}
		}
		err := mechanism.CheckAll("rr", 1, r.checks()...)
		var failed *mechanism.CheckError
		if fault == "" && err != nil || fault != "" && !errors.As(err, &failed) {
			t.Errorf("fault %q: %v", fault, err)
		}
	}
}

func TestResponsesAreKeyedAndRecorded(t *testing.T) {
	m := Response{Purpose: "rr", Epsilon: 1, Categories: 9, Unit: privacy.User}
	bits := mechanism.Keyed(rng.Seed(3).Stream("rr"))
	run := func(data []int32, b mechanism.Bits) []int32 {
		t.Helper()
		l := mechanismtest.LedgerFor(t, b.Noise())
		if err := PerturbResponses(m, l, b, data); err != nil {
			t.Fatal(err)
		}
		want := privacy.Entry{Purpose: "rr", Count: 1, Event: privacy.RandomizedResponse{Epsilon: 1, Categories: 9, Unit: privacy.User}}
		if e := l.Entries(); len(e) != 1 || e[0] != want {
			t.Errorf("ledger %v", e)
		}
		return data
	}
	a, b := run([]int32{1, 2, 3, 4, 5, 6, 7, 8}, bits), run([]int32{1, 2, 3, 4, 0, 0, 0, 0}, bits)
	if !slices.Equal(a[:4], b[:4]) || slices.Equal(a[4:], b[4:]) {
		t.Errorf("%v and %v", a, b)
	}
	if x, y := run(make([]int32, 60), mechanism.Secret()), run(make([]int32, 60), mechanism.Secret()); slices.Equal(x, y) {
		t.Error("secret bits repeat")
	}
	m.Limits = true
	m.Epsilon = math.Inf(1)
	data, l := []int64{3, 8, 0}, mechanismtest.Ledger(t)
	if err := PerturbResponses(m, l, bits, data); err != nil || !slices.Equal(data, []int64{3, 8, 0}) {
		t.Errorf("infinite: %v, %v", data, err)
	}
	if u, ok := l.Entries()[0].Event.(privacy.Unprotected); !ok || u.Unit != privacy.User {
		t.Errorf("infinite: %v", l.Entries())
	}
	m.Epsilon, l = 0, mechanismtest.Ledger(t)
	many, counts := make([]int, 90_000), [9]float64{}
	if err := PerturbResponses(m, l, bits, many); err != nil {
		t.Fatal(err)
	}
	for _, y := range many {
		counts[y]++
	}
	for y, c := range counts {
		if math.Abs(c-10_000) > mechanismtest.Sigmas*math.Sqrt(10_000*8/9.) {
			t.Errorf("epsilon 0: %g of value %d", c, y)
		}
	}
	if e, ok := l.Entries()[0].Event.(privacy.PureLDP); !ok || e.Epsilon > 1e-19 {
		t.Errorf("epsilon 0: %v", l.Entries())
	}
}

func TestResponsesRefuse(t *testing.T) {
	good := Response{Purpose: "rr", Epsilon: 1, Categories: 3, Unit: privacy.User}
	with := func(change func(m *Response)) Response { m := good; change(&m); return m }
	bits := mechanism.Keyed(rng.Seed(3).Stream("rr"))
	for name, c := range map[string]struct {
		m    Response
		data []int
		want string
	}{
		"no purpose":      {with(func(m *Response) { m.Purpose = "" }), []int{0}, "purpose"},
		"no epsilon":      {with(func(m *Response) { m.Epsilon = 0 }), []int{0}, "epsilon"},
		"infinite":        {with(func(m *Response) { m.Epsilon = math.Inf(1) }), []int{0}, "epsilon"},
		"NaN":             {with(func(m *Response) { m.Epsilon = math.NaN(); m.Limits = true }), []int{0}, "epsilon"},
		"one category":    {with(func(m *Response) { m.Categories = 1 }), []int{0}, "categories"},
		"one, unlimited":  {with(func(m *Response) { m.Categories = 1; m.Epsilon = 0; m.Limits = true }), []int{0}, "categories"},
		"too many":        {with(func(m *Response) { m.Categories = 1 << 40 }), []int{0}, "categories"},
		"no unit":         {with(func(m *Response) { m.Unit = "" }), []int{0}, "unit"},
		"no unit at zero": {with(func(m *Response) { m.Unit = ""; m.Epsilon = math.Inf(1); m.Limits = true }), []int{0}, "unit"},
		"share":           {with(func(m *Response) { m.Share = -1 }), []int{0}, "share"},
		"beyond":          {good, []int{0, 3}, "value 1 is 3"},
		"negative":        {good, []int{-1}, "value 0 is -1"},
	} {
		l, before := mechanismtest.Ledger(t), slices.Clone(c.data)
		err := PerturbResponses(c.m, l, bits, c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(l.Entries()) != 0 || !slices.Equal(before, c.data) {
			t.Errorf("%s: %v, want it to name %q", name, err, c.want)
		}
	}
	l := mechanismtest.Ledger(t)
	if err := PerturbResponses(good, l, bits, []int{}); err != nil || len(l.Entries()) != 0 {
		t.Errorf("no values: %v", err)
	}
	l.Close()
	if data := []int{1}; PerturbResponses(good, l, bits, data) == nil || data[0] != 1 {
		t.Error("a closed ledger was no obstacle")
	}
}
