package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a figure with several panels. The panels of a strip stand side by side under one legend, and a name has the
// same colour, dashes and mark in all of them.
type Chart struct {
	Title   string
	Strips  []Strip
	Caption string
	File    string // name of its pictures beside the document, without ending; empty: there are none
	Files   []Link // the pictures, on a page
}

// Strip is a row of panels about the same curves.
type Strip struct {
	Title  string
	Panels []Panel
}

// Panel is one pair of axes. Levels are horizontal lines, with their names beside them.
type Panel struct {
	Title          string
	X, Y           string // axis labels, with units
	LogX           bool   // every finite X must be positive
	XRange, YRange [2]float64
	Ticks          []float64 // marks of the X axis; none: round numbers
	Words          []string  // in place of numbers on the X axis, at 0, 1 and so on
	Curves         []Curve
	Levels         []Level
}

// Curve is one series of a panel. A point with infinite X stands at the right edge, joined to nothing. A point whose Y
// is NaN is left out. Band is shaded around the curve, and Bars are vertical lines through its points. Both are pairs
// of lower and upper ends, one for each point or none at all; a NaN pair is left out.
type Curve struct {
	Name       string
	X, Y       []float64
	Band, Bars [][2]float64
	Apart      bool // points are not joined
}

// Level is a horizontal line with a name.
type Level struct {
	Name string
	Y    float64
}

// Sizes of a chart.
const (
	panelWidth  = 10.6 * vg.Centimeter
	panelHeight = 7.6 * vg.Centimeter
	chartMargin = vg.Length(10)
	panelGap    = vg.Length(12)
)

// Image returns the chart as a file on white: the title above, strip below strip. The format is one of ImageFormats.
// Equal charts give equal bytes.
func (c Chart) Image(format string) ([]byte, error) {
	across := 1
	for _, s := range c.Strips {
		across = max(across, len(s.Panels))
	}
	wide := vg.Length(across)*panelWidth + vg.Length(across-1)*panelGap
	heads := make([]legend, len(c.Strips))
	titleHigh := writeLines(nil, chartTitle, c.Title, vg.Point{}, wide) + vg.Points(4)
	captionHigh := writeLines(nil, captionStyle, c.Caption, vg.Point{}, wide)
	tall := titleHigh + captionHigh
	for i, s := range c.Strips {
		if err := s.check(); err != nil {
			return nil, err
		}
		heads[i] = newLegend(s.Title, s.Panels, wide)
		tall += heads[i].high + panelHeight + panelGap
	}
	file, canvas, err := newFile(format, wide+2*chartMargin, tall+2*chartMargin)
	if err != nil {
		return nil, err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	in := draw.Crop(whole, chartMargin, -chartMargin, chartMargin, -chartMargin)
	y := in.Max.Y
	writeLines(&in, chartTitle, c.Title, vg.Point{X: in.Min.X, Y: y}, wide)
	y -= titleHigh
	for i, s := range c.Strips {
		heads[i].draw(in, in.Min.X, y)
		y -= heads[i].high
		for j, p := range s.Panels {
			x := in.Min.X + vg.Length(j)*(panelWidth+panelGap)
			area := draw.Canvas{Canvas: in.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - panelHeight},
				Max: vg.Point{X: x + panelWidth, Y: y}}}
			p.draw(area, heads[i].looks)
		}
		y -= panelHeight + panelGap
	}
	writeLines(&in, captionStyle, c.Caption, vg.Point{X: in.Min.X, Y: y}, wide)
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: draw %q: %w", c.Title, err)
	}
	return b.Bytes(), nil
}

// newFile returns a canvas of an image format, and the writer of its file.
func newFile(format string, w, h vg.Length) (io.WriterTo, vg.CanvasSizer, error) {
	switch format {
	case "svg":
		x := vgsvg.New(w, h)
		return x, x, nil
	case "png":
		x := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(imageDPI))}
		return x, x, nil
	}
	return nil, nil, fmt.Errorf("report: unknown image format %q, want one of %v", format, ImageFormats())
}

// svg returns one panel of a strip with the legend, for a page: as wide as a narrow screen can show with readable
// letters.
func (s Strip) svg(panel int) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p := s.Panels[panel]
	title := s.Title
	if p.Title != "" && title != "" {
		title += ": "
	}
	head := newLegend(title+p.Title, s.Panels, panelWidth)
	p.Title = ""
	file := vgsvg.New(panelWidth, head.high+panelHeight)
	in := draw.New(file)
	head.draw(in, in.Min.X, in.Max.Y)
	in.Max.Y -= head.high
	p.draw(in, head.looks)
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: draw %q: %w", s.Title, err)
	}
	svg := b.Bytes()
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:] // a page has its own prologue
	}
	return svg, nil
}

// check returns an error for a strip that cannot be drawn.
func (s Strip) check() error {
	for _, p := range s.Panels {
		drawn := len(p.Levels)
		for _, l := range p.Levels {
			if !finite(l.Y) {
				return fmt.Errorf("report: level %q is %v", l.Name, l.Y)
			}
		}
		for _, c := range p.Curves {
			if len(c.X) != len(c.Y) || c.Band != nil && len(c.Band) != len(c.X) || c.Bars != nil &&
				len(c.Bars) != len(c.X) {
				return fmt.Errorf("report: curve %q has %d x, %d y, a band of %d and %d bars", c.Name, len(c.X),
					len(c.Y), len(c.Band), len(c.Bars))
			}
			for i, x := range c.X {
				if !c.shows(i) {
					continue
				}
				if p.LogX && x <= 0 {
					return fmt.Errorf("report: curve %q has the point (%g, %g), which a logarithmic axis cannot show",
						c.Name, x, c.Y[i])
				}
				drawn++
			}
		}
		if drawn == 0 {
			return fmt.Errorf("report: panel %q has nothing to draw", p.Title)
		}
	}
	return nil
}

// shows reports whether a point can be drawn.
func (c Curve) shows(i int) bool {
	return finite(c.Y[i]) && !math.IsNaN(c.X[i]) && !math.IsInf(c.X[i], -1)
}

// Styles of the text of a chart.
var (
	chartTitle   = textStyle(12, ink)
	stripTitle   = textStyle(10.5, ink)
	nameStyle    = textStyle(9, ink)
	captionStyle = textStyle(8.5, color.RGBA{0x5b, 0x66, 0x73, 0xff})
)

// textStyle returns a style of left-aligned text that hangs from its point.
func textStyle(points float64, c color.Color) text.Style {
	s := text.Style{Color: c, Font: font.From(plot.DefaultFont, vg.Points(points)), Handler: plot.DefaultTextHandler,
		XAlign: text.XLeft, YAlign: text.YTop}
	s.Font.Variant = "Sans"
	return s
}

// writeLines writes a text from a point downwards, in lines of at most that width, and returns
// its height. Without a canvas it only measures.
func writeLines(c *draw.Canvas, style text.Style, s string, at vg.Point, wide vg.Length) vg.Length {
	each := 1.35 * style.Font.Size
	lines := wrap(style, s, wide)
	for i, l := range lines {
		if c != nil {
			c.FillText(style, vg.Point{X: at.X, Y: at.Y - each*vg.Length(i)}, l)
		}
	}
	return each * vg.Length(len(lines))
}

// wrap breaks a text at blanks into lines of at most that width. A longer word keeps a line of
// its own.
func wrap(style text.Style, s string, wide vg.Length) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && style.Width(lines[n-1]+" "+word) <= wide {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
