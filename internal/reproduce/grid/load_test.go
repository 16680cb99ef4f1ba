package grid

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"privrec/configs"
	"privrec/internal/papers"
)

// The grids that ship are sound.
func TestBuiltIn(t *testing.T) {
	grids, err := BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	files, _ := fs.Glob(os.DirFS("../../../configs"), "tables/*")
	figures, _ := fs.Glob(os.DirFS("../../../configs"), "studies/*-figure*.yaml")
	files = append(files, figures...)
	if len(grids) == 0 || len(grids) != len(files) {
		t.Fatalf("%d grids of %d files", len(grids), len(files))
	}
	names := map[string]bool{}
	for _, g := range grids {
		if names[g.Name] {
			t.Errorf("two grids are called %s", g.Name)
		}
		names[g.Name] = true
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		if (g.Figure != 0) != strings.Contains(g.Name, "-figure") {
			t.Errorf("%s is figure %d", g.Name, g.Figure)
		}
	}
	if !names["dipsgnn-table2"] {
		t.Errorf("no dipsgnn-table2 in %v", names)
	}
	// At full size the paper's row is the configuration as it stands, so that runs
	// made by hand are found.
	at := slices.IndexFunc(grids, func(g *Grid) bool { return g.Name == "dipsgnn-table2" })
	for _, r := range grids[at].rows("full") {
		c, err := grids[at].Entry(r, "full", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.base.Sets {
			if s != "data.name="+r.Data {
				t.Errorf("%s at full size sets %s", r.Method, s)
			}
		}
	}
}
