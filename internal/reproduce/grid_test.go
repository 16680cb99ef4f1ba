package reproduce

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"privrec/internal/config"
	"privrec/internal/papers"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// Every way to be wrong is an error of configuration that names file and line.
func TestBadGrids(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown key":        {"table: 3", "table: 3\nsize: 4", ":5:1: size: unknown key"},
		"unknown row key":    {"method: One,", "method: One, seeds: 3,", "rows.0.seeds: unknown key"},
		"unknown task":       {"task: train fake, config: fake.yaml, evaluation: noise on", "task: train nothing, config: fake.yaml, evaluation: noise on", `:18:38: rows.0.task: unknown task "train nothing"; known are train fake`},
		"printed missing":    {"printed: [19, 5.5]", "printed: [19]", ":18:100: rows.0.printed: 1 printed numbers for 2 metrics; write null where the paper prints none"},
		"no printed":         {", printed: [19, 5.5]", "", ":18:5: rows.0.printed: 0 printed numbers"},
		"row twice":          {"method: Two", "method: One", "rows.1.method: One on ml-1m is row 1 already"},
		"metric twice":       {"metric: MRR@20", "metric: recall@20", "metrics.1.metric: Recall@20 is there already"},
		"unknown score":      {"metric: MRR@20", "metric: luck gender", "metrics.1.metric: metric \"luck gender\": want one of AUC, balanced accuracy"},
		"unknown metric":     {"metric: MRR@20", "metric: Luck@20", "metrics.1.metric: metric \"Luck@20\""},
		"unknown data":       {"{name: ml-1m, printed: ML-1M", "{name: ml-9m, printed: ML-1M", "data.0.name: ml-9m: unknown data set"},
		"stand-in as data":   {"{name: ml-1m, printed: ML-1M", "{name: standin-demo, printed: ML-1M", "data.0.name: standin-demo is a stand-in"},
		"data as stand-in":   {"stand_in: standin-tiny", "stand_in: ml-1m", "data.0.stand_in: ml-1m is not a stand-in"},
		"row of other data":  {"{method: One, data: ml-1m", "{method: One, data: yelp", `rows.0.data: "yelp" is not among the grid's data`},
		"no seeds":           {"stand_in: false, seeds: [1], set: []", "stand_in: false, seeds: [], set: []", "profiles.quick.seeds: must name at least one"},
		"seed twice":         {"seeds: [1, 2, 3]", "seeds: [1, 2, 1]", "profiles.full.seeds.2: seed 1 is there already"},
		"unit":               {"unit: percent", "unit: points", "unit: must be percent, share or count"},
		"name":               {"name: fake-table", "name: ../fake", "name: must be letters"},
		"no config":          {"config: fake.yaml, evaluation: noise on", "config: none.yaml, evaluation: noise on", "rows.0.config: "},
		"bad override":       {"set: [value=0.3]", "set: [valeu=0.3]", ":19:5: rows.1: size smoke sets valeu: unknown key"},
		"bad value":          {"set: [value=0.3]", "set: [value=-1]", "rows.1: size smoke sets value: must not be negative"},
		"fixed key":          {"set: [value=0.3]", "set: [run.seed=3]", "rows.1.config: override run.seed=3: the table sets run.seed itself"},
		"printed is no list": {"printed: [19, 5.5]", "printed: 19", "rows.0.printed: want a list"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(fakeGrid, c.old) {
				t.Fatalf("the grid has no %q", c.old)
			}
			_, err := load(t, strings.Replace(fakeGrid, c.old, c.new, 1), (&fake{}).task())
			if err == nil || !config.Is(err) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "grid.yaml:") {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// Grids that answer a question of our own are read by their files.
func TestStudies(t *testing.T) {
	files, err := filepath.Glob("../../configs/studies/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d studies: %v", len(files), err)
	}
	for _, file := range files {
		g, err := grid.Load(file, papers.All())
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if g.Name+".yaml" != filepath.Base(file) {
			t.Errorf("%s calls itself %s", file, g.Name)
		}
	}
}

// Departures of a size are in its rows, and not in those of the table as printed, whose files have a name of their own.
func TestAsPrinted(t *testing.T) {
	text := strings.Replace(fakeGrid, "seeds: [1, 2, 3], set: []", "seeds: [1, 2, 3], set: [], departures: [value=0.7]", 1)
	if text == fakeGrid {
		t.Fatal("the grid has no size to depart in")
	}
	g, err := load(t, text, (&fake{}).task())
	if err != nil {
		t.Fatal(err)
	}
	departs := func(g *grid.Grid) (all bool) {
		_, runs, err := roster.Of(g, roster.Options{Size: "full", Out: "x"})
		if err != nil {
			t.Fatal(err)
		}
		all = len(runs) > 0
		for _, r := range runs {
			all = all && slices.Contains(r.Start.Sets, "value=0.7")
		}
		return all
	}
	if name := g.FileName("full", nil); name != "fake-table-full" || !departs(g) {
		t.Errorf("%s without its departures", name)
	}
	p, ok := g.AsPrinted("full")
	if name := p.FileName("full", nil); !ok || departs(p) || !departs(g) || name != "fake-table-full-as-printed" {
		t.Errorf("%s: %t, departs %t, and the first one %t", name, ok, departs(p), departs(g))
	}
	if q, ok := g.AsPrinted("quick"); ok || q != g {
		t.Error("a size without departures departs")
	}
}

// A grid of a tree finds its configurations in the tree and nowhere else.
func TestTree(t *testing.T) {
	tree := fstest.MapFS{"tables/t.yaml": {Data: []byte(fakeGrid)}}
	if _, err := grid.BuiltIn(tree, nil); err == nil {
		t.Error("a grid without its task and configuration")
	}
	f := &fake{}
	grids, err := grid.BuiltIn(tree, append(papers.All(), f.task()))
	if err != nil || len(grids) != 1 {
		t.Fatal(grids, err)
	}
	if err := grids[0].Check(); err == nil ||
		!strings.Contains(err.Error(), "tables/fake.yaml: not among the built-in configurations") {
		t.Errorf("%v", err)
	}
	tree["tables/t.yaml"] = &fstest.MapFile{Data: []byte(fakeGrid)}
	tree["fake.yaml"] = &fstest.MapFile{Data: []byte("value: 0.2\n")}
	tree["tables/t.yaml"].Data = []byte(strings.ReplaceAll(fakeGrid, "fake.yaml", "../fake.yaml"))
	grids, err = grid.BuiltIn(tree, append(papers.All(), f.task()))
	if err != nil || len(grids[0].Rows) != 2 {
		t.Fatal(grids, err)
	}
	if err := grids[0].Check(); err != nil {
		t.Error(err)
	}
}

// No text of a grid makes the reader panic, and what it refuses it refuses as
// configuration.
func FuzzGrid(f *testing.F) {
	f.Add(fakeGrid)
	f.Add(strings.Replace(fakeGrid, "printed: [19, 5.5]", "printed: [null]", 1))
	f.Add("name: a\nrows:\n  - {}\nmetrics: [{}]\ndata: [{}]\n")
	task := (&fake{}).task()
	f.Fuzz(func(t *testing.T, text string) {
		tree := fstest.MapFS{"tables/g.yaml": {Data: []byte(text)}, "tables/fake.yaml": {Data: []byte("value: 0.2\n")}}
		grids, err := grid.BuiltIn(tree, append(papers.All(), task))
		if err == nil && len(grids[0].Rows) == 0 {
			t.Error("accepted a grid without rows")
		}
		if err == nil {
			err = grids[0].Check()
		}
		if err != nil && !config.Is(err) {
			t.Errorf("not an error of configuration: %v", err)
		}
	})
}
