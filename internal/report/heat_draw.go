package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a drawn heat map.
const (
	heatLabel  = 5.0 * vg.Centimeter
	heatBeside = 3.6 * vg.Centimeter
	heatCell   = 3.3 * vg.Centimeter
	heatRow    = 0.95 * vg.Centimeter
	heatPad    = vg.Length(4)
	heatBox    = vg.Length(11) // of the key
)

// Styles of the text of a heat map, and the colour of cells without a number.
var (
	headStyle  = textStyle(9, ink)
	underStyle = textStyle(7.5, ink)
	smallStyle = textStyle(7.5, color.RGBA{0x5b, 0x66, 0x73, 0xff})
	emptyFill  = color.RGBA{0xe9, 0xec, 0xef, 0xff}
)

// heatSize holds the sizes of the parts of a drawn heat map.
type heatSize struct {
	left, wide                vg.Length   // of labels and what stands beside them; of all
	title, head, key, caption vg.Length   // heights
	rows                      []vg.Length // heights
}

// lay returns the sizes of the parts.
func (h Heat) lay() (s heatSize) {
	s.left = heatLabel
	if h.Beside != "" {
		s.left += heatBeside
	}
	s.wide = s.left + heatCell*vg.Length(len(h.Columns))
	high := func(c cellText, wide vg.Length) vg.Length { return c.high(wide-2*heatPad) + 2*heatPad }
	s.head = max(high(cellText{words: h.Head, style: headStyle}, heatLabel),
		high(cellText{words: h.Beside, style: headStyle}, heatBeside))
	for _, c := range h.Columns {
		s.head = max(s.head, high(cellText{words: c, style: headStyle}, heatCell))
	}
	for _, r := range h.Rows {
		row := max(heatRow, high(cellText{words: r.Label, style: nameStyle}, heatLabel),
			high(cellText{words: r.Beside, style: smallStyle}, heatBeside))
		for _, c := range r.Cells {
			row = max(row, high(c.text(), heatCell))
		}
		s.rows = append(s.rows, row)
	}
	s.title = writeLines(nil, chartTitle, h.Title, vg.Point{}, s.wide) + vg.Points(6)
	s.caption = writeLines(nil, captionStyle, h.Caption, vg.Point{}, s.wide)
	s.key = 2*heatPad + heatBox + vg.Points(10)
	return s
}

// tall returns the total height.
func (s heatSize) tall() vg.Length {
	sum := s.title + s.head + s.key + s.caption
	for _, r := range s.rows {
		sum += r
	}
	return sum
}

// cellText holds the text of a part: words, and a second paragraph below them.
type cellText struct {
	words, under string
	style        text.Style
}

// text returns the text of a cell.
func (c HeatCell) text() cellText {
	if c.Empty {
		return cellText{words: c.Text, style: smallStyle}
	}
	return cellText{words: c.Text, under: c.Under, style: nameStyle}
}

// high returns the height of a text at a width.
func (c cellText) high(wide vg.Length) vg.Length {
	return writeLines(nil, c.style, c.words, vg.Point{}, wide) + writeLines(nil, underStyle, c.under, vg.Point{}, wide)
}

// write writes a text from a corner downwards.
func (c cellText) write(in draw.Canvas, at vg.Point, wide vg.Length) {
	at.X, at.Y, wide = at.X+heatPad, at.Y-heatPad, wide-2*heatPad
	at.Y -= writeLines(&in, c.style, c.words, at, wide)
	writeLines(&in, underStyle, c.under, at, wide)
}

// draw draws the parts from top to bottom.
func (h Heat) draw(in draw.Canvas, s heatSize) {
	x, y := in.Min.X, in.Max.Y
	writeLines(&in, chartTitle, h.Title, vg.Point{X: x, Y: y}, s.wide)
	y -= s.title
	line := func(label, beside cellText) {
		label.write(in, vg.Point{X: x - heatPad, Y: y}, heatLabel)
		beside.write(in, vg.Point{X: x + heatLabel - heatPad, Y: y}, heatBeside)
	}
	line(cellText{words: h.Head, style: headStyle}, cellText{words: h.Beside, style: headStyle})
	for i, c := range h.Columns {
		cellText{words: c, style: headStyle}.write(in, vg.Point{X: x + s.left + heatCell*vg.Length(i), Y: y}, heatCell)
	}
	y -= s.head
	for i, r := range h.Rows {
		line(cellText{words: r.Label, style: nameStyle}, cellText{words: r.Beside, style: smallStyle})
		for j, c := range r.Cells {
			at := vg.Rectangle{Min: vg.Point{X: x + s.left + heatCell*vg.Length(j), Y: y - s.rows[i]}}
			at.Max = vg.Point{X: at.Min.X + heatCell, Y: y}
			c.fill(in, at)
			c.text().write(in, vg.Point{X: at.Min.X, Y: at.Max.Y}, heatCell)
		}
		y -= s.rows[i]
	}
	at := vg.Point{X: x, Y: y - 2*heatPad}
	for _, k := range h.keys() {
		k.fill(in, vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - heatBox}, Max: vg.Point{X: at.X + heatBox, Y: at.Y}})
		writeLines(&in, smallStyle, k.words, vg.Point{X: at.X + heatBox + heatPad, Y: at.Y}, vg.Length(math.Inf(1)))
		at.X += heatBox + heatPad + smallStyle.Width(k.words) + vg.Points(14)
	}
	writeLines(&in, captionStyle, h.Caption, vg.Point{X: x, Y: y - s.key}, s.wide)
}

// fill paints a cell, with a border that is visible on white too.
func (c HeatCell) fill(in draw.Canvas, at vg.Rectangle) {
	colour, strength := tint(c.Shade)
	mix := func(x uint8) uint8 { return uint8(math.Round(255 + strength*(float64(x)-255))) }
	in.SetColor(color.RGBA{mix(colour.R), mix(colour.G), mix(colour.B), 0xff})
	if c.Empty {
		in.SetColor(emptyFill)
	}
	in.Fill(at.Path())
	in.SetColor(gridColor)
	in.SetLineWidth(vg.Points(0.6))
	in.Stroke(at.Path())
}
