package dipsgnn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/model/userinput"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/train"
)

// account checks all noise of a finished run and returns the account of its releases: every pass over the training
// samples, and every noisy ranking of the others.
func (p *protection) account(fitted *experiment.Fitted) (experiment.Privacy, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	account, err := p.tallied(fitted)
	if err != nil {
		return nil, err
	}
	account.Takes(p.ledger)
	if p.period != "" { // the last pass over the data ends here
		if err := p.ledger.Flush(p.period); err != nil {
			return nil, err
		}
	}
	return account, p.agree(account)
}

// tallied returns the account of a training by counting, without the ledger.
func (p *protection) tallied(fitted *experiment.Fitted) (*Privacy, error) {
	a, err := p.counted(fitted)
	if err != nil {
		return nil, err
	}
	account, err := a.Privacy()
	if err != nil {
		return nil, err
	}
	if p.whole != nil {
		account.Noise, account.Published = string(privacy.Secure), []string{experiment.ModelFile, run.LedgerName}
	}
	if p.cfg.Model.UserInput == userinput.Features {
		account.Features = AccountFeatures(p.x.Data.Features, p.cfg.Privacy.Features)
	}
	return account, nil
}

// planned returns the account of a run of all its epochs, with a second training as long as the first.
func (p *protection) planned() (experiment.Privacy, error) { return p.tallied(p.all()) }

// all returns a training of all epochs.
func (p *protection) all() *experiment.Fitted {
	all := &train.Result{Epochs: make([]train.EpochRecord, p.cfg.Train.Epochs)}
	fitted := &experiment.Fitted{Result: all}
	if p.x.Refit != nil {
		fitted.Selection = all
	}
	return fitted
}

// calibrated returns the noise of a setting. If epsilon is for all releases of the run, it counts them.
func (p *protection) calibrated() (Accounting, error) {
	if p.cfg.Privacy.Transitions.Count == "" {
		return p.cfg.accounting(), nil
	}
	a, err := p.counted(p.all())
	return a.calibrated(), err
}

// counted returns the releases of a training in the form of an Accounting.
func (p *protection) counted(fitted *experiment.Fitted) (Accounting, error) {
	if p.cfg.Privacy.Transitions.onEdges() {
		return p.countedGraphs()
	}
	c, x := p.cfg, p.x
	a := c.accounting()
	a.S2M = p.noise.S2M
	a.Epochs = len(fitted.Epochs)
	selection := a.Epochs // epochs after which held-out samples were ranked
	if fitted.Selection != nil {
		selection = len(fitted.Selection.Epochs)
		a.Refit.Passes, a.Epochs = a.Epochs, selection
	}
	tests := 1 // the final evaluation
	if c.Eval.Every && c.Eval.Noise[0] == nextitem.NoiseOn {
		tests += len(fitted.Epochs)
	}
	var err error
	for _, q := range []struct {
		part   *nextitem.Part
		counts *Multiplicity
		noisy  bool
		name   string
		passes int
	}{
		{x.Train, &a.Train, false, "", 0},
		{x.Refit, &a.Refit.Counts, false, "", 0},
		{x.Valid, nil, c.Eval.Noise[0] == nextitem.NoiseOn, "validation", selection},
		{x.Test, nil, slices.Contains(c.Eval.Noise, nextitem.NoiseOn), "test", tests},
	} {
		if q.part == nil {
			continue
		}
		var m Multiplicity
		if m, err = CountPrefixes(q.part.Samples.User, q.part.Samples.Length); err != nil {
			return a, err
		}
		if q.counts != nil {
			*q.counts = m
		} else if q.noisy {
			a.Evaluations = append(a.Evaluations, Evaluation{Name: q.name, Counts: m, Passes: q.passes})
		}
	}
	return a, nil
}

// accounting returns the parts of an account that the configuration alone determines.
func (c Config) accounting() Accounting {
	a := Accounting{
		Epsilon: c.Privacy.Transitions.Epsilon, Delta: c.Privacy.Transitions.Delta, Steps: c.Model.Steps,
		Norm:          c.Model.Norm,
		SquaredStd:    c.Privacy.Transitions.NoiseStd == StdSigmaSquared,
		EvalNoiseOff:  slices.Contains(c.Eval.Noise, nextitem.NoiseOff),
		ZeroAdjacency: c.Model.Adjacency == AdjacencyZero,
		Selected:      c.Train.Selected(),
		Edges:         c.Privacy.Transitions.onEdges(),
		Count:         c.Privacy.Transitions.Count,
		Windows:       c.Privacy.Transitions.Window > 0,
		StopGradient:  c.Privacy.Transitions.StopGradient,
	}
	if a.Edges { // a unit edge moves one entry by one, whatever the network does with it
		a.Steps, a.Norm = 1, 1
	}
	return a
}

// evaluatesNoisily reports whether test samples are ranked with noise.
func (p *protection) evaluatesNoisily() bool {
	return slices.Contains(p.cfg.Eval.Noise, nextitem.NoiseOn)
}

// countedGraphs returns the releases of EdgeRand: every prefix once, however often it is read.
func (p *protection) countedGraphs() (a Accounting, err error) {
	a = p.cfg.accounting()
	a.Epochs = 1
	all := dataset.Prefixes(p.x.Train.Sequences)
	if a.Train, err = ofGraphs.count(all.User, all.Length); err != nil || !p.evaluatesNoisily() {
		return a, err
	}
	m, err := ofGraphs.count(p.x.Test.Samples.User, p.x.Test.Samples.Length)
	a.Evaluations = []Evaluation{{Name: "test", Counts: m, Passes: 1}}
	return a, err
}

// agree composes the noise in the ledger for one unit edge. It fails unless the result equals the counted one, so that
// every shown account follows from recorded releases. With a zero adjacency the ledger is only an upper bound.
func (p *protection) agree(account *Privacy) error {
	if p.noise.NoiseStd() == 0 || p.cfg.Model.Adjacency == AdjacencyZero {
		return nil
	}
	method := accountant.Analytic
	if p.whole != nil {
		method = accountant.Contour // discrete
	}
	g, err := accountant.New(method, privacy.Edge, privacy.AddRemove)
	if err != nil {
		return fmt.Errorf("compose the ledger: %w", err)
	}
	spent, err := accountant.Covered(g, p.ledger.Entries(), account.Delta)
	if err != nil {
		return err
	}
	want := float64(account.Units[0].Accounted.EpsExact)
	if got := spent.Epsilon; !(math.Abs(got-want) <= 1e-6*want) {
		return fmt.Errorf("the ledger composes to epsilon %.8g for one unit edge, the run's account says %.8g", got,
			want)
	}
	return nil
}

// AccountFeatures returns the account of the perturbed user features.
func AccountFeatures(f *dataset.Features, c FeatureConfig) *experiment.Features {
	s := sampler(f, c)
	k := len(s.Features)
	if !math.IsInf(c.Epsilon, 1) {
		k = s.K()
	}
	return Features(c.Epsilon, k, len(s.Features), c.Unselected == UnselectedRaw, scaled(f))
}

// scaled reports whether some feature is a number, whose range comes from the data.
func scaled(f *dataset.Features) bool {
	return slices.ContainsFunc(f.Columns, func(c dataset.Column) bool { return c.Kind == dataset.Numeric })
}

// Show adds claim and account to a result.
func (p *Privacy) Show(d *report.Document) {
	one, on := "one release of one matrix", "aggregations"
	if p.NoiseOn == NoiseOnEdges {
		one, on = "its noise for one entry of the graph of one prefix", "session graphs, released once,"
	}
	if of := p.Claimed.Unit; of != unitOf[CountEdge] || p.Claimed.S2 != s2Claimed {
		one = "all releases of the run, for one " + of
	}
	said := p.Account
	if p.Claimed != nil {
		said.Claimed = &p.Claimed.Claim
	}
	d.Conclusion = said.Conclusion()
	d.Facts = append(d.Facts,
		report.Fact{Label: "claimed epsilon", Value: p.Claimed.Eps.String(),
			Note: fmt.Sprintf("theorem %s at delta %g: %s", p.Claimed.Theorem, p.Delta, one)},
		report.Fact{Label: "accounted epsilon", Value: p.Total.String(), Note: p.reason()},
	)
	if p.Features != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "user features", Value: "epsilon " + p.Features.Total.String(),
			Note: fmt.Sprintf("local, %d of %d features a user, claimed %v", p.Features.K, p.Features.N,
				p.Features.Eps1)})
	}
	t := &report.Table{
		Name: "privacy", Title: fmt.Sprintf("What the noise on "+on+
			" amounts to (delta %g, noise std %.4g, sigma %.4g)", p.Delta, p.NoiseStd, p.Sigma),
		Columns: []report.Column{{Name: "counting"}, {Name: "squared sensitivity x releases", Format: "%.0f"},
			{Name: "epsilon, paper's conversion", Format: "%.2f"}, {Name: "epsilon, exact", Format: "%.2f"}},
	}
	for _, r := range p.Table {
		t.Add(r.Name, r.S2M, float64(r.EpsRDP), float64(r.EpsExact))
	}
	for _, u := range p.Units {
		t.Add(fmt.Sprintf("whole run, evaluations included: %s, %s", u.Unit.Unit, u.Neighbouring),
			u.Accounted.S2M, float64(u.Accounted.EpsRDP), float64(u.Accounted.EpsExact))
	}
	t.Notes = append(t.Notes,
		"units are counted after filtering, truncation and split, which depend on the rows of all users")
	for _, u := range p.Unbounded {
		t.Notes = append(t.Notes, fmt.Sprintf("no bound, %s: %s", u.What, u.Why))
	}
	if len(p.Published) > 0 {
		t.Notes = append(t.Notes,
			fmt.Sprintf("what may leave the house: %v; all other files of the run directory depend on users' rows in "+
				"the clear", p.Published))
	}
	if len(p.Public) > 0 {
		t.Notes = append(t.Notes, "taken as public: "+p.PublicText())
	}
	d.Tables = append(d.Tables, t)
}

// reason returns the assumptions behind the total as a sentence.
func (p *Privacy) reason() string {
	if len(p.Unbounded) > 0 {
		return "without bound: " + strings.Join(experiment.Names(p.Unbounded), ", ")
	}
	return "the worst unit, over all releases of the run"
}
