package matrix

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
)

// finding is what an attack found in one run beyond its best floor.
type finding struct {
	experiment.Cell
	level dataset.Level
}

// read takes the finding from the directory of a finished attack.
func (a *Attack) read(dir string) (f finding, err error) {
	all, err := experiment.ReadCells(dir)
	if err != nil {
		return f, err
	}
	row, where := a.Row, filepath.Join(dir, experiment.CellsFile)
	has := func(row string) bool {
		return slices.ContainsFunc(all.Cells, func(c experiment.Cell) bool { return c.Row == row })
	}
	if a.Sequences != "" && !has(a.Row) && has(a.Sequences) {
		row = a.Sequences
	}
	var over []experiment.Cell // by floor
	for _, c := range all.Cells {
		if c.Row == row && c.Metric == a.Metric && (len(over) == 0 || c.Under == over[0].Under) {
			over = append(over, c)
		}
	}
	if len(over) == 0 {
		return f, fmt.Errorf("%s: no cell of %q in %s", where, row, a.Metric)
	}
	f.level = all.Level
	f.Cell = slices.MaxFunc(over, func(x, y experiment.Cell) int {
		return cmp.Or(cmp.Compare(x.Floor, y.Floor), strings.Compare(y.Over, x.Over))
	})
	if f.Interval == nil {
		return f, fmt.Errorf("%s: the gain of %q has no interval", where, row)
	}
	return f, nil
}
