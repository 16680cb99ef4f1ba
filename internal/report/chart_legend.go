package report

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// look says how to draw a curve.
type look struct {
	color  color.RGBA
	dashes []vg.Length
	mark   draw.GlyphDrawer
}

// marks distinguish curves where colours cannot.
var marks = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{},
	draw.TriangleGlyph{}, draw.CrossGlyph{},
}

// lookOf returns the look of the i-th curve.
func lookOf(i int) look {
	return look{palette[i%len(palette)], dashes(i / len(palette)), marks[i%len(marks)]}
}

// legend holds the heading of a strip: its title, and the names of its curves in as many lines as they need.
type legend struct {
	title string
	names []string
	at    []vg.Point // of each name's sample, from the upper left corner
	high  vg.Length
	looks map[string]look
	wide  vg.Length
}

// Sizes of a legend.
const (
	sampleWidth = vg.Length(22)
	nameGap     = vg.Length(14)
	nameHigh    = vg.Length(14)
)

// newLegend returns the heading of panels, laid out.
func newLegend(title string, panels []Panel, wide vg.Length) legend {
	l := legend{title: title, looks: map[string]look{}, wide: wide}
	for _, p := range panels {
		for _, c := range p.Curves {
			if _, ok := l.looks[c.Name]; !ok {
				l.looks[c.Name] = lookOf(len(l.looks))
				if !c.Apart { // the words of the axis name its points
					l.names = append(l.names, c.Name)
				}
			}
		}
	}
	l.high = writeLines(nil, stripTitle, title, vg.Point{}, wide)
	if len(l.names) > 0 {
		x, y := vg.Length(0), l.high+vg.Points(2)
		for _, n := range l.names {
			need := sampleWidth + nameStyle.Width(n)
			if x > 0 && x+need > wide {
				x, y = 0, y+nameHigh
			}
			l.at = append(l.at, vg.Point{X: x, Y: y})
			x += need + nameGap
		}
		l.high = y + nameHigh
	}
	l.high += vg.Points(4)
	return l
}

// draw draws the heading from its upper left corner.
func (l legend) draw(c draw.Canvas, x, y vg.Length) {
	writeLines(&c, stripTitle, l.title, vg.Point{X: x, Y: y}, l.wide)
	for i, at := range l.at {
		k := l.looks[l.names[i]]
		middle := y - at.Y - nameHigh/2
		c.StrokeLine2(draw.LineStyle{Color: k.color, Width: vg.Points(1.8), Dashes: k.dashes}, x+at.X, middle,
			x+at.X+sampleWidth-vg.Points(5), middle)
		c.DrawGlyph(draw.GlyphStyle{Color: k.color, Radius: markRadius, Shape: k.mark},
			vg.Point{X: x + at.X + (sampleWidth-vg.Points(5))/2, Y: middle})
		c.FillText(nameStyle, vg.Point{X: x + at.X + sampleWidth, Y: y - at.Y - vg.Points(1.5)}, l.names[i])
	}
}
