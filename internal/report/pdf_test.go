package report

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// A chart for a paper is one page of 3.3 inches. Its table of objects points at them, its
// drawing stays within the page, and equal charts have equal bytes.
func TestColumnPDF(t *testing.T) {
	c := Chart{Title: "a title that the paper has", Strips: []Strip{{Title: "ML-1M", Panels: []Panel{
		{X: "epsilon", Y: "Recall@20 (percent)", LogX: true, Levels: []Level{{"popularity", 2}}, Curves: []Curve{
			{Name: "ours", X: []float64{1, 10, math.Inf(1)}, Y: []float64{3, 4, 5}, Band: [][2]float64{{2, 4}, {3, 5}, {4, 6}}, Bars: [][2]float64{{2, 4}, {3, 5}, {4, 6}}}}},
		{X: "epsilon", Y: "NDCG@20 (percent)", Curves: []Curve{{Name: "ours", X: []float64{1, 2}, Y: []float64{1, 2}}}},
	}}}}
	file, err := c.ColumnPDF()
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.ColumnPDF()
	if err != nil || !bytes.Equal(file, again) {
		t.Errorf("a second drawing differs, error %v", err)
	}
	if !bytes.Contains(file, []byte("/MediaBox [0 0 237.6 ")) {
		t.Error("the page is not 3.3 inches wide")
	}
	for i := 1; i <= 4; i++ {
		at := bytes.Index(file, fmt.Appendf(nil, "%d 0 obj\n", i))
		if !bytes.Contains(file, fmt.Appendf(nil, "%010d 00000 n \n", at)) {
			t.Errorf("object %d is not in the table", i)
		}
	}
	drawing := string(unpack(t, file))
	if opened, closed := strings.Count(drawing, "q\n"), strings.Count(drawing, "Q\n"); opened != closed || opened == 0 {
		t.Errorf("%d states are saved and %d restored", opened, closed)
	}
	if strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf") {
		t.Error("a place is no number")
	}
	// the outline of the sign of infinity is there: with finite points alone the drawing is shorter
	c.Strips[0].Panels[0].Curves[0].X[2] = 100
	other, err := c.ColumnPDF()
	if err != nil || len(unpack(t, other)) == len(drawing) {
		t.Errorf("the break of the axis draws nothing, error %v", err)
	}
}

// An arc of a circle stays on the circle.
func TestPDFCircle(t *testing.T) {
	c := newPDF(100, 100)
	c.arc(vg.PathComp{Type: vg.ArcComp, Pos: vg.Point{X: 50, Y: 50}, Radius: 10, Start: 0.3, Angle: 2 * math.Pi}, true)
	re := regexp.MustCompile(`([-\d.]+) ([-\d.]+) [cm]\n`)
	found := re.FindAllStringSubmatch(c.body.String(), -1)
	if len(found) != 5 {
		t.Fatalf("a circle has %d points, want a start and four quarters", len(found))
	}
	for _, f := range found {
		x, errX := strconv.ParseFloat(f[1], 64)
		y, errY := strconv.ParseFloat(f[2], 64)
		if d := math.Hypot(x-50, y-50); errX != nil || errY != nil || math.Abs(d-10) > 1e-3 {
			t.Errorf("(%v, %v) is %v from the centre, want 10", x, y, d)
		}
	}
}

// unpack returns the drawing in a file.
func unpack(t *testing.T, file []byte) []byte {
	t.Helper()
	at := bytes.Index(file, []byte("stream\n"))
	z, err := zlib.NewReader(bytes.NewReader(file[at+len("stream\n"):]))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
