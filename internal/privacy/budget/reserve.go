package budget

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/classic"
)

// Reservation holds the part of a budget that one run may spend.
type Reservation struct {
	ID       int    `json:"id"`  // from 1
	Run      string `json:"run"` // directory
	Task     string `json:"task"`
	Config   string `json:"config_sha256"`
	Data     string `json:"data"`
	SHA256   string `json:"sha256"` // of the data
	Reserved Cost   `json:"reserved"`
	Whole    bool   `json:"whole,omitempty"` // all of it stays spent after the run has ended
	Mark     string `json:"mark,omitempty"`  // of the attempt; "" for a run that cannot go on

	State    State  `json:"-"`
	Held     Cost   `json:"-"` // what still counts: all that was reserved, unless the run ended with less
	Attempt  int    `json:"-"` // the attempt that may release: 0 for the run that reserved
	Chain    string `json:"-"` // checksum of the ledger from which that attempt goes on
	Releases int64  `json:"-"` // least number of releases that the run's ledger lists
}

// State says how far the run of a reservation has come, as far as the budget knows.
type State string

// The states of a reservation.
const (
	Begun   State = ""     // running, interrupted, failed or killed: it may have released all
	Done    State = "done" // it released all that it wanted to
	Nothing State = "released nothing"
)

// Refusal is the error for a run that may not spend from a budget. The run has released nothing.
type Refusal struct {
	Message string
	Fix     string
	Cause   error // such as ErrElsewhere; nil: no named cause
}

// Error returns the message.
func (e *Refusal) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Refusal) Unwrap() error { return e.Cause }

// Hint suggests how to resolve the refusal.
func (e *Refusal) Hint() string { return e.Fix }

// filter returns a filter that is charged with everything held.
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

// Reserve durably reserves the most that a run will spend, and returns the number of the reservation. It refuses, with
// a *Refusal, a run on other data, of infinite cost, or that would overdraw the budget. r describes the run, with the
// mark of its first attempt; Reserve sets its ID and costs.
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
	return r.ID, b.add(entry{Reserve: &r})
}

// price returns the cost of a plan. For a run about the budget's own unit and relation it fails if the plan costs more
// than the run's own account states; a Rényi budget does not compare the two.
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
		return c, &Refusal{Message: fmt.Sprintf("the run's epsilon for one %s is infinite, and no budget covers it: %s",
			t.Unit, strings.Join(why, "; ")),
			Fix: "take a budget of another unit, or a setting whose account is finite"}
	}
	if p.Subject == (privacy.Subject{Unit: t.Unit, Neighbouring: t.Neighbouring}) {
		if c.Epsilon > p.Epsilon*(1+privacy.PlanMargin) && t.Rule != Renyi {
			return c, fmt.Errorf("budget %s: the run's releases come to epsilon %v and it says %v", b.path, c.Epsilon,
				p.Epsilon)
		}
		if t.Rule != Renyi {
			c.Epsilon = p.Epsilon // the run keeps within its own statement
		}
	} else {
		c.Epsilon *= 1 + privacy.PlanMargin
	}
	return c, nil
}

// overdrawn returns the error for a run that would overdraw the budget, and by how much.
func (b *File) overdrawn(c Cost, spent, limit float64) error {
	t := b.Terms
	if t.Rule == Renyi {
		return &Refusal{Message: fmt.Sprintf("the run would spend a divergence of %.6g at order %v (epsilon %.6g at "+
			"delta %g alone), and %.6g of %.6g is left of the budget in %s",
			c.Divergence, t.Order, c.Epsilon, c.Delta, max(0, limit-spent), limit, b.path), Fix: overdrawnFix}
	}
	delta := t.Delta - t.Slack
	for _, r := range b.Reservations {
		delta -= r.Held.Delta
	}
	left := fmt.Sprintf("epsilon %.6g of %.6g and delta %.6g of %.6g are left", max(0, limit-spent), t.Epsilon,
		max(0, delta), t.Delta)
	if t.Rule == Approximate {
		left = fmt.Sprintf("the runs so far compose to epsilon %.6g of %.6g, and delta %.6g of %.6g is left", spent,
			t.Epsilon, max(0, delta), t.Delta)
	}
	return &Refusal{Message: fmt.Sprintf("the run would spend epsilon %.6g at delta %.6g, and %s of the budget in %s",
		c.Epsilon, c.Delta, left, b.path), Fix: overdrawnFix}
}

const overdrawnFix = "take a smaller epsilon; privrec account budget show says what was spent by which run"

// checkData returns an error for a run on other data than the budget's.
func (b *File) checkData(r Reservation) error {
	want, of := b.Terms.SHA256, b.Terms.Data
	if want == "" && len(b.Reservations) > 0 {
		want, of = b.Reservations[0].SHA256, b.Reservations[0].Data
	}
	switch {
	case r.SHA256 == "":
		return &Refusal{Message: "the run does not say which data it is on, and the budget in " + b.path +
			" is for one data set"}
	case want != "" && want != r.SHA256:
		return &Refusal{Message: fmt.Sprintf("the run is on %s (%.12s), and the budget in %s is for %s (%.12s)", r.Data,
			r.SHA256, b.path, of, want),
			Fix: "make a budget for these data: privrec account budget create"}
	}
	return nil
}

// Spent returns how much of the budget is held and how much may be, in the units of the rule: an epsilon, or a
// divergence at the order.
func (b *File) Spent() (spent, limit float64, err error) {
	f, err := b.filter()
	if err != nil {
		return 0, 0, err
	}
	return f.Spent(), f.Limit(), nil
}
