package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func sample(t *testing.T, level dataset.Level) *Document {
	t.Helper()
	c := Comparison{
		Name: "ranking", Title: "Test ranking, all items", Level: level,
		Metrics: []metrics.Metric{{Kind: metrics.Recall, K: 20}, {Kind: metrics.MRR, K: 20}},
		Floors:  []Row{{Label: "random", Values: []float64{0.0071, 0.0018}}, {Label: "popularity", Values: []float64{0.0534, 0.0121}}},
		Ours: []Row{
			{Label: "dipsgnn", Values: []float64{0.2012, 0.0561}, Paper: []float64{0.2151, Missing}},
			{Label: "srgnn", Values: []float64{0.2101, 0.0601}},
		},
	}
	ranking, err := c.Table()
	if err != nil {
		t.Fatal(err)
	}
	ladder := &Table{Name: "ladder", Title: "Data", Columns: Columns("", "step", "users", "rows")}
	ladder.Add("raw <script>alert(1)</script>", 6040, 1000209)
	ladder.Add("10-core | odd_name", 5949, 571531)
	return &Document{
		Title: "DIPSGNN on a stand-in", Subtitle: "train dipsgnn, profile paper", Level: level,
		Facts: []Fact{
			{"claimed epsilon", "5.00", "the paper's formula, one matrix, one pass"},
			{"accounted epsilon", "inf", "labels reach the loss in the clear"},
		},
		Tables: []*Table{ranking, ladder},
		Figures: []Figure{{Title: "Training loss", X: "epoch", Y: "loss (nats)", Caption: "Mean over the epoch's samples.",
			Lines: []Line{
				{Name: "dipsgnn <b>", X: []float64{1, 2, 3, 4}, Y: []float64{7.9, 6.8, 6.2, 6.0}},
				{Name: "srgnn", X: []float64{1, 2, 3, 4}, Y: []float64{7.7, 6.5, math.NaN(), 5.7}}}}},
		Notes: []string{"research noise: the sampler is not hardened against an observer of the released numbers"},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (go test -update rewrites it):\n%s", name, diff)
	}
}

func TestGoldens(t *testing.T) {
	d := sample(t, dataset.LevelB)
	var text, md, csv bytes.Buffer
	if err := d.Text(&text); err != nil {
		t.Fatal(err)
	}
	if err := d.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := d.Tables[0].CSV(&csv); err != nil {
		t.Fatal(err)
	}
	js, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "document.txt", text.Bytes())
	golden(t, "document.md", md.Bytes())
	golden(t, "ranking.csv", csv.Bytes())
	golden(t, "document.json", append(js, '\n'))
}

// Only levels A and B show the paper's numbers and the difference.
func TestDeltaNeedsEvidence(t *testing.T) {
	for level, want := range map[dataset.Level]bool{dataset.LevelA: true, dataset.LevelB: true, dataset.LevelC: false, dataset.LevelD: false} {
		var b bytes.Buffer
		if err := sample(t, level).Text(&b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "ours - paper"); got != want {
			t.Errorf("level %v: delta shown %v, want %v", level, got, want)
		}
		if got := strings.Contains(b.String(), "21.51"); got != want {
			t.Errorf("level %v: paper's number shown %v, want %v", level, got, want)
		}
		if !strings.Contains(b.String(), "popularity (floor)") || !strings.Contains(b.String(), "evidence level "+level.String()) {
			t.Errorf("level %v: no floor or no stamp:\n%s", level, &b)
		}
	}
}

func TestComparisonRefuses(t *testing.T) {
	m := []metrics.Metric{{Kind: metrics.Recall, K: 5}}
	floor := []Row{{Label: "random", Values: []float64{0}}}
	for name, c := range map[string]Comparison{
		"without a floor": {Level: dataset.LevelA, Metrics: m, Ours: floor},
		"not a level":     {Metrics: m, Floors: floor},
		"2 values":        {Level: dataset.LevelA, Metrics: m, Floors: floor, Ours: []Row{{Label: "x", Values: []float64{1, 2}}}},
		"0 values":        {Level: dataset.LevelA, Metrics: m, Floors: floor, Ours: []Row{{Label: "x", Values: []float64{1}, Paper: []float64{}}}},
	} {
		if _, err := c.Table(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The page stands alone, escapes what it is given, and is the same every time.
func TestPage(t *testing.T) {
	var a, b bytes.Buffer
	d := sample(t, dataset.LevelD)
	if err := d.HTML(&a); err != nil {
		t.Fatal(err)
	}
	if err := d.HTML(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the page differs from one writing to the next")
	}
	s := a.String()
	for _, bad := range []string{"<script>", "src=", "dipsgnn <b>", "@import", "url("} {
		if strings.Contains(s, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(s, "href="); n != 2 || !strings.Contains(s, `href="data:,"`) || !strings.Contains(s, `href="#main"`) {
		t.Errorf("the page has %d addresses, want its own beginning and an empty icon", n)
	}
	for _, want := range []string{"Evidence level D", "<svg", "Training loss", "&lt;script&gt;", "popularity (floor)", "not comparable"} {
		if !strings.Contains(s, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if dir := os.Getenv("PRIVREC_PAGE_DIR"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "page.html"), a.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFigureErrors(t *testing.T) {
	for want, f := range map[string]Figure{
		"without a finite point": {Lines: []Line{{Name: "a", X: []float64{1}, Y: []float64{math.Inf(1)}}}},
		"has 1 x for 2 y":        {Lines: []Line{{Name: "a", X: []float64{1}, Y: []float64{1, 2}}}},
	} {
		if _, err := f.SVG(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	one := Figure{Lines: []Line{{Name: "a", X: []float64{1}, Y: []float64{2}}}}
	if svg, err := one.SVG(); err != nil || !bytes.HasPrefix(svg, []byte("<svg")) {
		t.Errorf("a single point: %v", err)
	}
}

func TestGroup(t *testing.T) {
	for x, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := Group(x); got != want {
			t.Errorf("%d: %s", x, got)
		}
	}
}

func TestCellsAndEscapes(t *testing.T) {
	x := &Table{Columns: Columns("%.2f", "a [b](c)", "n")}
	x.Add("[1]", -0.001)
	x.Add("é", -0.01)
	x.Add(Link{Text: "a run", To: "runs/a.json"}, 1)
	x.Add(Link{Text: "no address"})
	x.Add(Link{Text: "a part", To: "#part"})
	var text, md strings.Builder
	if err := errors.Join(x.Text(&text), x.Markdown(&md)); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); strings.Contains(s, "-0.00") || !strings.Contains(s, "-0.01") {
		t.Error(s)
	}
	if s := md.String(); !strings.Contains(s, `a \[b\](c)`) || !strings.Contains(s, `\[1\]`) ||
		!strings.Contains(s, "[a run](runs/a.json)") || !strings.Contains(s, "| no address ") || !strings.Contains(s, "| a part ") {
		t.Error(s)
	}
	d := &Document{Facts: []Fact{{Label: "ééé", Value: "1"}, {Label: "abc", Value: "2"}}}
	text.Reset()
	if err := d.Text(&text); err != nil || !strings.Contains(text.String(), "ééé  1\nabc  2\n") {
		t.Errorf("%q, %v", text.String(), err)
	}
}
