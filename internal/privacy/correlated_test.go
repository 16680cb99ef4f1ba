package privacy

import (
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy/correlated"
)

// A stated sensitivity below that of the strategy is refused, by as little as a part in 1e9, and an exchanged unit
// needs twice as much; the least itself and any more are taken.
func TestStatedSensitivity(t *testing.T) {
	for _, d := range []correlated.Design{
		{Name: correlated.NameBanded, Steps: 30, Bands: 4}, {Name: correlated.NameBanded, Steps: 30, Bands: 30},
		{Name: correlated.NameTree, Steps: 30}, {Name: correlated.NameComposed, Steps: 30},
		correlated.BufferedDesign(30, []correlated.Buffer{{Weight: 0.5, Decay: 0.9}}),
		{Name: correlated.NameToeplitz, Steps: 30, Column: correlated.NumbersOf([]float64{2, -1, 3})},
	} {
		s, err := d.Strategy()
		ok(t, err)
		for _, p := range []correlated.Participation{{Times: 1, Apart: 1}, {Times: 4, Apart: 7}, {Times: 30, Apart: 1}} {
			moved, err := s.Sensitivity(p)
			ok(t, err)
			for relation, times := range map[Neighbouring]float64{AddRemove: 1, ZeroOut: 1, Replace: 2} {
				e := CorrelatedGaussian{8, times * moved, d, p, User, relation}
				if err := e.Validate(); err != nil {
					t.Errorf("%+v: %v", e, err)
				}
				e.Sensitivity *= 1.5
				if err := e.Validate(); err != nil {
					t.Errorf("more than the least: %+v: %v", e, err)
				}
				e.Sensitivity = times * moved * (1 - 1e-9)
				if err := e.Validate(); err == nil || !strings.Contains(err.Error(), "correlated-gaussian: sensitivity is ") {
					t.Errorf("%+v: error %v", e, err)
				}
			}
		}
	}
}

// A ledger holds the event beside others and nested in them, and gives back the same. It is a Gaussian to a plan, which
// foresees no other event by it that has more noise for the distance.
func TestCorrelatedSumsInALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := CreateLedger(path, Research, nil)
	ok(t, err)
	events := []Event{sums, Composed{[]Event{sums, gauss}}, Sampled{SelfComposed{sums, 2}, 0.25, Poisson}}
	ok(t, l.Limit(Plan{Releases: []Entry{{Purpose: "a", Count: 1, Event: sums}, {Purpose: "b", Count: 1, Event: events[1]},
		{Purpose: "c", Count: 1, Event: events[2]}}}))
	more := sums
	more.NoiseMultiplier /= 2
	if err := l.Record("a", more, 1); err == nil || !strings.Contains(err.Error(), "not in what the run reserved") {
		t.Errorf("half the noise: %v", err)
	}
	low := sums
	low.Sensitivity = 1
	if err := l.Record("a", low, 1); err == nil || !strings.Contains(err.Error(), "sensitivity is 1, want at least") {
		t.Errorf("a sensitivity that is too small: %v", err)
	}
	for i, e := range events {
		ok(t, l.Record("abc"[i:i+1], e, 1))
	}
	ok(t, l.Flush("1"))
	ok(t, l.Close())
	holdsEvents(t, path, events)
}
