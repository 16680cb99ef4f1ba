package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/config"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Catalogued says what one grid holds. A table is counted by the numbers that the paper prints,
// each once. A figure is counted by the numbers that are drawn, since papers print none of theirs.
type Catalogued struct {
	Command  string   `json:"command"`
	Name     string   `json:"name"` // of the grid
	Paper    string   `json:"paper"`
	Table    int      `json:"table,omitempty"`
	Figure   int      `json:"figure,omitempty"`
	Title    string   `json:"title"`
	Printed  int      `json:"printed"`           // numbers that the paper prints
	Drawn    int      `json:"drawn,omitempty"`   // of a figure: points times metrics
	Fillable int      `json:"fillable"`          // of these, those whose data are at hand
	Filled   int      `json:"filled"`            // of these, those of finished runs
	Missing  []string `json:"missing,omitempty"` // data sets that are not at hand
}

// Listing lists tables and figures with what they hold in a size, what the data at hand can fill,
// and what finished runs in o.Out fill. It looks at names of files and at manifests, and at no
// more.
func Listing(grids []*Grid, o Options) (*report.Document, error) {
	t := &report.Table{Name: "tables", Title: "Tables", Columns: report.Columns("", "command", "title", "grid",
		"printed", "fillable", "filled", "data missing")}
	f := &report.Table{Name: "figures", Title: "Figures", Columns: report.Columns("", "command", "title", "grid",
		"drawn", "fillable", "filled", "data missing")}
	var sum [2]Catalogued
	for _, g := range grids {
		e, err := g.catalogue(o)
		if err != nil {
			return nil, err
		}
		list, n, all := t, e.Printed, &sum[0]
		if g.Figure != 0 {
			list, n, all = f, e.Drawn, &sum[1]
		}
		list.Add(e.Command, e.Title, e.Name, n, e.Fillable, e.Filled, listed(e.Missing))
		all.Printed, all.Fillable, all.Filled = all.Printed+n, all.Fillable+e.Fillable, all.Filled+e.Filled
	}
	d := &report.Document{Title: "Tables that can be made", Subtitle: fmt.Sprintf("size %s, runs in %s", o.Size, o.Out)}
	for i, list := range []*report.Table{t, f} {
		if len(list.Rows) == 0 {
			continue
		}
		s := sum[i]
		list.Add("all", nil, nil, s.Printed, s.Fillable, s.Filled, nil)
		d.Tables = append(d.Tables, list)
	}
	if len(t.Rows) > 0 {
		t.Notes = []string{"printed: numbers that the paper prints, each once; fillable: of these, those whose data " +
			"are at hand, or generated in this size; filled: of these, those of finished runs"}
	}
	if len(f.Rows) > 0 {
		f.Notes = []string{"drawn: values on the axes times metrics; papers print no numbers of their figures"}
	}
	return d, nil
}

// listed writes a list in a cell, or nothing.
func listed(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return fmt.Sprintf("%d: %s", len(list), strings.Join(list, ", "))
}

// catalogue counts one grid.
func (g *Grid) catalogue(o Options) (*Catalogued, error) {
	e := &Catalogued{Command: g.command(), Name: g.Name, Paper: g.Paper, Table: g.Table, Figure: g.Figure,
		Title: g.Title}
	entries, runs, err := g.runs(o)
	if err != nil {
		return nil, err
	}
	done := map[*entry]bool{}
	seen := map[string]bool{}
	for _, r := range runs {
		is, known := seen[r.Dir]
		if !known {
			if is, err = finished(r.Dir); err != nil {
				return nil, err
			}
			seen[r.Dir] = is
		}
		done[r.entry] = done[r.entry] || is
	}
	here := map[string]bool{}
	for _, c := range entries {
		at, known := here[c.name]
		if !known {
			at = absent(c.name) == ""
			if here[c.name] = at; !at {
				e.Missing = append(e.Missing, c.name)
			}
		}
		n := c.row.count()
		e.Printed += n
		if g.Figure != 0 {
			n = len(g.Metrics)
			e.Drawn += n
		}
		if at {
			e.Fillable += n
		}
		if done[c] {
			e.Filled += n
		}
	}
	for i, r := range g.gainRows() {
		n := r.count()
		e.Printed += n
		of := func(method, setting string) *entry {
			want := &g.Rows[g.find(method, setting, g.Gains[i].Data)]
			for _, c := range entries {
				if c.row == want {
					return c
				}
			}
			return nil
		}
		a, b := of(g.Gains[i].Method, g.Gains[i].Setting), of(g.Gains[i].Over, g.Gains[i].OverSetting)
		if a != nil && b != nil && here[a.name] {
			e.Fillable += n
			if done[a] && done[b] {
				e.Filled += n
			}
		}
	}
	return e, nil
}

// count returns how many numbers the paper prints in a row, none where an earlier row has them.
func (r *Row) count() (n int) {
	for _, p := range r.Printed {
		if p != nil && !r.Again {
			n++
		}
	}
	return n
}

// command writes the command that makes a grid.
func (g *Grid) command() string {
	return fmt.Sprintf("privrec reproduce %s --%s", g.Paper, g.number())
}

// finished reports whether the run of a directory is finished.
func finished(dir string) (bool, error) {
	m, err := run.ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", filepath.Base(dir), err)
	}
	return m.Status == run.StatusDone, nil
}

// Select returns the grids of the named papers, or of all papers where none is named. Of
// these it returns the table or the figure with that number, or all for 0 and 0.
func Select(grids []*Grid, papers []string, table, figure int) ([]*Grid, error) {
	grids, err := Of(grids, papers)
	if err != nil {
		return nil, err
	}
	var out []*Grid
	var names []string
	for _, g := range grids {
		if wanted := figure != 0; wanted == (g.Figure != 0) {
			names = appendNew(names, g.Paper+" "+g.number())
		}
		if table == 0 && figure == 0 || table != 0 && g.Table == table || figure != 0 && g.Figure == figure {
			out = append(out, g)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(names) == 0 && figure != 0:
		return nil, &run.UsageError{Message: fmt.Sprintf("no figure %d", figure),
			Fix: "there are only tables; see privrec reproduce --list"}
	case figure != 0:
		return nil, &run.UsageError{Message: fmt.Sprintf("no figure %d", figure), Fix: "there are " +
			strings.Join(names, ", ")}
	}
	return nil, &run.UsageError{Message: fmt.Sprintf("no table %d", table), Fix: "there are " +
		strings.Join(names, ", ")}
}

// Of returns the grids of the named papers, or all where none is named.
func Of(grids []*Grid, papers []string) (out []*Grid, err error) {
	var known []string
	for _, g := range grids {
		known = appendNew(known, g.Paper)
		if len(papers) == 0 || slices.Contains(papers, g.Paper) {
			out = append(out, g)
		}
	}
	for _, p := range papers {
		if !slices.Contains(known, p) {
			return nil, &run.UsageError{Message: fmt.Sprintf("no table of a paper called %q", p),
				Fix: suggest(p, known)}
		}
	}
	return out, nil
}

// number writes the number of a table or figure as in "table 2".
func (g *Grid) number() string {
	if g.Figure != 0 {
		return "figure " + strconv.Itoa(g.Figure)
	}
	return "table " + strconv.Itoa(g.Table)
}

// suggest returns the hint for a word that is not among the known ones.
func suggest(word string, known []string) string {
	if best := config.Nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known are " + strings.Join(known, ", ")
}
