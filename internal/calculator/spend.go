package calculator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/run"
)

// Account returns the epsilon of the releases of a question.
func (q *Question) Account() (*Guarantee, error) {
	if q.of.closed {
		return q.closedForm()
	}
	books, err := q.books(q.method)
	if err != nil {
		return nil, err
	}
	g := &Guarantee{Asked: q.asked("delta")}
	var beside sync.WaitGroup // epsilon and the risk are two compositions, each as long as the other
	prior := q.or("prior", evenPrior)
	beside.Go(func() { g.see(books, prior) })
	r, err := q.read(q.method, books)
	beside.Wait()
	if err != nil {
		return nil, err
	}
	g.Result = r
	if q.sampling == eventlog.Shuffled {
		g.Method = unamplified
		if g.Lower, err = q.shuffledLower(); err != nil {
			return nil, err
		}
	}
	if q.sampling == privacy.Poisson && q.relation != privacy.Replace && q.or("group", 1) == 1 {
		g.CLT = accountant.CLTMuPoisson(q.get("sampling-rate"), q.get("noise-multiplier"), q.get("steps"))
	}
	return g, q.stopped()
}

// unamplified names the bound for shuffled batches in an answer.
const unamplified = "without-amplification"

// evenPrior is the default share of members: one half.
const evenPrior = 0.5

// spent returns the account of a question's releases, by one accountant.
func (q *Question) spent(m accountant.Method) (accountant.Result, error) {
	books, err := q.books(m)
	if err != nil {
		return accountant.Result{}, err
	}
	return q.read(m, books)
}

// books charges the releases of a question to a new account and returns it.
func (q *Question) books(m accountant.Method) (*accountant.Account, error) {
	if err := q.derive(); err != nil {
		return nil, err
	}
	e, err := q.of.release(q)
	if err != nil {
		return nil, err
	}
	unit, size := q.unit, int64(q.or("group", 1))
	if size > 1 {
		unit = privacy.User
	}
	books, err := q.account(m, privacy.Subject{Unit: unit, Neighbouring: q.relation})
	if err != nil {
		return nil, err
	}
	if size > 1 {
		err = accountant.ChargeGroup(books, e, int64(q.get("steps")), size)
	} else {
		err = books.Charge(e, int64(q.get("steps")))
	}
	if err != nil {
		return nil, q.failed(m, err)
	}
	return books, nil
}

// read returns epsilon from an account, or delta if that is asked for.
func (q *Question) read(m accountant.Method, books *accountant.Account) (r accountant.Result, err error) {
	if q.given("at-epsilon") {
		r, err = books.DeltaAt(q.get("at-epsilon"))
	} else {
		r, err = books.Spent(q.get("delta"))
	}
	if err == nil {
		err = sound(r)
	}
	if err != nil {
		return r, q.failed(m, err)
	}
	return r, nil
}

// sound fails on a result without information: one without a number, or an infinite one without a reason.
func sound(r accountant.Result) error {
	switch {
	case math.IsNaN(r.Epsilon) || r.Epsilon < 0:
		return fmt.Errorf("epsilon came out as %v", r.Epsilon)
	case math.IsInf(r.Epsilon, 1) && len(r.Unprotected) == 0:
		return errors.New("epsilon is too large for a number")
	}
	return nil
}

// failed returns the error of an accountant that could not answer, with a hint at one that may.
func (q *Question) failed(m accountant.Method, err error) error {
	if stopped := q.stopped(); stopped != nil {
		return stopped
	}
	err = fmt.Errorf("no guarantee from the accountant %q for %s: %w", m, q.of.describe(q), err)
	if m == accountant.RDP && errors.Is(err, rdp.ErrNotCovered) {
		return run.WithHint(err, "--accountant exact or pld may cover it")
	}
	uncovered := q.sampling == privacy.Poisson && q.relation == privacy.Replace // by rdp
	if m != accountant.RDP && !uncovered && slices.Contains(q.of.Accountants, accountant.RDP) {
		return run.WithHint(err, "--accountant rdp may still give a bound")
	}
	return err
}

// closedMethod names the closed form in an answer.
const closedMethod = "closed-form"

// closed returns the theorem's epsilon for a question.
func (q *Question) closed() (float64, error) {
	mu := q.get("clip") / q.get("sigma")
	eps := accountant.Closed(q.get("steps")*mu*mu, q.get("delta"))
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return 0, fmt.Errorf("the closed form gives no number for %s", q.of.describe(q))
	}
	return eps, nil
}

// closedForm returns the theorem's epsilon with the exact one beside it.
func (q *Question) closedForm() (*Guarantee, error) {
	q.relation = privacy.AddRemove
	eps, err := q.closed()
	if err != nil {
		return nil, err
	}
	truth, err := q.spent(accountant.Analytic)
	if err != nil {
		return nil, err
	}
	return &Guarantee{
		Result: accountant.Result{Unit: q.unit, Neighbouring: q.relation, Delta: q.get("delta"), Epsilon: eps,
			Method: closedMethod},
		Asked: q.asked("delta"), Exact: &truth,
	}, nil
}
