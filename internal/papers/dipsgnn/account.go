package dipsgnn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/report"
)

// account checks all noise of a finished run and counts its releases. These are every pass
// over the training samples, and every noisy ranking of the others.
func (p *protection) account(fitted *experiment.Fitted) (nextitem.Account, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	a, err := p.counted(fitted)
	if err != nil {
		return nil, err
	}
	account, err := a.Privacy()
	if err != nil {
		return nil, err
	}
	if p.cfg.Model.UserInput == nextitem.UserFeatures {
		account.Features = p.features()
	}
	if p.period != "" { // the last pass over the data ends here
		if err := p.ledger.Flush(p.period); err != nil {
			return nil, err
		}
	}
	return account, p.agree(account)
}

// counted returns what ran, as the accounting takes it.
func (p *protection) counted(fitted *experiment.Fitted) (Accounting, error) {
	c, x := p.cfg, p.x
	a := c.accounting()
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

// accounting returns what a configuration alone says of a run.
func (c Config) accounting() Accounting {
	return Accounting{
		Epsilon: c.Privacy.Transitions.Epsilon, Delta: c.Privacy.Transitions.Delta, Steps: c.Model.Steps, Norm: c.Model.Norm,
		SquaredStd:    c.Privacy.Transitions.NoiseStd == StdSigmaSquared,
		EvalNoiseOff:  slices.Contains(c.Eval.Noise, nextitem.NoiseOff),
		ZeroAdjacency: c.Model.Adjacency == AdjacencyZero,
		Selected:      c.Train.Selected(),
	}
}

// agree composes what the ledger has of noise for one unit edge. It fails unless that comes to
// what was counted, so that no account is shown that does not follow from what was recorded.
// With a zero adjacency the ledger is only an upper bound.
func (p *protection) agree(account *Privacy) error {
	if _, std := p.cfg.deviations(); std == 0 || p.cfg.Model.Adjacency == AdjacencyZero {
		return nil
	}
	g, err := accountant.New(accountant.Analytic, privacy.Edge, privacy.AddRemove)
	if err != nil {
		return fmt.Errorf("compose the ledger: %w", err)
	}
	spent, err := accountant.Covered(g, p.ledger.Entries(), account.Delta)
	if err != nil {
		return err
	}
	want := float64(account.Units[0].Accounted.EpsExact)
	if got := spent.Epsilon; !(math.Abs(got-want) <= 1e-6*want) {
		return fmt.Errorf("the ledger composes to epsilon %.8g for one unit edge, the run's account says %.8g", got, want)
	}
	return nil
}

// features accounts for the perturbed user features.
func (p *protection) features() *experiment.Features {
	c, f := p.cfg.Privacy.Features, p.x.Data.Features
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

// Show puts claim and account into a result.
func (p *Privacy) Show(d *report.Document) {
	d.Facts = append(d.Facts,
		report.Fact{Label: "claimed epsilon", Value: p.Claimed.Eps.String(),
			Note: fmt.Sprintf("theorem %s at delta %g: one release of one matrix", p.Claimed.Theorem, p.Delta)},
		report.Fact{Label: "accounted epsilon", Value: p.Total.String(), Note: p.reason()},
	)
	if p.Features != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "user features", Value: "epsilon " + p.Features.Total.String(),
			Note: fmt.Sprintf("local, %d of %d features a user, claimed %v", p.Features.K, p.Features.N, p.Features.Eps1)})
	}
	t := &report.Table{
		Name: "privacy", Title: fmt.Sprintf("What the noise on aggregations amounts to (delta %g, noise std %.4g, sigma %.4g)", p.Delta, p.NoiseStd, p.Sigma),
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
	t.Notes = append(t.Notes, "units are counted after filtering, truncation and split, which depend on the rows of all users")
	for _, u := range p.Unbounded {
		t.Notes = append(t.Notes, fmt.Sprintf("no bound, %s: %s", u.What, u.Why))
	}
	d.Tables = append(d.Tables, t)
}

// reason says what the total rests on.
func (p *Privacy) reason() string {
	if len(p.Unbounded) > 0 {
		return "without bound: " + strings.Join(experiment.Names(p.Unbounded), ", ")
	}
	return "the worst unit, over all releases of the run"
}
