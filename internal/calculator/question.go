package calculator

import (
	"fmt"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/run"
)

// Question is one calculation: numbers and choices about a mechanism, under the names of command
// line flags. Fill them in, see that none is Missing, and Check the question; then it can be
// answered.
type Question struct {
	// The choices as given. An empty one takes the default, except Sampling, which has it already.
	Accountant, Sampling, Neighbouring string

	of       *Mechanism
	numbers  map[string]*Number
	order    []string // of numbers, in which the answer repeats them
	method   accountant.Method
	sampling privacy.Sampling
	relation privacy.Neighbouring
	unit     privacy.Unit
}

// newQuestion returns a question that needs numbers, none of which is given yet.
func newQuestion(m *Mechanism, names ...string) *Question {
	q := &Question{of: m, numbers: map[string]*Number{}, order: names, unit: m.unit}
	if m.Sampled {
		q.Sampling = string(privacy.Poisson)
	}
	for _, name := range names {
		n := newNumber(name)
		if name == "epsilon" && m.Noise != "" {
			n.usage = "largest epsilon allowed"
		}
		q.numbers[name] = n
	}
	return q
}

// AskAccount returns the question of what releases amount to.
func AskAccount(m *Mechanism) *Question {
	var noise []string
	if m.Noise != "" {
		noise = []string{m.Noise}
	}
	return newQuestion(m, slices.Concat(noise, m.numbers, []string{"steps", "delta"})...)
}

// AskCalibration returns the question of the least noise for a guarantee.
func AskCalibration(m *Mechanism) *Question {
	return newQuestion(m, slices.Concat(m.numbers, []string{"steps", "delta", "epsilon"})...)
}

// AskDivergence returns the question of the Rényi divergence of one release.
func AskDivergence(m *Mechanism) *Question {
	return newQuestion(m, slices.Concat([]string{m.Noise}, m.numbers, []string{"alpha"})...)
}

// Of returns the mechanism of the question.
func (q *Question) Of() *Mechanism { return q.of }

// Numbers lists the required numbers, in order.
func (q *Question) Numbers() []*Number {
	var all []*Number
	for _, name := range q.order {
		all = append(all, q.numbers[name])
	}
	return all
}

// Missing names the required numbers that are not given.
func (q *Question) Missing() (names []string) {
	for _, n := range q.Numbers() {
		if !n.set {
			names = append(names, n.name)
		}
	}
	return names
}

// Check fails on choices that are unknown or do not fit together. A question can be answered only
// after it.
func (q *Question) Check() error {
	if err := q.checkRelation(); err != nil {
		return err
	}
	return q.checkMethod()
}

func (q *Question) checkRelation() error {
	q.relation = privacy.AddRemove
	if q.of.Name == "randomized-response" {
		q.relation = privacy.Replace // a local randomiser hides which value it was
		return nil
	}
	if q.of.Sampled {
		q.sampling = privacy.Sampling(q.Sampling)
		methods := []privacy.Sampling{privacy.Poisson, privacy.WithoutReplacement}
		if !slices.Contains(methods, q.sampling) {
			return run.Usagef(didYouMean(q.Sampling, methods), "--sampling is %q, want %s", clip(q.Sampling), list(methods))
		}
		if q.sampling == privacy.WithoutReplacement {
			q.relation = privacy.Replace
		}
	}
	if q.Neighbouring == "" {
		return nil
	}
	asked := privacy.Neighbouring(q.Neighbouring)
	if !slices.Contains(q.of.Relations, asked) {
		return run.Usagef(didYouMean(q.Neighbouring, q.of.Relations), "--neighbouring is %q, want %s", clip(q.Neighbouring), list(q.of.Relations))
	}
	if q.sampling == privacy.WithoutReplacement && asked != privacy.Replace {
		return run.Usagef("batches of a fixed size keep the number of records: leave out --neighbouring, or take --sampling poisson",
			"--neighbouring %s does not go with --sampling without-replacement", asked)
	}
	q.relation = asked
	return nil
}

func (q *Question) checkMethod() error {
	if len(q.of.Accountants) == 0 {
		return nil
	}
	fixed := q.sampling == privacy.WithoutReplacement
	if q.Accountant == "" {
		if q.method = q.of.Accountants[0]; fixed {
			q.method = accountant.RDP
		}
		return nil
	}
	return q.setMethod("accountant", q.Accountant)
}

// setMethod checks the name of an accountant that a flag gave.
func (q *Question) setMethod(flag, text string) error {
	m := accountant.Method(text)
	switch {
	case !slices.Contains(q.of.Accountants, m):
		return run.Usagef(didYouMean(text, q.of.Accountants), "--%s is %q, want %s", flag, clip(text), list(q.of.Accountants))
	case q.sampling == privacy.WithoutReplacement && m != accountant.RDP:
		return run.Usagef("take --"+flag+" rdp, the only bound known for batches of a fixed size",
			"--%s %s does not go with --sampling without-replacement", flag, m)
	}
	q.method = m
	return nil
}

// get returns the value of a number.
func (q *Question) get(name string) float64 { return q.numbers[name].v }

// shown returns the value of a number in words.
func (q *Question) shown(name string) string {
	n := q.numbers[name]
	if n.text != "" {
		return fmt.Sprintf("%s (%s)", n.text, near(n.v, 6))
	}
	return near(n.v, 6)
}

// put sets a number that is computed and not given, such as the noise of a calibration.
func (q *Question) put(name string, v float64) {
	n := q.numbers[name]
	if n == nil {
		n = newNumber(name)
		q.numbers[name] = n
	}
	n.v, n.set, n.text = v, true, ""
}

// count returns the number of releases in words.
func (q *Question) count() string {
	n := q.numbers["steps"]
	switch {
	case n == nil:
		return "a release"
	case n.v == 1:
		return "1 release"
	}
	return near(n.v, 13) + " releases"
}
