package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/run"
)

// account is the privacy calculator: what releases amount to.
func (a *App) account() *cobra.Command {
	parent := &cobra.Command{
		Use:   "account",
		Short: "what noisy releases cost in privacy",
		Long: `The privacy calculator. It says which epsilon a number of noisy releases amount
to at a delta, under a named relation of neighbouring data sets.

Accountants: exact integrates the privacy loss to the last digit and is checked
against a bound from above and one from below; pld is a certified bracket;
rdp is the bound of Rényi differential privacy; analytic is the closed curve of
unsampled normal noise. Where exact does not apply the bracket answers, and says
so. What is printed is rounded up; --json has every digit.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: group("mechanism"),
	}
	for _, m := range calculators() {
		parent.AddCommand(a.accountMechanism(m))
	}
	parent.AddCommand(a.accountDipsgnn(), a.accountRDP(), a.accountLedger(), a.accountCurve())
	return parent
}

// leaf is a command without arguments that asks one question.
func leaf(m *calculator, short string, ask func(c *cobra.Command) error) *cobra.Command {
	return &cobra.Command{
		Use:   m.name,
		Short: short,
		Long:  m.long,
		Args:  wants(),
		RunE:  func(c *cobra.Command, _ []string) error { return ask(c) },
	}
}

func (a *App) accountMechanism(m *calculator) *cobra.Command {
	q := &question{of: m}
	c := leaf(m, m.summary, func(c *cobra.Command) error {
		if err := q.check(c); err != nil {
			return err
		}
		r, err := q.spent(q.method)
		if err != nil {
			return err
		}
		return run.Show(a.Stdout, q.json, q.answer(r))
	})
	var names []string
	if m.noise != "" {
		names = append(names, m.noise)
	}
	q.flags(c, slices.Concat(names, m.flags, []string{"steps", "delta"})...)
	q.accountantFlag(c)
	return c
}

// spent charges the releases of a question to an account and reads it.
func (q *question) spent(m accountant.Method) (accountant.Result, error) {
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

// sound refuses a result that says nothing: one without a number, or an infinite
// one without a reason.
func sound(r accountant.Result) error {
	switch {
	case math.IsNaN(r.Epsilon) || r.Epsilon < 0:
		return fmt.Errorf("epsilon came out as %v", r.Epsilon)
	case math.IsInf(r.Epsilon, 1) && len(r.Unprotected) == 0:
		return errors.New("epsilon is too large for a number")
	}
	return nil
}

// failed says which accountant could not answer, and which may.
func (q *question) failed(m accountant.Method, err error) error {
	err = fmt.Errorf("no guarantee from the accountant %q for %s: %w", m, q.of.describe(q), err)
	if m == accountant.RDP && errors.Is(err, rdp.ErrNotCovered) {
		return run.WithHint(err, "--accountant exact or pld may cover it")
	}
	uncovered := q.sampling == privacy.Poisson && q.relation == privacy.Replace // by rdp
	if m != accountant.RDP && !uncovered && slices.Contains(q.of.accountants, accountant.RDP) {
		return run.WithHint(err, "--accountant rdp may still give a bound")
	}
	return err
}

// accountDipsgnn is the theorem's closed form, with the exact value beside it.
func (a *App) accountDipsgnn() *cobra.Command {
	m := dipsgnnCalculator()
	q := &question{of: m}
	c := leaf(m, m.summary, func(c *cobra.Command) error {
		if err := q.check(c); err != nil {
			return err
		}
		ans, err := q.closedForm()
		if err != nil {
			return err
		}
		return run.Show(a.Stdout, q.json, ans)
	})
	q.flags(c, m.noise, "clip", "steps", "delta")
	return c
}

// closedMethod names the closed form in an answer.
const closedMethod = "closed-form"

// closed is the theorem's epsilon of a question.
func (q *question) closed() (float64, error) {
	mu := q.get("clip") / q.get("sigma")
	eps := accountant.Closed(q.get("steps")*mu*mu, q.get("delta"))
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return 0, fmt.Errorf("the closed form gives no number for %s", q.of.describe(q))
	}
	return eps, nil
}

// closedForm answers with the theorem's epsilon, and the exact one beside it.
func (q *question) closedForm() (*answer, error) {
	q.relation = privacy.AddRemove
	eps, err := q.closed()
	if err != nil {
		return nil, err
	}
	truth, err := q.spent(accountant.Analytic)
	if err != nil {
		return nil, err
	}
	ans := q.answer(accountant.Result{
		Unit: q.unit, Neighbouring: q.relation, Delta: q.get("delta"), Epsilon: eps, Method: closedMethod,
	})
	ans.add("epsilon_exact", truth.Epsilon, "exact epsilon", roundUp(truth.Epsilon, 6))
	ans.statement += fmt.Sprintf(" That is the closed form of the theorem; the exact value of the same releases is %s.", roundUp(truth.Epsilon, 4))
	ans.warn("the theorem is about one matrix that is released once a step: the paper's training releases two, anew for every prefix in every epoch; privacy.json of a run counts them")
	return ans, nil
}
