package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/privacy"
)

// privacy compares the accounted epsilon of every line and data set with the claimed one. A
// training that was cut short releases less than the whole: it can refute the claim and not
// confirm it, unless all noise is drawn before. runs gets the runs behind the answer.
func (p *Part) privacy(g *Grid, runs *[]string) (out []On) {
	for _, d := range g.Data {
		if len(p.Data) > 0 && !slices.Contains(p.Data, d.Name) {
			continue
		}
		on := On{Says: p.words(""), Data: printed(g.Data, d.Name), decides: -1, Verdict: Holds}
		for _, name := range p.Lines {
			l := g.line(name, d.Name, p.Axis)
			if l == nil {
				continue
			}
			for _, m := range l.Points {
				one := p.compare(l, m)
				on.Privacy = append(on.Privacy, one)
				on.Level = max(on.Level, m.Level)
				for _, r := range m.Runs {
					*runs = appendNew(*runs, r)
				}
				if rank(one.Verdict) > rank(on.Verdict) || on.Why == "" {
					on.Verdict, on.Why = one.Verdict, one.Why
				}
			}
		}
		if len(on.Privacy) > 0 {
			on.Says = strings.TrimSuffix(on.Says, " ()")
			out = append(out, on)
		}
	}
	return out
}

// WholeRun is the unit of an account without units: what is open is open for all of them.
const WholeRun = "whole run"

// compare holds the account of one result against the claim.
func (p *Part) compare(l *Line, m *Point) Privacy {
	out := Privacy{Line: m.Label, Unit: p.Unit, Verdict: Untested, Why: m.Lacks}
	claimed, worst := p.Claimed, -1
	for i, e := range m.Account {
		if p.Claimed == 0 && !math.IsNaN(e.Claimed) && (e.Unit == p.Unit || claimed == 0) {
			claimed = e.Claimed
		}
		if (e.Unit == p.Unit || e.Unit == WholeRun) && (worst < 0 || e.Accounted > m.Account[worst].Accounted) {
			worst = i
		}
	}
	if claimed > 0 {
		out.Claimed = epsilon(claimed)
	}
	switch {
	case claimed == 0 && out.Why == "":
		out.Why = "the runs claim no epsilon"
	case worst < 0 && out.Why == "":
		out.Why = fmt.Sprintf("the runs have no account of one %s", p.Unit)
	}
	if claimed == 0 || worst < 0 {
		return out
	}
	e := m.Account[worst]
	out.Accounted, out.Open, out.Delta = epsilon(e.Accounted), e.Open, number(e.Delta)
	text := fmt.Sprintf("%s: claimed %v, accounted %v for one %s", m.Label, *out.Claimed, *out.Accounted, p.Unit)
	if !math.IsNaN(e.Noise) && e.Noise != e.Accounted {
		out.Noise = epsilon(e.Noise)
		text += fmt.Sprintf(" (the noise alone: %v)", *out.Noise)
	}
	if len(e.Open) > 0 {
		text += "; without noise: " + strings.Join(e.Open, ", ")
	}
	above := e.Accounted > claimed*(1+1e-9)
	switch {
	case m.Lacks == "" || m.Lacks == CutShort && p.Before:
		out.Verdict, out.Why = map[bool]Verdict{true: Fails, false: Holds}[above], text
	case m.Lacks == CutShort && above:
		out.Verdict, out.Why = Fails, text+", already in a training that was cut short"
	}
	return out
}

func epsilon(x float64) *privacy.Number {
	n := privacy.Number(x)
	return &n
}
