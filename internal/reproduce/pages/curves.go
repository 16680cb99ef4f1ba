package pages

import (
	"privrec/internal/experiment"
	"privrec/internal/report"
)

// mostCurves is how many curves a strip of panels shows.
const mostCurves = 6

// curves draws how the scores of a paper's methods went epoch by epoch: of the first seed of each
// method, the score that selects, on the rows that select. Methods stand in several strips where
// they are many.
func (p *paper) curves() []report.Part {
	type key struct{ data, score string }
	var keys []key
	by := map[key][]report.Curve{}
	seen := map[string]bool{}
	for _, f := range p.runs {
		epochs := f.outcome.Chose()
		if len(epochs) < 2 || len(epochs[0].Scores) == 0 {
			continue
		}
		k := key{f.outcome.Data.Name, epochs[0].Scores[0].Name}
		name := f.methodIn(p)
		if at := name + "\x00" + k.data + "\x00" + k.score; seen[at] {
			continue
		} else {
			seen[at] = true
		}
		c := curve(name, epochs, k.score)
		if len(c.X) < 2 {
			continue
		}
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], c)
	}
	var out []report.Part
	for _, k := range keys {
		c := report.Chart{Title: k.score + " by epoch on " + k.data,
			Caption: "the first seed of each method, by the score that its run records every epoch"}
		for rest := by[k]; len(rest) > 0; {
			n := min(mostCurves, len(rest))
			c.Strips = append(c.Strips,
				report.Strip{Panels: []report.Panel{{X: "epoch", Y: k.score + " (percent)", Curves: rest[:n]}}})
			rest = rest[n:]
		}
		out = append(out, c)
	}
	return out
}

// curve takes a score of every epoch.
func curve(name string, epochs []experiment.Epoch, score string) report.Curve {
	c := report.Curve{Name: name}
	for _, e := range epochs {
		for _, s := range e.Scores {
			if s.Name == score && finite(s.Value) {
				c.X, c.Y = append(c.X, float64(e.Epoch)), append(c.Y, 100*s.Value)
				break
			}
		}
	}
	return c
}
