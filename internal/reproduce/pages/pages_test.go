package pages

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/claims"
	"privrec/internal/report"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
)

const hostile = `"><i onload='x'>&`

// runDir writes a finished run. Its times and places differ from machine to machine, its results
// do not.
func runDir(t *testing.T, out, name, privacy, machine string) string {
	t.Helper()
	dir := filepath.Join(out, "runs", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"metrics.json": `{"version": 2, "method": "DIPSGNN <b>", "protocol": "next-item", "setting": "profile paper", "data": {"name": "ml-1m", "recipe": "dipsgnn", "evidence_level": "B",
			"source": {"title": "MovieLens 1M", "hash": "ab", "level": "B", "checks": [{"rung": "10-core", "count": "items", "want": 2810, "got": 2811, "paper": true, "from": "table 1"}]},
			"ladder": [{"name": "raw", "users": 6040, "items": 3706, "rows": 1000209}, {"name": "10-core", "users": 5949, "items": 2811, "rows": 571531}]},
			"metrics": ["Recall@20"], "definitions": {"Recall@20": "Recall@20: share"}, "floors": [{"name": "popularity", "values": {"Recall@20": 0.0449}}],
			"evaluations": [{"name": "test", "values": {"Recall@20": 0.2113}}], "selected_epoch": 2, "epoch_cap": 10, "steps": 40,
			"epochs": [{"epoch": 1, "loss": 7.5, "scores": [{"name": "Recall@20", "value": 0.1}]}, {"epoch": 2, "loss": 7, "scores": [{"name": "Recall@20", "value": 0.2}]}]}`,
		"privacy.json": privacy,
		"manifest.json": `{"task": "train dipsgnn", "status": "done", "seed": 1, "config_sha256": "00ff", "attempts": [{"started": "2026-01-01T00:00:00Z", "seconds": 4321.5, "status": "done", "peak_rss_bytes": 77000000,
			"build": {"version": "v1", "commit": "c0ffee", "go": "go1", "os": "linux", "arch": "amd64", "float": "float32", "simd": "off"}, "machine": {"host": "` + machine + `", "cpu": "` + machine + `", "cores": 3, "workers": 2}}]}`,
		"config.yaml": "run:\n  seed: 1\n  workers: 2\n  out: " + dir + "\non:\n  runs:\n    - /home/" + machine + "/runs/train-x-abc-seed1\ndata:\n  name: ml-1m\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const open = `{"version": 2, "claimed": {"eps": 5, "delta": 1e-7, "unit": "edge-unit", "theorem": "4.2"}, "eps_total": "infinity", "unbounded": [{"what": "labels", "why": "the loss sees them"}, {"what": "backward", "why": "in the clear"}],
	"units": [{"unit": "edge-unit", "neighbouring": "add-remove", "delta": 1e-7, "accounted": {"eps_exact": 74.77}, "eps_total": "infinity", "unbounded": ["labels", "backward"]}]}`

const closed = `{"version": 2, "claimed": {"eps": 5, "delta": 1e-7, "unit": "user", "theorem": "t"}, "eps_total": 6.5, "unbounded": [],
	"units": [{"unit": "user", "neighbouring": "replace", "delta": 1e-7, "accounted": {"eps_exact": 6.5}, "eps_total": 6.5, "unbounded": []}]}`

// sample is a table of one row with five cells, and one claim. machine is where its run was made.
func sample(t *testing.T, privacy, machine, text string) (*Set, string) {
	t.Helper()
	out := t.TempDir()
	dir := runDir(t, out, "train-dipsgnn-0-seed1", privacy, machine)
	f := func(x float64) *float64 { return &x }
	inf := math.Inf(1)
	cell := results.Cell{Paper: "dipsgnn", Grid: "dipsgnn-table2", Table: 2, Profile: "full", Data: "ML-1M",
		Taken: "ml-1m", Method: "DIPSGNN " + text, Heading: "R@20", Metric: "Recall@20",
		Unit: "percent", Printed: f(21.13), Ours: f(21.2), Low: f(20.9), High: f(21.5), Difference: f(0.07),
		Seeds: 3, SeedsOf: 3, Floor: f(4.49), FloorName: "popularity", Level: "B", State: roster.Done,
		ClaimedEpsilon: f(5), AccountedEpsilon: &inf, Runs: []string{"train-dipsgnn-0-seed1"}}
	cells := make([]results.Cell, 5)
	for i := range cells {
		cells[i] = cell
	}
	cells[0].Status, cells[1].Status, cells[2].Status = "match", "within noise", "differs"
	cells[2].Cause, cells[2].Why = "budget of epochs", "a third of the epochs"+text
	cells[3].Ours, cells[3].State, cells[3].Difference, cells[3].Why = nil, roster.NoData, nil, "data missing: ml-1m"
	cells[4].Printed, cells[4].Difference = nil, nil
	d := &report.Document{Title: "DIPSGNN and baselines" + text, Tables: []*report.Table{{Name: "t", Title: text, Columns: report.Columns("", "a")}}, Notes: []string{text}}
	g := &grid.Grid{Name: "dipsgnn-table2", Paper: "dipsgnn", Table: 2, Title: "t" + text,
		Place: grid.Place{Cite: "Hu and Fang" + text}}
	return &Set{Out: out, Made: []Made{{g, &reproduce.Outcome{
			Table: &results.Table{Name: "dipsgnn-table2-full", Document: d, Cells: cells},
			Runs:  []roster.Run{{Method: "DIPSGNN " + text, Data: "ml-1m", Seed: 1, Dir: dir, Status: roster.Done}},
			Files: []string{"x.md"}}}},
			Verdicts: []*claims.Result{{Paper: "dipsgnn", Count: claims.Count{Claims: 2, Hold: 1, Untested: 1}, Claims: []claims.Judged{{ID: "c1", Text: "it works" + text, Verdict: claims.Holds, Level: "B", Why: "it does" + text}, {ID: "c2", Text: "t", Verdict: claims.Untested}}}}},
		out
}

// written writes a set and returns its files by name.
func written(t *testing.T, s *Set, out string) map[string]string {
	t.Helper()
	paths, err := s.Write()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(filepath.Join(out, "tables"), p)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(name)] = string(b)
	}
	return files
}

// The pages begin with their conclusions, which say what holds and what does not.
func TestConclusions(t *testing.T) {
	s, out := sample(t, open, "here", "")
	files := written(t, s, out)
	for name, want := range map[string]string{
		Overview:                          "Of 4 printed numbers 1 matches, 1 is within noise, 1 differs, and 1 is not compared (1 data missing); of 2 claims 1 holds, 1 is not tested.",
		"dipsgnn.html":                    "Of 4 printed numbers 1 matches, 1 is within noise, 1 differs, and 1 is not compared (1 data missing); of 2 claims 1 holds, 1 is not tested; claimed 5; this run gives no guarantee: nothing protects training labels and the backward pass.",
		"runs/train-dipsgnn-0-seed1.html": "Recall@20 21.13 %, against 4.49 % of the best floor (popularity); claimed 5; this run gives no guarantee: nothing protects training labels and the backward pass.",
		Costs:                             "1 run took 1.2 hours together.",
	} {
		if !strings.Contains(files[name], `<p class="conclusion">`+want+"</p>") {
			_, after, _ := strings.Cut(files[name], `<p class="conclusion">`)
			got, _, _ := strings.Cut(after, "</p>")
			t.Errorf("%s begins with\n%s\nwant\n%s", name, got, want)
		}
	}
	for _, want := range []string{
		`<span class="tag good">match</span>`, `<span class="tag bad">differs</span>`, "budget of epochs (1)", "(1) a third of the epochs", `<span class="tag none">data missing</span>`,
		"20.90 to 21.50", "+0.07", ">no guarantee<", ">74.77<", `<span class="tag bad">differs</span></td><td>2,810 items (the paper, table 1)`, "it works", `href="dipsgnn-table2-full.tex"`, `href="runs/train-dipsgnn-0-seed1.html"`, "<svg",
	} {
		if !strings.Contains(files["dipsgnn.html"], want) {
			t.Errorf("the page of the paper lacks %s", want)
		}
	}
	var all struct {
		Papers []struct{ Conclusion string }
		Tables []struct{ Name string }
		Cells  []results.Cell
		Claims []claims.Result
	}
	if err := json.Unmarshal([]byte(files[Document]), &all); err != nil || len(all.Cells) != 5 || len(all.Claims) != 1 || len(all.Tables) != 1 || len(all.Papers) != 1 {
		t.Errorf("the document has %d cells, %d claims, %d tables, error %v", len(all.Cells), len(all.Claims), len(all.Tables), err)
	} else if !math.IsInf(*all.Cells[0].AccountedEpsilon, 1) {
		t.Error("the document lost an infinite epsilon")
	}
}

// A finite account above the claim is said.
func TestAboveTheClaim(t *testing.T) {
	s, out := sample(t, closed, "here", "")
	page := written(t, s, out)["dipsgnn.html"]
	for _, want := range []string{"claimed 5; this run has a finite account, above the claim for some unit", `<span class="tag bad">above the claim</span>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Equal results give equal bytes whatever machine made them and wherever they lie, but for costs.
func TestSameBytes(t *testing.T) {
	s, out := sample(t, open, "one-machine", "")
	a := written(t, s, out)
	s, out = sample(t, open, "another-machine", "")
	b := written(t, s, out)
	for name := range a {
		if same := a[name] == b[name]; same != (name != Costs) {
			t.Errorf("%s: same bytes is %v", name, same)
		}
		if name != Costs && (strings.Contains(a[name], "one-machine") || strings.Contains(a[name], "4321") || strings.Contains(a[name], out)) {
			t.Errorf("%s tells of the machine", name)
		}
	}
}

// Hostile names stay text, and every link leads to a page or a file of the report.
func TestHostileNames(t *testing.T) {
	s, out := sample(t, open, "here", hostile)
	for name, text := range written(t, s, out) {
		if name == Document {
			continue
		}
		if strings.Contains(text, "<i onload") || strings.Contains(text, "<b>\"") || strings.Contains(text, "DIPSGNN <b>") {
			t.Errorf("%s: a name became markup", name)
		}
		if strings.Contains(text, `href="http`) || strings.Contains(text, "src=") {
			t.Errorf("%s leads away", name)
		}
	}
}

// Links between pages lead to pages that are written, and to parts that they have.
func TestLinks(t *testing.T) {
	s, out := sample(t, open, "here", "")
	files := written(t, s, out)
	for name, text := range files {
		for _, part := range strings.Split(text, `href="`)[1:] {
			to, _, _ := strings.Cut(part, `"`)
			file, at, _ := strings.Cut(to, "#")
			if strings.HasPrefix(to, "data:") || strings.HasPrefix(file, "dipsgnn-table2-full") {
				continue // the icon; files that the table itself writes
			}
			target := name
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, ok := files[target]; !ok {
				t.Errorf("%s links to %s, which is not there", name, to)
			} else if at != "" && !strings.Contains(files[target], `id="`+at+`"`) {
				t.Errorf("%s links to %s, which has no such part", name, to)
			}
		}
	}
}

// Runs without a table stand side by side.
func TestRunsAlone(t *testing.T) {
	out := t.TempDir()
	s := &Set{Out: out, Runs: []string{runDir(t, out, "a", open, "m"), runDir(t, out, "b", closed, "m")}}
	page := written(t, s, out)[Overview]
	for _, want := range []string{"Of 2 runs, 2 claim an epsilon, and for 1 of these the account is finite.", ">21.13<", ">4.49<", `href="runs/b.html"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// A run that cannot be read is an error that names the file.
func TestBrokenRun(t *testing.T) {
	out := t.TempDir()
	dir := runDir(t, out, "a", open, "m")
	if err := os.WriteFile(filepath.Join(dir, "privacy.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Set{Out: out, Runs: []string{dir}}).Write(); err == nil || !bytes.Contains([]byte(err.Error()), []byte("privacy.json")) {
		t.Errorf("error %v does not name privacy.json", err)
	}
}

// The page of a paper has its panel of claims, and a link to it; a paper without one has neither.
func TestEpsilonPanel(t *testing.T) {
	for _, c := range []struct {
		with *report.Table
		want bool
	}{
		{&report.Table{Name: "gerai", Columns: report.Columns("", "setting"), Rows: [][]any{{"one attribute of a user"}}}, true}, {nil, false},
	} {
		var b bytes.Buffer
		if err := (&paper{name: "gerai", title: "GERAI", epsilons: c.with}).html().HTML(&b); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"one attribute of a user", `href="#epsilons"`, `id="epsilons"`} {
			if strings.Contains(b.String(), text) != c.want {
				t.Errorf("page with panel %v: %q is there: %v", c.want, text, !c.want)
			}
		}
	}
}
