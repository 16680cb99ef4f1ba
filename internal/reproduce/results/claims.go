package results

import (
	"fmt"
	"math"

	"privrec/internal/claims"
	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// withResults returns the results of lines for claims.
func withResults(g *grid.Grid, lines []*line) *claims.Grid {
	out := g.Frame()
	for _, l := range lines {
		axis := ""
		if l.axis != nil {
			axis = l.axis.Name
		}
		for _, m := range l.rows {
			grid.AddPoint(out, l.name, l.data.Name, axis, pointOf(g, m))
		}
	}
	return out
}

// pointOf returns a result for claims. Trainings that are shorter than the paper's, and
// generated data, decide nothing about a paper; a study of our own may be about them.
func pointOf(g *grid.Grid, m *summary) *claims.Point {
	p := &claims.Point{Label: m.entry.Row.Label(), Value: m.value(), Values: map[string][]float64{},
		Users: map[string]claims.Users{}, Floors: map[string]map[string][]float64{}}
	for _, r := range m.results {
		p.Seeds = append(p.Seeds, r.Seed)
	}
	for i, metric := range g.Metrics {
		p.Values[metric.Name] = m.values[i]
		p.Users[metric.Name] = m.users[i].Users
		for name := range m.cells[i].Floors {
			if p.Floors[name] == nil {
				p.Floors[name] = map[string][]float64{}
			}
			for _, r := range m.results {
				if f, ok := r.Floors[name]; ok {
					p.Floors[name][metric.Name] = append(p.Floors[name][metric.Name], 100*f[i])
				}
			}
		}
	}
	accounts, _ := m.accounts()
	for _, a := range accounts {
		noise := a.noise
		if math.IsInf(noise, 1) {
			noise = math.NaN()
		}
		p.Account = append(p.Account, claims.Epsilon{Unit: a.unit, Neighbouring: a.neighbouring, Delta: a.delta,
			Claimed: a.claimed, Accounted: a.accounted, Noise: noise, Open: a.open})
	}
	c := &m.cells[0]
	p.Runs, p.Level = c.Runs, c.Level
	switch {
	case len(m.results) == 0:
		p.Lacks = fmt.Sprintf("%s is not measured", p.Label)
		switch c.State {
		case roster.NoData, roster.Failed, roster.Elsewhere, roster.Stale:
			p.Lacks += ": " + string(c.State)
		case roster.ToDo, roster.Resumable:
			p.Lacks += ": not run"
		}
	case g.Paper == "":
	case c.StandIn || m.level == dataset.LevelD:
		p.Lacks = "generated data say nothing about the paper's"
	case m.short() != "":
		p.Lacks = claims.CutShort
	}
	return p
}
