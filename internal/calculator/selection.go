package calculator

import (
	"fmt"
	"io"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
)

// AskSelection returns the question about the epsilon of releasing the best of a random number of runs, each of which
// makes the releases.
func AskSelection(m *Mechanism) *Question {
	return newQuestion(m, slices.Concat([]string{m.Noise}, m.numbers, []string{"steps", "delta", "trials", "eta"})...)
}

// Selection holds the epsilon of the best of a random number of runs.
type Selection struct {
	Best  accountant.Result
	One   accountant.Result // a single run
	Law   rdp.Selection
	Asked Asked
}

// Selected answers a question of AskSelection.
func (q *Question) Selected() (*Selection, error) {
	s := &Selection{Asked: q.asked("delta")}
	var err error
	if s.Law, err = rdp.SelectionFor(q.get("eta"), q.get("trials")); err != nil {
		return nil, err
	}
	if s.One, err = q.spent(q.method); err != nil {
		return nil, err
	}
	e, err := q.of.release(q)
	if err != nil {
		return nil, err
	}
	books, err := q.account(accountant.RDP, privacy.Subject{Unit: q.unit, Neighbouring: q.relation})
	if err != nil {
		return nil, err
	}
	if err := books.Charge(e, int64(q.get("steps"))); err != nil {
		return nil, q.failed(accountant.RDP, err)
	}
	if s.Best, err = accountant.Best([]*accountant.Account{books}, s.Law, nil, q.get("delta")); err == nil {
		err = sound(s.Best)
	}
	if err != nil {
		return nil, q.failed(accountant.RDP, err)
	}
	return s, nil
}

// Text shows the answer to a person.
func (s *Selection) Text(w io.Writer) error { return s.page().Text(w) }

// MarshalJSON writes the content of Text, with every digit.
func (s *Selection) MarshalJSON() ([]byte, error) { return s.page().MarshalJSON() }

func (s *Selection) page() *page {
	what := "the best of a random number of runs, each with " + s.Asked.Releases
	p := &page{title: capitalise(what)}
	p.guarantee(s.Best)
	p.add("epsilon_single", s.One.Epsilon, "epsilon of one run", RoundUp(s.One.Epsilon, 6))
	p.add("gamma", s.Law.Gamma, "gamma", near(s.Law.Gamma, 6))
	p.echo(s.Asked)
	p.add("theorem", theorem2, "theorem", theorem2)
	p.statement = statement(what, s.Best) +
		fmt.Sprintf(" The number of runs is drawn from the truncated negative binomial law with eta %s, gamma %s, a "+
			"mean of %s.",
			short(s.Law.Eta), near(s.Law.Gamma, 4), near(s.Law.Mean(), 6))
	p.judge(s.Best)
	p.warn("runs are ordered by what they release: a score on private rows is a release too, and needs noise that is " +
		"counted among the releases")
	p.warn("nothing else may be released: neither the other runs nor their number")
	return p
}

// theorem2 is the source of the bound for the best of several runs.
const theorem2 = "Papernot, Steinke, ICLR 2022, theorem 2"
