package dpsgd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/model/userinput"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/descent"
	"privrec/internal/report"
)

// Privacy holds the content of privacy.json: the account, the steps, and the cost of one unit of data.
type Privacy struct {
	experiment.Account
	Steps Steps  `json:"dp_sgd"`
	Items *Items `json:"items,omitempty"` // nil: they are read in the clear
	// Published names the files that the guarantee of a run with secure noise covers, and no others.
	Published []string `json:"published,omitempty"`
}

// Items describes the release of the items before training.
type Items struct {
	Sigma       float64 `json:"sigma"`
	Sensitivity float64 `json:"sensitivity"` // of one interaction more or less; twice that for another item
	Share       float64 `json:"share"`       // of mu²
	Positions   int     `json:"positions"`   // released, each once
	Most        int64   `json:"most"`        // positions of one user
}

// Steps describes the steps of a run.
type Steps struct {
	Unit     string  `json:"unit"`
	Examples int64   `json:"examples"`
	Rate     float64 `json:"rate"`
	Count    int64   `json:"steps"`
	// Epoch is the number of steps of an epoch of random allocation; 0: steps draw their examples anew.
	Epoch           int64   `json:"steps_of_epoch,omitempty"`
	Clip            float64 `json:"clip"`
	NoiseMultiplier float64 `json:"noise_multiplier"` // calibrated by the exact account
	// what Rényi divergences of integer orders ask for, for the steps alone; 0: random allocation
	ByRDP float64 `json:"noise_multiplier_rdp,omitempty"`
	// Group is the largest number of examples of one user; 1 if examples are users. An interaction is in no more
	// examples.
	Group int64 `json:"group"`
}

// public lists the assumptions of the total.
var public = []privacy.Assumption{
	{What: "a user's own lists",
		Why: "they are computed from the user's own items in the clear, so the guarantee is for what all others see " +
			"(joint differential privacy)"},
	{What: "the settings", Why: "to choose them by results on these rows is not accounted for"},
	{What: "what is measured here", Why: "losses, floors and ranks of test samples are without noise"},
}

// publicOfItems lists the assumptions of the total if items are released. Lists are then computed from releases alone.
var publicOfItems = []privacy.Assumption{
	{What: "how many rows each user has in training and test",
		Why: "an interaction is exchanged for another, and none is added"},
	public[1], public[2],
}

// declared returns the account before anything is released.
func (w *work) declared() *Privacy {
	c := w.cfg.Privacy
	taken := public
	if c.Inputs > 0 {
		taken = publicOfItems
	}
	p := &Privacy{Account: experiment.Protected(taken...)}
	p.Claimed = &experiment.Claim{Eps: privacy.Number(c.Epsilon), Delta: c.Delta, Unit: c.Unit,
		Theorem: "DP-SGD over Poisson batches"}
	if w.cfg.sampling() == privacy.Allocation {
		p.Claimed.Theorem = "DP-SGD over epochs of random allocation"
	}
	if c.Inputs > 0 {
		p.Claimed.Theorem = "a release of all items, and DP-SGD over Poisson batches"
	}
	if w.cfg.Model.UserInput == userinput.Features && w.x.Data.Features != nil {
		p.Features = dipsgnn.AccountFeatures(w.x.Data.Features, c.Features)
	}
	return p
}

// taken returns what the method uses of its data beyond the rows of one unit. With a vector for each user, a gradient
// has as many rows as there are users. If an interaction is exchanged for another, the numbers stay the same.
func (w *work) taken() experiment.Taken {
	t, sets := experiment.Taken{Items: true, Users: w.cfg.Model.UserInput == userinput.ID},
		"the rate and the number of steps"
	switch w.cfg.Privacy.Unit {
	case string(privacy.User):
		n := experiment.HowManyUsers(w.cfg.Data.Public, sets)
		if t.Users {
			n.Of = "users with samples" // not all of a list of users need have any
		}
		t.HowMany = append(t.HowMany, n)
	case string(privacy.Sample):
		t.HowMany = append(t.HowMany, experiment.HowManyRows(w.cfg.Data.Public, "samples", sets))
	}
	return t
}

// account checks all noise of a finished run and composes its steps.
func (w *work) account(p *Privacy) (experiment.Privacy, error) {
	if err := w.noise.End(); err != nil {
		return nil, err
	}
	c := w.cfg.Privacy
	unit := privacy.Unit(c.Unit)
	spent, err := w.spent(unit, c.neighbouring())
	if err != nil {
		return nil, err
	}
	p.Takes(w.ledger)
	p.Add(c.Unit, string(c.neighbouring()), c.Delta, privacy.Number(spent))
	if eps := float64(p.Noised()); !(eps <= c.Epsilon*(1+1e-9)) {
		return nil, fmt.Errorf("the ledger composes to epsilon %.10g for one %s, the setting's is %v", eps, unit,
			c.Epsilon)
	}
	d, n := w.cfg.steps(w.examples, w.sgd.NoiseMultiplier)
	p.Steps = Steps{Unit: c.Unit, Examples: d.Examples, Rate: d.Rate, Count: n, Epoch: d.Steps, Clip: d.Clip,
		NoiseMultiplier: d.NoiseMultiplier}
	if d.Steps > 0 {
		p.Steps.Rate = 1 / float64(d.Steps)
	}
	if p.Steps.ByRDP, err = w.cfg.byRDP(w.examples); err != nil {
		return nil, err
	}
	switch unit {
	case privacy.Interaction:
		return p, w.ofItems(p, d, n)
	case privacy.User:
		p.Steps.Group = 1
		spent, err = w.spent(privacy.Interaction, privacy.AddRemove)
		p.Add(string(privacy.Interaction), string(privacy.AddRemove), c.Delta, privacy.Number(spent))
		return p, err
	}
	p.Steps.Group = most(w.x.Train.Samples.User)
	if w.ledger.Noise() == privacy.Secure {
		d.NoiseMultiplier *= 1 - discrete
	}
	spent, err = group(d, n, p.Steps.Group, c.Delta, nil)
	p.Add(string(privacy.User), string(privacy.AddRemove), c.Delta, privacy.Number(spent))
	return p, err
}

// ofItems adds the cost of one interaction more or less, and that of a user, if items were released.
func (w *work) ofItems(p *Privacy, d descent.DPSGD, steps int64) error {
	law, err := w.cfg.items()
	if err != nil {
		return err
	}
	p.Items = &Items{Sigma: law.Sigma, Sensitivity: law.Sensitivity, Share: w.cfg.Privacy.Inputs,
		Positions: w.items.rows.Rows}
	for u, s := range w.x.Data.Train {
		p.Items.Most = max(p.Items.Most, int64(len(s)+len(w.x.Data.Test[u])))
	}
	delta := w.cfg.Privacy.Delta
	spent, err := w.spent(privacy.Interaction, privacy.AddRemove)
	if err != nil {
		return err
	}
	p.Add(string(privacy.Interaction), string(privacy.AddRemove), delta, privacy.Number(spent))
	p.Steps.Group = most(w.x.Train.Samples.User)
	// The positions of a user have noise of their own each, so squares of distances add up.
	all, err := rdp.Gaussian(law.Sigma, law.Sensitivity*math.Sqrt(float64(p.Items.Most)))
	if err != nil {
		return err
	}
	spent, err = group(d, steps, p.Steps.Group, delta, all)
	p.Add(string(privacy.User), string(privacy.AddRemove), delta, privacy.Number(spent))
	return err
}

// discrete bounds the relative loss of discrete noise against the normal noise that prices it: it has at least 2^10
// steps to a deviation.
const discrete = 1e-5

// most returns the largest number of samples of one user.
func most(users []int32) int64 {
	count, top := map[int32]int64{}, int64(0)
	for _, u := range users {
		count[u]++
		top = max(top, count[u])
	}
	return top
}

// group returns the epsilon at delta of a number of steps, for neighbours with and without k samples: those of one
// user, and the most that one interaction is in. It is infinite if the noise bounds nothing. before is the curve of an
// earlier release; nil: there is none. Samples that are allocated to steps are priced as if all of a group had one
// step.
func group(d descent.DPSGD, steps, k int64, delta float64, before rdp.Curve) (float64, error) {
	if d.Sampling == privacy.Allocation {
		return allocatedGroup(d, steps, k, delta)
	}
	c, err := rdp.SampledGroup(d.Rate, d.NoiseMultiplier, k)
	if err != nil {
		return 0, err
	}
	c = rdp.Times(c, steps)
	if before != nil {
		c = rdp.Sum(c, before)
	}
	p, err := rdp.Epsilon(context.Background(), c, delta, rdp.Options{})
	if errors.Is(err, rdp.ErrNoOrder) { // next to no noise
		return math.Inf(1), nil
	}
	return p.Epsilon, err
}

// allocatedGroup is group for random allocation.
func allocatedGroup(d descent.DPSGD, steps, k int64, delta float64) (float64, error) {
	of := privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}
	e, err := privacy.Group(d.Event(), k, of)
	if err != nil {
		return 0, err
	}
	acc, err := accountant.New(accountant.Contour, of.Unit, of.Neighbouring)
	if err == nil {
		err = acc.Charge(e, d.Count(steps))
	}
	if err != nil {
		return 0, err
	}
	r, err := acc.Spent(delta)
	return r.Epsilon, err
}

// spent returns the composition of the steps in the ledger and the release of items. User features in the ledger are
// other data, with an account of their own.
func (w *work) spent(unit privacy.Unit, n privacy.Neighbouring) (float64, error) {
	acc, err := accountant.New(accountant.Contour, unit, n)
	if err != nil {
		return 0, err
	}
	steps := slices.DeleteFunc(w.ledger.Entries(),
		func(e privacy.Entry) bool { return e.Purpose != purpose && e.Purpose != purposeItems })
	r, err := accountant.Covered(acc, steps, w.cfg.Privacy.Delta)
	if err == nil && !(r.Epsilon > 0 && !math.IsInf(r.Epsilon, 1)) {
		err = fmt.Errorf("account: the steps in the ledger compose to epsilon %v for one %s", r.Epsilon, unit)
	}
	return r.Epsilon, err
}

// Show implements experiment.Privacy.
func (p *Privacy) Show(d *report.Document) {
	p.Account.Show(d)
	s := p.Steps
	example, beside := s.Unit, fmt.Sprintf("; Rényi divergences of integer orders ask for %.4g", s.ByRDP)
	if p.Items != nil { // which the divergences of the steps alone leave out
		example, beside = string(privacy.Sample), " and of the release of items"
	}
	note := fmt.Sprintf("exact account of %d steps, each on a %s with probability %.4g%s", s.Count, example, s.Rate,
		beside)
	if s.Epoch > 0 {
		note = fmt.Sprintf("exact account of %d steps in epochs of %d, a %s in one of each", s.Count, s.Epoch, example)
	}
	d.Facts = append(d.Facts, report.Fact{Label: "noise multiplier", Value: fmt.Sprintf("%.4g", s.NoiseMultiplier),
		Note: note})
	if len(p.Published) > 0 {
		d.Notes = append(d.Notes,
			fmt.Sprintf("what may leave the house: %v; all other files of the run directory depend on users' rows in "+
				"the clear", p.Published))
	}
	if i := p.Items; i != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "noise of items", Value: fmt.Sprintf("std %.4g", i.Sigma),
			Note: fmt.Sprintf("on codes of length %.4g, each of %d positions once, with %.4g of mu²", i.Sensitivity,
				i.Positions, i.Share)})
		d.Notes = append(d.Notes,
			fmt.Sprintf("a user has up to %d positions and is in up to %d samples: to leave them all out costs the "+
				"epsilon of one user (Rényi divergences of a sampled group)", i.Most, s.Group))
	} else if s.Group > 1 {
		by := "Rényi divergences of a sampled group"
		if s.Epoch > 0 {
			by = "a group whose samples all have one step"
		}
		d.Notes = append(d.Notes,
			fmt.Sprintf("a user has up to %d samples, and an interaction is in up to as many: to leave them all out "+
				"costs the epsilon of one user (%s)", s.Group, by))
	}
	if f := p.Features; f != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "user features", Value: "epsilon " + f.Total.String(),
			Note: fmt.Sprintf("local, %d of %d features a user, claimed %v", f.K, f.N, f.Eps1)})
	}
}
