package serve

import (
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/report"
)

// putPrivacy writes the claim, the account for each kind of neighbour, and what no noise covers.
func putPrivacy(p *report.Sheet, a *experiment.Account) {
	p.Put("<div class=\"privacy\">\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" " +
		"aria-label=\"epsilons\"><table><thead><tr><th scope=\"col\">of</th><th scope=\"col\" class=\"r\">ε</th><th " +
		"scope=\"col\" class=\"r\">δ</th></tr></thead>\n<tbody>\n")
	if c := a.Claimed; c != nil {
		p.Put("<tr><th scope=\"row\">claimed, for one %s<small>%s</small></th><td class=\"r\">%s</td><td "+
			"class=\"r\">%s</td></tr>\n", c.Unit, c.Theorem, epsilon(float64(c.Eps)), delta(c.Delta))
	} else {
		p.Put("<tr><th scope=\"row\">claimed</th><td class=\"r\">nothing</td><td class=\"r\">–</td></tr>\n")
	}
	for _, u := range a.Units {
		p.Put("<tr><th scope=\"row\">accounted, for one %s<small>%s</small></th><td class=\"r\"><b>%s</b>", u.Unit,
			u.Neighbouring, epsilon(float64(u.Total)))
		if u.Total != u.Accounted.Eps {
			p.Put("<small>%s of what noise covers</small>", epsilon(float64(u.Accounted.Eps)))
		}
		p.Put("</td><td class=\"r\">%s</td></tr>\n", delta(u.Delta))
	}
	p.Put("<tr><th scope=\"row\">accounted, whole run and its worst unit</th><td class=\"r\"><b>%s</b></td><td "+
		"class=\"r\"></td></tr>\n", epsilon(float64(a.Total)))
	if f := a.Features; f != nil {
		p.Put("<tr><th scope=\"row\">features of a user, beside the rows</th><td class=\"r\"><b>%s</b></td><td "+
			"class=\"r\"></td></tr>\n", epsilon(float64(f.Total)))
	}
	p.Put("</tbody></table></div>\n")
	if len(a.Unbounded) > 0 {
		p.Put("<p>No noise covers:</p>\n<ul>\n")
		for _, o := range a.Unbounded {
			p.Put("<li><b>%s</b>: %s</li>\n", experiment.Thing(o.What), o.Why)
		}
		p.Put("</ul>\n")
	}
	if a.Public != nil {
		p.Put("<details><summary>What is taken as public (%v)</summary>\n<ul>\n", len(a.Public))
		for _, o := range a.Public {
			p.Put("<li>%s</li>\n", o)
		}
		p.Put("</ul></details>\n")
	}
	if a.Noise != "" && a.Noise != "none" {
		p.Put("<p class=\"note\">Draws: %s.</p>\n", a.Noise)
	}
	p.Put("</div>\n")
}

func delta(d float64) string {
	if d == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2g", d)
}
