package calculator

import (
	"cmp"
	"fmt"
	"io"

	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
)

// Doubts returns sentences on what makes the epsilon doubtful: contradictions, open things, and assumptions that would
// cost more if false.
func (a *EventsAccount) Doubts() (out []string) {
	for _, x := range a.Faults {
		out = append(out, x.String())
	}
	for _, u := range a.Unprotected {
		out = append(out, "open: "+u.What)
	}
	for _, o := range a.Otherwise {
		out = append(out, fmt.Sprintf("epsilon is %s if %s, which is not said", RoundUp(o.Epsilon, 6), o.If))
	}
	return out
}

// Text shows the account to a person.
func (a *EventsAccount) Text(w io.Writer) error { return a.page().Text(w) }

// MarshalJSON writes the content of Text, with every digit.
func (a *EventsAccount) MarshalJSON() ([]byte, error) { return a.page().MarshalJSON() }

func (a *EventsAccount) page() *page {
	releases := fmt.Sprintf("the releases of %s", a.File.Path())
	p := &page{title: fmt.Sprintf("%s: %s", cmp.Or(a.File.Title, a.File.Path()), counted(a.Entries, "event"))}
	p.statement = statement(releases, a.Result)
	p.guarantee(a.Result)
	if n := a.Protected; n != nil {
		p.add("epsilon_protected", n.Epsilon, "of what is protected", RoundUp(n.Epsilon, 6))
		p.statement += fmt.Sprintf(" What is protected, alone, would amount to epsilon %s.", RoundUp(n.Epsilon, 4))
	}
	if n := len(a.Assumed); n > 0 {
		p.add("assumed", a.Assumed, "rests on", counted(n, "assumption")+" below")
		p.statement += " It rests on what is assumed below."
	}
	if len(a.Otherwise) > 0 {
		var list []otherwiseForm
		for _, o := range a.Otherwise {
			list = append(list, otherwiseForm{o.If, privacy.Number(o.Epsilon), o.Neighbouring})
			shown := RoundUp(o.Epsilon, 6)
			if o.Neighbouring != a.Neighbouring {
				shown += " (" + string(o.Neighbouring) + ")"
			}
			p.add("", nil, "if "+o.If, shown)
		}
		p.add("otherwise", list, "", "")
	}
	if a.Upper > 0 {
		p.add("bracket", [2]float64{a.Lower, a.Upper}, "certified bracket", "["+roundDown(a.Lower, 6)+", "+
			RoundUp(a.Upper, 6)+"]")
	}
	if a.Renyi > 0 {
		p.add("epsilon_rdp", a.Renyi, "by Rényi DP", RoundUp(a.Renyi, 6))
	}
	if s := a.Stated; s != nil {
		shown := RoundUp(s.Epsilon, 6)
		if least := roundDown(s.Lower, 4); s.Lower > 0 && least != roundDown(s.Epsilon, 4) {
			shown = "at least " + roundDown(s.Lower, 6) // it is not known better, and less than that is not charged
		}
		if s.Neighbouring != a.Neighbouring {
			shown += " (" + string(s.Neighbouring) + ")"
		}
		p.add("epsilon_stated", s.Epsilon, "as the file states", shown)
	}
	if c := a.File.Claim; c != nil {
		p.add("epsilon_claimed", c.Epsilon, "claimed", near(c.Epsilon, 6)+" at delta "+short(c.Delta))
	}
	p.ledgerRisk(a.UnitGuarantee, false)
	p.rates(a.Risk)
	bound := p.warnings // what the risk rests on
	p.warnings = nil
	for _, x := range a.Faults {
		p.warn("warning, %s", x)
	}
	named := len(p.warnings)
	p.warnings = append(p.warnings, bound...)
	p.judge(known(a))
	if len(a.Public) > 0 {
		p.add("taken_as_public", a.Public, "", "")
		for _, public := range a.Public {
			p.warn("takes as public: %s", public)
		}
	}
	for _, r := range a.Assumed {
		p.warn("assumed: %s", r)
	}
	for _, r := range a.Remarks {
		p.warn("%s", r)
	}
	for _, s := range a.Questions {
		p.warn("not said: %s", s)
	}
	p.visible()
	p.remarks, p.warnings = p.warnings[named:], p.warnings[:named]
	faults := a.Faults
	if faults == nil {
		faults = []eventlog.Fault{}
	}
	p.add("events", a.File.Path(), "", "")
	p.add("faults", faults, "", "")
	p.add("remarks", append([]string{}, p.remarks...), "", "")
	return p
}

// visible replaces invisible characters in the texts of a page by visible ones. Names of events come from another
// program, and could otherwise hide a warning on a terminal or reverse it.
func (p *page) visible() {
	p.title, p.statement = report.Visible(p.title), report.Visible(p.statement)
	for i, w := range p.warnings {
		p.warnings[i] = report.Visible(w)
	}
}

// rates lists the rates that an attacker reaches through the releases with noise, if the whole has no bound.
func (p *page) rates(r *Risk) {
	if r == nil || r.Advantage == 1 {
		return
	}
	for _, f := range p.fields {
		if f.key == "risk" { // listed
			return
		}
	}
	for _, one := range r.Rates {
		p.add("", nil, "members found at "+percent(one.FPR)+" false alarms", "at most "+percentUp(one.TPR)+
			" by what is protected")
	}
}

// known returns the account without facts that the faults already state, so that judge does not repeat them: on delta,
// if the number of units is known, and on what is open.
func known(a *EventsAccount) accountant.Result {
	r := a.Result
	if a.File.Units() > 0 {
		r.Delta = 0
	}
	var open []privacy.Unprotected
	for _, u := range r.Unprotected {
		said := false
		for _, x := range a.Faults {
			said = said || u.Why == x.Message || u.Why == x.Event+": "+x.Message
		}
		if !said {
			open = append(open, u)
		}
	}
	r.Unprotected = open
	return r
}

// counted returns n with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
