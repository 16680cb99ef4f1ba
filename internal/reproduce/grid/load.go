package grid

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/config"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Load reads a grid file. Configurations are found relative to it.
func Load(file string, tasks []run.Task) (*Grid, error) {
	g, doc, err := config.Load(file, nil, Grid{})
	if err != nil {
		return nil, err
	}
	return g.check(doc, tasks, files{dir: filepath.Dir(file)}, &plans{})
}

// In checks grids that a program made of another document, which has the same sizes and data.
// file is where it was read, in a tree, or on the disk where tree is nil. Configurations are found
// relative to it.
func In(doc *config.Document, tree fs.FS, file string, tasks []run.Task, grids ...Grid) ([]*Grid, error) {
	dir := filepath.Dir(file)
	if tree != nil {
		dir = path.Dir(file)
	}
	checked := &plans{}
	out := make([]*Grid, len(grids))
	for i, g := range grids {
		var err error
		if out[i], err = g.check(doc, tasks, files{tree, dir}, checked); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parse reads a grid of a tree, and reports every problem of it but those of configurations.
func parse(tree fs.FS, name string, tasks []run.Task, checked *plans) (*Grid, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, fmt.Errorf("grid: %w", err)
	}
	g, doc, err := config.Parse(builtIn+name, text, nil, Grid{})
	if err != nil {
		return nil, err
	}
	g.doc, g.files, g.plans = doc, files{tree, path.Dir(name)}, checked
	if err := g.Form(doc, tasks); err != nil {
		return nil, err
	}
	v := config.NewChecker(doc)
	g.checkClaims(v)
	return &g, v.Err()
}

// BuiltIn returns the grids of papers' tables and figures in a tree, in the order of their
// names: those in the folder "tables", and in the folder "studies" those named after a figure,
// as in "dipsgnn-figure3.yaml". They have the causes of the folder "causes". The configurations of their rows are not
// checked: that takes longer than all else, and [Grid.Check] does it for a grid that is used.
func BuiltIn(tree fs.FS, tasks []run.Task) ([]*Grid, error) {
	var names []string
	for _, glob := range []string{"tables/*.yaml", "studies/*-figure*.yaml"} {
		found, err := fs.Glob(tree, glob)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	out := make([]*Grid, len(names))
	checked := &plans{}
	err := system.Together(len(names), func(i int) (err error) {
		out[i], err = parse(tree, names[i], tasks, checked)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := explain(tree, out, true); err != nil {
		return nil, err
	}
	return out, attach(tree, out)
}

// check reports every problem of a grid by its line, and lets the task of every row check
// its configuration.
func (g Grid) check(doc *config.Document, tasks []run.Task, f files, checked *plans) (*Grid, error) {
	g.doc, g.files, g.plans = doc, f, checked
	if err := g.Form(doc, tasks); err != nil {
		return nil, err
	}
	v := config.NewChecker(doc)
	g.checkConfigs(v)
	g.checkClaims(v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	return &g, nil
}

// Check lets the task of every row check its configuration in every size. It reports every problem by its line.
func (g *Grid) Check() error {
	v := config.NewChecker(g.doc)
	g.checkConfigs(v)
	return v.Err()
}

// checkClaims holds the claims of the grid's own file against its rows.
func (g *Grid) checkClaims(v *config.Checker) {
	for i := range g.Claims {
		claims.Check(v, fmt.Sprintf("claims.%d", i), &g.Claims[i], g.subject())
	}
}

// checkConfigs lets the task of every row, and those of the runs that it is about, check
// their configurations in every size.
func (g *Grid) checkConfigs(v *config.Checker) {
	bad := map[string]bool{} // rows with a problem: their other sizes and points have it too
	for _, name := range SizeNames() {
		for _, r := range g.rows(name) {
			if bad[r.Line()+" "+r.Data] {
				continue
			}
			c, err := g.Entry(r, name, nil)
			if err == nil {
				err = c.check()
			}
			if err == nil {
				continue
			}
			bad[r.Line()+" "+r.Data] = true
			at := g.place(slices.IndexFunc(g.Rows,
				func(o Row) bool { return o.Label() == r.Line() && o.Data == r.Data }))
			var one *config.Error
			if errors.As(err, &one) && one.Set != "" {
				v.Check(false, at, "size %s sets %s: %s", name, one.Set, one.Message)
			} else {
				v.Check(false, at+".config", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
			}
		}
	}
}
