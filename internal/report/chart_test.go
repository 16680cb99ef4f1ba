package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// front is a chart like those of utility over epsilon: claimed and accounted, two units.
func front() Chart {
	inf, nan := math.Inf(1), math.NaN()
	xs := []float64{0.5, 1, 2, 4, 8}
	around := func(y []float64, by float64) (out [][2]float64) {
		for _, v := range y {
			out = append(out, [2]float64{v - by, v + by})
		}
		return out
	}
	curve := func(name string, x []float64, base float64) Curve {
		c := Curve{Name: name, X: x}
		for i := range x {
			c.Y = append(c.Y, base+1.7*float64(i))
		}
		c.Band, c.Bars = around(c.Y, 0.5), around(c.Y, 0.9)
		c.Bars[2] = [2]float64{nan, nan}
		return c
	}
	levels := []Level{{"EASE", 27.5}, {"BPRMF", 27.3}, {"popularity", 11.4}, {"random", 0.6}}
	ticks := xs
	panel := func(title string, x string, curves ...Curve) Panel {
		return Panel{Title: title, X: x, Y: "Recall@20 (percent)", LogX: true, XRange: [2]float64{0.5, 8}, YRange: [2]float64{0, 28}, Ticks: ticks, Curves: curves, Levels: levels}
	}
	user := []Curve{curve("DP-EASE", xs, 13), curve("DP-ALS", xs, 12), curve("DP-ItemKNN", xs, 10), curve("DP popularity", xs, 8), curve("DP-SGD-MF", xs, 6), curve("DPAE", xs, 4)}
	edge := []Curve{curve("EdgeRand", xs, 2), curve("RDP-GCF", []float64{inf, inf, inf, inf, inf}, 14)}
	return Chart{
		Title: "Utility at epsilon on ML-1M, Recall@20", Caption: "shaded: 95 % over users; bars: 95 % over seeds",
		Strips: []Strip{
			{"one user added or removed", []Panel{panel("", "claimed epsilon", user...), panel("", "accounted epsilon", user...)}},
			{"one edge added or removed", []Panel{panel("", "claimed epsilon", edge[0], curve("RDP-GCF", xs, 14)), panel("", "accounted epsilon", edge...)}},
		},
	}
}

// A chart stands alone as a file, is the same every time, and names every curve and level once
// a strip.
func TestChartImage(t *testing.T) {
	c := front()
	for _, format := range ImageFormats() {
		a, err := c.Image(format)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := c.Image(format); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: differs from one drawing to the next (%v)", format, err)
		}
		if dir := os.Getenv("PRIVREC_PAGE_DIR"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "chart."+format), a, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if format == "png" {
			img, err := png.Decode(bytes.NewReader(a))
			if err != nil {
				t.Fatal(err)
			}
			if s := img.Bounds().Size(); s.X < 1600 || s.X > 1900 {
				t.Errorf("two panels side by side are %d pixels wide", s.X)
			}
			continue
		}
		text := words(t, a)
		for word, want := range map[string]int{"DP-EASE": 1, "EdgeRand": 1, "popularity": 4, "random": 4, "∞": 1, "claimed epsilon": 2, "0.5": 4, "8": 4, c.Title: 1} {
			if got := strings.Count(text, "\n"+word+"\n"); got != want {
				t.Errorf("%q is written %d times, want %d", word, got, want)
			}
		}
	}
}

// words returns the texts of a picture, each on a line, and fails on one that is not XML.
func words(t *testing.T, svg []byte) string {
	t.Helper()
	d, out := xml.NewDecoder(bytes.NewReader(svg)), "\n"
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			out += strings.TrimSpace(string(text)) + "\n\n"
		}
	}
}

// A page shows every panel with the legend of its strip.
func TestChartOnPage(t *testing.T) {
	var b bytes.Buffer
	d := &Document{Title: "Front", Charts: []Chart{front()}}
	if err := d.HTML(&b); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("PRIVREC_PAGE_DIR"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "chart.html"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(b.String(), "<svg"); n != 4 {
		t.Errorf("%d pictures, want 4", n)
	}
	for word, want := range map[string]int{">DP-EASE<": 2, ">EdgeRand<": 2, ">∞<": 1, "<figcaption>shaded: 95 % over users; bars: 95 % over seeds": 1} {
		if got := strings.Count(b.String(), word); got != want {
			t.Errorf("%q is there %d times, want %d", word, got, want)
		}
	}
}

// Words in place of numbers stand under their points.
func TestChartOfWords(t *testing.T) {
	c := Chart{Title: "t", Strips: []Strip{{Panels: []Panel{{X: "variant", Y: "y", Words: []string{"Nonp", "Priv"}, Curves: []Curve{{Name: "one", X: []float64{0, 1}, Y: []float64{2, 1}, Band: [][2]float64{{1, 3}, {0, 2}}, Apart: true}}}}}}}
	svg, err := c.Image("svg")
	if err != nil {
		t.Fatal(err)
	}
	text := words(t, svg)
	for _, w := range []string{"\nNonp\n", "\nPriv\n", "\nvariant\n"} {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in %q", w, text)
		}
	}
	if strings.Contains(text, "\none\n") {
		t.Error("a legend for a single curve")
	}
}

// What cannot be drawn is an error, not an empty picture or a panic.
func TestBadCharts(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		panel Panel
		want  string
	}{
		"nothing":         {Panel{Title: "p"}, `panel "p" has nothing to draw`},
		"no number":       {Panel{Curves: []Curve{{Name: "c", X: []float64{1}, Y: []float64{nan}}}}, "nothing to draw"},
		"lengths":         {Panel{Curves: []Curve{{Name: "c", X: []float64{1}, Y: nil}}}, `curve "c" has 1 x, 0 y`},
		"bars":            {Panel{Curves: []Curve{{Name: "c", X: []float64{1}, Y: []float64{1}, Bars: make([][2]float64, 2)}}}, "2 bars"},
		"log of zero":     {Panel{LogX: true, Curves: []Curve{{Name: "c", X: []float64{0}, Y: []float64{1}}}}, "logarithmic axis cannot show"},
		"level no number": {Panel{Levels: []Level{{"l", nan}}}, `level "l" is NaN`},
	} {
		for _, format := range ImageFormats() {
			if _, err := (Chart{Strips: []Strip{{Panels: []Panel{c.panel}}}}).Image(format); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
	}
	if _, err := front().Image("gif"); err == nil {
		t.Error("gif was accepted")
	}
}

// One point, points at infinity alone, and equal numbers are drawn.
func TestSmallCharts(t *testing.T) {
	for name, p := range map[string]Panel{
		"one point":       {Curves: []Curve{{Name: "c", X: []float64{3}, Y: []float64{1}}}},
		"one on a log":    {LogX: true, Curves: []Curve{{Name: "c", X: []float64{3}, Y: []float64{1}}}},
		"infinity alone":  {LogX: true, Curves: []Curve{{Name: "c", X: []float64{math.Inf(1)}, Y: []float64{1}}}},
		"infinity, plain": {Curves: []Curve{{Name: "c", X: []float64{math.Inf(1)}, Y: []float64{1}}}},
		"levels alone":    {Levels: []Level{{"l", 1}}},
		"hole":            {Curves: []Curve{{Name: "c", X: []float64{1, 2, 3}, Y: []float64{1, math.NaN(), 2}}}},
	} {
		for _, format := range ImageFormats() {
			if b, err := (Chart{Strips: []Strip{{Panels: []Panel{p}}}}).Image(format); err != nil || len(b) < 500 || bytes.Contains(b, []byte("NaN")) {
				t.Errorf("%s as %s: %d bytes, %v", name, format, len(b), err)
			}
		}
	}
}

// A curve of many points is a bare line; marks of single points stay.
func TestManyPointsHaveNoMarks(t *testing.T) {
	pieces := func(n int) int {
		c := Curve{Name: "a"}
		for i := range n {
			c.X, c.Y = append(c.X, float64(i)), append(c.Y, float64(i%7))
		}
		svg, err := Strip{Panels: []Panel{{Curves: []Curve{c}}}}.svg(0)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(svg), "<path")
	}
	if few, many := pieces(mostMarks), pieces(mostMarks+1); few-many < mostMarks/2 {
		t.Errorf("%d points are drawn as %d paths, one more as %d", mostMarks, few, many)
	}
}
