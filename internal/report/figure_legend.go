package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spot says where a legend goes: a corner of the plot, or beside it.
type spot struct{ top, left, beside bool }

// corners lists the corners in the order in which they are tried.
var corners = []spot{{top: true}, {top: true, left: true}, {}, {left: true}}

// clearance is the free space around a legend within a plot.
const clearance = vg.Length(4)

// drawWithLegend draws a plot and its legend, in the first corner that no line comes near, or
// beside the plot if there is none.
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
		near := vg.Rectangle{Min: vg.Point{X: box.Min.X - clearance, Y: box.Min.Y - clearance}, Max: vg.Point{X: box.Max.X + clearance, Y: box.Max.Y + clearance}}
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

// meets reports whether the segment from a to b has a point in a rectangle: whether its part
// between the vertical sides and its part between the horizontal ones overlap (Liang and
// Barsky).
func meets(r vg.Rectangle, a, b vg.Point) bool {
	from, to := vg.Length(0), vg.Length(1)
	for _, s := range []struct{ at, step, lo, hi vg.Length }{{a.X, b.X - a.X, r.Min.X, r.Max.X}, {a.Y, b.Y - a.Y, r.Min.Y, r.Max.Y}} {
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
