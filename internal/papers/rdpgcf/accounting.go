package rdpgcf

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/protocol/topn"
)

// Ran holds the input of a run's account besides its configuration: the releases that it really made.
type Ran struct {
	Edges    int64   // of the training graph
	Sigma    float64 // standard deviation of the noise in force; 0: none
	Steps    int64   // training steps, each a noisy propagation
	Releases int64   // noisy propagations outside training: validations, final vectors

	// Clean says that vectors propagated without noise were ranked or published.
	Clean bool
	// Selected says that held-out edges decide when training ends or which epoch is reported.
	Selected bool
	// Filtered says that numbers of rows decided which users and items there are.
	Filtered bool
}

// Account holds the content of privacy.json: the claim, the composed releases with their reasoning, and what has no
// noise.
type Account struct {
	experiment.Account
	Method string  `json:"method"`
	Delta  float64 `json:"delta"`
	Sigma  float64 `json:"sigma,omitempty"` // standard deviation of the noise on layers

	Claimed *Claim `json:"claimed"` // null: nothing is claimed
	// Components holds the releases with noise, each kind composed by itself. Covered is the epsilon of all of them
	// together.
	Components []Component    `json:"components"`
	Covered    privacy.Number `json:"covered"`
	CoveredBy  string         `json:"covered_by"`
	Readings   []Reading      `json:"readings,omitempty"` // the claim under every way of counting
	// Published names the files that the guarantee of a run with secure noise covers, and no others.
	Published []string `json:"published,omitempty"`

	total []privacy.Event // of the components, with their counts
	count []int64
}

// Claim holds the paper's claim and how it is counted.
type Claim struct {
	experiment.Claim
	Conversion  string  `json:"conversion"`
	Count       string  `json:"count,omitempty"` // of releases, as in Privacy.Count
	PerStep     int64   `json:"releases_per_step"`
	Sensitivity float64 `json:"sensitivity"`
	Epochs      int     `json:"epochs"`
	Rate        float64 `json:"rate"`
	Steps       int64   `json:"steps"`
}

// claimed returns a claim for an edge by a theorem or another reasoning.
func claimed(epsilon, delta float64, theorem string) experiment.Claim {
	return experiment.Claim{Eps: privacy.Number(epsilon), Delta: delta, Unit: unitEdge, Theorem: theorem}
}

// Component holds one kind of release with noise.
type Component struct {
	Name        string         `json:"name"`
	Releases    int64          `json:"releases"`
	Sensitivity float64        `json:"sensitivity"`
	Std         float64        `json:"std"`
	Rate        float64        `json:"rate"`         // of the edges that a release sees; 1: all
	Mu          privacy.Number `json:"mu,omitempty"` // of the composition where nothing is sampled
	Eps         privacy.Number `json:"eps"`          // exact, of this component alone
}

// Reading holds the epsilon of the noise in force by one way of counting.
type Reading struct {
	Accounting  string         `json:"accounting"`
	Count       string         `json:"count"`
	Releases    int64          `json:"releases"` // in all, a step's counted PerStep times
	Sensitivity float64        `json:"sensitivity"`
	Eps         privacy.Number `json:"eps"`
	Sound       bool           `json:"sound"` // for the forward releases of training, which is the most that any is for
}

const (
	unitEdge  = "edge"
	addRemove = "add-remove"
)

// Account returns the account of a finished run of the paper's method: claim, forward releases, and what they leave
// open.
func (c Config) Account(r Ran) (*Account, error) {
	if c.Privacy.Method != MethodLayers {
		return nil, fmt.Errorf("account: method %q is not %q", c.Privacy.Method, MethodLayers)
	}
	if r.Steps < 0 || r.Releases < 0 || r.Edges < 1 || !(r.Sigma >= 0) || math.IsInf(r.Sigma, 1) {
		return nil, fmt.Errorf("account: %d steps, %d releases, %d edges and sigma %v", r.Steps, r.Releases, r.Edges,
			r.Sigma)
	}
	cal, err := c.Calibration(r.Edges)
	if err != nil {
		return nil, err
	}
	a := newAccount(c.Privacy.Method, c.Privacy.Delta, r.Sigma)
	if r.Sigma > 0 {
		if err := a.claim(c, cal, r.Sigma); err != nil {
			return nil, err
		}
		if err := a.forward(c, cal, r); err != nil {
			return nil, err
		}
	}
	a.Unbounded = c.open(r)
	return a, a.sum()
}

// newAccount returns an account without any release.
func newAccount(method string, delta, sigma float64) *Account {
	return &Account{Method: method, Delta: delta, Sigma: sigma, Components: []Component{},
		Account: experiment.Protected()}
}

// claim adds the paper's guarantee as the configuration reads it, and all readings.
func (a *Account) claim(c Config, cal Calibration, sigma float64) error {
	perStep, sensitivity, err := cal.releases()
	if err != nil {
		return err
	}
	if c.Privacy.Accounting != AccountingFixed {
		bound := boundNames[cal.Accounting]
		if cal.Batch != c.Train.Scheduled().Batch {
			bound += fmt.Sprintf(" for the paper's steps of %d pairs; those that ran have %d", cal.Batch,
				c.Train.Scheduled().Batch)
		}
		a.Claimed = &Claim{Claim: claimed(c.Privacy.Epsilon, cal.Delta, bound), Conversion: cal.Conversion,
			Count: cal.Count, PerStep: perStep, Sensitivity: sensitivity, Epochs: cal.Epochs, Rate: cal.Rate(),
			Steps: cal.Steps()}
	}
	_, isOrder, err := order(cal.Conversion) // whose reading leaves delta out
	if err != nil {
		return err
	}
	for _, accounting := range []string{AccountingPrinted, AccountingPoisson, AccountingNone} {
		for _, count := range []string{CountLayer, CountViews, CountJoint, CountStep} {
			if accounting == AccountingPrinted && (count == CountJoint || count == CountStep) {
				continue // Theorem 3 knows one view only
			}
			cal.Accounting, cal.Count, cal.Whole = accounting, count, accounting != AccountingPrinted
			perStep, sensitivity, err := cal.releases()
			if err != nil {
				return err
			}
			eps, err := cal.EpsilonOf(sigma)
			if err != nil {
				return fmt.Errorf("account: %s, %s: %w", accounting, count, err)
			}
			sound := !isOrder && (accounting == AccountingNone && count != CountLayer ||
				accounting == AccountingPoisson && count == CountStep && c.Privacy.Propagation == PropagationSampled)
			a.Readings = append(a.Readings, Reading{Accounting: accounting, Count: count,
				Releases:    perStep * cal.Steps(),
				Sensitivity: sensitivity, Eps: privacy.Number(eps), Sound: sound})
		}
	}
	return nil
}

var boundNames = map[string]string{
	AccountingPrinted: "subsampled-WOR bound, Theorem 3",
	AccountingPoisson: "Poisson-sampled Gaussian",
	AccountingNone:    "no sampling amplification",
}

// forward adds the releases that were made. Those of training use all edges or sampled ones; the others use all edges.
func (a *Account) forward(c Config, cal Calibration, r Ran) error {
	n := int64(cal.Layers)
	layer := privacy.Gaussian{Sigma: r.Sigma, Sensitivity: cal.Joint, Unit: privacy.Edge,
		Neighbouring: privacy.AddRemove}
	if c.Privacy.Propagation == PropagationSampled {
		step := privacy.Sampled{Rate: cal.Rate(), Method: privacy.Poisson,
			Event: privacy.SelfComposed{Event: layer, Count: n}}
		if err := a.add("forward releases of training, on Poisson samples of the edges", step, r.Steps, layer, n,
			cal.Rate()); err != nil {
			return err
		}
	} else if err := a.add("forward releases of training", layer, r.Steps*n, layer, 1, 1); err != nil {
		return err
	}
	return a.add("forward releases outside training", layer, r.Releases*n, layer, 1, 1)
}

// add composes count events and appends them as a component, if there are any. Each event contains the Gaussian g each
// times.
func (a *Account) add(name string, e privacy.Event, count int64, g privacy.Gaussian, each int64, rate float64) error {
	if count == 0 {
		return nil
	}
	eps, err := a.compose([]privacy.Event{e}, []int64{count})
	if err != nil {
		return fmt.Errorf("account: %s: %w", name, err)
	}
	p := Component{Name: name, Releases: count * each, Sensitivity: g.Sensitivity, Std: g.Sigma, Rate: rate,
		Eps: privacy.Number(eps)}
	if rate == 1 {
		p.Mu = privacy.Number(g.Sensitivity * math.Sqrt(float64(count*each)) / g.Sigma)
	}
	a.Components = append(a.Components, p)
	a.total, a.count = append(a.total, e), append(a.count, count)
	return nil
}

// compose returns the exact epsilon of events at the account's delta.
func (a *Account) compose(events []privacy.Event, count []int64) (float64, error) {
	method := accountant.Analytic
	for _, e := range events {
		if _, ok := e.(privacy.Gaussian); !ok {
			method = accountant.Contour
		}
	}
	acc, err := accountant.New(method, privacy.Edge, privacy.AddRemove)
	if err != nil {
		return 0, err
	}
	for i, e := range events {
		if err := acc.Charge(e, count[i]); err != nil {
			return 0, err
		}
	}
	r, err := acc.Spent(a.Delta)
	return r.Epsilon, err
}

// sum composes all components and sets the total.
func (a *Account) sum() error {
	if len(a.Components) > 0 {
		eps, err := a.compose(a.total, a.count)
		if err != nil {
			return fmt.Errorf("account: %w", err)
		}
		a.Covered, a.CoveredBy = privacy.Number(eps), "exact composition of the components"
	}
	if len(a.Components) == 0 && len(a.Unbounded) == 0 {
		return errors.New("account: nothing is covered and nothing is open")
	}
	a.close()
	return nil
}

// close sets the guarantee of an edge, and the total.
func (a *Account) close() {
	if len(a.Components) > 0 {
		a.Add(unitEdge, addRemove, a.Delta, a.Covered)
		return
	}
	a.Total = privacy.Number(math.Inf(1))
}

// open returns what a run of the paper's method leaves unprotected.
func (c Config) open(r Ran) []experiment.Open {
	var list []experiment.Open
	leave := func(what, why string) { list = append(list, experiment.NotCovered(what, why)) }
	leave("labels", "the gradient of the rows of a positive pair exists because the pair is an edge; it gets no noise")
	if r.Sigma == 0 {
		leave("no_noise", "layers are propagated without noise")
	}
	leave("backward", "the backward pass multiplies by the adjacency again, in the clear; post-processing covers "+
		"functions of the noisy output only")
	leave("layer_0", "the tables are trained on both and leave inside the vectors; so the inputs of a propagation "+
		"depend on the edges, and even its releases do not compose as added up here")
	if c.Model.Norm != "sum" {
		leave("degrees", "the normaliser divides by degrees counted on the training edges: the noise on layers "+
			"covers what they change there, and nothing where the backward pass divides by them again")
	}
	if c.Train.Negatives != "all" {
		leave("negatives", "negatives are drawn among the items that a user does not have, so that the set of the "+
			"others shows")
	}
	if c.Train.Sampler == "user-uniform" {
		leave("sampler", "positives are drawn by users' degrees, which no noise covers")
	}
	if r.Filtered {
		leave("filter", "users and items are there or not by their numbers of rows, so that a row more or less can "+
			"add or remove others")
	}
	if r.Selected {
		list = append(list, topn.OpenSelection)
	}
	leave("mask", "rankings leave out what a user has in training, and so show it")
	if r.Clean {
		leave("release", "vectors propagated without noise were ranked")
	}
	return list
}

// Agree composes a ledger, and fails unless the result equals the account's. So every shown account follows from
// recorded releases.
func (a *Account) Agree(l *privacy.Ledger) error {
	eps, err := a.composeEntries(l.Entries())
	if err != nil {
		return err
	}
	return a.same(eps)
}

// composeEntries returns the exact epsilon of entries of a ledger for one edge, without open ones.
func (a *Account) composeEntries(all []privacy.Entry) (float64, error) {
	acc, err := accountant.New(accountant.Contour, privacy.Edge, privacy.AddRemove)
	if err != nil {
		return 0, fmt.Errorf("compose the ledger: %w", err)
	}
	spent, err := accountant.Covered(acc, all, a.Delta)
	return spent.Epsilon, err
}

// same fails unless eps, the composition of a ledger, equals the account's.
func (a *Account) same(eps float64) error {
	if want := float64(a.Covered); !(math.Abs(eps-want) <= 1e-6*want) {
		return fmt.Errorf("the ledger composes to epsilon %.8g for one edge, the run's account says %.8g", eps, want)
	}
	return nil
}
