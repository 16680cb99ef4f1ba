package grid

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"privrec/internal/claims"
)

// ReadClaims reads the claims of the papers in a tree, in the order of the files' names in the
// folder "claims", and checks that the grids have what they refer to. Without names of papers it
// reads those of all.
func ReadClaims(tree fs.FS, grids []*Grid, papers ...string) ([]*claims.Paper, error) {
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
	papers, err := ReadClaims(tree, grids)
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

// subject returns what a grid is about in full size, without results.
func (g *Grid) subject() *claims.Grid {
	out := g.Frame()
	for _, r := range g.rows("full") {
		axis, value := "", 0.0
		if r.Point != nil {
			axis, value = r.Point.Axis.Name, r.Point.Value
		}
		AddPoint(out, r.Line(), r.Data, axis, &claims.Point{Label: r.Label(), Value: value})
	}
	return out
}

// Frame returns the metrics and the data of a grid.
func (g *Grid) Frame() *claims.Grid {
	out := &claims.Grid{Name: g.Name}
	for _, m := range g.Metrics {
		out.Metrics = append(out.Metrics, claims.Name{Name: m.Name, Printed: m.Printed})
	}
	for _, d := range g.Data {
		out.Data = append(out.Data, claims.Name{Name: d.Name, Printed: d.Printed})
	}
	return out
}

// AddPoint adds a point to its line, which begins with it or is there.
func AddPoint(g *claims.Grid, name, data, axis string, p *claims.Point) {
	for _, l := range g.Lines {
		if l.Name == name && l.Data == data && l.Axis == axis {
			l.Points = append(l.Points, p)
			return
		}
	}
	g.Lines = append(g.Lines, &claims.Line{Name: name, Data: data, Axis: axis, Points: []*claims.Point{p}})
}
