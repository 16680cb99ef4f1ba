package calculator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/run"
)

// Account answers what the releases of a question amount to.
func (q *Question) Account() (*Guarantee, error) {
	if q.of.closed {
		return q.closedForm()
	}
	r, err := q.spent(q.method)
	if err != nil {
		return nil, err
	}
	return &Guarantee{Result: r, Asked: q.asked("delta")}, nil
}

// spent charges the releases of a question to an account and reads it.
func (q *Question) spent(m accountant.Method) (accountant.Result, error) {
	e, err := q.of.release(q)
	if err != nil {
		return accountant.Result{}, err
	}
	books, err := accountant.New(m, q.unit, q.relation)
	if err != nil {
		return accountant.Result{}, err
	}
	if err := books.Charge(e, int64(q.get("steps"))); err != nil {
		return accountant.Result{}, q.failed(m, err)
	}
	r, err := books.Spent(q.get("delta"))
	if err == nil {
		err = sound(r)
	}
	if err != nil {
		return r, q.failed(m, err)
	}
	return r, nil
}

// sound fails on a result that says nothing: one without a number, or an infinite one without a
// reason.
func sound(r accountant.Result) error {
	switch {
	case math.IsNaN(r.Epsilon) || r.Epsilon < 0:
		return fmt.Errorf("epsilon came out as %v", r.Epsilon)
	case math.IsInf(r.Epsilon, 1) && len(r.Unprotected) == 0:
		return errors.New("epsilon is too large for a number")
	}
	return nil
}

// failed says which accountant could not answer, and which one may.
func (q *Question) failed(m accountant.Method, err error) error {
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

// closed returns the theorem's epsilon of a question.
func (q *Question) closed() (float64, error) {
	mu := q.get("clip") / q.get("sigma")
	eps := accountant.Closed(q.get("steps")*mu*mu, q.get("delta"))
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return 0, fmt.Errorf("the closed form gives no number for %s", q.of.describe(q))
	}
	return eps, nil
}

// closedForm answers with the theorem's epsilon, and the exact one beside it.
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
		Result: accountant.Result{Unit: q.unit, Neighbouring: q.relation, Delta: q.get("delta"), Epsilon: eps, Method: closedMethod},
		Asked:  q.asked("delta"), Exact: &truth,
	}, nil
}
