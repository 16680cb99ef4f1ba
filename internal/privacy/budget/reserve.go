package budget

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/classic"
)

// Reservation is what one run may spend.
type Reservation struct {
	ID       int    `json:"id"`  // from 1
	Run      string `json:"run"` // directory
	Task     string `json:"task"`
	Config   string `json:"config_sha256"`
	Data     string `json:"data"`
	SHA256   string `json:"sha256"` // of the data
	Reserved Cost   `json:"reserved"`
	Whole    bool   `json:"whole,omitempty"` // all of it stays spent when the run ends

	State State `json:"-"`
	Held  Cost  `json:"-"` // that still counts: all that was reserved, unless the run ended with less
}

// State says how far the run of a reservation is known to have come.
type State string

// The states of a reservation.
const (
	Begun   State = ""     // running, interrupted, failed or killed: it may have released all
	Done    State = "done" // it released what it wanted to
	Nothing State = "released nothing"
)

// end is the line of a run that ended.
type end struct {
	ID    int   `json:"id"`
	State State `json:"state"`
	Keeps Cost  `json:"keeps"`
}

// Refusal says that a run cannot spend from a budget. It has released nothing.
type Refusal struct {
	Message string
	Fix     string
}

// Error returns the message.
func (e *Refusal) Error() string { return e.Message }

// Hint returns what to do about it.
func (e *Refusal) Hint() string { return e.Fix }

// filter returns the filter with all that is held charged.
func (b *File) filter() (*classic.Filter, error) {
	f, err := b.Terms.filter()
	for _, r := range b.Reservations {
		if err == nil && r.Held != (Cost{}) {
			err = b.Terms.charge(f, r.Held)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("budget %s: its reservations: %w", b.path, err)
	}
	return f, nil
}

// Reserve reserves what a run will spend at most, durably, and returns the number of the reservation. It
// refuses, with a *Refusal, a run on other data, of an infinite cost, or that would overdraw the budget.
// r says of which run; its ID and costs are set here.
func (b *File) Reserve(r Reservation, p *privacy.Plan) (id int, err error) {
	if err := b.checkData(r); err != nil {
		return 0, err
	}
	r.ID, r.Whole = len(b.Reservations)+1, p.Whole
	if r.Reserved, err = b.price(p); err != nil {
		return 0, err
	}
	f, err := b.filter()
	if err != nil {
		return 0, err
	}
	spent := f.Spent()
	switch err := b.Terms.charge(f, r.Reserved); {
	case errors.Is(err, classic.ErrExhausted):
		return 0, b.overdrawn(r.Reserved, spent, f.Limit())
	case err != nil:
		return 0, fmt.Errorf("budget %s: %w", b.path, err)
	}
	if err := b.add(entry{Reserve: &r}); err != nil {
		return 0, err
	}
	r.Held = r.Reserved
	b.Reservations = append(b.Reservations, r)
	return r.ID, nil
}

// price returns what a plan costs. The run's own account must not be above what it says itself.
func (b *File) price(p *privacy.Plan) (Cost, error) {
	t := b.Terms
	delta := p.Delta
	c, open, err := t.Price(p.Releases, p.Held, delta)
	if err != nil {
		return c, fmt.Errorf("budget %s: price of the run: %w", b.path, err)
	}
	if math.IsInf(c.Epsilon, 1) {
		var why []string
		for _, o := range open {
			why = append(why, o.What+": "+o.Why)
		}
		return c, &Refusal{Message: fmt.Sprintf("the run's epsilon for one %s is infinite, and no budget covers it: %s", t.Unit, strings.Join(why, "; ")),
			Fix: "take a budget of another unit, or a setting whose account is finite"}
	}
	if p.Subject == (privacy.Subject{Unit: t.Unit, Neighbouring: t.Neighbouring}) {
		if c.Epsilon > p.Epsilon*(1+privacy.PlanMargin) && t.Rule != Renyi {
			return c, fmt.Errorf("budget %s: the run's releases come to epsilon %v and it says %v", b.path, c.Epsilon, p.Epsilon)
		}
		if t.Rule != Renyi {
			c.Epsilon = p.Epsilon // what it says is what it keeps within
		}
	} else {
		c.Epsilon *= 1 + privacy.PlanMargin
	}
	return c, nil
}

// overdrawn says by how much a run would overdraw the budget.
func (b *File) overdrawn(c Cost, spent, limit float64) error {
	t := b.Terms
	if t.Rule == Renyi {
		return &Refusal{Message: fmt.Sprintf("the run would spend a divergence of %.6g at order %v (epsilon %.6g at delta %g alone), and %.6g of %.6g is left of the budget in %s",
			c.Divergence, t.Order, c.Epsilon, c.Delta, max(0, limit-spent), limit, b.path), Fix: overdrawnFix}
	}
	delta := t.Delta - t.Slack
	for _, r := range b.Reservations {
		delta -= r.Held.Delta
	}
	left := fmt.Sprintf("epsilon %.6g of %.6g and delta %.6g of %.6g are left", max(0, limit-spent), t.Epsilon, max(0, delta), t.Delta)
	if t.Rule == Approximate {
		left = fmt.Sprintf("the runs so far compose to epsilon %.6g of %.6g, and delta %.6g of %.6g is left", spent, t.Epsilon, max(0, delta), t.Delta)
	}
	return &Refusal{Message: fmt.Sprintf("the run would spend epsilon %.6g at delta %.6g, and %s of the budget in %s", c.Epsilon, c.Delta, left, b.path), Fix: overdrawnFix}
}

const overdrawnFix = "take a smaller epsilon; privrec account budget show says what was spent by which run"

// checkData refuses a run on other data than the budget's.
func (b *File) checkData(r Reservation) error {
	want, of := b.Terms.SHA256, b.Terms.Data
	if want == "" && len(b.Reservations) > 0 {
		want, of = b.Reservations[0].SHA256, b.Reservations[0].Data
	}
	switch {
	case r.SHA256 == "":
		return &Refusal{Message: "the run does not say which data it is on, and the budget in " + b.path + " is for one data set"}
	case want != "" && want != r.SHA256:
		return &Refusal{Message: fmt.Sprintf("the run is on %s (%.12s), and the budget in %s is for %s (%.12s)", r.Data, r.SHA256, b.path, of, want),
			Fix: "make a budget for these data: privrec account budget create"}
	}
	return nil
}

// Continues fails unless a reservation is that of a run that goes on.
func (b *File) Continues(id int, r Reservation) error {
	if id < 1 || id > len(b.Reservations) {
		return fmt.Errorf("budget %s: it has no reservation %d", b.path, id)
	}
	x := b.Reservations[id-1]
	if x.Config != r.Config || x.Task != r.Task || x.SHA256 != r.SHA256 {
		return fmt.Errorf("budget %s: reservation %d is of another run, in %s", b.path, id, x.Run)
	}
	if x.State == Nothing {
		return fmt.Errorf("budget %s: reservation %d was given back", b.path, id)
	}
	return nil
}

// End says that the run of a reservation ended, and what it released. released is nil for a run that
// released nothing: it gives its reservation back. Ending twice changes nothing.
func (b *File) End(id int, released []privacy.Entry, held []privacy.Holding) error {
	if id < 1 || id > len(b.Reservations) {
		return fmt.Errorf("budget %s: it has no reservation %d", b.path, id)
	}
	r := &b.Reservations[id-1]
	if r.State != Begun {
		return nil
	}
	e := end{ID: id, State: Done, Keeps: r.Reserved}
	switch {
	case len(released) == 0:
		e.State, e.Keeps = Nothing, Cost{}
	case b.Terms.Rule == Renyi && !r.Whole:
		c, _, err := b.Terms.Price(released, held, r.Reserved.Delta)
		if err != nil {
			return fmt.Errorf("budget %s: price of what the run released: %w", b.path, err)
		}
		if c.Divergence < r.Reserved.Divergence {
			e.Keeps = c
		}
	}
	if err := b.add(entry{End: &e}); err != nil {
		return err
	}
	r.State, r.Held = e.State, e.Keeps
	return nil
}

// Spent returns what is held of the budget and how much that may be, in the units of the rule: an epsilon,
// or a divergence at the order.
func (b *File) Spent() (spent, limit float64, err error) {
	f, err := b.filter()
	if err != nil {
		return 0, 0, err
	}
	return f.Spent(), f.Limit(), nil
}
