package accountant_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

const smallDelta = 1e-6

// The closed forms that prices are compared with.

// ofGaussian is the epsilon of Gaussian releases whose distances over sigma have this
// sum of squares.
func ofGaussian(mu2 float64) float64 { return must(accountant.Exact(math.Sqrt(mu2), smallDelta)) }

// ofLaplace is that of one Laplace release, by 1 - exp((eps-d)/2) = delta.
func ofLaplace(d float64) float64 { return d + 2*math.Log1p(-smallDelta) }

// ofPure is that of the worst release of a pure epsilon, randomised response of a bit.
func ofPure(e float64) float64 { return e + math.Log1p(-smallDelta*(1+math.Exp(-e))) }

// releases of every kind.
func normalOf(u privacy.Unit, r privacy.Neighbouring) privacy.Event {
	return privacy.Gaussian{Sigma: 4, Sensitivity: 2, Unit: u, Neighbouring: r}
}
func laplaceOf(u privacy.Unit, r privacy.Neighbouring) privacy.Event {
	return privacy.Laplace{Scale: 2, Sensitivity: 1, Unit: u, Neighbouring: r}
}
func stepsOf(u privacy.Unit, r privacy.Neighbouring) privacy.Event {
	return privacy.DiscreteLaplace{Scale: 2, Sensitivity: 1, Unit: u, Neighbouring: r}
}
func gridOf(u privacy.Unit, r privacy.Neighbouring) privacy.Event {
	return privacy.DiscreteGaussian{Sigma: 4, Sensitivity: 2, Dimension: 1, Unit: u, Neighbouring: r}
}
func choiceOf(u privacy.Unit, r privacy.Neighbouring) privacy.Event {
	return privacy.Exponential{Epsilon: 0.5, Unit: u, Neighbouring: r}
}
func pureOf(u privacy.Unit) privacy.Event { return privacy.PureLDP{Epsilon: 3, Unit: u} }
func answerOf(u privacy.Unit) privacy.Event {
	return privacy.RandomizedResponse{Epsilon: 0.5, Categories: 5, Unit: u}
}
func bareOf(u privacy.Unit) privacy.Event {
	return privacy.Unprotected{What: "labels", Why: "the loss sees them", Unit: u}
}

// someOf is an event on a Poisson sample.
func someOf(e privacy.Event, rate float64) privacy.Event {
	return privacy.Sampled{Event: e, Rate: rate, Method: privacy.Poisson}
}

func entryOf(e privacy.Event, count, perUnit int64) privacy.Entry {
	return privacy.Entry{Period: "1", Purpose: "sums", Count: count, PerUnit: perUnit, Event: e}
}

// amounts charges entries to an account of a unit.
func amounts(m accountant.Method, u privacy.Unit, r privacy.Neighbouring, held []privacy.Holding, entries ...privacy.Entry) (accountant.Result, error) {
	a := must(accountant.New(m, u, r))
	if err := accountant.ChargeLedger(a, entries, held...); err != nil {
		return accountant.Result{}, err
	}
	return a.Spent(smallDelta)
}

// byHand is the epsilon of events charged as they are.
func byHand(m accountant.Method, u privacy.Unit, r privacy.Neighbouring, n int64, events ...privacy.Event) float64 {
	a := must(accountant.New(m, u, r))
	for _, e := range events {
		if err := a.Charge(e, n); err != nil {
			panic(err)
		}
	}
	return must(a.Spent(smallDelta)).Epsilon
}

func one(e privacy.Event) []privacy.Entry   { return []privacy.Entry{entryOf(e, 1, 0)} }
func poisson(e privacy.Event) privacy.Event { return someOf(e, 0.25) }

const (
	byContour, byRenyi = accountant.Contour, accountant.RDP
	edge, user, cell   = privacy.Edge, privacy.User, privacy.Cell
	add, swap, zero    = privacy.AddRemove, privacy.Replace, privacy.ZeroOut
)

// What events about a unit cost another one, against closed forms.
func TestContainment(t *testing.T) {
	five := []privacy.Holding{{Unit: user, Of: edge, Most: 5}, {Unit: user, Of: cell, Most: 5}, {Unit: user, Of: edge, Most: 4}, {Unit: privacy.Interaction, Of: edge, Most: 2}}
	wide := func(u privacy.Unit, r privacy.Neighbouring) privacy.Event {
		return privacy.Gaussian{Sigma: 4, Sensitivity: 4, Unit: u, Neighbouring: r}
	}
	// clipped at 2: 4 apart, and neither longer than 2
	clipped := privacy.Gaussian{Sigma: 4, Sensitivity: 4, Norm: 2, Unit: edge, Neighbouring: swap}
	normed := func(u privacy.Unit, r privacy.Neighbouring) privacy.Event {
		return privacy.Gaussian{Sigma: 4, Sensitivity: 2, Norm: 2, Unit: u, Neighbouring: r}
	}
	for name, c := range map[string]struct {
		unit     privacy.Unit
		relation privacy.Neighbouring
		method   accountant.Method
		entries  []privacy.Entry
		want     float64
	}{
		// A user's noise covers the edge: as it is under Replace, twice under the others.
		"user replaced, gaussian, edge added":      {edge, add, byContour, one(normalOf(user, swap)), ofGaussian(0.25)},
		"user replaced, gaussian, edge replaced":   {edge, swap, byContour, one(normalOf(user, swap)), ofGaussian(0.25)},
		"user added, gaussian, edge added":         {edge, add, byContour, one(normalOf(user, add)), ofGaussian(1)},
		"user added, gaussian, edge replaced":      {edge, swap, byContour, one(normalOf(user, add)), ofGaussian(1)},
		"user blanked, gaussian, edge blanked":     {edge, zero, byContour, one(normalOf(user, zero)), ofGaussian(1)},
		"user added, laplace":                      {edge, add, byContour, one(laplaceOf(user, add)), ofLaplace(1)},
		"user replaced, laplace":                   {edge, add, byContour, one(laplaceOf(user, swap)), ofLaplace(0.5)},
		"user added, discrete laplace":             {edge, add, byContour, one(stepsOf(user, add)), byHand(byContour, edge, add, 1, privacy.DiscreteLaplace{Scale: 2, Sensitivity: 2, Unit: edge, Neighbouring: add})},
		"user added, discrete gaussian":            {edge, add, byContour, one(gridOf(user, add)), byHand(byContour, edge, add, 1, privacy.DiscreteGaussian{Sigma: 4, Sensitivity: 4, Dimension: 1, Unit: edge, Neighbouring: add})},
		"user added, choice":                       {edge, add, byRenyi, one(choiceOf(user, add)), byHand(byRenyi, edge, add, 1, privacy.Exponential{Epsilon: 1, Unit: edge, Neighbouring: add})},
		"user's report, edge added":                {edge, add, byContour, one(pureOf(user)), ofPure(3)},
		"user's report, edge blanked":              {edge, zero, byContour, one(pureOf(user)), ofPure(3)},
		"user's answer":                            {edge, add, byContour, one(answerOf(user)), byHand(byContour, edge, swap, 1, answerOf(edge))},
		"user's noise and the edge's own":          {edge, add, byContour, append(one(normalOf(user, swap)), one(normalOf(edge, add))...), ofGaussian(0.5)},
		"user's noise, counted":                    {edge, add, byContour, []privacy.Entry{entryOf(normalOf(user, add), 9, 0)}, ofGaussian(9)},
		"user's noise, few releases each":          {edge, add, byContour, []privacy.Entry{entryOf(normalOf(user, add), 9, 3)}, ofGaussian(3)},
		"user's laplace, few releases each":        {edge, add, byContour, []privacy.Entry{entryOf(laplaceOf(user, add), 9, 1)}, byHand(byContour, edge, add, 2, privacy.Laplace{Scale: 2, Sensitivity: 2, Unit: edge, Neighbouring: add})},
		"user's laplace, no fewer than all":        {edge, add, byContour, []privacy.Entry{entryOf(laplaceOf(user, add), 3, 2)}, byHand(byContour, edge, add, 3, privacy.Laplace{Scale: 2, Sensitivity: 2, Unit: edge, Neighbouring: add})},
		"users in parts that depend on their data": {edge, add, byContour, one(privacy.Parallel{Events: []privacy.Event{normalOf(user, swap), normalOf(user, swap)}}), ofGaussian(0.5)},
		"a nest": {edge, add, byContour, one(privacy.SelfComposed{Count: 3, Event: privacy.Composed{Events: []privacy.Event{normalOf(user, swap), normalOf(edge, add), pureOf(privacy.Feature)}}}), ofGaussian(1.5)},

		// An edge that is exchanged is one that goes and one that comes: two answers change.
		"an edge's answer alone":              {edge, swap, byContour, one(answerOf(edge)), byHand(byContour, edge, swap, 1, answerOf(edge))},
		"its answer beside noise":             {edge, swap, byContour, append(one(normalOf(edge, swap)), one(answerOf(edge))...), byHand(byContour, edge, swap, 1, normalOf(edge, swap), answerOf(edge), answerOf(edge))},
		"its report beside noise":             {edge, swap, byContour, append(one(pureOf(edge)), one(normalOf(edge, swap))...), byHand(byContour, edge, swap, 1, normalOf(edge, swap), privacy.PureLDP{Epsilon: 6, Unit: edge})},
		"a cell's answer beside noise":        {cell, swap, byContour, append(one(normalOf(cell, swap)), one(answerOf(cell))...), byHand(byContour, cell, swap, 1, normalOf(cell, swap), answerOf(cell))},
		"its answer beside a user's noise":    {edge, swap, byContour, append(one(normalOf(user, swap)), one(answerOf(edge))...), byHand(byContour, edge, swap, 1, normalOf(edge, swap), answerOf(edge))},
		"in one event with what it is beside": {edge, swap, byContour, one(privacy.Composed{Events: []privacy.Event{normalOf(edge, swap), answerOf(edge)}}), byHand(byContour, edge, swap, 1, normalOf(edge, swap), answerOf(edge), answerOf(edge))},

		// A sample of users.
		"users sampled, clipped": {edge, swap, byContour, one(poisson(normalOf(user, add))), byHand(byContour, edge, swap, 1, poisson(clipped))},
		"users sampled, edge added": {edge, add, byContour, append(one(poisson(normalOf(user, add))), one(normalOf(edge, add))...),
			byHand(byContour, edge, swap, 1, poisson(clipped), normalOf(edge, swap))},
		"users sampled, of a known norm": {edge, swap, byContour, one(poisson(normed(user, add))), byHand(byContour, edge, swap, 1, poisson(clipped))},
		"users exchanged, of that norm":  {edge, add, byContour, one(poisson(normed(user, swap))), byHand(byContour, edge, swap, 1, poisson(normed(edge, swap)))},
		"users sampled and exchanged":    {edge, swap, byContour, one(poisson(normalOf(user, swap))), byHand(byContour, edge, swap, 1, poisson(normalOf(edge, swap)))},
		"users sampled, laplace":         {edge, add, byContour, one(poisson(laplaceOf(user, add))), ofLaplace(1)},
		"users sampled, rényi":           {edge, add, byRenyi, one(poisson(normalOf(user, add))), byHand(byRenyi, edge, add, 1, wide(edge, add))},
		"users in a fixed sample":        {edge, add, byRenyi, one(privacy.Sampled{Event: normalOf(user, swap), Rate: 0.25, Method: privacy.WithoutReplacement}), byHand(byRenyi, edge, swap, 1, privacy.Sampled{Event: normalOf(edge, swap), Rate: 0.25, Method: privacy.WithoutReplacement})},
		"users in a fixed sample, more":  {edge, add, byContour, one(privacy.Sampled{Event: normalOf(user, add), Rate: 0.25, Method: privacy.WithoutReplacement}), ofGaussian(1)},
		"edges sampled, of a user":       {user, add, byContour, one(poisson(normalOf(edge, add))), ofGaussian(25 * 0.25)},
		"all in the sample":              {edge, add, byContour, one(privacy.Sampled{Event: normalOf(user, add), Rate: 1, Method: privacy.WithoutReplacement}), ofGaussian(1)},

		// A user is a group of five.
		"five edges, gaussian":                  {user, add, byContour, one(normalOf(edge, add)), ofGaussian(25 * 0.25)},
		"five edges go and five come, gaussian": {user, swap, byContour, one(normalOf(edge, add)), ofGaussian(100 * 0.25)},
		"five edges exchanged":                  {user, swap, byContour, one(normalOf(edge, swap)), ofGaussian(25 * 0.25)},
		"five edges, of a known norm":           {user, add, byContour, one(normed(edge, add)), ofGaussian(25 * 0.25)},
		"five edges, laplace":                   {user, add, byContour, one(laplaceOf(edge, add)), ofLaplace(2.5)},
		"five edges, choice":                    {user, add, byRenyi, one(choiceOf(edge, add)), byHand(byRenyi, user, add, 1, privacy.Exponential{Epsilon: 2.5, Unit: user, Neighbouring: add})},
		"five cells of 3 are 15":                {user, swap, byContour, one(pureOf(cell)), ofPure(15)},
		"five cells answer":                     {user, swap, byContour, one(answerOf(cell)), byHand(byContour, user, swap, 5, answerOf(user))},
		"five bits of edges go, five come":      {user, swap, byContour, one(pureOf(edge)), ofPure(30)},
		"five edges, few releases each":         {user, add, byContour, []privacy.Entry{entryOf(normalOf(edge, add), 99, 4)}, ofGaussian(4 * 25 * 0.25)},
		"five cells, answers of each":           {user, swap, byContour, []privacy.Entry{entryOf(answerOf(cell), 99, 2)}, byHand(byContour, user, swap, 10, answerOf(user))},
		"edges of a user in parts":              {user, add, byContour, one(privacy.Parallel{Events: []privacy.Event{normalOf(edge, add), normalOf(edge, add)}}), ofGaussian(2 * 25 * 0.25)},
		"a user has one feature vector":         {user, swap, byContour, one(pureOf(privacy.Feature)), ofPure(3)},
		"five edges, and the user":              {user, swap, byContour, append(one(normalOf(edge, swap)), one(normalOf(user, add))...), ofGaussian(25*0.25 + 1)},

		// One unit under another relation.
		"user added, account of one replaced": {user, swap, byContour, one(normalOf(user, add)), ofGaussian(1)},
		"edge blanked, account of a replaced": {edge, swap, byContour, one(normalOf(edge, zero)), ofGaussian(1)},
		"edge added, account of a blanked":    {edge, zero, byContour, one(normalOf(edge, add)), ofGaussian(1)},

		// Feature vectors are other data than what users did.
		"features of an edge":        {edge, add, byContour, append(one(pureOf(privacy.Feature)), one(bareOf(privacy.Feature))...), 0},
		"edges of a feature vector":  {privacy.Feature, swap, byContour, append(one(normalOf(edge, add)), one(bareOf(cell))...), 0},
		"an edge beside the feature": {edge, add, byContour, append(one(pureOf(privacy.Feature)), one(normalOf(edge, add))...), ofGaussian(0.25)},
	} {
		r, err := amounts(c.method, c.unit, c.relation, five, c.entries...)
		if err != nil || len(r.Unprotected) > 0 || !(math.Abs(r.Epsilon-c.want) <= 1e-9*c.want) {
			t.Errorf("%s: epsilon %v (%v), want %v: %v", name, r.Epsilon, r.Unprotected, c.want, err)
		}
	}

}

// What is in the clear, or of a cost that is not known, is infinite with its reason.
func TestContainmentWithoutBound(t *testing.T) {
	held := []privacy.Holding{{Unit: user, Of: edge, Most: 5}, {Unit: user, Of: cell, Most: 5}, {Unit: privacy.Interaction, Of: edge, Most: 2}}
	const unknown = "is not known"
	for name, c := range map[string]struct {
		unit     privacy.Unit
		relation privacy.Neighbouring
		event    privacy.Event
		what     string
		why      string
	}{
		"a user in the clear":                      {edge, add, bareOf(user), "labels", "the loss sees them"},
		"an edge in the clear":                     {user, add, bareOf(edge), "labels", "the loss sees them"},
		"an interaction in the clear":              {edge, add, bareOf(privacy.Interaction), "labels", "the loss sees them"},
		"a cell in the clear shows a position":     {privacy.Position, swap, bareOf(cell), "labels", "the loss sees them"},
		"a feature vector in the clear, sample":    {privacy.Sample, add, bareOf(privacy.Feature), "labels", "the loss sees them"},
		"a feature vector in the clear, user":      {user, add, bareOf(privacy.Feature), "labels", "the loss sees them"},
		"all in the clear":                         {privacy.Feature, add, bareOf(""), "labels", "the loss sees them"},
		"within a sample of a branch":              {edge, add, privacy.Parallel{Events: []privacy.Event{normalOf(edge, add), poisson(bareOf(user))}}, "labels", "the loss sees them"},
		"interactions of an edge":                  {edge, add, normalOf(privacy.Interaction, add), "sums", unknown},
		"edges of an interaction":                  {privacy.Interaction, add, normalOf(edge, add), "sums", unknown},
		"examples of an edge":                      {edge, add, normalOf(privacy.Sample, add), "sums", unknown},
		"records of an edge":                       {edge, add, normalOf(privacy.Record, add), "sums", unknown},
		"features of an example":                   {privacy.Sample, add, normalOf(privacy.Feature, add), "sums", unknown},
		"a user's positions":                       {user, swap, pureOf(privacy.Position), "sums", "one user's positions are not bounded in this ledger"},
		"a user's interactions":                    {user, add, normalOf(privacy.Interaction, add), "sums", "one user's interactions are not bounded in this ledger"},
		"a user added, from edges exchanged":       {user, add, normalOf(edge, swap), "sums", "noise about one edge under replace says nothing about one user under add-remove"},
		"a user added, from cells that answer":     {user, add, pureOf(cell), "sums", "under replace says nothing"},
		"an edge added, from one exchanged":        {edge, add, pureOf(edge), "sums", "under replace says nothing"},
		"an edge blanked, from one exchanged":      {edge, zero, normalOf(edge, swap), "sums", "under replace says nothing"},
		"a user less in samples of a fixed size":   {user, add, privacy.Sampled{Event: normalOf(edge, add), Rate: 0.5, Method: privacy.WithoutReplacement}, "sums", "samples of a fixed size"},
		"one of several, with what is known of":    {edge, add, privacy.Composed{Events: []privacy.Event{normalOf(edge, add), normalOf(privacy.Interaction, add)}}, "sums", unknown},
		"an interaction's edges, whatever is said": {privacy.Interaction, swap, normalOf(edge, swap), "sums", unknown},
	} {
		for _, method := range []accountant.Method{byContour, byRenyi, accountant.PLD, accountant.Analytic} {
			r, err := amounts(method, c.unit, c.relation, held, one(c.event)...)
			if err != nil || !math.IsInf(r.Epsilon, 1) || len(r.Unprotected) != 1 || r.Unprotected[0].What != c.what || !strings.Contains(r.Unprotected[0].Why, c.why) {
				t.Errorf("%s, %s: epsilon %v with %v (%v), want infinity with %q", name, method, r.Epsilon, r.Unprotected, err, c.why)
			}
		}
	}
}

// place is how a unit stands to that of an account, in a table of its own.
func place(account, of privacy.Unit) string {
	did := map[privacy.Unit]bool{edge: true, privacy.Interaction: true, cell: true, privacy.Position: true}
	switch {
	case account == of:
		return "same"
	case of == user:
		return "whole"
	case account == user:
		return "part"
	case account == privacy.Feature && did[of], of == privacy.Feature && did[account]:
		return "apart"
	}
	return "unknown"
}

// changes is how many changes of a Gaussian's unit one change of the account's is;
// 0: not known.
func changes(account privacy.Subject, of privacy.Subject, held map[privacy.Unit]int64) int64 {
	by := map[[2]privacy.Neighbouring]int64{{add, add}: 1, {swap, swap}: 1, {zero, zero}: 1, {add, swap}: 2, {zero, swap}: 2, {add, zero}: 2}
	switch place(account.Unit, of.Unit) {
	case "same":
		return by[[2]privacy.Neighbouring{of.Neighbouring, account.Neighbouring}]
	case "whole":
		return by[[2]privacy.Neighbouring{of.Neighbouring, swap}]
	case "part":
		return held[of.Unit] * by[[2]privacy.Neighbouring{of.Neighbouring, account.Neighbouring}]
	}
	return 0
}

// Random ledgers about all units, release by release in a reference of its own: what
// it calls infinite is infinite, of what else there is every release alone and all
// Gaussians together cost no less than their closed forms, and Gaussians that are
// neither sampled nor in parts cost just that.
func TestContainmentOfRandomLedgers(t *testing.T) {
	units := privacy.Units()
	relations := []privacy.Neighbouring{add, swap, zero}
	infinite, finite := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		unit, relation := rapid.SampledFrom(units), rapid.SampledFrom(relations)
		account := privacy.Subject{Unit: unit.Draw(t, "unit"), Neighbouring: relation.Draw(t, "relation")}
		held := map[privacy.Unit]int64{privacy.Feature: 1}
		var holdings []privacy.Holding
		for range rapid.IntRange(0, 4).Draw(t, "holdings") {
			h := privacy.Holding{Unit: user, Of: rapid.SampledFrom(units[3:]).Draw(t, "of"), Most: rapid.Int64Range(1, 6).Draw(t, "most")}
			held[h.Of] = max(held[h.Of], h.Most)
			holdings = append(holdings, h)
		}
		// few units, so that something is finite
		among := rapid.SliceOfN(unit, 1, 2).Draw(t, "units")
		var open, other, loose bool // unprotected or unknown; not Gaussian; sampled or in parts
		mu2, alone := 0.0, 0.0
		leaf := func(n float64) privacy.Event {
			s := privacy.Subject{Unit: rapid.SampledFrom(among).Draw(t, "about"), Neighbouring: relation.Draw(t, "under")}
			kind := rapid.IntRange(0, 9).Draw(t, "kind")
			if kind == 9 {
				open = open || place(account.Unit, s.Unit) != "apart"
				return bareOf(s.Unit)
			}
			if kind > 6 {
				s.Neighbouring = swap
			}
			k := changes(account, s, held)
			if kind > 6 && place(account.Unit, s.Unit) == "part" && (s.Unit == edge || s.Unit == privacy.Interaction) {
				k *= 2 // bits of the old user and of the new
			}
			apart := place(account.Unit, s.Unit) == "apart"
			open = open || k == 0 && !apart
			size := float64(k)
			switch kind {
			case 5, 6:
				other = other || !apart
				alone = max(alone, ofLaplace(size/8))
				return privacy.Laplace{Scale: 8, Sensitivity: 1, Unit: s.Unit, Neighbouring: s.Neighbouring}
			case 7, 8:
				other = other || !apart
				alone = max(alone, ofPure(size/4))
				return privacy.PureLDP{Epsilon: 0.25, Unit: s.Unit}
			}
			mu2 += n * size * size / 100
			return privacy.Gaussian{Sigma: 10, Sensitivity: 1, Unit: s.Unit, Neighbouring: s.Neighbouring}
		}
		var entries []privacy.Entry
		for range rapid.IntRange(1, 6).Draw(t, "entries") {
			count := rapid.Int64Range(1, 3).Draw(t, "count")
			n := float64(count)
			var e privacy.Event
			switch rapid.IntRange(0, 7).Draw(t, "form") {
			case 0:
				e = privacy.SelfComposed{Count: 2, Event: leaf(2 * n)}
			case 1:
				e = privacy.Composed{Events: []privacy.Event{leaf(n), leaf(n)}}
			case 2: // at least one branch is paid for: neither alone is more than what was paid
				before := mu2
				a := leaf(n)
				first := mu2
				b := leaf(n)
				mu2, loose = before+min(first-before, mu2-first), true
				e = privacy.Parallel{Events: []privacy.Event{a, b}}
			case 3: // a sample may cost next to nothing
				before, worst := mu2, alone
				e = someOf(leaf(n), 0.5)
				mu2, alone, loose = before, worst, true
			default:
				e = leaf(n)
			}
			entries = append(entries, entryOf(e, count, 0))
		}
		method := accountant.RDP
		if !other && !loose {
			method = accountant.Analytic
		}
		r, err := amounts(method, account.Unit, account.Neighbouring, holdings, entries...)
		if err != nil { // refused, never guessed
			if loose {
				return
			}
			t.Fatalf("%+v: %v", entries, err)
		}
		want := math.Max(alone, 0)
		if mu2 > 0 {
			want = math.Max(want, ofGaussian(mu2))
		}
		describe := fmt.Sprintf("account of %v with %v: %+v", account, holdings, entries)
		switch {
		case open:
			infinite++
			if !math.IsInf(r.Epsilon, 1) || len(r.Unprotected) == 0 {
				t.Fatalf("%s: epsilon %v, want infinity", describe, r.Epsilon)
			}
		case !(r.Epsilon >= want*(1-1e-9)):
			t.Fatalf("%s: epsilon %v, want at least %v", describe, r.Epsilon, want)
		case method == accountant.Analytic && !(r.Epsilon <= want*(1+1e-9)):
			t.Fatalf("%s: epsilon %v, want %v", describe, r.Epsilon, want)
		case want > 0:
			finite++
		}
	})
	if infinite == 0 || finite == 0 {
		t.Errorf("%d ledgers without bound, %d with one: too few of either", infinite, finite)
	}
}
