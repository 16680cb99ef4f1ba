//go:build slow

package browsertest

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"privrec/internal/dataset"
	"privrec/internal/demo"
	"privrec/internal/progress"
	"privrec/internal/report"
	"privrec/internal/tensor"
)

// sample is a page with a part of every kind that a report has: wide tables, words with a
// colour, drawings, folds.
func sample() *report.Page {
	wide := &report.Table{Name: "wide", Title: "A wide table", Sorts: true, Columns: []report.Column{{Name: "method"}, {Name: "status"}}}
	for i := range 20 {
		wide.Columns = append(wide.Columns, report.Column{Name: fmt.Sprintf("Recall@%d", i+1)})
	}
	for r := range 12 {
		row := []any{fmt.Sprintf("method %d", r), report.Tag{Text: "differs", Kind: []report.Kind{report.Good, report.Near, report.Bad, report.Neutral}[r%4]}}
		for i := range 20 {
			row = append(row, float64((r*7+i)%12)/3)
		}
		wide.Rows = append(wide.Rows, row)
	}
	wide.Rows[3][2] = math.NaN()
	chart := report.Chart{Title: "A chart", Caption: "Two curves.", Strips: []report.Strip{{Title: "ml-1m", Panels: []report.Panel{
		{X: "epsilon", Y: "percent", LogX: true, Levels: []report.Level{{Name: "popularity", Y: 2}}, Curves: []report.Curve{
			{Name: "one", X: []float64{1, 2, math.Inf(1)}, Y: []float64{1, 2, 3}, Bars: [][2]float64{{0, 2}, {1, 3}, {2, 4}}},
			{Name: "two", X: []float64{1, 2, 4}, Y: []float64{3, 2, 1}}}},
	}}}}
	return &report.Page{
		Title: "A report", Subtitle: "of nothing", Conclusion: "Claimed 5; this run gives no guarantee.", Level: dataset.LevelD,
		Trail: []report.Link{{Text: "overview", To: "index.html"}},
		Facts: []report.Fact{{Label: "claimed", Value: "5", Note: "theorem 1"}},
		Parts: []report.Part{
			report.Section{ID: "tables", Title: "Tables", Parts: []report.Part{wide}},
			report.Cards{{Title: report.Link{Text: "a card", To: "a.html"}, Small: "small", Text: "Text.", Bar: report.Bar{{Tag: report.Tag{Text: "match", Kind: report.Good}, N: 3}, {Tag: report.Tag{Text: "differs", Kind: report.Bad}, N: 2}}}},
			chart, report.Notes{"A note."}, report.Fold{Summary: "more", Parts: []report.Part{report.Code("key: value")}},
		},
	}
}

// look checks a page of a file in both sizes and both colours.
func look(b *tab, name, file string) {
	b.t.Helper()
	for _, width := range []int64{1200, 390} {
		for _, dark := range []bool{false, true} {
			n := fmt.Sprintf("%s %d %s", name, width, map[bool]string{true: "dark", false: "light"}[dark])
			b.size(width, dark)
			b.visit("file://" + file)
			b.shot(n)
			b.check(n, "file://"+file)
			if h := eval[string](b, `document.querySelector("h1").textContent`); h == "" {
				b.t.Errorf("%s has no heading", n)
			}
		}
	}
}

// Pages of reports fit and can be read everywhere, load nothing, and sort their tables.
func TestReportPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(file)
	if err == nil {
		err = sample().HTML(f)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b := open(t)
	look(b, "report", file)
	const column = `[...document.querySelectorAll("table tbody tr")].map(r => r.children[2].textContent)`
	before := eval[[]string](b, column)
	b.do(chromedp.Click(chromedp.CSS("thead th:nth-child(3) button")))
	once := eval[[]string](b, column)
	b.do(chromedp.Focus(chromedp.CSS("thead th:nth-child(3) button")), chromedp.KeyEvent(" "))
	twice := eval[[]string](b, column)
	if slices.Equal(before, once) || slices.Equal(once, twice) {
		t.Errorf("sorting changes nothing: %v, %v, %v", before, once, twice)
	}
	if a, b := slices.Sorted(slices.Values(once)), slices.Sorted(slices.Values(before)); !slices.Equal(a, b) {
		t.Errorf("sorting loses rows: %v, %v", b, a)
	}
	if got := eval[int](b, `document.querySelectorAll("th[aria-sort=ascending], th[aria-sort=descending]").length`); got != 1 {
		t.Errorf("%d columns say that they are sorted", got)
	}
}

// The pages that the demo writes.
func TestDemoPages(t *testing.T) {
	tensor.UseBLAS()
	dir := t.TempDir()
	if err := demo.Run(t.Context(), demo.Options{Out: dir, Seed: 1, Stdout: io.Discard, Progress: progress.Silent{}}); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("the demo wrote no page: %v", err)
	}
	b := open(t)
	for _, p := range pages {
		look(b, "demo "+filepath.Base(p), p)
	}
}
