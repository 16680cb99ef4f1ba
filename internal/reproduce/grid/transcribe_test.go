package grid

import (
	"io/fs"
	"strings"
	"testing"

	"privrec/configs"
	"privrec/internal/config"
	"privrec/internal/papers"
	"privrec/internal/printed"
)

// Every transcribed number of a paper's table is in exactly one cell of the grids that ship, and no grid states a
// number of its own: a cell holds the transcription's own number, not an equal one.
func TestTranscribed(t *testing.T) {
	grids, err := BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	left, seen := map[*float64]printed.Value{}, map[string]bool{}
	for _, g := range grids {
		if seen[g.Paper] {
			continue
		}
		seen[g.Paper] = true
		for _, v := range printed.Of(g.Paper) {
			if v.Number.Value != nil {
				left[v.Number.Value] = v
			}
		}
	}
	if len(left) < 900 {
		t.Fatalf("%d numbers are transcribed, the test looks in the wrong place", len(left))
	}
	cells := 0
	for _, g := range grids {
		for _, r := range append(g.Rows, g.GainRows()...) {
			for k := range g.Metrics {
				x := r.PrintedNumber(k)
				if x == nil || r.Again {
					continue
				}
				cells++
				if _, ok := left[x]; !ok {
					t.Errorf("%s: %s, %s, %s: %v is not transcribed, or in a grid twice",
						g.Name, r.Data, r.Label(), g.Metrics[k].Printed, *x)
				}
				delete(left, x)
			}
		}
	}
	for _, v := range left {
		t.Errorf("%s: %s, %s, is in no grid", v.Paper, v.Place(), v.Number)
	}
	t.Logf("%d cells", cells)
}

// formed reads a grid that ships after one change of its text, without the configurations that it names.
func formed(t *testing.T, name, old, new string) (*Grid, error) {
	t.Helper()
	text, err := fs.ReadFile(configs.Files(), "tables/"+name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), old, new, 1)
	if changed == string(text) {
		t.Fatalf("%s has no %q", name, old)
	}
	g, doc, err := config.Parse("grid.yaml", []byte(changed), nil, Grid{})
	if err != nil {
		t.Fatal(err)
	}
	v := config.NewChecker(doc)
	g.form(v, papers.All())
	return &g, v.Err()
}

// A word that the transcription does not have is an error of its line and field, said once, and so is one too few.
func TestNotTranscribed(t *testing.T) {
	for name, c := range map[string]struct{ grid, old, new, want string }{
		"method": {"dipsgnn-table2", "method: SRGNN", "method: SRGMN",
			`grid.yaml:76:13: rows.5.method: nothing is printed of method "SRGMN"; did you mean "SRGNN"?`},
		"data": {"dipsgnn-table2", "printed: Yelp", "printed: Yepl",
			`grid.yaml:21:27: data.1.printed: nothing is printed of data "Yepl"; did you mean "Yelp"?`},
		"column": {"dipsgnn-table2", "printed: R@20", "printed: R@02",
			`grid.yaml:15:34: metrics.0.printed: nothing is printed of column "R@02"; did you mean "R@20"?`},
		"gain": {"dipsgnn-table2", "over: EdgeRand, over_setting: noise in test", "over: APGNN",
			`gains.0.over: nothing is printed of over "APGNN"; known are EdgeRand`},
		"table": {"rdpgcf-table3", "table: 3", "table: 5",
			`grid.yaml:6:8: table: nothing is printed of table "5"; known are 3`},
		"setting": {"rdpgcf-table3", "{L: 1}", "{L: 5}",
			`rows.0.printed_as: nothing is printed of L "5"; known are 1, 2, 3, 4`},
		"key": {"rdpgcf-table3", "{L: 1}", "{layers: 1}",
			`rows.0.printed_as: nothing is printed of layers "1"; known are L, d, eps`},
		"two words": {"rdpgcf-table3", "{L: 1}", "{L: 5, d: 7}",
			`rows.0.method: nothing is printed of L 5, d 7, data MovieLens-1M, method RDP-GCF, table 3`},
		"no setting": {"rdpgcf-table3", "printed_as: {L: 1}", "smoke_evaluation: x",
			`rows.0.method: may be Table 3, MovieLens-1M, RDP-GCF (L 1, d 64, eps 5), Recall@20, or Table 3, `},
		"unit": {"rdpgcf-table3", "unit: share", "unit: percent",
			`grid.yaml:13:7: unit: Recall@20 is not in percent`},
		"attribute": {"gerai-table2", "{attribute: age}", "{attribute: aeg}",
			`metrics.0.printed_as: nothing is printed of attribute "aeg"; did you mean "age"?`},
		"not of the paper": {"gerai-table3", "printed: []\n  - method: EdgeRand", "\n  - method: EdgeRand",
			`rows.9.method: nothing is printed of method "EASE"; known are BPR, GCN, `},
		"beside printed": {"rdpgcf-table3", "printed_as: {L: 1}", "printed_as: {L: 1}\n    printed: [1, 2]",
			`rows.0.printed_as: belongs to a table of a transcribed paper, and not beside printed`},
		"not transcribed": {"rdpgcf-table3", "paper: rdpgcf", "paper: mine",
			`rows.0.printed_as: belongs to a table of a transcribed paper, and not beside printed`},
		"column's word": {"gerai-table2", "paper: gerai", "paper: mine",
			`metrics.0.printed_as: belongs to a table of a transcribed paper, and not beside printed`},
		"counted too": {"gerai-table1", "printed_as: {method: age}", "printed_as: {table: 1}",
			`statistics.2.counted: nothing is printed of method ""; known are gender, occupation, age`},
		"counted": {"pricdsr-table1", "{data: CD}", "{data: CDs}",
			`statistics.1.printed_as: nothing is printed of data "CDs"; did you mean "CD"?`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := formed(t, c.grid, c.old, c.new)
			if err == nil || strings.Count(err.Error(), c.want) != 1 || !strings.HasPrefix(err.Error(), "grid.yaml:") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// A grid may state numbers of its own in place of the transcription's, and a row none.
func TestStated(t *testing.T) {
	g, err := formed(t, "rdpgcf-table3", "printed_as: {L: 1}", "printed: [0.5, null]")
	if err != nil {
		t.Fatal(err)
	}
	if r := &g.Rows[0]; *r.PrintedNumber(0) != 0.5 || r.PrintedNumber(1) != nil || *g.Rows[1].PrintedNumber(0) != 0.2258 {
		t.Errorf("%v, %v, and in the next row %v", r.PrintedNumber(0), r.PrintedNumber(1), g.Rows[1].PrintedNumber(0))
	}
	if g, err = formed(t, "rdpgcf-table3", "printed_as: {L: 1}", "printed: []"); err != nil {
		t.Fatal(err)
	}
	if r := &g.Rows[0]; r.PrintedNumber(0) != nil || r.Numbers() != 0 {
		t.Errorf("a row without printed numbers has %v", r.Printed)
	}
}
