package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ImageFormats returns the formats that Image can write.
func ImageFormats() []string { return []string{"svg", "png"} }

const (
	imageWidth  = 18 * vg.Centimeter
	imageHeight = 10 * vg.Centimeter
	imageDPI    = 200 // 1417 by 787 pixels
)

// Image returns the figure as a file, 18 cm by 10 cm on white: title above, legend beside the lines and never over
// them. The format is one of ImageFormats. Equal figures give equal bytes.
func (f Figure) Image(format string) ([]byte, error) {
	p, _, err := f.plot()
	if err != nil {
		return nil, err
	}
	p.BackgroundColor = color.White
	if !f.LogX {
		p.X.Tick.Marker = roundTicks{}
	}
	if !f.LogY {
		p.Y.Tick.Marker = roundTicks{}
	}
	legend := p.Legend
	p.Legend = plot.NewLegend() // empty: it is drawn separately

	var c vg.CanvasSizer
	var file io.WriterTo
	switch format {
	case "svg":
		x := vgsvg.New(imageWidth, imageHeight)
		c, file = x, x
	case "png":
		x := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(imageWidth, imageHeight), vgimg.UseDPI(imageDPI))}
		c, file = x, x
	default:
		return nil, fmt.Errorf("report: unknown image format %q, want one of %v", format, ImageFormats())
	}
	const margin = vg.Length(10)
	whole := draw.New(c)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	inner := draw.Crop(whole, margin, -margin, margin, -margin)
	inner.Max.Y -= title(inner, p.Title.TextStyle, f.Title)
	beside := vg.Length(0)
	if len(f.Lines) > 1 { // with one line, the title and the axis say it all
		legend.Left = true
		size := legend.Rectangle(inner).Size().X
		beside = size + vg.Points(14)
		legend.Draw(draw.Crop(inner, inner.Size().X-size, 0, 0, 0))
	}
	p.Draw(draw.Crop(inner, 0, -beside, 0, 0))
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: draw %q: %w", f.Title, err)
	}
	return b.Bytes(), nil
}

// title writes a title above the figure, over as many lines as it needs, and returns its height.
func title(c draw.Canvas, style text.Style, s string) vg.Length {
	if s == "" {
		return 0
	}
	style.Font.Variant, style.Font.Size, style.Color = "Sans", vg.Points(11), ink
	style.XAlign, style.YAlign = text.XLeft, text.YTop
	var lines []string
	for _, part := range strings.SplitAfter(s, ", ") {
		if n := len(lines); n > 0 && style.Width(lines[n-1]+strings.TrimSpace(part)) <= c.Size().X {
			lines[n-1] += part
		} else {
			lines = append(lines, part)
		}
	}
	each := vg.Points(15)
	for i, l := range lines {
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y - each*vg.Length(i)}, strings.TrimSpace(l))
	}
	return each*vg.Length(len(lines)) + vg.Points(8)
}
