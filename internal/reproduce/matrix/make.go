package matrix

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// Plan plans the runs of a matrix, one table an attack. It writes nothing.
func (m *Matrix) Plan(o roster.Options) (*reproduce.Plan, []*grid.Grid, error) {
	grids, err := m.grids()
	if err != nil {
		return nil, nil, err
	}
	p, err := reproduce.NewPlan(grids, o)
	return p, grids, err
}

// Make trains what is missing, attacks it, and writes the matrix to o.Out/tables. began is called
// before each attack. A shard writes no matrix: it lacks the runs of the others. The error is for
// what stops the work; Made.Err says what could not be made.
func (m *Matrix) Make(ctx context.Context, p *reproduce.Plan, grids []*grid.Grid, o roster.Options,
	began func(attack int, heading string)) (*Made, error) {
	out := &Made{Name: m.fileName(grids[0], o)}
	columns := make([][]roster.Run, len(m.Attacks))
	for k := range m.Attacks {
		began(k, m.Attacks[k].Heading)
		made, err := p.Finish(ctx, k)
		if err != nil {
			return nil, err
		}
		columns[k] = made.Runs
		out.Runs = appendNew(out.Runs, made.Runs)
		if err := made.Err(); err != nil {
			out.Err = errors.Join(out.Err, err)
		}
	}
	if o.Shard.Of > 0 {
		return out, nil
	}
	for i := range m.Rows {
		if err := m.fill(out, &m.Rows[i], columns); err != nil {
			return nil, err
		}
	}
	tables := filepath.Join(o.Out, "tables")
	out.remember(readEarlier(filepath.Join(tables, out.Name+".json")))
	m.protect(out.Cells)
	m.lay(out, o)
	return out, out.write(tables)
}

// fileName names the files as the runner names those of a table, without the attack.
func (m *Matrix) fileName(g *grid.Grid, o roster.Options) string {
	return m.Name + g.FileName(o.Size, o.Sets)[len(g.Name):]
}

// fill makes the cells of a row.
func (m *Matrix) fill(out *Made, r *Row, columns [][]roster.Run) error {
	var cells []Cell
	var dirs []string
	data := r.Data
	for k := range m.Attacks {
		a := &m.Attacks[k]
		var runs []roster.Run
		for _, x := range columns[k] {
			if x.Method != r.label() {
				continue
			}
			data = x.Data
			if x.Task() == a.Task {
				runs = append(runs, x)
			}
			for _, dir := range x.About() {
				if !slices.Contains(dirs, dir) && finished(columns[k], dir, r) {
					dirs = append(dirs, dir)
				}
			}
		}
		c, err := m.cell(a, r, data, runs)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", r.label(), a.Heading, err)
		}
		cells = append(cells, c)
	}
	beside, err := m.model(r, data, dirs)
	if err != nil {
		return fmt.Errorf("%s: %w", r.label(), err)
	}
	for k := range cells {
		cells[k].Data = data
	}
	out.Models, out.Cells = append(out.Models, beside), append(out.Cells, cells)
	return nil
}

// finished reports whether the training in a directory is finished: one that was made elsewhere is.
func finished(runs []roster.Run, dir string, r *Row) bool {
	return r.finished != "" ||
		slices.ContainsFunc(runs, func(x roster.Run) bool { return x.Dir == dir && x.Status == roster.Done })
}

// appendNew appends the runs of directories that a list lacks.
func appendNew(list, more []roster.Run) []roster.Run {
	for _, r := range more {
		if !slices.ContainsFunc(list, func(x roster.Run) bool { return x.Dir == r.Dir }) {
			list = append(list, r)
		}
	}
	return list
}
