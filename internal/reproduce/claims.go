package reproduce

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/dataset"
)

// Claims reads the claims of the papers in a tree, in the order of the files' names in the
// folder "claims", and checks that the grids have what they refer to. Without names of papers it
// reads those of all.
func Claims(tree fs.FS, grids []*Grid, papers ...string) ([]*claims.Paper, error) {
	names, err := fs.Glob(tree, "claims/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []*claims.Paper
	for _, name := range names {
		paper := strings.TrimSuffix(path.Base(name), ".yaml")
		if len(papers) > 0 && !slices.Contains(papers, paper) {
			continue
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, fmt.Errorf("claims: %w", err)
		}
		var subjects []*claims.Grid
		for _, g := range grids {
			if g.Paper == paper {
				subjects = append(subjects, g.subject())
			}
		}
		p, err := claims.Parse(builtIn+name, text, subjects)
		if err != nil {
			return nil, err
		}
		if p.Name != paper {
			return nil, fmt.Errorf("%s%s: paper: must be %s, as the file is called, got %s", builtIn, name, paper,
				p.Name)
		}
		out = append(out, p)
	}
	return out, nil
}

// attach gives each grid the claims that are about it alone, which its table then shows.
func attach(tree fs.FS, grids []*Grid) error {
	papers, err := Claims(tree, grids)
	if err != nil {
		return err
	}
	for _, p := range papers {
		for _, c := range p.Claims {
			for _, g := range grids {
				if g.Paper == p.Name && len(c.Parts) > 0 && c.Of(g.Name) {
					g.Claims = append(g.Claims, c)
				}
			}
		}
	}
	return nil
}

// Verdicts holds the claims of papers against the finished runs below o.Out, in the size o.Size.
// It starts nothing. A run with results that cannot be read counts as failed. Of the grids of made tables it takes
// the results that these have.
func Verdicts(papers []*claims.Paper, grids []*Grid, o Options, made ...*Table) (out []*claims.Result, err error) {
	for _, p := range papers {
		var with []*claims.Grid
		for _, g := range grids {
			if g.Paper != p.Name || !slices.ContainsFunc(p.Claims,
				func(c claims.Claim) bool { return c.About(g.Name) }) {
				continue
			}
			var rows []*summary
			if at := slices.IndexFunc(made, func(t *Table) bool { return t.grid == g }); at >= 0 {
				rows = made[at].rows
			} else if rows, err = g.finished(o); err != nil {
				return nil, err
			}
			lines, err := g.lines(rows)
			if err != nil {
				return nil, err
			}
			with = append(with, g.withResults(lines))
		}
		r, err := claims.Judge(p.Name, p.Claims, with)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// finished reads the finished runs of a grid's rows.
func (g *Grid) finished(o Options) ([]*summary, error) {
	entries, runs, err := g.runs(o)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if _, err := r.look(); err != nil {
			return nil, err
		}
	}
	return g.summaries(entries, runs)
}

// subject returns what a grid is about in full size, without results.
func (g *Grid) subject() *claims.Grid {
	out := g.frame()
	for _, r := range g.rows("full") {
		axis, value := "", 0.0
		if r.point != nil {
			axis, value = r.point.axis.Name, r.point.value
		}
		add(out, r.Line(), r.Data, axis, &claims.Point{Label: r.Label(), Value: value})
	}
	return out
}

// frame returns the metrics and the data of a grid.
func (g *Grid) frame() *claims.Grid {
	out := &claims.Grid{Name: g.Name}
	for _, m := range g.Metrics {
		out.Metrics = append(out.Metrics, claims.Name{Name: m.Name, Printed: m.Printed})
	}
	for _, d := range g.Data {
		out.Data = append(out.Data, claims.Name{Name: d.Name, Printed: d.Printed})
	}
	return out
}

// add adds a point to its line, which begins with it or is there.
func add(g *claims.Grid, name, data, axis string, p *claims.Point) {
	for _, l := range g.Lines {
		if l.Name == name && l.Data == data && l.Axis == axis {
			l.Points = append(l.Points, p)
			return
		}
	}
	g.Lines = append(g.Lines, &claims.Line{Name: name, Data: data, Axis: axis, Points: []*claims.Point{p}})
}

// withResults returns the results of lines for claims.
func (g *Grid) withResults(lines []*line) *claims.Grid {
	out := g.frame()
	for _, l := range lines {
		axis := ""
		if l.axis != nil {
			axis = l.axis.Name
		}
		for _, m := range l.rows {
			add(out, l.name, l.data.Name, axis, g.evidence(m))
		}
	}
	return out
}

// evidence returns a result for claims. Trainings that are shorter than the paper's, and
// generated data, decide nothing about a paper; a study of our own may be about them.
func (g *Grid) evidence(m *summary) *claims.Point {
	p := &claims.Point{Label: m.entry.row.Label(), Value: m.value(), Values: map[string][]float64{},
		Users: map[string]claims.Users{}, Floors: map[string]map[string][]float64{}}
	for _, r := range m.results {
		p.Seeds = append(p.Seeds, r.seed)
	}
	for i, metric := range g.Metrics {
		p.Values[metric.Name] = m.columns[i].values
		p.Users[metric.Name] = m.users[i].Users
		for name := range m.columns[i].floors {
			if p.Floors[name] == nil {
				p.Floors[name] = map[string][]float64{}
			}
			for _, r := range m.results {
				if f, ok := r.floors[name]; ok {
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
	for _, r := range m.runs {
		if r.Status == Done {
			p.Runs = append(p.Runs, filepath.Base(r.Dir))
		}
	}
	if len(m.results) > 0 {
		p.Level = m.level.String()
	}
	switch {
	case len(m.results) == 0:
		p.Lacks = fmt.Sprintf("%s is not measured", p.Label)
		switch s := m.status(); s {
		case NoData, Failed, Elsewhere, Stale:
			p.Lacks += ": " + string(s)
		case ToDo, Resumable:
			p.Lacks += ": not run"
		}
	case g.Paper == "":
	case m.standIn() || m.level == dataset.LevelD:
		p.Lacks = "generated data say nothing about the paper's"
	case m.short() != "":
		p.Lacks = claims.CutShort
	}
	return p
}
