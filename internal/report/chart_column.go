package report

import (
	"bytes"
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// columnWidth is the width of a column in a two-column paper.
const columnWidth = 3.3 * vg.Inch

// ColumnPDF returns the chart for a paper: one column wide, panel below panel, without title and caption, which the
// paper adds. Letters are of seven points. Equal charts give equal bytes.
func (c Chart) ColumnPDF() ([]byte, error) {
	shrink := float64(columnWidth / panelWidth)
	heads := make([]legend, len(c.Strips))
	tall := vg.Length(0)
	for i, s := range c.Strips {
		if err := s.check(); err != nil {
			return nil, err
		}
		heads[i] = newLegend(s.Title, s.Panels, panelWidth)
		tall += heads[i].high + vg.Length(len(s.Panels))*(panelHeight+panelGap)
	}
	if tall == 0 {
		return nil, errors.New("report: a chart without panels")
	}
	tall -= panelGap
	file := newPDF(columnWidth, tall*vg.Length(shrink))
	file.Push()
	file.Scale(shrink, shrink)
	in := draw.Canvas{Canvas: file, Rectangle: vg.Rectangle{Max: vg.Point{X: panelWidth, Y: tall}}}
	y := tall
	for i, s := range c.Strips {
		heads[i].draw(in, 0, y)
		y -= heads[i].high
		for _, p := range s.Panels {
			p.draw(draw.Canvas{Canvas: file, Rectangle: vg.Rectangle{Min: vg.Point{Y: y - panelHeight},
				Max: vg.Point{X: panelWidth, Y: y}}}, heads[i].looks)
			y -= panelHeight + panelGap
		}
	}
	file.Pop()
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: draw %q: %w", c.Title, err)
	}
	return b.Bytes(), nil
}
