package review

import (
	"fmt"
	"math"

	"privrec/internal/calculator"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// gains returns a part on what an attacker can reach at most: in words, as a table of natural frequencies, as a
// picture.
func (r *Review) gains() report.Part {
	g, ok := r.main()
	s := report.Section{ID: "gains", Title: "What an attacker gains at most"}
	switch {
	case r.NotKnown != "":
		s.Parts = append(s.Parts,
			report.Prose{"Not known. privrec attack measures what attackers of today find, and a statement of what " +
				"was released bounds all of them."})
		return s
	case !ok || math.IsInf(g.Covered, 1):
		s.Parts = append(s.Parts,
			report.Prose{"Nothing bounds it: an attacker may find every person in the data and never be wrong. That " +
				"does not say that there is such an attack, but that none can be ruled out."})
		return s
	case g.Risk == nil && !r.bounded():
		s.Parts = append(s.Parts,
			report.Prose{fmt.Sprintf("Nothing bounds it, because of what leaves without protection. The noise alone "+
				"would come to epsilon %s: %s.", up(g.Covered, 4), within(g.Covered))})
		return s
	case g.Risk == nil:
		s.Parts = append(s.Parts,
			report.Prose{"What an attacker reaches is not known for these releases beyond the epsilon: no trade-off " +
				"curve was computed."})
		return s
	}
	in, out := "people in the data", "people who are not in it"
	if g.Risk.Neighbouring == privacy.Replace || g.Unit != string(privacy.User) {
		in, out = many(g.Unit)+" in the data", many(g.Unit)+" that are not in it"
	}
	var told report.Prose
	if !r.bounded() {
		told = append(told, "By the noise alone, as if nothing else had left; by everything that left, an attacker "+
			"may gain more, without bound. ")
	}
	told = append(told, fmt.Sprintf("An attacker sees all that was released, knows everything else, and must tell %s "+
		"from %s. With as many of one as of the other, guessing is right 50 times in 100; no attacker is right more "+
		"than %s times in 100.", in, out, times(rightAtEven(g.Risk))))
	s.Parts = append(s.Parts, told)
	t := &report.Table{Name: "risk", Title: "Of 1,000 in the data, and 1,000 not in it",
		Columns: report.Columns("", "wrongly accused", "found by guessing", "found at most",
			"accused rightly, at most")}
	for _, x := range g.Risk.Rates {
		t.Add(plain(1000*x.FPR), plain(1000*x.FPR), people(1000*x.TPR, 1000), people(100*x.Posterior, 100)+" in 100")
	}
	s.Parts = append(s.Parts, t, r.curve(g.Risk))
	return s
}

// within returns a sentence about what an epsilon rules out, if nothing more is known.
func within(eps float64) string {
	if eps > 10 {
		return "that rules out little, even there"
	}
	return "anything concluded becomes at most " + factor(eps) + " likelier"
}

// people returns a number of people as text, rounded up to a whole one and at most of.
func people(v, of float64) string { return group(int64(math.Ceil(math.Min(v, of) - 1e-9))) }

// rightAtEven returns the largest probability of a right guess between a member and a non-member.
func rightAtEven(r *calculator.Risk) float64 { return 0.5 + r.Advantage/2 }

// curve returns a part that draws the attacker's true findings over false accusations.
func (r *Review) curve(risk *calculator.Risk) report.Part {
	name := "any attacker, at most"
	if !r.bounded() {
		name = "any attacker, by the noise alone"
	}
	x, y := make([]float64, len(risk.FPR)), make([]float64, len(risk.TPR))
	for i := range x {
		x[i], y[i] = 100*risk.FPR[i], 100*math.Min(1, risk.TPR[i])
	}
	return report.Chart{Caption: "The nearer the upper line is to guessing, the less the release tells. A line in " +
		"the upper left corner would be an attacker who finds all and is never wrong.",
		Title: "Found, against wrongly accused",
		Strips: []report.Strip{{Panels: []report.Panel{{
			X: "of 100 not in the data: wrongly accused", Y: "of 100 in the data: found", XRange: [2]float64{0, 100},
			YRange: [2]float64{0, 100},
			Curves: []report.Curve{{Name: name, X: x, Y: y},
				{Name: "guessing", X: []float64{0, 100}, Y: []float64{0, 100}}},
		}}}}}
}
