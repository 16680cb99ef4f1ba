//go:build slow

package browsertest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"privrec/internal/review"
)

// sheets matches a page of a PDF file.
var sheets = regexp.MustCompile(`/Type\s*/Page\b`)

// A review says unit, epsilon and what is open within the first screen of a desktop and of a telephone,
// fits and can be read in both colours, loads nothing, and prints on two sheets of A4.
func TestReviewPage(t *testing.T) {
	b := open(t)
	sources := map[string]string{
		"events":        "../calculator/eventlog/example.yaml",
		"events-fault":  "../calculator/eventlog/testdata/faults/fixed-batches+loader.yaml",
		"events-open":   "../calculator/eventlog/testdata/faults/clip-from-data.yaml",
		"ledger":        "../../testdata/runs/train-pricdsr/ledger.jsonl",
		"run-infinite":  "../../testdata/runs/train-dipsgnn",
		"run-unclaimed": "../../testdata/runs/train-ease",
		"run-attack":    "../../testdata/runs/attack-exposure",
	}
	if more := os.Getenv("PRIVREC_REVIEW"); more != "" { // such as a run with a finite epsilon
		for i, path := range filepath.SplitList(more) {
			sources["more-"+string(rune('a'+i))] = path
		}
	}
	for name, source := range sources {
		r, err := review.Of(source, review.Settings{Delta: map[bool]float64{true: 1e-6}[strings.HasSuffix(source, "ledger.jsonl")]})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		file := filepath.Join(t.TempDir(), "page.html")
		out, err := os.Create(file)
		if err == nil {
			err = r.HTML(out)
		}
		if err == nil {
			err = out.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		look(b, "review-"+name, file)
		for _, size := range [][2]int64{{1200, 800}, {390, 844}} {
			b.size(size[0], false)
			b.visit("file://" + file)
			cards := eval[[]struct {
				Label, Value string
				Bottom       float64
			}](b, `[...document.querySelectorAll("dl div")].slice(0, 3).map(d => ({Label: d.querySelector("dt").textContent, Value: d.querySelector("dd").textContent, Bottom: d.getBoundingClientRect().bottom}))`)
			if len(cards) != 3 {
				t.Fatalf("%s has %d answers at the top", name, len(cards))
			}
			for i, label := range []string{"Whose data (unit)", "How much (epsilon)", "What is not protected"} {
				if c := cards[i]; c.Label != label || c.Value == "" || c.Bottom > float64(size[1]) {
					t.Errorf("%s: %q ends at %.0f of %d pixels on a screen %d wide, want %q within", name, c.Label, c.Bottom, size[1], size[0], label)
				}
			}
		}
		styled := true
		pdf, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: &styled})
		if err != nil {
			t.Fatal(err)
		}
		if dir := os.Getenv("PRIVREC_SCREENSHOTS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "review-"+name+".pdf"), pdf.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(sheets.FindAll(pdf.Data, -1)); n < 1 || n > 2 {
			t.Errorf("%s prints on %d sheets, want at most 2", name, n)
		}
	}
}
