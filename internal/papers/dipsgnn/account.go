package dipsgnn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/report"
	"privrec/internal/train"
)

// account counts the releases of a finished run: every pass over the training
// samples, and every noisy ranking of the others.
func (p *protection) account(fitted *train.Result) (*Privacy, error) {
	c, x, epochs := p.cfg, p.x, len(fitted.Epochs)
	counts := func(q *part) (Multiplicity, error) {
		return CountPrefixes(q.samples.User, q.samples.Length)
	}
	train, err := counts(x.train)
	if err != nil {
		return nil, err
	}
	a := Accounting{
		Epsilon: c.Privacy.Transitions.Epsilon, Delta: c.Privacy.Transitions.Delta, Steps: c.Model.Steps, Norm: c.Model.Norm,
		SquaredStd: c.Privacy.Transitions.NoiseStd == StdSigmaSquared,
		Train:      train, Epochs: epochs,
		EvalNoiseOff:  slices.Contains(c.Eval.Noise, NoiseOff),
		ZeroAdjacency: c.Model.Adjacency == AdjacencyZero,
	}
	if c.Eval.Noise[0] == NoiseOn && x.valid != nil {
		held, err := counts(x.valid)
		if err != nil {
			return nil, err
		}
		a.Evaluations = append(a.Evaluations, Evaluation{Name: "validation", Counts: held, Passes: epochs})
	}
	if slices.Contains(c.Eval.Noise, NoiseOn) {
		test, err := counts(x.test)
		if err != nil {
			return nil, err
		}
		a.Evaluations = append(a.Evaluations, Evaluation{Name: "test", Counts: test, Passes: p.testPasses(epochs)})
	}
	account, err := a.Privacy()
	if err != nil {
		return nil, err
	}
	if c.Model.UserInput == UserFeatures {
		account.Features = p.features()
	}
	if p.period != "" { // the last pass over the data ends here
		if err := p.ledger.Flush(p.period); err != nil {
			return nil, err
		}
	}
	if err := account.Record(p.ledger); err != nil {
		return nil, err
	}
	return account, p.ledger.Flush("after the run")
}

// testPasses is how often the test samples were ranked with noise.
func (p *protection) testPasses(epochs int) int {
	n := 0
	if p.cfg.Train.Select != SelectTest {
		n++ // the final evaluation
	}
	if p.cfg.Eval.Every && p.cfg.Eval.Noise[0] == NoiseOn {
		n += epochs
	}
	return n
}

// features accounts the perturbed user features.
func (p *protection) features() *FeatureAccount {
	c, f := p.cfg.Privacy.Features, p.x.data.Features
	s := sampler(f, c)
	k := len(s.Features)
	if !math.IsInf(c.Epsilon, 1) {
		k = s.K()
	}
	return Features(c.Epsilon, k, len(s.Features), c.Unselected == UnselectedRaw, scaled(f))
}

// Show puts claim and account into a result.
func (p *Privacy) Show(d *report.Document) {
	d.Facts = append(d.Facts,
		report.Fact{Label: "claimed epsilon", Value: p.Claimed.Eps.String(),
			Note: fmt.Sprintf("theorem %s at delta %g: one release of one matrix", p.Claimed.Theorem, p.Delta)},
		report.Fact{Label: "accounted epsilon", Value: p.EpsTotal.String(), Note: p.reason()},
	)
	if p.Features != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "user features", Value: "epsilon " + p.Features.EpsTotal.String(),
			Note: fmt.Sprintf("local, %d of %d features a user, claimed %v", p.Features.K, p.Features.N, p.Features.Eps1)})
	}
	t := &report.Table{
		Name: "privacy", Title: fmt.Sprintf("What the noise on aggregations amounts to (delta %g, noise std %.4g, sigma %.4g)", p.Delta, p.NoiseStd, p.Sigma),
		Columns: []report.Column{{Name: "counting"}, {Name: "s2 M", Format: "%.0f"}, {Name: "eps, paper's conversion", Format: "%.2f"}, {Name: "eps, exact", Format: "%.2f"}},
	}
	for _, r := range p.Table {
		t.Add(r.Name, r.S2M, float64(r.EpsRDP), float64(r.EpsExact))
	}
	for _, u := range p.Unbounded {
		t.Notes = append(t.Notes, fmt.Sprintf("no bound, %s: %s", u.What, u.Why))
	}
	d.Tables = append(d.Tables, t)
}

// reason says what the total rests on.
func (p *Privacy) reason() string {
	if len(p.Unbounded) > 0 {
		return "without bound: " + strings.Join(p.names(), ", ")
	}
	return "the worst unit, over all releases of the run"
}
