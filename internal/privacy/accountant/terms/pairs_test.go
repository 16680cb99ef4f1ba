package terms

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/privacy"
)

// exchanged are Gaussians of growing cost under Replace.
func exchanged(mu float64) privacy.Event {
	return privacy.Gaussian{Sigma: 1, Sensitivity: mu, Unit: privacy.User, Neighbouring: privacy.Replace}
}

func replaced(e privacy.Event, n int64) Term {
	return Term{Leaf: e, Rate: 1, Relation: privacy.Replace, Count: n}
}

func underReplace(t *testing.T, e privacy.Event) List {
	t.Helper()
	l, err := Flatten(e, 1, privacy.User, privacy.Replace)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestPairs: exchanged for another, a unit leaves one branch and enters a second; where
// its branch is fixed, and where it is added or removed, it does not.
func TestPairs(t *testing.T) {
	g := func(mu float64) privacy.Event { return exchanged(mu) }
	report := privacy.PureLDP{Epsilon: 1, Unit: privacy.User}
	fixed := func(e ...privacy.Event) privacy.Event { return privacy.Parallel{Events: e, Fixed: true} }
	for name, c := range map[string]struct {
		event privacy.Event
		want  []Term
	}{
		"two alike":             {split(g(1), g(1)), []Term{replaced(g(1), 2)}},
		"one alone":             {split(g(1)), []Term{replaced(g(1), 1)}},
		"the largest two":       {split(g(2), g(1), g(3), g(2), g(1)), []Term{replaced(g(3), 1), replaced(g(2), 1)}},
		"two kinds":             {split(g(1), report), []Term{replaced(report, 1), replaced(g(1), 1)}},
		"two kinds and less":    {split(report, g(1), g(0.5), g(2), bare), nil},
		"two kinds over both":   {split(all(g(2), report), all(g(1), self(report, 2)), report, g(1)), []Term{replaced(g(1), 1), replaced(report, 3), replaced(g(2), 1)}},
		"nothing beside it":     {split(g(1), bare), []Term{replaced(g(1), 1)}},
		"counted":               {self(split(g(1), g(2)), 3), []Term{replaced(g(2), 3), replaced(g(1), 3)}},
		"branches of branches":  {split(split(g(1), g(2)), g(3)), []Term{replaced(g(3), 1), replaced(g(2), 1), replaced(g(1), 1)}},
		"fixed":                 {fixed(g(1), g(2), g(1)), []Term{replaced(g(2), 1)}},
		"fixed in what is not":  {split(fixed(g(1), g(2)), g(3)), []Term{replaced(g(3), 1), replaced(g(2), 1)}},
		"what is not, in fixed": {fixed(split(g(1), g(2)), g(1)), []Term{replaced(g(2), 1), replaced(g(1), 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := underReplace(t, c.event).Worst()
			if c.want == nil {
				if !errors.Is(err, ErrForm) {
					t.Errorf("%+v, %v, want ErrForm", got, err)
				}
				return
			}
			if err != nil || !cmp.Equal(counts(c.want), counts(got)) {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	for _, relation := range []privacy.Neighbouring{privacy.AddRemove, privacy.ZeroOut} {
		e := privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: relation}
		l, err := Flatten(split(e, e), 1, privacy.User, relation)
		if err != nil {
			t.Fatal(err)
		}
		if ts, err := l.Worst(); err != nil || len(ts) != 1 || ts[0].Count != 1 {
			t.Errorf("%s: %+v, %v: a unit is in one part", relation, ts, err)
		}
	}
}

// counts is a list of terms without its order.
func counts(ts []Term) map[Term]int64 {
	m := map[Term]int64{}
	for _, t := range ts {
		n := t.Count
		t.Count = 1
		m[t] += n
	}
	return m
}

// TestPairsDominateEveryPair compares, for random branches, with every pair composed.
func TestPairsDominateEveryPair(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		var events []privacy.Event
		for range rapid.IntRange(2, 5).Draw(t, "branches") {
			e := self(exchanged(rapid.Float64Range(0.5, 2).Draw(t, "mu")), rapid.Int64Range(1, 3).Draw(t, "count"))
			if rapid.Bool().Draw(t, "report too") {
				e = all(e, privacy.PureLDP{Epsilon: rapid.Float64Range(0.5, 2).Draw(t, "epsilon"), Unit: privacy.User})
			}
			events = append(events, e)
		}
		flat := func(e privacy.Event) List {
			l, err := Flatten(e, 1, privacy.User, privacy.Replace)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		worst, err := flat(split(events...)).Worst()
		if err != nil {
			return
		}
		found++
		// What dominates costs no less in either kind.
		cost := func(ts []Term) (mu2, epsilon float64) {
			for _, t := range ts {
				switch e := t.Leaf.(type) {
				case privacy.Gaussian:
					mu2 += float64(t.Count) * e.Sensitivity * e.Sensitivity
				case privacy.PureLDP:
					epsilon += float64(t.Count) * e.Epsilon
				}
			}
			return mu2, epsilon
		}
		wantMu, wantEps := cost(worst)
		best := false
		for i := range events {
			for j := range i {
				mu2, epsilon := cost(flat(all(events[i], events[j])).Terms)
				if mu2 > wantMu*(1+1e-12) || epsilon > wantEps*(1+1e-12) {
					t.Fatalf("branches %d and %d cost %v and %v, the worst is %v and %v", j, i, mu2, epsilon, wantMu, wantEps)
				}
				best = best || math.Abs(mu2-wantMu) < 1e-9 && math.Abs(epsilon-wantEps) < 1e-9
			}
		}
		if !best {
			t.Fatalf("no pair costs %v and %v", wantMu, wantEps)
		}
	})
	if found == 0 {
		t.Error("no draw has a worst pair")
	}
}
