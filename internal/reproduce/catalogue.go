package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
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
func Listing(grids []*grid.Grid, o roster.Options) (*report.Document, error) {
	t := &report.Table{Name: "tables", Title: "Tables", Columns: report.Columns("", "command", "title", "grid",
		"printed", "fillable", "filled", "data missing")}
	f := &report.Table{Name: "figures", Title: "Figures", Columns: report.Columns("", "command", "title", "grid",
		"drawn", "fillable", "filled", "data missing")}
	var sum [2]Catalogued
	for _, g := range grids {
		e, err := catalogue(g, o)
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
func catalogue(g *grid.Grid, o roster.Options) (*Catalogued, error) {
	e := &Catalogued{Command: g.Command(), Name: g.Name, Paper: g.Paper, Table: g.Table, Figure: g.Figure,
		Title: g.Title}
	entries, runs, err := roster.Of(g, o)
	if err != nil {
		return nil, err
	}
	done := map[*grid.Entry]bool{}
	seen := map[string]bool{}
	for _, r := range runs {
		is, known := seen[r.Dir]
		if !known {
			if is, err = finished(r.Dir); err != nil {
				return nil, err
			}
			seen[r.Dir] = is
		}
		done[r.Entry] = done[r.Entry] || is
	}
	here := map[string]bool{}
	for _, c := range entries {
		at, known := here[c.Name]
		if !known {
			at = grid.Absent(c.Name) == ""
			if here[c.Name] = at; !at {
				e.Missing = append(e.Missing, c.Name)
			}
		}
		n := c.Row.Numbers()
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
	for i, r := range g.GainRows() {
		n := r.Numbers()
		e.Printed += n
		of := func(method, setting string) *grid.Entry {
			row := &g.Rows[g.Find(method, setting, g.Gains[i].Data)]
			for _, c := range entries {
				if c.Row == row {
					return c
				}
			}
			return nil
		}
		a, b := of(g.Gains[i].Method, g.Gains[i].Setting), of(g.Gains[i].Over, g.Gains[i].OverSetting)
		if a != nil && b != nil && here[a.Name] {
			e.Fillable += n
			if done[a] && done[b] {
				e.Filled += n
			}
		}
	}
	return e, nil
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
