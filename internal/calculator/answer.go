package calculator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
)

// Answer is what the calculator says: values under the keys of its JSON, in
// order, then a sentence and what to keep in mind.
type Answer struct {
	title     string
	fields    []field
	statement string
	warnings  []string
	table     *report.Table // for text alone; nil: none
}

type field struct {
	key, label, shown string // without a label it is for JSON alone, without a key for text
	value             any
}

func (a *Answer) add(key string, value any, label, shown string) {
	a.fields = append(a.fields, field{key, label, shown, value})
}

func (a *Answer) warn(format string, args ...any) {
	a.warnings = append(a.warnings, fmt.Sprintf(format, args...))
}

// MarshalJSON writes the fields in their order, then statement and warnings.
// JSON has no infinity: that is the string "infinity".
func (a *Answer) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	warnings := a.warnings
	if warnings == nil {
		warnings = []string{}
	}
	first := true
	for _, f := range append(slices.Clone(a.fields), field{key: "statement", value: a.statement}, field{key: "warnings", value: warnings}) {
		if f.key == "" {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		if v, ok := f.value.(float64); ok && math.IsInf(v, 1) {
			f.value = "infinity"
		}
		key, err := json.Marshal(f.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
		b.Write(append(append(key, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Text shows the answer to a person.
func (a *Answer) Text(w io.Writer) error { return a.document().Text(w) }

func (a *Answer) document() *report.Document {
	d := &report.Document{Title: a.title, Notes: append([]string{a.statement}, a.warnings...)}
	for _, f := range a.fields {
		if f.label != "" {
			d.Facts = append(d.Facts, report.Fact{Label: f.label, Value: f.shown})
		}
	}
	if a.table != nil {
		d.Tables = []*report.Table{a.table}
	}
	return d
}

// answer tells a result in the calculator's words.
func (q *Question) answer(r accountant.Result) *Answer {
	a := &Answer{title: upper(q.of.describe(q))}
	a.guarantee(r)
	for _, name := range q.order {
		if name != "delta" && name != "alpha" {
			a.echo(q, name)
		}
	}
	if q.sampling != "" {
		a.add("sampling", q.sampling, "", "")
	}
	if q.sampling == privacy.WithoutReplacement {
		a.add("theorem", theorem27, "theorem", theorem27)
	}
	a.statement = statement(q.of.describe(q), r)
	a.judge(r)
	if len(r.Notes) == 0 && q.method != "" && r.Method != string(q.method) {
		a.warn("the accountant %q was asked for; %q answered", q.method, r.Method)
	}
	return a
}

// theorem27 is where the bound for batches of a fixed size comes from.
const theorem27 = "Wang, Balle, Kasiviswanathan, AISTATS 2019, theorem 27 (Gaussian, without replacement), and no more than without sampling"

// echo repeats a number of the question under its flag's name.
func (a *Answer) echo(q *Question, name string) {
	key := strings.ReplaceAll(name, "-", "_")
	if name == "epsilon" { // the guarantee has that key
		key = "release_epsilon"
	}
	a.add(key, q.numbers[name].json(), "", "")
}

// guarantee lists what was computed.
func (a *Answer) guarantee(r accountant.Result) {
	a.add("epsilon", r.Epsilon, "epsilon", roundUp(r.Epsilon, 6))
	if r.Lower > 0 || r.Method == string(accountant.PLD) {
		a.add("epsilon_lower", r.Lower, "at least", roundDown(r.Lower, 6))
	}
	a.add("delta", r.Delta, "delta", short(r.Delta))
	a.add("accountant", r.Method, "accountant", r.Method)
	if r.Order > 0 {
		a.add("order", number1(r.Order), "best order", short(r.Order))
	}
	if r.Direction != "" {
		a.add("direction", r.Direction, "direction", r.Direction)
	}
	a.add("neighbouring", r.Neighbouring, "neighbouring", string(r.Neighbouring))
	a.add("unit", r.Unit, "unit", string(r.Unit))
	if len(r.Unprotected) > 0 {
		a.add("unprotected", r.Unprotected, "", "")
	}
}

// number1 is an order as JSON can hold it.
func number1(v float64) any {
	if math.IsInf(v, 1) {
		return "infinity"
	}
	return v
}

// judge says what a reader of the numbers should keep in mind.
func (a *Answer) judge(r accountant.Result) {
	for _, n := range r.Notes {
		a.warn("%s", n)
	}
	for _, u := range r.Unprotected {
		a.warn("unprotected: %s: %s", u.What, u.Why)
	}
	if r.AtEnd {
		a.warn("the best Rényi order, %s, is at the end of the grid: the bound may be loose", short(r.Order))
	}
	if r.Epsilon > 10 && !math.IsInf(r.Epsilon, 1) {
		a.warn("an epsilon above 10 rules out little")
	}
	if math.IsInf(r.Epsilon, 1) {
		return // at any delta
	}
	if r.Delta > 1e-3 {
		a.warn("delta is the probability with which everything about one %s may leak: %s is too much for any data", noun(r.Unit), short(r.Delta))
		return
	}
	// The data are not known, so n delta cannot be judged: say for which it would do.
	a.warn("delta should be well below one over the number of %s, which is not known here: %s suits far fewer than %s",
		nouns(r.Unit), short(r.Delta), near(1/r.Delta, 2))
}

// statement is the guarantee in plain words. It is the definition of (epsilon,
// delta)-indistinguishability and no more: delta is a probability that is added,
// not that of a failure.
func statement(releases string, r accountant.Result) string {
	if math.IsInf(r.Epsilon, 1) {
		return fmt.Sprintf("Nothing is guaranteed about one %s: for part of what %s shows no bound is known.", noun(r.Unit), releases)
	}
	s := fmt.Sprintf("%s one %s%s changes the probability of anything that an observer of %s, who knows all other %s, can conclude by at most a factor of e^%s%s, plus %s.",
		upper(change(r.Neighbouring)), noun(r.Unit), exchanged(r.Neighbouring), releases, nouns(r.Unit), roundUp(r.Epsilon, 6), times(r.Epsilon), short(r.Delta))
	if r.Unit == privacy.Cell {
		s += " The same holds for the order of two cells; a whole sequence is a group of all its cells."
	}
	if r.Unit == privacy.Position {
		s += " Positions that change together add up: a whole slate is a group of all its positions."
	}
	switch {
	case r.Method == string(accountant.RDP):
		return s + " The epsilon is an upper bound; the exact one may be smaller."
	case r.Method == string(accountant.PLD):
		return s + fmt.Sprintf(" The exact epsilon is proved to lie between %s and %s.", roundDown(r.Lower, 6), roundUp(r.Epsilon, 6))
	case r.Method == string(accountant.Contour), r.Method == string(accountant.Analytic):
		return s + " The epsilon is exact, rounded up."
	}
	return s
}
