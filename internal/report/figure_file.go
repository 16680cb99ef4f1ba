package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ImageFormats are what Image can write.
func ImageFormats() []string { return []string{"svg", "png"} }

const (
	imageWidth  = 18 * vg.Centimeter
	imageHeight = 10 * vg.Centimeter
	imageDPI    = 200 // 1417 by 787 pixels
)

// Image draws the figure as a file of its own, 18 cm by 10 cm on white: title
// above, legend beside the lines and never over them. The format is one of
// ImageFormats. Equal figures give equal bytes.
func (f Figure) Image(format string) ([]byte, error) {
	p, err := f.plot()
	if err != nil {
		return nil, err
	}
	p.BackgroundColor = color.White
	p.Title.Text = f.Title
	p.Title.TextStyle.Font.Variant, p.Title.TextStyle.Font.Size = "Sans", vg.Points(11)
	p.Title.TextStyle.Color, p.Title.Padding = ink, vg.Points(6)
	legend := p.Legend
	p.Legend = plot.NewLegend() // empty: it is drawn apart

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
	beside := vg.Length(0)
	if len(f.Lines) > 1 { // of one line the title and the axis say it all
		legend.Left = true
		size := legend.Rectangle(inner).Size().X
		beside = size + vg.Points(14)
		right := draw.Crop(inner, inner.Size().X-size, 0, 0, -vg.Points(26))
		legend.Draw(right)
	}
	p.Draw(draw.Crop(inner, 0, -beside, 0, 0))
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: draw %q: %w", f.Title, err)
	}
	return b.Bytes(), nil
}
