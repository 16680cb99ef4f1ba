package reproduce

import (
	"context"
	"slices"
	"testing"

	"privrec/configs"
	"privrec/internal/papers"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// A list counts printed numbers each once, those whose data are at hand, and those of finished
// runs; a figure is counted by what it draws. It starts nothing.
func TestCatalogue(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	f := &fake{}
	g, o := mustLoad(t, gaining, f.task()), options(t, "quick")
	check := func(what string, g *grid.Grid, o roster.Options, want Catalogued) {
		t.Helper()
		got, err := catalogue(g, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.Printed != want.Printed || got.Drawn != want.Drawn || got.Fillable != want.Fillable || got.Filled != want.Filled || !slices.Equal(got.Missing, want.Missing) {
			t.Errorf("%s: %+v, want %+v", what, *got, want)
		}
	}
	check("without data", g, o, Catalogued{Printed: 4, Missing: []string{"ml-1m"}})
	smoke := o
	smoke.Size = "smoke"
	check("generated rows", g, smoke, Catalogued{Printed: 4, Fillable: 4})
	if f.starts.Load() != 0 {
		t.Error("a list started a run")
	}
	if _, err := makeTable(context.Background(), g, smoke); err != nil {
		t.Fatal(err)
	}
	check("finished", g, smoke, Catalogued{Printed: 4, Fillable: 4, Filled: 4})
	check("finished in another size", g, o, Catalogued{Printed: 4, Missing: []string{"ml-1m"}})
	again := mustLoad(t, counted)
	check("a line of the paper in two rows", again, smoke, Catalogued{Printed: 4, Fillable: 4})
	figure := mustLoad(t, fakeFigure, f.task())
	check("a figure", figure, o, Catalogued{Drawn: 7, Missing: []string{"ml-1m"}})
}

// The list of all grids has every transcribed number.
func TestListing(t *testing.T) {
	grids, err := grid.BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, g := range grids {
		e, err := catalogue(g, roster.Options{Size: "smoke", Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if sum += e.Printed; e.Fillable != e.Printed+e.Drawn || e.Filled != 0 || len(e.Missing) > 0 {
			t.Errorf("%s in size smoke: %+v", e.Name, *e)
		}
	}
	if sum != 960 {
		t.Errorf("%d printed numbers, want 960", sum)
	}
}
