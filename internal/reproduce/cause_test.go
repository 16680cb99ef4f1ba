package reproduce

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"privrec/configs"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/run"
)

const fakeCauses = `paper: fake
causes:
  - {grid: fake-*, method: [On*], metric: [Recall@20], ours: above, code: chosen on test, says: they looked, shown_by: {evaluation: noise off}}
  - {grid: fake-table, method: [One], metric: [Recall@20], code: data, says: never reached above}
  - {grid: fake-table, method: [Two], code: other, says: it cannot be, not_reproducible: true, shown_by: {method: One}}
`

func tree(text string) fstest.MapFS {
	return fstest.MapFS{
		"causes/fake.yaml": {Data: []byte(text)},
		"tables/t.yaml":    {Data: []byte(strings.ReplaceAll(fakeGrid, "fake.yaml", "../own/fake.yaml"))},
		"own/fake.yaml":    {Data: []byte("value: 0.2\n")},
	}
}

// explained makes the fake table with causes.
func explained(t *testing.T, size string, sets ...string) *Outcome {
	t.Helper()
	g, o := mustLoad(t, fakeGrid, (&fake{}).task()), options(t, size)
	o.Sets = sets
	if err := grid.Explain(tree(fakeCauses), g); err != nil {
		t.Fatal(err)
	}
	out, err := makeTable(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A difference has its cause with the result that shows it; one without a cause says so.
func TestCauses(t *testing.T) {
	out := explained(t, "full", "value=0.5")
	c := out.Cells
	if c[0].Cause != "chosen on test" || c[0].Why != "they looked" ||
		c[0].Evidence != "51.00 here, 61.00 with noise off (3 seeds), 19.00 printed" {
		t.Errorf("cell %q %q %q", c[0].Cause, c[0].Why, c[0].Evidence)
	}
	if c[1].Status != results.Differs || c[1].Cause != "" || c[1].Why != results.NoCause {
		t.Errorf("without an entry: %q %q %q", c[1].Status, c[1].Cause, c[1].Why)
	}
	if c[3].Status != results.NotReproducible || c[3].Cause != "other" ||
		!strings.Contains(c[3].Evidence, "with One (3 seeds), 5.50 printed") {
		t.Errorf("never: %q %q %q", c[3].Status, c[3].Cause, c[3].Evidence)
	}
	holds(
		t,
		markdown(t, out),
		"|  | status | differs | differs |",
		"|  | status | - | not reproducible |",
		"| One | ML-1M | R | differs | chosen on test | they looked | R: 51.00 here",
		"| One | ML-1M | M | differs |  | no cause known |",
		"of 3 printed numbers, 0 match, 0 are within noise, 2 differ (1 without a known cause), 1 cannot be reproduced",
	)
	// below, the first entry is not about it
	if c := explained(t, "full", "value=0.05").Cells[0]; c.Cause != "data" {
		t.Errorf("below: %q", c.Cause)
	}
	// without data, what cannot be had is still said, and nothing else
	c = explained(t, "full", "fail=data").Cells
	if c[0].Status != "" || c[0].Cause != "" || c[3].Status != results.NotReproducible || c[3].Evidence != "One: not run" {
		t.Errorf("without data: %q %q; %q %q", c[0].Status, c[0].Cause, c[3].Status, c[3].Evidence)
	}
	// generated data say nothing
	c = explained(t, "smoke").Cells
	if c[3].Status != "" || c[3].Cause != "" {
		t.Errorf("generated: %q %q", c[3].Status, c[3].Cause)
	}
}

// Problems of a file of causes are reported with file and line.
func TestBadCauses(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"code":               {"code: data", "code: luck", "built-in configs/causes/fake.yaml:4:"},
		"no sentence":        {"says: they looked", "says: ''", "causes.0.says"},
		"direction":          {"ours: above", "ours: left", "causes.0.ours"},
		"unknown key":        {"ours: above", "our: above", "our"},
		"fits nothing":       {"method: [Two]", "method: [Three]", "causes/fake.yaml:5:5: causes.2: fits no printed number"},
		"prints none":        {"method: [Two]", "method: [Two], metric: [Recall@20]", "causes.2: fits no printed number"},
		"no such row":        {"{method: One}", "{method: One, setting: x}", "causes.2.shown_by: no such row in the grid"},
		"shown by two":       {"{method: One}", "{method: One, evaluation: x}", "either a method or an evaluation"},
		"no such paper":      {"paper: fake", "paper: fike", `no table or figure of a paper called "fike"`},
		"setting, no method": {"{evaluation: noise off}", "{evaluation: noise off, setting: x}", "must not be there without a method"},
	} {
		if !strings.Contains(fakeCauses, c.old) {
			t.Fatalf("%s: no %q", name, c.old)
		}
		_, err := grid.BuiltIn(tree(strings.Replace(fakeCauses, c.old, c.new, 1)), []run.Task{(&fake{}).task()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := grid.BuiltIn(tree(fakeCauses), []run.Task{(&fake{}).task()}); err != nil {
		t.Error(err)
	}
}

// The files of causes that come with the program are well formed. That each entry fits a number is
// checked wherever the built-in tables are read.
func TestShippedCausesParse(t *testing.T) {
	names, err := configs.Files().ReadDir("causes")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	if err := grid.Explain(configs.Files(), &grid.Grid{Name: "none", Paper: "none"}); err != nil {
		t.Error(err)
	}
}
