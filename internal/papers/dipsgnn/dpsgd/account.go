package dpsgd

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/report"
)

// Privacy is what privacy.json holds: the account, the steps, and what one unit of data amounts to.
type Privacy struct {
	experiment.Account
	Steps Steps `json:"dp_sgd"`
}

// Steps describes the steps of a run.
type Steps struct {
	Unit            string  `json:"unit"`
	Examples        int64   `json:"examples"`
	Rate            float64 `json:"rate"`
	Count           int64   `json:"steps"`
	Clip            float64 `json:"clip"`
	NoiseMultiplier float64 `json:"noise_multiplier"`     // calibrated by the exact account
	ByRDP           float64 `json:"noise_multiplier_rdp"` // what Rényi divergences of integer orders ask for
	// Group is how many examples one user has at most. Where it is 1 examples are users. An interaction is in no more.
	Group int64 `json:"group"`
}

// public is what the total takes as public.
var public = []privacy.Assumption{
	{What: "which items there are, how many samples and users, and how the rows were filtered, truncated and split", Why: "they depend on the rows of all users; numbers set the rate and the number of steps"},
	{What: "a user's own lists", Why: "they are computed from the user's own items in the clear, so the guarantee is for what all others see (joint differential privacy)"},
	{What: "the settings", Why: "to choose them by results on these rows is not accounted for"},
	{What: "what is measured here", Why: "losses, floors and ranks of test samples are without noise"},
}

// declared returns the account before anything is released.
func (w *work) declared() *Privacy {
	c := w.cfg.Privacy
	p := &Privacy{Account: experiment.Protected(public...)}
	p.Claimed = &experiment.Claim{Eps: privacy.Number(c.Epsilon), Delta: c.Delta, Unit: c.Unit, Theorem: "DP-SGD over Poisson batches"}
	if w.cfg.Model.UserInput == nextitem.UserFeatures && w.x.Data.Features != nil {
		p.Features = dipsgnn.AccountFeatures(w.x.Data.Features, c.Features)
	}
	return p
}

// account checks all noise of a finished run and composes its steps.
func (w *work) account(p *Privacy) (nextitem.Account, error) {
	if err := w.noise.End(); err != nil {
		return nil, err
	}
	c := w.cfg.Privacy
	unit := privacy.Unit(c.Unit)
	spent, err := w.spent(unit)
	if err != nil {
		return nil, err
	}
	p.Add(c.Unit, string(privacy.AddRemove), c.Delta, privacy.Number(spent))
	if eps := float64(p.Total); !(eps <= c.Epsilon*(1+1e-9)) {
		return nil, fmt.Errorf("the ledger composes to epsilon %.10g for one %s, the setting's is %v", eps, unit, c.Epsilon)
	}
	d, n := w.cfg.steps(w.examples, w.sgd.NoiseMultiplier)
	p.Steps = Steps{Unit: c.Unit, Examples: d.Examples, Rate: d.Rate, Count: n, Clip: d.Clip, NoiseMultiplier: d.NoiseMultiplier}
	if p.Steps.ByRDP, err = w.cfg.byRDP(w.examples); err != nil {
		return nil, err
	}
	if unit == privacy.User {
		p.Steps.Group = 1
		spent, err = w.spent(privacy.Interaction)
		p.Add(string(privacy.Interaction), string(privacy.AddRemove), c.Delta, privacy.Number(spent))
		return p, err
	}
	p.Steps.Group = most(w.x.Train.Samples.User)
	spent, err = group(d, n, p.Steps.Group, c.Delta)
	p.Add(string(privacy.User), string(privacy.AddRemove), c.Delta, privacy.Number(spent))
	return p, err
}

// most returns the number of samples of the user who has most.
func most(users []int32) int64 {
	count, top := map[int32]int64{}, int64(0)
	for _, u := range users {
		count[u]++
		top = max(top, count[u])
	}
	return top
}

// group returns the epsilon at delta of so many steps for neighbours with and without k samples, which is what one user
// has, and what one interaction is in at most.
func group(d channel.DPSGD, steps, k int64, delta float64) (float64, error) {
	c, err := rdp.SampledGroup(d.Rate, d.NoiseMultiplier, k)
	if err != nil {
		return 0, err
	}
	p, err := rdp.Epsilon(rdp.Times(c, steps), delta, rdp.Options{})
	return p.Epsilon, err
}

// spent composes the steps that the ledger has. What it has of user features is other data, with an account of
// its own.
func (w *work) spent(unit privacy.Unit) (float64, error) {
	acc, err := accountant.New(accountant.Contour, unit, privacy.AddRemove)
	if err != nil {
		return 0, err
	}
	steps := slices.DeleteFunc(w.ledger.Entries(), func(e privacy.Entry) bool { return e.Purpose != purpose })
	r, err := accountant.Covered(acc, steps, w.cfg.Privacy.Delta)
	if err == nil && !(r.Epsilon > 0 && !math.IsInf(r.Epsilon, 1)) {
		err = fmt.Errorf("account: the steps in the ledger compose to epsilon %v for one %s", r.Epsilon, unit)
	}
	return r.Epsilon, err
}

// Show implements nextitem.Account.
func (p *Privacy) Show(d *report.Document) {
	p.Account.Show(d)
	s := p.Steps
	d.Facts = append(d.Facts, report.Fact{Label: "noise multiplier", Value: fmt.Sprintf("%.4g", s.NoiseMultiplier),
		Note: fmt.Sprintf("exact account of %d steps, each on a %s with probability %.4g; Rényi divergences of integer orders ask for %.4g", s.Count, s.Unit, s.Rate, s.ByRDP)})
	if s.Group > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("a user has up to %d samples, and an interaction is in up to as many: to leave them all out costs the epsilon of one user (Rényi divergences of a sampled group)", s.Group))
	}
	if f := p.Features; f != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "user features", Value: "epsilon " + f.Total.String(),
			Note: fmt.Sprintf("local, %d of %d features a user, claimed %v", f.K, f.N, f.Eps1)})
	}
}
