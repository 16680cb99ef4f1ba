package enumerate

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// ratios returns the worst ratio and the verdict of every class.
func ratios(a *Answer) map[string][2]string {
	m := map[string][2]string{}
	for _, c := range a.Classes {
		m[c.Neighbours] = [2]string{c.Ratio, c.Verdict}
	}
	return m
}

// The worst ratios of PriCDSR's mechanism, of its repair and of randomised response: theorem 1 of the
// paper is false for exchanges in rows with zeros, by a factor e^epsilon, and nowhere else.
func TestSequences(t *testing.T) {
	const swap, zero, item = "swap of items, zero in front", "swap of item and zero", "item for item"
	for _, c := range []struct {
		variant string
		want    map[string][2]string
		holds   bool
	}{
		{"sdp-paper", map[string][2]string{swap: {"16", exceeds}, zero: {"16", exceeds}, item: {"4", meets}}, false},
		{"sdp-fixed", map[string][2]string{swap: {"4", meets}, zero: {"4", meets}, item: {"4", meets}}, true},
		{"rr", map[string][2]string{swap: {"16", meets}, zero: {"16", meets}, item: {"4", meets}}, true},
	} {
		a, err := (&Sequences{Variant: c.variant, Items: 2, Length: 3}).Answer()
		if err != nil {
			t.Fatal(err)
		}
		got := ratios(a)
		for class, want := range c.want {
			if got[class] != want {
				t.Errorf("%s, %s: %v, want %v", c.variant, class, got[class], want)
			}
		}
		said := strings.Contains(strings.Join(a.Notes, "\n"), "the claim is false for "+swap+": output 1,0,2 has probability 8/75 from 0,1,2 and 1/150 from 0,2,1")
		if a.Holds != c.holds || said == c.holds {
			t.Errorf("%s: holds %v, %q", c.variant, a.Holds, a.Notes)
		}
	}
}

// The repaired mechanisms meet what they promise of their units: a whole row, an interaction, an item
// in rows whose lengths are known.
func TestRepairedSequences(t *testing.T) {
	for _, c := range []struct {
		variant string
		items   int
		want    map[string][2]string
	}{
		{"sdp-user", 4, map[string][2]string{"whole row": {"16", meets}, "zero for item": {"4", meets}}},
		{"sdp-lengths", 4, map[string][2]string{"item for item": {"4", meets}, "whole row, zeros where they were": {"16", meets}}},
		{"set", 3, map[string][2]string{"same items, another order": {"1", meets}, "an item more": {"5/2", isBelow}, "another item, in any order": {"4", meets}}},
	} {
		for _, odds := range []Odds{{}, {Epsilon: 1.5}} {
			a, err := (&Sequences{Variant: c.variant, Items: c.items, Length: 2, Odds: odds}).Answer()
			if err != nil {
				t.Fatal(err)
			}
			got := ratios(a)
			for class, want := range c.want {
				if odds.Epsilon != 0 {
					want[0] = got[class][0]
				}
				if got[class] != want {
					t.Errorf("%s, %s: %v, want %v", c.variant, class, got[class], want)
				}
			}
			if !a.Holds || c.variant != "set" && got["swap of items, zero in front"] != [2]string{} {
				t.Errorf("%s: %v, %v", c.variant, a.Notes, got)
			}
		}
	}
	if _, err := (&Sequences{Variant: "set", Items: 40, Length: 2}).Answer(); err == nil || !strings.Contains(err.Error(), "runs of the mechanism") {
		t.Error("a set of 40 items takes 2^40 runs")
	}
}

// At an epsilon whose e^epsilon is irrational, the thresholds of the code are rounded to the private
// side: the repaired mechanism stays below its claim, and by less than can be seen.
func TestThresholds(t *testing.T) {
	a, err := (&Sequences{Variant: "sdp-fixed", Items: 2, Length: 3, Odds: Odds{Epsilon: 1.5}}).Answer()
	if err != nil || !a.Holds {
		t.Fatal(a, err)
	}
	for _, c := range a.Classes {
		if c.Verdict != meets || math.Abs(float64(c.Epsilon)-1.5) > 1e-14 {
			t.Errorf("%+v", c)
		}
	}
	if a, err = (&Sequences{Variant: "sdp-paper", Items: 2, Length: 3, Odds: Odds{Epsilon: 1.5}}).Answer(); err != nil || a.Holds {
		t.Error(a, err)
	}
}

// What cannot be asked is refused, with the cost where it is the size.
func TestRefusals(t *testing.T) {
	for want, q := range map[string]*Sequences{
		"3.33e+10 runs":  {Variant: "rr", Items: 1, Length: 30}, // 31 rows, 2^30 each
		"one of":         {Variant: "sdp", Items: 2, Length: 3},
		"--items is 0":   {Variant: "rr", Items: 0, Length: 3},
		"above 1":        {Variant: "rr", Items: 2, Length: 3, Odds: Odds{Ratio: "1"}},
		"at most e^64":   {Variant: "rr", Items: 2, Length: 3, Odds: Odds{Ratio: "1e30"}},
		"want 2^-32":     {Variant: "rr", Items: 2, Length: 3, Odds: Odds{Epsilon: -1}},
		"the same thing": {Variant: "rr", Items: 2, Length: 3, Odds: Odds{Epsilon: 1, Ratio: "2"}},
	} {
		if _, err := q.Answer(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
}

// An answer has the same numbers as text and as JSON.
func TestForms(t *testing.T) {
	a, err := (&Sequences{Variant: "sdp-paper", Items: 2, Length: 2}).Answer()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := a.Text(&text); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back Answer
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	for _, c := range back.Classes {
		if !strings.Contains(text.String(), c.Neighbours) || !strings.Contains(text.String(), c.Verdict+" the claim") {
			t.Errorf("%+v is not in\n%s", c, text.String())
		}
	}
	if len(back.Classes) != len(a.Classes) || len(a.Classes) == 0 {
		t.Errorf("%d classes, want %d", len(back.Classes), len(a.Classes))
	}
}
