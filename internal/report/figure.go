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

// Line is one series; X and Y have the same length. Dashed is for a line that may lie on another: it has no points, so
// that both are visible.
type Line struct {
	Name   string
	X, Y   []float64
	Dashed bool
}

// Drawable reports whether a line has a finite point. A figure without one has no picture.
func (f Figure) Drawable() bool {
	for _, l := range f.Lines {
		for i := range min(len(l.X), len(l.Y)) {
			if finite(l.X[i]) && finite(l.Y[i]) {
				return true
			}
		}
	}
	return false
}

// palette holds the colours of Okabe and Ito, which colour-blind readers can distinguish.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

// ink is the colour of axes and text.
var ink = color.RGBA{0x33, 0x3b, 0x45, 0xff}

// SVG returns the figure for a page, 16 cm by 8 cm. It leaves out title and background, which the page has, and puts
// the legend where no line is. Equal figures give equal bytes.
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

// plot returns axes, grid, lines and legend without a background, and the points of the lines.
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
				return nil, nil, fmt.Errorf(
					"report: line %q has the point (%g, %g), which a logarithmic axis cannot show", l.Name, l.X[j],
					l.Y[j])
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

// spot is the place of a legend: a corner of the plot, or beside it.
type spot struct{ top, left, beside bool }

// corners lists the corners in the order of trial.
var corners = []spot{{top: true}, {top: true, left: true}, {}, {left: true}}

// clearance is the free space around a legend within a plot.
const clearance = vg.Length(4)

// drawWithLegend draws a plot and its legend, in the first corner that no line comes near, or beside the plot if there
// is none.
func drawWithLegend(p *plot.Plot, lines []plotter.XYs, c draw.Canvas) {
	legend := p.Legend
	p.Legend = plot.NewLegend() // empty: it is drawn separately
	at, _ := free(p, legend, lines, c)
	if at.beside {
		legend.Left = true
		size := legend.Rectangle(c).Size().X
		p.Draw(draw.Crop(c, 0, -size-vg.Points(14), 0, 0))
		legend.Draw(draw.Crop(c, c.Size().X-size, 0, 0, 0))
		return
	}
	p.Draw(c)
	legend.Top, legend.Left = at.top, at.left
	legend.Draw(p.DataCanvas(c))
}

// free returns the first corner of a plot on a canvas that no line comes near, and the
// rectangle of the legend there.
func free(p *plot.Plot, legend plot.Legend, lines []plotter.XYs, c draw.Canvas) (spot, vg.Rectangle) {
	area := p.DataCanvas(c)
	x, y := p.Transforms(&area)
	for _, at := range corners {
		box := legendBox(legend, at, area)
		near := vg.Rectangle{Min: vg.Point{X: box.Min.X - clearance, Y: box.Min.Y - clearance},
			Max: vg.Point{X: box.Max.X + clearance, Y: box.Max.Y + clearance}}
		if near.Min.X < area.Min.X-clearance || near.Min.Y < area.Min.Y-clearance || crossed(near, lines, x, y) {
			continue
		}
		return at, box
	}
	return spot{beside: true}, vg.Rectangle{}
}

// legendBox returns the rectangle that a legend takes in a corner of an area.
func legendBox(legend plot.Legend, at spot, area draw.Canvas) vg.Rectangle {
	size := legend.Rectangle(area).Size()
	size.Y += legend.TextStyle.FontExtents().Descent
	box := vg.Rectangle{Min: area.Min}
	if !at.left {
		box.Min.X = area.Max.X - size.X
	}
	if at.top {
		box.Min.Y = area.Max.Y - size.Y
	}
	box.Max = vg.Point{X: box.Min.X + size.X, Y: box.Min.Y + size.Y}
	return box
}

// crossed reports whether a line has a point in a rectangle.
func crossed(r vg.Rectangle, lines []plotter.XYs, x, y func(float64) vg.Length) bool {
	for _, l := range lines {
		for i := range l {
			b := vg.Point{X: x(l[i].X), Y: y(l[i].Y)}
			a := b
			if i > 0 {
				a = vg.Point{X: x(l[i-1].X), Y: y(l[i-1].Y)}
			}
			if meets(r, a, b) {
				return true
			}
		}
	}
	return false
}

// meets reports whether the segment from a to b has a point in a rectangle: its part between the vertical sides and its
// part between the horizontal ones overlap (Liang and Barsky).
func meets(r vg.Rectangle, a, b vg.Point) bool {
	from, to := vg.Length(0), vg.Length(1)
	for _, s := range []struct{ at, step, lo, hi vg.Length }{{a.X, b.X - a.X, r.Min.X, r.Max.X},
		{a.Y, b.Y - a.Y, r.Min.Y, r.Max.Y}} {
		if s.step == 0 {
			if s.at < s.lo || s.at > s.hi {
				return false
			}
			continue
		}
		u, v := (s.lo-s.at)/s.step, (s.hi-s.at)/s.step
		from, to = max(from, min(u, v)), min(to, max(u, v))
	}
	return from <= to
}
