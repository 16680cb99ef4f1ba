package report

import (
	"bytes"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
	"pgregory.net/rapid"
)

// place is where a figure's legend goes, the rectangle of it, and whether a point of a line
// is in it, by walking along all lines in small steps.
func place(t testing.TB, f Figure) (at spot, covered map[spot]bool) {
	t.Helper()
	p, lines, err := f.plot()
	if err != nil {
		t.Fatal(err)
	}
	c := draw.New(vgsvg.New(pageWidth, pageHeight))
	at, _ = free(p, p.Legend, lines, c)
	area := p.DataCanvas(c)
	x, y := p.Transforms(&area)
	covered = map[spot]bool{}
	for _, corner := range corners {
		box := legendBox(p.Legend, corner, area)
		for _, l := range lines {
			for i := range l {
				const steps = 400
				for s := range steps + 1 {
					a, b := l[max(i-1, 0)], l[i]
					w := vg.Length(s) / steps
					at := vg.Point{X: x(a.X)*(1-w) + x(b.X)*w, Y: y(a.Y)*(1-w) + y(b.Y)*w}
					if at.X >= box.Min.X && at.X <= box.Max.X && at.Y >= box.Min.Y && at.Y <= box.Max.Y {
						covered[corner] = true
					}
				}
			}
		}
	}
	return at, covered
}

// A legend goes to a corner without lines: curves that rise to the top right leave it the
// top left, and one beside the plot where lines are everywhere.
func TestLegendIsWhereNoLineIs(t *testing.T) {
	rising := []Line{{Name: "similar, uniform, clean", X: []float64{0, 1, 2}, Y: []float64{0, 1, 4}}, {Name: "similar, popularity, clean", X: []float64{0, 1, 2}, Y: []float64{0, 2, 3}}}
	falling := []Line{{Name: "training", X: []float64{0, 1, 2}, Y: []float64{4, 1, 0.5}}, {Name: "validation", X: []float64{0, 1, 2}, Y: []float64{4, 2, 1.5}}}
	level := []Line{{Name: "above", X: []float64{0, 2}, Y: []float64{4, 4}}, {Name: "rise", X: []float64{0, 2}, Y: []float64{3, 4}}, {Name: "point", X: []float64{0}, Y: []float64{0}}}
	cross := append(append([]Line{}, rising...), falling...)
	cross = append(cross, Line{Name: "below", X: []float64{0, 2}, Y: []float64{0.1, 0.1}})
	for _, c := range []struct {
		name  string
		lines []Line
		want  spot
	}{
		{"rising", rising, spot{top: true, left: true}}, {"falling", falling, spot{top: true}}, {"level", level, spot{}}, {"everywhere", cross, spot{beside: true}},
	} {
		f := Figure{Lines: c.lines}
		if at, _ := place(t, f); at != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, at, c.want)
		}
		a, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := f.SVG(); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: not the same bytes twice (%v)", c.name, err)
		}
	}
}

// No line of any figure goes through the legend.
func TestNoLineThroughTheLegend(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := Figure{LogX: rapid.Bool().Draw(r, "logarithmic")}
		for range rapid.IntRange(1, 4).Draw(r, "lines") {
			l := Line{Name: rapid.StringMatching(`[a-z, ]{1,40}`).Draw(r, "name")}
			for range rapid.IntRange(1, 5).Draw(r, "points") {
				l.X, l.Y = append(l.X, rapid.Float64Range(0.1, 10).Draw(r, "x")), append(l.Y, rapid.Float64Range(-5, 5).Draw(r, "y"))
			}
			f.Lines = append(f.Lines, l)
		}
		if at, covered := place(t, f); covered[at] {
			r.Fatalf("a line goes through the legend at %+v", at)
		}
		if _, err := f.SVG(); err != nil {
			r.Fatal(err)
		}
	})
}
