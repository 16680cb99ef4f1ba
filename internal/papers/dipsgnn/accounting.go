package dipsgnn

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// Accounting holds the input of a run's account: how the noise was set, and how often it was drawn.
//
// Releases of l2 sensitivity s C with noise of standard deviation std compose to mu² = T s² M (C/std)². M is the number
// of releases that the differing entries are in. Theorem 4.2 is the case s² = M = 1.
type Accounting struct {
	Epsilon float64 // eps2, claimed; +Inf is the variant without noise
	Delta   float64
	Steps   int     // T
	Norm    float64 // C
	// SquaredStd says that the noise has standard deviation sigma², as in the published program, although sigma itself
	// is computed as a standard deviation.
	SquaredStd bool

	Train  Multiplicity // of one pass over the training samples
	Epochs int          // passes really made
	Refit  Evaluation   // a second training, on all samples; no passes: none
	// Evaluations are the noisy passes over other samples. EvalNoiseOff says whether there
	// were passes without noise.
	Evaluations  []Evaluation
	EvalNoiseOff bool // some ranking that leaves the run was made without noise
	Selected     bool // rows held out of training decide when it ends or which epoch is reported

	// Count names the neighbours that epsilon is for, over all releases: CountEdge, CountSwap, or "" for one release of
	// one matrix. S2M is the resulting s² M, known beforehand.
	Count string
	S2M   int64

	// Windows says that training samples share no row, and each has one label.
	Windows bool
	// StopGradient says that the backward pass does not go through the adjacency. This is a
	// repair: the paper and its program go through it, in the clear.
	StopGradient bool
	// Edges says that session graphs have the noise, each drawn once: C and T are 1, and Train counts every prefix
	// once.
	Edges bool
	// ZeroAdjacency is the ablation A = 0, in which only noise reaches the network.
	ZeroAdjacency bool
}

// Evaluation counts noisy passes over one set of samples.
type Evaluation struct {
	Name   string // validation, test
	Counts Multiplicity
	Passes int
}

// Sigma returns the standard deviation that the theorem requires for the claimed epsilon, sigma = C sqrt(T)/mu; 0
// without noise. If epsilon is for all releases it is C sqrt(T s² M)/mu. Source: the inverse of theorem 4.2.
func (a Accounting) Sigma() float64 {
	if math.IsInf(a.Epsilon, 1) {
		return 0
	}
	return accountant.ClosedSigma(a.Norm, float64(a.Steps)*float64(max(1, a.S2M)), a.Epsilon, a.Delta)
}

// NoiseStd returns the standard deviation of the noise that the run adds.
func (a Accounting) NoiseStd() float64 {
	s := a.Sigma()
	if a.SquaredStd {
		return s * s
	}
	return s
}

func (a Accounting) validate() error {
	check := func(ok bool, format string, args ...any) error {
		if ok {
			return nil
		}
		return fmt.Errorf("accounting: "+format, args...)
	}
	errs := []error{
		check(a.Epsilon > 0, "epsilon is %v, want positive", a.Epsilon),
		check(a.Delta > 0 && a.Delta < 1, "delta is %v, want between 0 and 1", a.Delta),
		check(a.Steps >= 1, "steps is %d, want at least 1", a.Steps),
		check(a.Norm > 0 && !math.IsInf(a.Norm, 1), "norm is %v, want positive and finite", a.Norm),
		check(a.Epochs >= 0, "epochs is %d", a.Epochs),
	}
	for _, e := range append([]Evaluation{{Name: "refit", Passes: a.Refit.Passes}}, a.Evaluations...) {
		errs = append(errs, check(e.Passes >= 0 && e.Name != "", "evaluation %q has %d passes", e.Name, e.Passes))
	}
	return errors.Join(errs...)
}

// Privacy returns the account of the run in the form of privacy.json.
func (a Accounting) Privacy() (*Privacy, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	p := &Privacy{
		Account: experiment.Account{Version: experiment.Version, Noise: string(privacy.Research),
			Unbounded: a.unbounded()},
		Delta: a.Delta, T: a.Steps, C: a.Norm, Sigma: a.Sigma(), NoiseStd: a.NoiseStd(),
		Evaluations: []EvaluationCount{},
		Claimed: &Claim{S2: s2Claimed, M: 1,
			Claim: experiment.Claim{Theorem: "4.2", Unit: "edge-unit", Eps: privacy.Number(a.Epsilon), Delta: a.Delta}},
	}
	if a.Edges {
		p.NoiseOn = NoiseOnEdges
	}
	if a.Count != "" {
		p.Claimed = &Claim{S2: int(a.S2M), M: 1, Claim: experiment.Claim{Theorem: "4.2", Unit: unitOf[a.Count],
			Eps: privacy.Number(a.Epsilon), Delta: a.Delta}}
	}
	if a.closed() {
		p.Public = public
	}
	for _, e := range a.evaluationsRun() {
		p.Evaluations = append(p.Evaluations, EvaluationCount{e.Name, e.Passes})
	}
	var err error
	if p.Table, err = a.table(); err != nil {
		return nil, err
	}
	if p.Units, err = a.units(p); err != nil {
		return nil, err
	}
	return p, nil
}

// evaluationsRun returns the evaluations that took place.
func (a Accounting) evaluationsRun() (ran []Evaluation) {
	for _, e := range a.Evaluations {
		if e.Passes > 0 {
			ran = append(ran, e)
		}
	}
	return ran
}

// cost returns the cost of releases with a given s² M: mu² and both epsilons. Data released without noise have no
// bound. With a zero adjacency the releases do not depend on the data and cost nothing, whatever the theorem would
// charge for them.
func (a Accounting) cost(s2m float64) (Cost, error) {
	if a.ZeroAdjacency {
		s2m = 0
	}
	return a.charge(s2m)
}

func (a Accounting) charge(s2m float64) (Cost, error) {
	if s2m == 0 {
		return Cost{}, nil
	}
	std := a.NoiseStd()
	if std == 0 {
		inf := privacy.Number(math.Inf(1))
		return Cost{S2M: s2m, Mu2: inf, EpsRDP: inf, EpsExact: inf}, nil
	}
	mu2 := float64(a.Steps) * s2m * (a.Norm / std) * (a.Norm / std)
	exact, err := accountant.Exact(math.Sqrt(mu2), a.Delta)
	if err != nil {
		return Cost{}, fmt.Errorf("accounting: %w", err)
	}
	return Cost{S2M: s2m, Mu2: privacy.Number(mu2), EpsRDP: privacy.Number(accountant.Closed(mu2, a.Delta)),
		EpsExact: privacy.Number(exact)}, nil
}

// counting is one way to count a run's releases: its name and its s² M.
type counting struct {
	name string
	s2m  int64
}

// countings lists the ways to count, from that of the theorem to that of the real training.
func (a Accounting) countings() []counting {
	s := a.sensitivity()
	m, e := a.Train, int64(a.Epochs)
	all := func(of func(m Multiplicity) int64) int64 {
		return of(m)*e + of(a.Refit.Counts)*int64(a.Refit.Passes)
	}
	if a.Edges {
		return []counting{
			{"one prefix (what the theorem counts)", s2Claimed},
			{"deletion inside a sequence, one prefix", s.deleteInside},
			{"substitution, four different items, one prefix", s.replaceApart},
			{"substitution, worst coincidence, one prefix", s.replaceInside},
			{"unit edge, all prefixes", s.edge * m.Edge},
			{"deletion, all prefixes", m.Deletion},
			{"substitution, all prefixes", m.Substitution},
			{"user, all prefixes", m.User},
		}
	}
	list := []counting{
		{"one matrix, one release (what the theorem counts)", s2Claimed},
		{"both matrices", s.edge},
		{"deletion inside a sequence, one release", s.deleteInside},
		{"substitution, four different items, one release", s.replaceApart},
		{"substitution, worst coincidence, one release", s.replaceInside},
		{"unit edge, one epoch", s.edge * m.Edge},
		{"unit edge, all epochs", all(func(m Multiplicity) int64 { return s.edge * m.Edge })},
		{"deletion, one epoch", m.Deletion},
		{"deletion, all epochs", all(func(m Multiplicity) int64 { return m.Deletion })},
		{"substitution, all epochs", all(func(m Multiplicity) int64 { return m.Substitution })},
		{"user, all epochs", all(func(m Multiplicity) int64 { return m.User })},
	}
	if a.closed() { // interactions and users are not protected: which items there are is public
		list = append(slices.Clone(list[:2]), list[5:7]...)
	}
	if a.Windows {
		list = append(list, counting{"swap of two items, one release", s.swap},
			counting{"swap of two items, all epochs", all(func(m Multiplicity) int64 { return m.Swap })},
			counting{"any order of a window's items, all epochs", all(func(m Multiplicity) int64 { return m.User })})
	}
	return list
}

// table returns the cost of each way to count, from that of the theorem to that of the real training.
func (a Accounting) table() (rows []Row, err error) {
	for _, r := range a.countings() {
		price := a.cost
		if r.s2m == s2Claimed {
			price = a.charge // what the theorem says, whatever ran
		}
		c, err := price(float64(r.s2m))
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{r.name, c})
	}
	return rows, nil
}

// unitOf maps the values of Count to names of units.
var unitOf = map[string]string{CountEdge: "edge-unit", CountSwap: "swap"}

// unit is one kind of neighbour: its name and relation, its worst single release, and its s² M of one pass.
type unit struct {
	name, neighbours string
	s2               int64
	of               func(m Multiplicity) int64
}

// kinds lists the units of an account. If labels and readout are public, only transitions and their order are
// protected.
func (a Accounting) kinds() []unit {
	s := a.sensitivity()
	edge := unit{unitOf[CountEdge], "add-remove", s.edge, func(m Multiplicity) int64 { return s.edge * m.Edge }}
	swap := unit{unitOf[CountSwap], "replace", s.swap, func(m Multiplicity) int64 { return m.Swap }}
	if a.closed() {
		return []unit{edge, swap}
	}
	list := []unit{edge,
		{"delete", "add-remove", s.deleteInside, func(m Multiplicity) int64 { return m.Deletion }},
		{"substitute", "replace", s.replaceInside, func(m Multiplicity) int64 { return m.Substitution }},
		{"user", "replace", 0, func(m Multiplicity) int64 { return m.User }},
	}
	if a.Windows {
		list = append(list, swap)
	}
	return list
}

// whole returns the s² M of a unit over all releases of the run. Training and evaluation parts are disjoint pieces of a
// sequence, or disjoint samples of one, so the sum of the worst of each is an upper bound.
func (a Accounting) whole(of func(m Multiplicity) int64) int64 {
	s2m := of(a.Train)*int64(a.Epochs) + of(a.Refit.Counts)*int64(a.Refit.Passes)
	for _, e := range a.evaluationsRun() {
		s2m += of(e.Counts) * int64(e.Passes)
	}
	return s2m
}

// calibrated returns the accounting with the noise for all counted releases, if epsilon is for these.
func (a Accounting) calibrated() Accounting {
	for _, u := range a.kinds() {
		if a.Count != "" && u.name == unitOf[a.Count] {
			a.S2M = a.whole(u.of)
		}
	}
	return a
}

// units returns the account of the run for each unit.
func (a Accounting) units(p *Privacy) ([]UnitAccount, error) {
	releases := a.Train.Edge*int64(a.Epochs) + a.Refit.Counts.Edge*int64(a.Refit.Passes)
	var eval int64
	for _, e := range a.evaluationsRun() {
		eval += e.Counts.Edge * int64(e.Passes)
	}
	var out []UnitAccount
	for _, u := range a.kinds() {
		c, err := a.cost(float64(a.whole(u.of)))
		if err != nil {
			return nil, err
		}
		p.Account.Add(u.name, u.neighbours, a.Delta, c.EpsExact)
		row := UnitAccount{p.Account.Units[len(p.Account.Units)-1], Accounted{S2: u.s2, MTrain: releases, MEval: eval,
			Cost: c}}
		out = append(out, row)
	}
	return out, nil
}
