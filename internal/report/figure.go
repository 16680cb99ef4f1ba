package report

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a line chart.
type Figure struct {
	Title      string
	X, Y       string // axis labels, with units
	LogX, LogY bool   // logarithmic axes; every value on one must be positive
	Lines      []Line
	Caption    string
}

// Line is one series; X and Y have the same length. A line that may lie on another is Dashed,
// without points, so that both are visible.
type Line struct {
	Name   string
	X, Y   []float64
	Dashed bool
}

// palette is that of Okabe and Ito, which colour-blind readers can tell apart.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

// ink is the colour of axes and text.
var ink = color.RGBA{0x33, 0x3b, 0x45, 0xff}

// SVG draws the figure for a page, 16 cm by 8 cm. It leaves out title and background, which the
// page has, and puts the legend where no line is. Equal figures give equal bytes.
func (f Figure) SVG() ([]byte, error) {
	p, lines, err := f.plot()
	if err != nil {
		return nil, err
	}
	c := vgsvg.New(pageWidth, pageHeight)
	drawWithLegend(p, lines, draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: draw %q: %w", f.Title, err)
	}
	svg := b.Bytes()
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:] // a page has its own prologue
	}
	return svg, nil
}

// Size of a figure on a page.
const (
	pageWidth  = 16 * vg.Centimeter
	pageHeight = 8 * vg.Centimeter
)

// plot sets up axes, grid, lines and legend without a background, and returns the points of the
// lines.
func (f Figure) plot() (*plot.Plot, []plotter.XYs, error) {
	p, lines := plot.New(), []plotter.XYs(nil)
	p.X.Label.Text, p.Y.Label.Text = f.X, f.Y
	p.BackgroundColor = color.Transparent
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Tick.Color, a.Tick.Label.Color, a.Label.TextStyle.Color = ink, ink, ink, ink
		a.Tick.Label.Font.Size, a.Label.TextStyle.Font.Size = vg.Points(9), vg.Points(10)
		a.Tick.Label.Font.Variant, a.Label.TextStyle.Font.Variant = "Sans", "Sans"
	}
	p.Legend.Top, p.Legend.Padding = true, vg.Points(3)
	p.Legend.TextStyle.Font.Variant = "Sans"
	p.Legend.TextStyle.Color, p.Legend.TextStyle.Font.Size = ink, vg.Points(9)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.RGBA{0xdd, 0xe1, 0xe6, 0xff}, color.Transparent
	p.Add(grid)
	drawn := 0
	for i, l := range f.Lines {
		if len(l.X) != len(l.Y) {
			return nil, nil, fmt.Errorf("report: line %q has %d x for %d y", l.Name, len(l.X), len(l.Y))
		}
		var xy plotter.XYs
		for j := range l.X {
			if !finite(l.X[j]) || !finite(l.Y[j]) {
				continue
			}
			if f.LogX && !(l.X[j] > 0) || f.LogY && !(l.Y[j] > 0) {
				return nil, nil, fmt.Errorf("report: line %q has the point (%g, %g), which a logarithmic axis cannot show", l.Name, l.X[j], l.Y[j])
			}
			xy = append(xy, plotter.XY{X: l.X[j], Y: l.Y[j]})
		}
		if len(xy) == 0 {
			continue
		}
		line, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, nil, fmt.Errorf("report: line %q: %w", l.Name, err)
		}
		c := palette[i%len(palette)]
		line.Color, line.Width = c, vg.Points(1.8)
		line.Dashes = dashes(i / len(palette))
		if l.Dashed {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(6)}
		}
		points.Color, points.Shape, points.Radius = c, draw.CircleGlyph{}, vg.Points(2)
		p.Add(line)
		if len(xy) <= 60 && !l.Dashed {
			p.Add(points)
		}
		p.Legend.Add(l.Name, line)
		lines = append(lines, xy)
		drawn += len(xy)
	}
	if drawn == 0 {
		return nil, nil, errors.New("report: figure without a finite point")
	}
	// Add has widened the axes to the points: now they are positive.
	if f.LogX {
		logarithmic(&p.X)
	}
	if f.LogY {
		logarithmic(&p.Y)
	}
	return p, lines, nil
}

func dashes(round int) []vg.Length {
	if round == 0 {
		return nil
	}
	return []vg.Length{vg.Points(5), vg.Points(float64(2 * round))}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
