package reproduce

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"privrec/configs"
	"privrec/internal/claims"
	"privrec/internal/papers"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// The claims of all five papers load: each refers to rows, metrics, data and values that a grid
// of the paper has, or says why none can test it.
func TestClaims(t *testing.T) {
	grids, err := grid.BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	list, err := grid.ReadClaims(configs.Files(), grids)
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]int{"dipsgnn": 22, "exposure": 24, "gerai": 31, "pricdsr": 14, "rdpgcf": 16}
	for _, p := range list {
		private := 0
		for _, c := range p.Claims {
			if len(c.Parts) > 0 && c.Parts[0].Says == "epsilon" {
				private++
			}
		}
		if len(p.Claims) < least[p.Name] || private == 0 && p.Name != "exposure" {
			t.Errorf(
				"%s: %d claims, %d of them about privacy; want at least %d, and some",
				p.Name,
				len(p.Claims),
				private,
				least[p.Name],
			)
		}
		delete(least, p.Name)
	}
	if len(least) > 0 {
		t.Errorf("no claims of %v", least)
	}
	for _, g := range grids {
		if g.Paper == "dipsgnn" && g.Figure > 0 && len(g.Claims) == 0 {
			t.Errorf("%s shows no claims", g.Name)
		}
	}
}

const fakeClaims = `paper: fake
claims:
  - id: c1
    text: the twin is above one
    where: Figure 4
    grid: fake-figure4
    parts: [{says: above, lines: [Twin, One]}]
  - id: c2
    text: one falls
    where: Figure 4
    grid: fake-figure4
    parts: [{says: falls, lines: [One]}]
  - id: c3
    text: one keeps epsilon 5
    where: section 3
    grid: fake-figure4
    parts: [{says: epsilon, lines: [Two], unit: edge}]
  - id: c4
    text: it is pretty
    where: section 1
    lacks: no run shows it
`

// Verdicts reads the finished runs of a size and starts nothing. Before there are any, and on
// generated data, nothing is decided; the table of the grid shows the same claims.
func TestClaimsOfRuns(t *testing.T) {
	f := &fake{}
	figure := strings.ReplaceAll(fakeFigure[:strings.Index(fakeFigure, "claims:")], "fake.yaml", "../fake.yaml")
	tree := fstest.MapFS{"claims/fake.yaml": {Data: []byte(fakeClaims)}, "tables/t.yaml": {Data: []byte(figure)},
		"fake.yaml": {Data: []byte("value: 0.2\n")}}
	grids, err := grid.BuiltIn(tree, []run.Task{f.task()})
	if err != nil || len(grids) != 1 || len(grids[0].Claims) != 3 {
		t.Fatal(grids, err)
	}
	list, err := grid.ReadClaims(tree, grids)
	if err != nil {
		t.Fatal(err)
	}
	g, o := grids[0], options(t, "full")
	count := func(o roster.Options) claims.Count {
		t.Helper()
		r, err := results.Verdicts(list, []*grid.Grid{g}, o)
		if err != nil {
			t.Fatal(err)
		}
		return r[0].Count
	}
	if got := count(o); got != (claims.Count{Claims: 4, Untested: 4}) || f.starts.Load() != 0 {
		t.Errorf("before any run: %+v, %d started", got, f.starts.Load())
	}
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	began := f.starts.Load()
	if got := count(o); got != (claims.Count{Claims: 4, Hold: 1, Fail: 2, Untested: 1}) || f.starts.Load() != began {
		t.Errorf("after the runs: %+v, %d started", got, f.starts.Load()-began)
	}
	holds(
		t,
		markdown(t, out),
		"| c1 | the twin is above one |  | holds (B) |",
		"| c3 | one keeps epsilon 5 |  | does not hold (B) |",
	)
	r, err := results.Verdicts(list, []*grid.Grid{g}, o)
	if err != nil {
		t.Fatal(err)
	}
	if why := r[0].Claims[2].Why; !strings.Contains(why, "claimed 5, accounted infinity for one edge") ||
		len(r[0].Claims[0].Runs) != 12 {
		t.Errorf("%s; %d runs", why, len(r[0].Claims[0].Runs))
	}
	o = options(t, "smoke")
	if out, err := makeTable(context.Background(), g, o); err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	r, err = results.Verdicts(list, []*grid.Grid{g}, o)
	if err != nil {
		t.Fatal(err)
	}
	if c := r[0].Claims[0]; r[0].Count.Untested != 4 || !strings.Contains(c.Why, "generated data") {
		t.Errorf("stand-in: %+v: %s", r[0].Count, c.Why)
	}
}

// A file of claims must be called as its paper, and refer to what the paper's grids have.
func TestBadClaims(t *testing.T) {
	g := mustLoad(t, fakeFigure[:strings.Index(fakeFigure, "claims:")], (&fake{}).task())
	for name, c := range map[string]struct{ file, old, new, want string }{
		"paper": {"claims/fake.yaml", "paper: fake", "paper: other", "claims/fake.yaml: paper: must be fake, as the file is called, got other"},
		"file":  {"claims/other.yaml", "paper: fake", "paper: other", `claims/other.yaml:6:11: claims.0.grid: "fake-figure4" is not a grid of the paper`},
		"row":   {"claims/fake.yaml", "[Twin, One]", "[Twin, Won]", `claims/fake.yaml:7:41: claims.0.parts.0.lines.1: "Won" is not a row of the grid`},
	} {
		_, err := grid.ReadClaims(
			fstest.MapFS{c.file: {Data: []byte(strings.Replace(fakeClaims, c.old, c.new, 1))}},
			[]*grid.Grid{g},
		)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
