package privacy

import (
	"strings"
	"testing"
)

// A ledger with a plan takes what the plan foresees, in any order and in any portions, and nothing else.
func TestLimit(t *testing.T) {
	normal := func(sigma, sensitivity float64) Event {
		return Gaussian{Sigma: sigma, Sensitivity: sensitivity, Unit: User, Neighbouring: AddRemove}
	}
	response := RandomizedResponse{Epsilon: 1, Categories: 3, Unit: User}
	l, err := NewLedger(Research)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Record("steps", normal(2, 1), 1); err != nil { // before the plan: it counts
		t.Fatal(err)
	}
	if err := l.Limit(Plan{Releases: []Entry{{Purpose: "steps", Count: 4, Event: normal(2, 1)}, {Purpose: "answers", Count: 1, Event: response}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		purpose string
		e       Event
		count   int64
		ok      bool
	}{
		{"as planned", "steps", normal(2, 1), 1, true},
		{"scaled", "steps", normal(6, 3), 1, true},
		{"more noise", "steps", normal(3, 1), 1, true},
		{"once too often", "steps", normal(2, 1), 1, false},
		{"another purpose", "other", normal(2, 1), 1, false},
		{"another event", "answers", normal(2, 1), 1, false},
		{"a larger epsilon", "answers", RandomizedResponse{Epsilon: 2, Categories: 3, Unit: User}, 1, false},
		{"the answers", "answers", response, 1, true},
		{"the answers again", "answers", response, 1, false},
	} {
		before := len(l.Entries())
		err := l.Record(c.purpose, c.e, c.count)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "not in what the run reserved") {
			t.Errorf("%s: %v", c.what, err)
		}
		if !c.ok && len(l.Entries()) != before {
			t.Errorf("%s: it was recorded", c.what)
		}
	}
	less, err := NewLedger(Research)
	if err != nil {
		t.Fatal(err)
	}
	if err := less.Limit(Plan{Releases: []Entry{{Purpose: "steps", Count: 9, Event: normal(2, 1)}}}); err != nil {
		t.Fatal(err)
	}
	if err := less.Record("steps", normal(1.9, 1), 1); err == nil {
		t.Error("less noise than planned was accepted")
	}
	if err := l.Limit(Plan{}); err == nil {
		t.Error("a plan with less than was released was accepted")
	}
}
