package calculator

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"privrec/internal/privacy"
)

// Text shows the guarantees to a person.
func (a *LedgerAccount) Text(w io.Writer) error { return a.page().Text(w) }

// MarshalJSON writes the content of Text, with every digit.
func (a *LedgerAccount) MarshalJSON() ([]byte, error) { return a.page().MarshalJSON() }

// page returns the guarantees as a page: one at the top level, several as a list.
func (a *LedgerAccount) page() *page {
	releases := fmt.Sprintf("the run of %s", a.Path)
	p := &page{title: fmt.Sprintf("%s: %s, %s", a.Path, entryCount(a.Entries), a.Noise)}
	var all []*page
	for _, g := range a.Guarantees {
		one := &page{title: string(g.Unit), statement: statement(releases, g.Result)}
		one.guarantee(g.Result)
		if n := g.Protected; n != nil {
			one.add("epsilon_protected", n.Epsilon, "of what is protected", RoundUp(n.Epsilon, 6))
			one.statement += fmt.Sprintf(" What is protected, alone, would amount to epsilon %s.",
				RoundUp(n.Epsilon, 4))
		}
		one.ledgerRisk(g, a.Gap.Why != "")
		one.judge(g.Result)
		all = append(all, one)
	}
	if len(all) == 1 {
		p.fields = slices.Clone(all[0].fields)
		p.statement = all[0].statement
		p.warnings = all[0].warnings
	} else {
		for i, r := range a.Guarantees {
			shown := RoundUp(r.Epsilon, 6) + ", " + r.Method + ", " + string(r.Neighbouring)
			if math.IsInf(r.Epsilon, 1) {
				shown = "infinite"
				if r.Protected != nil {
					shown += ", of what is protected " + RoundUp(r.Protected.Epsilon, 6)
				}
			}
			p.add("", nil, "epsilon for one "+noun(r.Unit), shown)
			p.statement = strings.TrimSpace(p.statement + " " + all[i].statement)
			for _, w := range all[i].warnings {
				if !slices.Contains(p.warnings, w) {
					p.warnings = append(p.warnings, w)
				}
			}
		}
		p.add("delta", a.Delta, "delta", short(a.Delta))
	}
	p.add("guarantees", all, "", "")
	p.add("ledger", a.Path, "", "")
	p.add("entries", a.Entries, "", "")
	p.add("noise", a.Noise, "", "")
	if len(a.Public) > 0 {
		p.add("taken_as_public", a.Public, "", "")
		for _, public := range a.Public {
			p.warn("takes as public: %s", public)
		}
	}
	if a.Noise == privacy.Research {
		p.warn("the noise is research noise: seeded, or in floating point, so the guarantee holds on paper only")
	}
	for _, r := range a.Remarks {
		p.warn("%s", r)
	}
	p.atLeast(a.Gap)
	return p
}

// entryCount returns n with its noun.
func entryCount(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// atLeast marks an answer that counts only some of the releases.
func (p *page) atLeast(gap Gap) {
	switch {
	case gap.Why == "":
		return
	case gap.Status != "":
		p.title += ", the run is " + gap.Status + ": at least"
	default:
		p.title += ", no closing line: at least"
	}
	p.mark(gap)
	if gap.Unprotected != "" {
		p.warnings = append([]string{gap.Unprotected}, p.warnings...)
	}
	p.warnings = append([]string{gap.Why}, p.warnings...)
}

// atLeast returns a shown epsilon as a lower bound. An infinite epsilon stays as it is.
func atLeast(shown string) string {
	if rest, infinite := strings.CutPrefix(shown, "infinite"); infinite {
		return "infinite" + strings.Replace(rest, "protected ", "protected at least ", 1)
	}
	return "at least " + shown
}

// mark adds "at least" to every epsilon of the answer.
func (p *page) mark(gap Gap) {
	p.statement = strings.TrimSpace(p.statement +
		" This counts what the ledger lists: the epsilon of the whole run is at least that.")
	for i, f := range p.fields {
		if (strings.HasPrefix(f.key, "epsilon") || strings.HasPrefix(f.label, "epsilon")) && f.key != "epsilon_lower" {
			p.fields[i].shown = atLeast(f.shown)
		}
		if pages, ok := f.value.([]*page); ok {
			for _, one := range pages {
				one.mark(gap)
			}
		}
	}
	p.add("at_least", true, "", "")
	if gap.Status != "" {
		p.add("unfinished", true, "", "")
		p.add("run_status", gap.Status, "", "")
	}
}

// ledgerRisk adds what an attacker can reach by the entries of a ledger. If the ledger has a gap or something open, the
// run reveals more, so this is no upper bound for the run.
func (p *page) ledgerRisk(g UnitGuarantee, gap bool) {
	if g.Risk == nil {
		return
	}
	if g.Protected == nil && !gap {
		p.risk(g.Risk)
		return
	}
	by := "by what is protected, alone: "
	if gap {
		by = "by what the ledger lists: "
	}
	p.add("risk_protected", g.Risk, "", "")
	p.statement += " " + capitalise(by) + g.Risk.Statement()
}
