package reproduce

import (
	"context"
	"os"
	"strings"
	"testing"

	"privrec/internal/config"
)

const fakeFigure = `# a figure of a fake task
name: fake-figure4
paper: fake
figure: 4
title: Fakes drawn
source: {cite: "A. Author, 2026", where: Figure 4}
metrics:
  - {metric: Recall@20}
data:
  - {name: ml-1m, stand_in: standin-tiny}
profiles:
  smoke: {about: nothing, stand_in: true, seeds: [1], set: [level=D]}
  quick: {about: less, stand_in: false, seeds: [1], set: []}
  full: {about: all, stand_in: false, seeds: [1, 2, 3], set: []}
axes:
  - {name: epsilon, label: claimed epsilon, key: value, values: [0.1, 0.2, 0.4], smoke: [0.2], log: true, accounted: true}
rows:
  - {method: One, data: ml-1m, task: train fake, config: fake.yaml, set: [users=400], axes: [epsilon], unit: user, at: [{value: 0.4, set: [user=8]}]}
  - {method: Two, data: ml-1m, task: train fake, config: fake.yaml, set: [users=400], axes: [epsilon], unit: edge, key: value, values: [0.1, 0.15, 0.2]}
  - {method: Twin, data: ml-1m, task: train fake, config: fake.yaml, set: [value=0.5, users=400, 'eps=""']}
claims:
  - id: c1
    text: One rises
    parts: [{says: rises, lines: [One]}]
  - id: c2
    text: One falls
    parts: [{says: falls, lines: [One]}]
  - id: c3
    text: One above Two, the twin above both
    parts:
      - {says: above, lines: [One, Two], except: [{data: ml-1m, at: 0.1}]}
      - {says: above, lines: [Twin, One]}
  - id: c4
    text: Two peaks
    parts: [{says: peaks, lines: [Two], at: [0.2]}, {says: keeps, lines: [Two], share: 0.5}]
`

// A figure has a run for each value and seed, a line for each point with its intervals over
// users and seeds, and a verdict on every claim; it is drawn, and the same the next time.
func TestFigure(t *testing.T) {
	f := &fake{}
	g, o := mustLoad(t, fakeFigure, f.task()), options(t, "full")
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	if n := f.starts.Load(); n != 15 { // two values of Two are runs of One
		t.Errorf("%d runs began, want 15", n)
	}
	md := markdown(t, out)
	holds(t, md,
		"![Fakes drawn, Recall@20](fake-figure4-full.svg)",
		// seeds give 10, 11, 12; users are 10 points above and below
		"| One | epsilon | 0.1 | 70 | 11.00 ± 1.00 (B) | 9.95 to 11.95 |", "| 8.52 to 13.48 | 3 |", "Two keeps at least 50 % of its first value at the last value", "| Twin less One at 0.4 | +10.00 |", "|  | epsilon | 0.4 | 8 |", "| Two | epsilon | 0.1 | infinity |", "| Twin |  |  |  | 51.00 ± 1.00 (B) |",
		"| c1 | One rises |  | holds (B) |", "|  | One rises (Recall@20) | ml-1m | holds (B) |", "| c2 | One falls |  | does not hold (B) |",
		"One above Two, except at 0.1 on ml-1m (Recall@20) | ml-1m | undecided (B) | One less Two at 0.2 | 0.00 |", "Twin above One (Recall@20) | ml-1m | holds (B) |",
		"| c4 | Two peaks |  | holds (B) |", "One at 0.1 less at 0.4 | -30.00 |")
	lacks(t, md, "| paper |", "NaN")
	files := map[string]string{}
	for _, path := range out.Files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path[strings.LastIndex(path, "fake-figure4-full")+len("fake-figure4-full"):]] = string(b)
	}
	for _, suffix := range []string{".md", ".csv", "-privacy.csv", "-runs.json", "-figure.csv", ".html", ".svg", ".png"} {
		if len(files[suffix]) < 100 {
			t.Errorf("no %s: %d bytes", suffix, len(files[suffix]))
		}
	}
	holds(t, files["-figure.csv"], "fake-figure4,full,,ml-1m,One,epsilon,0.1,user,5,70,Recall@20,B,done,11,", "fake-figure4,full,,ml-1m,Two,epsilon,0.15,edge,5,+Inf,Recall@20,B,done,16,")
	holds(t, files[".svg"], ">claimed epsilon<", ">accounted epsilon<", ">∞<", ">Twin<", ">random<", "shaded: 95 % interval over users; bars: 95 % interval over seeds; ∞: no finite epsilon")
	if n := strings.Count(files[".html"], "<svg"); n != 2 {
		t.Errorf("%d pictures on the page, want 2", n)
	}
	again, err := makeTable(context.Background(), g, o)
	if err != nil || f.starts.Load() != 15 {
		t.Errorf("made again: %d runs began, %v", f.starts.Load(), err)
	}
	for i, path := range again.Files {
		if b, _ := os.ReadFile(path); string(b) != files[out.Files[i][strings.LastIndex(path, "fake-figure4-full")+len("fake-figure4-full"):]] && !strings.HasSuffix(path, ".json") {
			t.Errorf("%s differs", path)
		}
	}
}

// In size smoke a figure has the axis's few values. A point that failed is left out of the
// drawing, and a claim about it is not tested.
func TestFigureWithHoles(t *testing.T) {
	text := strings.Replace(fakeFigure, "[{value: 0.4, set: [user=8]}]", "[{value: 0.4, set: [fail=error]}]", 1)
	g, o := mustLoad(t, text, (&fake{}).task()), options(t, "quick")
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() == nil {
		t.Fatal(err, out.Err())
	}
	holds(t, markdown(t, out), "| c1 | One rises |  | not tested |", "One (epsilon 0.4) is not measured", "|  | epsilon | 0.4 |  | failed |")
	o = options(t, "smoke")
	out, err = makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	if len(out.Runs) != 3 {
		t.Errorf("%d runs, want 3", len(out.Runs))
	}
	holds(t, markdown(t, out), "| c1 | One rises |  | not tested |", "One has one value", "evidence level D")
}

// Without a single result there is no picture, and the table says why.
func TestFigureOfNothing(t *testing.T) {
	g, o := mustLoad(t, fakeFigure, (&fake{}).task()), options(t, "quick")
	o.NoRun = true
	out, err := makeTable(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	lacks(t, markdown(t, out), "![")
	holds(t, markdown(t, out), "| One | epsilon | 0.1 |  | to do |")
}

// A metric that no run could measure has no picture; that of the others stays.
func TestFigureOfUnknownMetric(t *testing.T) {
	g, o := mustLoad(t, strings.Replace(fakeFigure, "  - {metric: Recall@20}\n", "  - {metric: Recall@20}\n  - {metric: recommendation accuracy}\n", 1), (&fake{}).task()), options(t, "smoke")
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	md := markdown(t, out)
	holds(t, md, "![Fakes drawn, Recall@20](")
	lacks(t, md, "![Fakes drawn, recommendation accuracy](", "NaN")
}

// A grid without a number is a study: it needs no paper, no printed numbers, and no axis.
func TestStudyGrid(t *testing.T) {
	text := strings.Replace(fakeFigure, "paper: fake\nfigure: 4\n", "", 1)
	text = strings.Replace(text, "source: {cite: \"A. Author, 2026\", where: Figure 4}\n", "", 1)
	g, o := mustLoad(t, text, (&fake{}).task()), options(t, "quick")
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	holds(t, markdown(t, out), "\n\nsize quick: less\n", "![Fakes drawn")
	i := strings.Index(fakeFigure, "axes:")
	text = fakeFigure[:i] + strings.ReplaceAll(fakeFigure[strings.Index(fakeFigure, "rows:"):strings.Index(fakeFigure, "claims:")], ", axes: [epsilon], unit: user, at: [{value: 0.4, set: [user=8]}]", ", panel: users")
	text = strings.Replace(text, ", axes: [epsilon], unit: edge, key: value, values: [0.1, 0.15, 0.2]", "", 1)
	out, err = makeTable(context.Background(), mustLoad(t, text, (&fake{}).task()), o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	svg, err := os.ReadFile(strings.TrimSuffix(out.Files[0], ".md") + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	holds(t, string(svg), ">One<", ">Two<", ">Twin<", ">users<")
}

// The key of an axis may be one of the runs that a row is about.
func TestAxisOfRuns(t *testing.T) {
	text := strings.Replace(fakeFigure, "key: value, values: [0.1, 0.2, 0.4]", "key: value, on: true, values: [0.1, 0.2, 0.4]", 1)
	text = text[:strings.Index(text, "rows:")] + `rows:
  - {method: Sum, data: ml-1m, task: attack fake, config: sum.yaml, evaluation: noise on, axes: [epsilon],
     on: [{task: train fake, config: fake.yaml}, {task: train fake, config: fake.yaml, quick: [value=9]}]}
`
	g, err := loadWith(t, text, map[string]string{"sum.yaml": "level: B\n"}, (&fake{}).task(), about(func() {}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := makeTable(context.Background(), g, options(t, "quick"))
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	holds(t, markdown(t, out), "| Sum | epsilon | 0.1 |  | 20.00 (B) |", "|  | epsilon | 0.4 |  | 80.00 (B) |")
}

// Every way to be wrong about axes and claims is an error of configuration with its line.
func TestBadFigures(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"table and figure":   {"figure: 4", "figure: 4\ntable: 2", "figure: must not be there beside table"},
		"negative":           {"figure: 4", "figure: -4", "figure: must be at least 0, got -4"},
		"table printed":      {"figure: 4", "table: 4", "rows.0.printed: 0 printed numbers for 1 metrics"},
		"no cite":            {"cite: \"A. Author, 2026\"", "cite: \"\"", "source.cite: must not be empty"},
		"axis twice":         {"rows:", "  - {name: epsilon, key: value, values: [1]}\nrows:", "axes.1.name: epsilon is there already"},
		"no values":          {"values: [0.1, 0.2, 0.4], smoke", "values: [], smoke", "axes.0.values: must name at least one"},
		"values falling":     {"values: [0.1, 0.2, 0.4], smoke", "values: [0.2, 0.1], smoke", "axes.0.values.1: must be larger than the value before, got 0.1 after 0.2"},
		"log of zero":        {"values: [0.1, 0.2, 0.4], smoke", "values: [0, 1], smoke", "axes.0.values.0: must be positive on a logarithmic axis, got 0"},
		"unknown axis":       {"axes: [epsilon], unit: user", "axes: [epsilom], unit: user", `rows.0.axes.0: "epsilom" is not among the grid's axes`},
		"axis named twice":   {"axes: [epsilon], unit: edge, key: value, values: [0.1, 0.15, 0.2]", "axes: [epsilon, epsilon]", "rows.1.axes.1: epsilon is there already"},
		"key without axis":   {"axes: [epsilon], unit: edge, key: value", "unit: edge, key: value", "rows.1.axes: a row with its own key, values or overrides at points must name one axis, got 0"},
		"point not there":    {"{value: 0.4, set", "{value: 0.3, set", "rows.0.at.0.value: 0.3 is not among the values of epsilon"},
		"on nothing":         {"key: value, values: [0.1, 0.2, 0.4]", "key: value, on: true, values: [0.1, 0.2, 0.4]", "rows.0.axes: epsilon is a key of runs that a row is about, and this row is about none"},
		"unknown key":        {"key: value, values: [0.1, 0.2, 0.4]", "key: valeu, values: [0.1, 0.2, 0.4]", "rows.0: size smoke sets valeu: unknown key"},
		"bad at a point":     {"set: [user=8]", "set: [usr=8]", "rows.0: size quick sets usr: unknown key"},
		"claim of no row":    {"lines: [Two], at", "lines: [Tow], at", `claims.3.parts.0.lines.0: "Tow" is not a row of the grid`},
		"unknown statement":  {"says: peaks", "says: wins", "claims.3.parts.0.says: must be one of rises, falls"},
		"one line above":     {"lines: [One, Two], except", "lines: [One], except", "claims.2.parts.0.lines: must name two lines or more, the upper one first"},
		"peak where":         {"lines: [Two], at: [0.2]", "lines: [Two]", "claims.3.parts.0.at: must be one value: where the peak is"},
		"share":              {"share: 0.5", "share: 1.5", "claims.3.parts.1.share: must lie in (0,1), got 1.5"},
		"share of rises":     {"says: rises, lines: [One]", "says: rises, share: 0.5, lines: [One]", "claims.0.parts.0.share: belongs to keeps and loses, not to rises"},
		"data of exception":  {"except: [{data: ml-1m", "except: [{data: yelp", `claims.2.parts.0.except.0.data: "yelp" is not among the grid's data`},
		"no parts":           {"parts: [{says: rises, lines: [One]}]", "parts: []", "claims.0.parts: must name at least one"},
		"metric of a claim":  {"says: rises, lines: [One]", "says: rises, metric: MRR@20, lines: [One]", `claims.0.parts.0.metric: "MRR@20" is not among the grid's metrics`},
		"exception of rises": {"says: rises, lines: [One]", "says: rises, except: [{data: ml-1m, at: 1}], lines: [One]", "claims.0.parts.0.except: belongs to above and below, not to rises"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(fakeFigure, c.old) {
				t.Fatalf("the grid has no %q", c.old)
			}
			_, err := load(t, strings.Replace(fakeFigure, c.old, c.new, 1), (&fake{}).task())
			if err == nil || !config.Is(err) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "grid.yaml:") {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}
