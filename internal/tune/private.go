package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// If the rows that choose are private, the choice is accounted for by theorem 2 of Papernot and Steinke (ICLR 2022). A
// trial draws its setting, trains, and scores itself. The best of a random number of such trials is released, and
// nothing of the others: neither the log nor the number of trials. The score needs an account too, so the sum of the
// users' scores gets Gaussian noise. A user's score is from 0 to 1 and, given a trial's releases, depends on their own
// rows alone: one user added or removed changes the sum by at most 1.

// scoreNoise returns the mechanism of the noise on a trial's score.
func (s *Study) scoreNoise() channel.Gaussian {
	return channel.Gaussian{Purpose: "sum of the users' scores", Sigma: s.Selection.Sigma, Sensitivity: 1,
		Unit: privacy.User, Neighbouring: privacy.AddRemove}
}

// scoreStream returns the stream of the noise on a trial's score. Its name includes everything that scores depend on:
// two studies that score one trial in two ways would otherwise add the same normals, and the difference would reveal
// the users' scores. It includes the data, so that other rows get other noise.
func (s *Study) scoreStream(t *Task, trial string, data []run.Data) rng.Stream {
	fields := []string{"tune score", trial, s.Objective, t.Release, fmt.Sprint(s.Selection.Sigma)}
	for _, d := range data {
		fields = append(fields, d.Name, d.SHA256)
	}
	return rng.Seed(s.Seed).Key().Stream(fields...)
}

// blur replaces the score of a trial by the noisy sum over users, and removes values without noise.
func (s *Study) blur(x trial, dir, protocol string, l *Line) error {
	if protocol != topn.Name {
		return run.Usagef("rows: public, or another task",
			"%s: a user has several samples under protocol %s, so one user changes the score without bound",
			x.task.Task, protocol)
	}
	var o struct {
		Data struct {
			Users int `json:"test_users"`
		} `json:"data"`
	}
	if err := run.ReadMetrics(dir, &o); err != nil {
		return err
	}
	m, err := run.ReadManifest(dir)
	if err != nil {
		return err
	}
	ledger, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return err
	}
	noise, err := channel.Open[float64](s.scoreNoise(), ledger, s.scoreStream(x.task, l.Config, m.Data))
	if err != nil {
		return err
	}
	sum := []float64{l.Score * float64(o.Data.Users)}
	if err := noise.Perturb(sum, 1, 1, uint64(l.Candidate)); err != nil {
		return err
	}
	if err := noise.Check(); err != nil {
		return err
	}
	l.Score, l.Metrics, l.Epoch = sum[0], nil, 0
	return nil
}

// Price holds the privacy cost of a choice for one user.
type Price struct {
	Single   accountant.Result `json:"-"` // one trial's releases, its score left out
	Selected accountant.Result `json:"-"` // the best trial, as it is
	Again    accountant.Result `json:"-"` // and a further run under its setting
	Law      rdp.Selection     `json:"law"`
}

// price returns the account of a task's choice, from the ledgers of its trials.
func (s *Study) price(t *Task, lines []Line, best Line, out string) (*Price, error) {
	law, err := rdp.SelectionFor(s.Selection.Eta, float64(s.Trials))
	if err != nil {
		return nil, err
	}
	p := &Price{Law: law}
	var runs, winner []*accountant.Account
	for _, l := range lines {
		dir := trial{task: t, candidate: candidate{number: l.Candidate}}.dir(out)
		for _, scored := range []bool{true, false} {
			a, err := charged(dir)
			if errors.Is(err, fs.ErrNotExist) && l.Status == failed { // before it released anything
				continue
			}
			if err != nil {
				return nil, err
			}
			switch {
			case scored:
				if err := a.Charge(s.scoreNoise().Event(), 1); err != nil {
					return nil, err
				}
				runs = append(runs, a)
			case l.Trial == best.Trial:
				winner = []*accountant.Account{a}
			}
		}
	}
	if p.Single, err = winner[0].Spent(s.Selection.Delta); err != nil {
		return nil, err
	}
	if p.Selected, err = accountant.Best(runs, law, nil, s.Selection.Delta); err != nil {
		return nil, err
	}
	p.Again, err = accountant.Best(runs, law, winner, s.Selection.Delta)
	return p, err
}

// charged returns an account of a trial's ledger, for one user added or removed.
func charged(dir string) (*accountant.Account, error) {
	l, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		return nil, err
	}
	a, err := accountant.New(accountant.Contour, privacy.User, privacy.AddRemove)
	if err != nil {
		return nil, err
	}
	return a, accountant.ChargeLedger(a, l.Entries())
}

// why returns what has no noise, each once.
func why(r accountant.Result) (names []string) {
	for _, u := range r.Unprotected {
		if !slices.Contains(names, u.What) {
			names = append(names, u.What)
		}
	}
	return names
}

// words returns sentences on the privacy cost of a choice by private rows.
func (p *Price) words(t *Task, s *Study) []string {
	if open := why(p.Selected); len(open) > 0 {
		return []string{fmt.Sprintf(
			"%s: no epsilon bounds it for one user, before or after the choice: without noise are %v", t.Name, open)}
	}
	return []string{
		fmt.Sprintf("%s: epsilon for one user at delta %g: %.4g of a single run; %.4g of the best trial as it is "+
			"(law of the number of trials: eta %g, gamma %.4g, mean %d; noise of %g on the sum of scores, inside); "+
			"%.4g with one more run under its setting. A trial is charged as the most expensive of those made: a "+
			"space in which another setting costs more has no such bound",
			t.Name, s.Selection.Delta, p.Single.Epsilon, p.Selected.Epsilon, p.Law.Eta, p.Law.Gamma, s.Trials,
			s.Selection.Sigma, p.Again.Epsilon),
	}
}
