package accountant_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

var (
	everyUnit     = privacy.Units()
	everyRelation = []privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut}
)

// A number of epsilon says of what: every account, of any method, unit and relation,
// states its own, takes events about that alone, and refuses every other one by
// both names. What a local randomiser promises is about an exchange.
func TestResultsSayOfWhat(t *testing.T) {
	for _, m := range accountant.Methods() {
		for _, u := range everyUnit {
			for _, rel := range everyRelation {
				a := must(accountant.New(m, u, rel))
				check(t, a.Charge(privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: u, Neighbouring: rel}, 1))
				r := must(a.Spent(1e-5))
				if r.Unit != u || r.Neighbouring != rel || r.Delta != 1e-5 || r.Method != string(m) || math.Abs(r.Epsilon/1.9930914044151196-1) > 0.2 {
					t.Errorf("%s, %s, %s: %+v", m, u, rel, r)
				}
				if d := must(a.DeltaAt(r.Epsilon)); d.Unit != u || d.Neighbouring != rel || d.Epsilon != r.Epsilon || math.Abs(d.Delta/1e-5-1) > 1e-2 {
					t.Errorf("%s, %s, %s: back to %+v", m, u, rel, d)
				}
				for _, other := range everyUnit {
					for _, otherRel := range everyRelation {
						if other == u && otherRel == rel {
							continue
						}
						err := a.Charge(privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: other, Neighbouring: otherRel}, 1)
						if want := fmt.Sprintf("gaussian about %s, %s; asked about %s, %s", other, otherRel, u, rel); !errors.Is(err, accountant.ErrUnit) || !strings.Contains(err.Error(), want) {
							t.Errorf("%v, want %q", err, want)
						}
					}
				}
				local := a.Price(privacy.RandomizedResponse{Epsilon: 1, Categories: 2, Unit: u}, 1)
				if m != analytic && (local == nil) != (rel == privacy.Replace) || local != nil && rel != privacy.Replace && !errors.Is(local, accountant.ErrUnit) {
					t.Errorf("%s, %s: a response: %v", m, rel, local)
				}
				open := privacy.Unprotected{What: "labels", Why: "the loss sees them", Unit: u}
				check(t, a.Charge(open, 1))
				everyUser := privacy.Unprotected{What: "readout", Why: "in the clear"}
				check(t, a.Charge(privacy.Composed{Events: []privacy.Event{everyUser, open}}, 9))
				if r := must(a.Spent(1e-5)); !math.IsInf(r.Epsilon, 1) || !cmp.Equal(r.Unprotected, []privacy.Unprotected{open, everyUser}) {
					t.Errorf("%s, %s: %+v", m, u, r)
				}
				foreign := privacy.Unprotected{What: "ages", Why: "y", Unit: everyUnit[0]}
				if foreign.Unit == u {
					foreign.Unit = everyUnit[1]
				}
				if err := a.Charge(foreign, 1); !errors.Is(err, accountant.ErrUnit) || !strings.Contains(err.Error(), fmt.Sprintf("ages unprotected for %s; asked about %s", foreign.Unit, u)) {
					t.Errorf("%v", err)
				}
			}
		}
	}
}

// The published mistakes of other accountants: counts that an event ignores, and a
// replaced record that moves a sum no further than an added one. The right number
// is met and the wrong one, which the tables carry, is not.
func TestPublishedMistakes(t *testing.T) {
	var file struct {
		Entries []struct {
			Params struct {
				Event, Relation   string
				Eps, Sigma, Delta float64
				Parameter         float64 `json:"noise_parameter"`
				Buckets, Count    int64
			}
			Value float64
			Wrong *float64 `json:"wrong_value"`
		}
	}
	check(t, json.Unmarshal(must(os.ReadFile("../../../testdata/goldens/relations_and_counts.json")), &file))
	wrong := 0
	for _, g := range file.Entries {
		p := g.Params
		relation := map[string]privacy.Neighbouring{"": privacy.AddRemove, "add_or_remove_one": privacy.AddRemove, "replace_one": privacy.Replace, "replace_special": privacy.ZeroOut}[p.Relation]
		var e privacy.Event
		m, within := contour, 1e-6
		switch p.Event {
		case "exponential":
			e, m, within = privacy.Exponential{Epsilon: p.Eps, Unit: unitOf, Neighbouring: relation}, renyi, 2e-3 // a grid of orders there
		case "randomized_response": // keeps the value with 1-p+p/k
			k := float64(p.Buckets)
			e = privacy.RandomizedResponse{Epsilon: math.Log1p(k * (1 - p.Parameter) / p.Parameter), Categories: p.Buckets, Unit: unitOf}
		case "gaussian":
			distance := 1.0
			if relation == privacy.Replace { // sigma is a multiple of the clipping norm
				distance = 2
			}
			e = privacy.Gaussian{Sigma: p.Sigma, Sensitivity: distance, Unit: unitOf, Neighbouring: relation}
		default:
			t.Fatalf("no event for %s", p.Event)
		}
		for how, a := range map[string]*accountant.Account{
			"at once": charged(t, m, relation, p.Count, e), "one event": charged(t, m, relation, 1, privacy.SelfComposed{Event: e, Count: p.Count}),
			"sampled fully": charged(t, m, relation, p.Count, privacy.Sampled{Event: e, Rate: 1, Method: privacy.WithoutReplacement}),
		} {
			r := must(a.Spent(p.Delta))
			if math.Abs(r.Epsilon/g.Value-1) > within {
				t.Errorf("%s, %d %s: epsilon %v, want %v", p.Event, p.Count, how, r.Epsilon, g.Value)
			}
			if g.Wrong != nil && !(r.Epsilon > *g.Wrong*2) {
				t.Errorf("%s, %d %s: epsilon %v is the mistaken %v", p.Event, p.Count, how, r.Epsilon, *g.Wrong)
			}
		}
		if g.Wrong != nil {
			wrong++
		}
	}
	if wrong != 5 {
		t.Errorf("%d mistakes in the tables", wrong)
	}
}

// Every entry point refuses what is out of range by the name of the parameter, its
// value and the range, and gives no number with the error.
func TestRefusalsNameTheParameter(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	notPositive, notFromZero := []float64{0, -1, -5e-324, nan, inf, -inf}, []float64{-1, -5e-324, nan, inf, -inf}
	notInside := []float64{0, 1, -0.1, 1.5, 1e308, nan, inf, -inf}
	spent := func(m accountant.Method) *accountant.Account { return charged(t, m, privacy.AddRemove, 3, gaussian(2)) }
	one := func(float64) (float64, error) { return 1, nil }
	type entry struct {
		name string
		bad  []float64
		says string
		at   func(v float64) (float64, error)
	}
	list := []entry{
		{"Exact mu", notFromZero, "mu is %v, want at least 0 and finite", func(v float64) (float64, error) { return accountant.Exact(v, 0.1) }},
		{"Exact delta", notInside, "delta is %v, want between 0 and 1", func(v float64) (float64, error) { return accountant.Exact(1, v) }},
		{"MuFor epsilon", notFromZero, "epsilon is %v, want at least 0 and finite", func(v float64) (float64, error) { return accountant.MuFor(v, 0.1) }},
		{"MuFor delta", notInside, "delta is %v, want between 0 and 1", func(v float64) (float64, error) { return accountant.MuFor(1, v) }},
		{"SigmaFor sensitivity", notPositive, "sensitivity is %v, want positive and finite", func(v float64) (float64, error) { return accountant.SigmaFor(v, 1, 0.1) }},
		{"SigmaFor epsilon", notFromZero, "epsilon is %v, want at least 0 and finite", func(v float64) (float64, error) { return accountant.SigmaFor(1, v, 0.1) }},
		{"SigmaFor delta", notInside, "delta is %v, want between 0 and 1", func(v float64) (float64, error) { return accountant.SigmaFor(1, 1, v) }},
		{"Calibrate target", notPositive, "epsilon is %v, want positive and finite", func(v float64) (float64, error) {
			c, err := accountant.Calibrate(goal(v), 1, one)
			return c.Noise, err
		}},
		{"Calibrate start", notPositive, "the search starts at %v, want positive and finite", func(v float64) (float64, error) {
			c, err := accountant.Calibrate(goal(1), v, one)
			return c.Noise, err
		}},
		{"Calibrate delta", []float64{math.NaN(), -1, math.Inf(-1)}, "delta is %v, want at least 0", func(v float64) (float64, error) {
			c, err := accountant.Calibrate(accountant.Goal{Epsilon: 1, Delta: v, Exposed: 1}, 1, one)
			return c.Noise, err
		}},
		{"Calibrate exposed", []float64{math.NaN(), 0, -1, 1.5, math.Inf(1)}, "the probability that a unit is in any release is %v, want above 0 and at most 1", func(v float64) (float64, error) {
			c, err := accountant.Calibrate(accountant.Goal{Epsilon: 1, Delta: 1e-5, Exposed: v}, 1, one)
			return c.Noise, err
		}},
	}
	for _, m := range accountant.Methods() {
		list = append(list, entry{string(m) + " Spent", notInside, "delta is %v, want between 0 and 1", func(v float64) (float64, error) {
			r, err := spent(m).Spent(v)
			return r.Epsilon, err
		}}, entry{string(m) + " DeltaAt", notFromZero, "epsilon is %v, want at least 0 and finite", func(v float64) (float64, error) {
			r, err := spent(m).DeltaAt(v)
			return r.Delta, err
		}})
		for _, v := range []int64{0, -1, math.MinInt64} {
			a := spent(m)
			for _, err := range []error{a.Price(gaussian(1), v), a.Charge(gaussian(1), v)} {
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("count is %d, want at least 1", v)) {
					t.Errorf("%s: %d times: %v", m, v, err)
				}
			}
			if before, after := must(spent(m).Spent(0.01)), must(a.Spent(0.01)); !cmp.Equal(before, after) {
				t.Errorf("%s: a refused count leaves %+v, was %+v", m, after, before)
			}
		}
	}
	for _, e := range list {
		for _, v := range e.bad {
			if got, err := e.at(v); err == nil || got != 0 || !strings.Contains(err.Error(), fmt.Sprintf(e.says, v)) {
				t.Errorf("%s %v: %v, %v", e.name, v, got, err)
			}
		}
	}
	_, everything := accountant.New("best", "row", "both")
	for _, want := range []string{`unknown unit "row"`, `unknown neighbouring relation "both"`} {
		if everything == nil || !strings.Contains(everything.Error(), want) {
			t.Errorf("%v: want %q", everything, want)
		}
	}
	if !strings.Contains(everything.Error(), `unknown accountant "best", want one of [analytic exact rdp pld]`) {
		t.Errorf("%v", everything)
	}
}

// A ledger is charged whole or not at all, also where every entry fits alone and
// the counts of all of them do not.
func TestLedgerIsChargedWhole(t *testing.T) {
	entry := func(e privacy.Event, n int64) privacy.Entry {
		return privacy.Entry{Period: "epoch 1", Purpose: "sums", Count: n, Event: e}
	}
	quiet, about := gaussian(1e7), gaussian(1)
	about.Unit, about.Sensitivity = privacy.User, 1.7e308
	for _, name := range accountant.Methods() {
		fresh := func() *accountant.Account { return must(accountant.New(name, unitOf, privacy.AddRemove)) }
		for what, c := range map[string]struct {
			entries []privacy.Entry
			says    string
		}{
			"counts that overflow together": {[]privacy.Entry{entry(quiet, math.MaxInt64), entry(quiet, 1)}, "all entries together: "},
			"a group that is too far apart": {[]privacy.Entry{entry(quiet, 5), entry(about, 1)}, "entry 2 (epoch 1, sums): a group of 2: gaussian: sensitivity is +Inf"},
			"an event that is none":         {[]privacy.Entry{entry(quiet, 5), entry(privacy.Gaussian{}, 1)}, "entry 2 (epoch 1, sums): gaussian: sigma is 0"},
			"a count that is none":          {[]privacy.Entry{entry(quiet, 5), entry(quiet, 0)}, "entry 2 (epoch 1, sums): count is 0"},
		} {
			a := fresh()
			check(t, a.Charge(gaussian(3), 2))
			before := must(a.Spent(1e-5))
			if err := accountant.ChargeLedger(a, c.entries); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %s: %v, want %q", name, what, err, c.says)
			}
			if after := must(a.Spent(1e-5)); !cmp.Equal(before, after) {
				t.Errorf("%s, %s: half charged: %+v, was %+v", name, what, after, before)
			}
		}
		a := fresh()
		check(t, accountant.ChargeLedger(a, nil))
		if r := must(a.Spent(1e-5)); r.Epsilon != 0 {
			t.Errorf("%s: an empty ledger costs %v", name, r.Epsilon)
		}
	}
}
