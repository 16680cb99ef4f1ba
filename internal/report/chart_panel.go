package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours and sizes of a panel.
var (
	gridColor  = color.RGBA{0xdd, 0xe1, 0xe6, 0xff}
	levelColor = color.RGBA{0x5b, 0x66, 0x73, 0xff}
)

const markRadius = vg.Length(2.6)

// levelDashes distinguish levels.
var levelDashes = [][]vg.Length{{vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(2)},
	{vg.Points(8), vg.Points(2), vg.Points(2), vg.Points(2)}, {vg.Points(1), vg.Points(3)}}

// draw draws the panel. It must have passed check.
func (p Panel) draw(c draw.Canvas, looks map[string]look) {
	if p.Title != "" {
		c.Max.Y -= writeLines(&c, nameStyle, p.Title, c.Rectangle.Min.Add(vg.Point{Y: c.Size().Y}), c.Size().X) +
			vg.Points(2)
	}
	names := vg.Length(0) // room for the names of the levels
	for _, l := range p.Levels {
		names = max(names, nameStyle.Width(l.Name)+vg.Points(6))
	}
	a := p.axes()
	c.Max.X -= names
	a.plot.Draw(c)
	area := a.plot.DataCanvas(c)
	x, y := a.plot.Transforms(&area)
	if a.infinite {
		mid := x(a.edge)
		area.StrokeLine2(draw.LineStyle{Color: levelColor, Width: vg.Points(0.7), Dashes: levelDashes[1]}, mid,
			area.Min.Y, mid, area.Max.Y)
	}
	for i, l := range p.Levels {
		area.StrokeLine2(draw.LineStyle{Color: levelColor, Width: vg.Points(1),
			Dashes: levelDashes[i%len(levelDashes)]}, area.Min.X, y(l.Y), area.Max.X, y(l.Y))
	}
	p.nameLevels(c, area, y)
	place := func(v float64) vg.Length {
		if math.IsInf(v, 1) {
			return x(a.infinity)
		}
		return x(v)
	}
	for _, v := range p.Curves {
		v.drawBand(area, looks[v.Name], place, y)
	}
	for _, v := range p.Curves {
		v.drawLine(area, looks[v.Name], place, y)
	}
}

// nameLevels writes the names of the levels right of the axes. Names that would touch are moved
// apart, in the order of their levels.
func (p Panel) nameLevels(c, area draw.Canvas, y func(float64) vg.Length) {
	levels := slices.Clone(p.Levels)
	slices.SortStableFunc(levels, func(a, b Level) int { return int(sign(a.Y - b.Y)) })
	style := nameStyle
	style.Color, style.YAlign = levelColor, text.YCenter
	const apart = vg.Length(11)
	at := make([]vg.Length, len(levels))
	for i, l := range levels {
		at[i] = y(l.Y)
		if i > 0 {
			at[i] = max(at[i], at[i-1]+apart)
		}
	}
	for i := len(at) - 1; i >= 0; i-- { // not beyond the upper end
		most := area.Max.Y
		if i < len(at)-1 {
			most = at[i+1] - apart
		}
		at[i] = min(at[i], most)
		c.FillText(style, vg.Point{X: area.Max.X + vg.Points(4), Y: at[i]}, levels[i].Name)
	}
}

func sign(x float64) float64 {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

// axes holds the axes of a panel. Points with infinite X stand right of a break.
type axes struct {
	plot           *plot.Plot
	infinite       bool
	infinity, edge float64
}

// axes returns axes wide enough for everything in the panel, without drawing it.
func (p Panel) axes() axes {
	a := axes{plot: plot.New()}
	lo, hi := span(p.XRange)
	bottom, top := span(p.YRange)
	for _, l := range p.Levels {
		bottom, top = min(bottom, l.Y), max(top, l.Y)
	}
	for _, c := range p.Curves {
		for i, x := range c.X {
			if !c.shows(i) {
				continue
			}
			if math.IsInf(x, 1) {
				a.infinite = true
			} else {
				lo, hi = min(lo, x), max(hi, x)
			}
			bottom, top = min(bottom, c.Y[i]), max(top, c.Y[i])
			for _, pairs := range [][][2]float64{c.Band, c.Bars} {
				if pairs != nil && finite(pairs[i][0]) && finite(pairs[i][1]) {
					bottom, top = min(bottom, pairs[i][0]), max(top, pairs[i][1])
				}
			}
		}
	}
	if len(p.Words) > 0 {
		lo, hi = -0.5, float64(len(p.Words))-0.5
	}
	if lo > hi { // nothing finite
		lo, hi = 1, 1
	}
	if bottom == top {
		bottom, top = bottom-0.5, top+0.5
	}
	x, y := &a.plot.X, &a.plot.Y
	y.Min, y.Max = bottom-0.04*(top-bottom), top+0.04*(top-bottom)
	y.Tick.Marker = roundTicks{}
	step := func(f float64) float64 { return hi + f*(hi-lo) } // to the right of the last number
	switch {
	case p.LogX:
		if lo == hi {
			lo, hi = lo/2, hi*2
		}
		step = func(f float64) float64 { return hi * math.Pow(hi/lo, f) }
		x.Scale, x.Tick.Marker = logScale{}, logTicks{}
		x.Min = lo * hi / step(0.04)
	case lo == hi:
		lo, hi = lo-0.5, hi+0.5
		fallthrough
	default:
		x.Tick.Marker = roundTicks{}
		x.Min = lo - 0.04*(hi-lo)
		if len(p.Words) > 0 {
			x.Min = lo
		}
	}
	x.Max = step(0.04)
	ticks := x.Tick.Marker.Ticks(lo, hi)
	if len(p.Ticks) > 0 {
		ticks = nil
		for _, v := range p.Ticks {
			ticks = append(ticks, plot.Tick{Value: v, Label: tickLabel(v)})
		}
	}
	if len(p.Words) > 0 {
		ticks = nil
		for i, w := range p.Words {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: w})
		}
	}
	if a.infinite {
		a.edge, a.infinity, x.Max = step(0.08), step(0.14), step(0.2)
		ticks = append(ticks, plot.Tick{Value: a.infinity, Label: "∞"})
	}
	x.Tick.Marker = plot.ConstantTicks(ticks)
	a.dress(p)
	return a
}

// dress sets names, colours and fonts of the axes, and a grid.
func (a *axes) dress(p Panel) {
	a.plot.BackgroundColor = color.Transparent
	a.plot.X.Label.Text, a.plot.Y.Label.Text = p.X, p.Y
	for _, x := range []*plot.Axis{&a.plot.X, &a.plot.Y} {
		x.Color, x.Tick.Color, x.Tick.Label.Color, x.Label.TextStyle.Color = ink, ink, ink, ink
		x.Tick.Label.Font = font.From(nameStyle.Font, vg.Points(9))
		x.Label.TextStyle.Font = font.From(nameStyle.Font, vg.Points(9.5))
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColor, color.Transparent
	a.plot.Add(grid)
}

// span returns the ends of a range; +Inf and -Inf for the zero value, so that it widens no axis.
func span(r [2]float64) (lo, hi float64) {
	if r == [2]float64{} {
		return math.Inf(1), math.Inf(-1)
	}
	return r[0], r[1]
}

// drawBand shades the band of a curve between its finite points, and draws the bars.
func (c Curve) drawBand(area draw.Canvas, k look, x, y func(float64) vg.Length) {
	var upper, lower []vg.Point
	for i := range c.X {
		if !c.shows(i) {
			continue
		}
		if c.Bars != nil && finite(c.Bars[i][0]) && finite(c.Bars[i][1]) {
			style := draw.LineStyle{Color: k.color, Width: vg.Points(0.9)}
			at, lo, hi := x(c.X[i]), y(c.Bars[i][0]), y(c.Bars[i][1])
			area.StrokeLine2(style, at, lo, at, hi)
			for _, end := range []vg.Length{lo, hi} {
				area.StrokeLine2(style, at-vg.Points(2.5), end, at+vg.Points(2.5), end)
			}
		}
		if c.Band == nil || !finite(c.Band[i][0]) || !finite(c.Band[i][1]) {
			continue
		}
		if c.Apart || math.IsInf(c.X[i], 1) { // a narrow band of its own
			at := x(c.X[i])
			area.FillPolygon(faint(k.color), []vg.Point{{X: at - markRadius, Y: y(c.Band[i][0])},
				{X: at - markRadius, Y: y(c.Band[i][1])}, {X: at + markRadius, Y: y(c.Band[i][1])},
				{X: at + markRadius, Y: y(c.Band[i][0])}})
			continue
		}
		upper = append(upper, vg.Point{X: x(c.X[i]), Y: y(c.Band[i][1])})
		lower = append(lower, vg.Point{X: x(c.X[i]), Y: y(c.Band[i][0])})
	}
	if len(upper) > 1 {
		slices.Reverse(lower)
		area.FillPolygon(faint(k.color), append(upper, lower...))
	}
}

// faint returns a colour through which lower layers show.
func faint(c color.RGBA) color.Color { return color.NRGBA{c.R, c.G, c.B, 0x2c} }

// mostMarks is the largest number of points of a curve with marks; more marks would hide the line.
const mostMarks = 60

// drawLine draws a curve, and marks at its points if there are few.
func (c Curve) drawLine(area draw.Canvas, k look, x, y func(float64) vg.Length) {
	var line, points []vg.Point
	for i := range c.X {
		if !c.shows(i) {
			continue
		}
		at := vg.Point{X: x(c.X[i]), Y: y(c.Y[i])}
		points = append(points, at)
		if !math.IsInf(c.X[i], 1) && !c.Apart {
			line = append(line, at)
		}
	}
	if len(line) > 1 {
		area.StrokeLines(draw.LineStyle{Color: k.color, Width: vg.Points(1.8), Dashes: k.dashes}, line)
	}
	if len(points) > mostMarks && len(line) > 1 {
		return
	}
	for _, at := range points {
		area.DrawGlyph(draw.GlyphStyle{Color: k.color, Radius: markRadius, Shape: k.mark}, at)
	}
}
