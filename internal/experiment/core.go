package experiment

import (
	"context"
	"errors"

	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Privacy is the privacy account of a run: the content of privacy.json.
type Privacy interface {
	// Show adds the account to the result that is shown.
	Show(d *report.Document)
}

// Core has what the runs of all protocols share. A protocol embeds it, and adds how its model is made. A method sets
// the functions when it opens its work.
type Core struct {
	Env *run.Env

	// Planned returns the account of a run of all its epochs. It is called in place of the run, for users who ask what
	// a setting would cost. Nil: the account is known only after the run.
	Planned func() (Privacy, error)
	// Account returns the account of the finished run. It is called once, after the test rows are ranked and before
	// results are written. f is nil if nothing was trained by epochs.
	Account func(f *Fitted) (Privacy, error)
	// Redraw returns the releases of a finished run for an audit, in their order, with what a canary user of so many
	// items adds to each. It is called once. Nil: they cannot be drawn again.
	Redraw func(ctx context.Context, items int) ([]audit.Release, error)
	// Extra is state that belongs to the parameters. It is saved and loaded with every checkpoint of the training.
	// Nil: there is none.
	Extra train.Extra
}

// PlannedAccount implements run.Planner.
func (c *Core) PlannedAccount() (any, error) {
	if c.Planned == nil {
		return nil, run.ErrNoPlan
	}
	return c.Planned()
}

// Redrawing is Answers whose run's releases can be drawn again, for an audit.
type Redrawing interface {
	Releases(ctx context.Context, items int) ([]audit.Release, error)
}

// Releases implements Redrawing.
func (c *Core) Releases(ctx context.Context, items int) ([]audit.Release, error) {
	if c.Redraw == nil {
		return nil, ErrNoRedraw
	}
	return c.Redraw(ctx, items)
}

// ErrNoRedraw says that the releases of a run cannot be drawn again.
var ErrNoRedraw = errors.New("its releases cannot be drawn again without training")

// Declared is an account whose content does not depend on the run.
type Declared interface {
	Privacy
	Declaration() privacy.Declaration
}

// Declare sets an account that is the same before and after the run, and opens the ledger with its declaration.
func (c *Core) Declare(a Declared) error {
	c.Account = func(*Fitted) (Privacy, error) { return a, nil }
	c.Planned = func() (Privacy, error) { return a, nil }
	_, err := c.Env.Ledger(privacy.Research, a.Declaration())
	return err
}

// Steps are the steps of a run that each protocol takes in its own way, in the order in which Run calls them. O is
// what metrics.json holds.
type Steps[O any] struct {
	// Fit trains, and leaves the parameters to report in the model. Nil: the model is there.
	Fit func(ctx context.Context) (*Fitted, error)
	// Measure ranks the test rows by the model and by the floors, and writes the scores of every user.
	Measure func(ctx context.Context, f *Fitted) (O, error)
	// Keep writes the model. Nil: Measure wrote what is kept.
	Keep func(env *run.Env) error
	// Document returns the result without its account.
	Document func(o O) (*report.Document, error)
}

// Run takes the steps, accounts for them with c, and writes and shows metrics and account.
func (s Steps[O]) Run(ctx context.Context, c *Core) (err error) {
	var f *Fitted
	if s.Fit != nil {
		if f, err = s.Fit(ctx); err != nil {
			return err
		}
	}
	done := c.Env.Stage("evaluate")
	o, err := s.Measure(ctx, f)
	done()
	if err != nil {
		return err
	}
	a, err := c.Account(f)
	if err != nil {
		return err
	}
	if s.Keep != nil {
		if err := s.Keep(c.Env); err != nil {
			return err
		}
	}
	if err := c.Env.WriteMetrics(o); err != nil {
		return err
	}
	d, err := s.Document(o)
	if err != nil {
		return err
	}
	if err := c.Env.WritePrivacy(a); err != nil {
		return err
	}
	a.Show(d)
	return c.Env.Print(d)
}
