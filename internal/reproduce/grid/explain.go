package grid

import (
	"fmt"
	"io/fs"
	"slices"

	"privrec/internal/config"
)

// Explain gives grids the causes of their papers from a tree: the files of the folder "causes" named
// after papers. It fails on a file that is not right.
func Explain(tree fs.FS, grids ...*Grid) error { return explain(tree, grids, false) }

// explain is Explain. With whole, where the grids are all there are, it also fails on an entry that
// fits none of their numbers, and on a file of a paper that has no grid.
func explain(tree fs.FS, grids []*Grid, whole bool) error {
	names, err := fs.Glob(tree, "causes/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return fmt.Errorf("causes: %w", err)
		}
		f, doc, err := config.Parse(builtIn+name, text, nil, CauseFile{})
		if err != nil {
			return err
		}
		of := slices.DeleteFunc(slices.Clone(grids), func(g *Grid) bool { return g.Paper != f.Paper })
		if err := f.check(doc, of, whole); err != nil {
			return err
		}
		for _, g := range of {
			g.Causes = f.Causes
		}
	}
	return nil
}

// check reports every problem of a file by its line.
func (f *CauseFile) check(doc *config.Document, grids []*Grid, whole bool) error {
	v := config.NewChecker(doc)
	v.Declared(f)
	v.Check(!whole || len(grids) > 0, "paper", "no table or figure of a paper called %q", f.Paper)
	for i, c := range f.Causes {
		at := fmt.Sprintf("causes.%d", i)
		v.OneOf(at+".code", c.Code, CauseCodes()...)
		if s := c.Shown; s != nil {
			v.Check((s.Evaluation == "") != (s.Method == ""), at+".shown_by",
				"must name either a method or an evaluation")
			v.Check(s.Setting == "" || s.Method != "", at+".shown_by.setting", "must not be there without a method")
		}
		if !whole {
			continue
		}
		fits, shown := false, c.Shown == nil || c.Shown.Method == ""
		for _, g := range grids {
			for k := range g.Rows {
				r := &g.Rows[k]
				for j := range g.Metrics {
					fits = fits || r.PrintedNumber(j) != nil && c.Fits(g.Name, r, g.Metrics[j].Name)
				}
				if glob(c.Grid, g.Name) && c.Shown != nil && r.Method == c.Shown.Method &&
					r.Variant == c.Shown.Setting {
					shown = true
				}
			}
		}
		v.Check(fits, at, "fits no printed number of any table or figure of %s", f.Paper)
		v.Check(shown, at+".shown_by", "no such row in the grid")
	}
	return v.Err()
}
