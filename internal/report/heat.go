package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg/draw"
)

// Heat is a heat map: rows by columns, with words and a shade in each cell. A page shows it as a table that can be
// searched and scrolled, a file as a picture.
type Heat struct {
	Title   string
	Head    string   // of the labels of rows
	Beside  string   // head of what stands beside the labels; empty: nothing does
	Columns []string // heads
	Rows    []HeatRow
	Above   string // what the warm colour means
	Below   string // what the cold colour means
	Pale    string // what a cell without a colour means
	Caption string
	File    string // name of its pictures beside the document, without ending; empty: there are none
	Files   []Link // the pictures, on a page
}

// HeatRow is one row of a heat map, with a cell for each column.
type HeatRow struct {
	Label, Beside string
	Cells         []HeatCell
}

// HeatCell is one cell. Shade is from -1 to 1: the strength of the cold or the warm colour. An Empty cell has no
// number, and its text says why.
type HeatCell struct {
	Text, Under string // under: a second line, such as an interval
	Shade       float64
	Empty       bool
}

// strongest is the strength of the colour in a cell of shade 1, on which dark letters stay readable.
const strongest = 0.8

// tint returns the colour of a shade and its strength, from 0 to strongest. Blue and vermilion are the colours of the
// palette that colour-blind readers distinguish best.
func tint(shade float64) (c color.RGBA, strength float64) {
	c = palette[1]
	if shade < 0 {
		c = palette[0]
	}
	return c, strongest * min(1, math.Abs(shade))
}

// keyShade is the shade of the colours in the key.
const keyShade = 0.6

// heatKey holds one entry of the key of a heat map.
type heatKey struct {
	words string
	HeatCell
}

// keys returns the explanation of the colours.
func (h Heat) keys() (list []heatKey) {
	for _, k := range []heatKey{{h.Above, HeatCell{Shade: keyShade}}, {h.Pale, HeatCell{}},
		{h.Below, HeatCell{Shade: -keyShade}}, {"no number: the words say why", HeatCell{Empty: true}}} {
		if k.words != "" {
			list = append(list, k)
		}
	}
	return list
}

// check returns an error for a heat map that cannot be drawn.
func (h Heat) check() error {
	if len(h.Rows) == 0 || len(h.Columns) == 0 {
		return fmt.Errorf("report: heat map %q has %d rows and %d columns", h.Title, len(h.Rows), len(h.Columns))
	}
	for _, r := range h.Rows {
		if len(r.Cells) != len(h.Columns) {
			return fmt.Errorf("report: heat map %q: row %q has %d cells for %d columns", h.Title, r.Label, len(r.Cells),
				len(h.Columns))
		}
		for _, c := range r.Cells {
			if !(math.Abs(c.Shade) <= 1) {
				return fmt.Errorf("report: heat map %q: row %q has a shade of %v, want -1 to 1", h.Title, r.Label,
					c.Shade)
			}
		}
	}
	return nil
}

// put writes the heat map as a table.
func (h Heat) put(p *page) error {
	if err := h.check(); err != nil {
		return err
	}
	p.ids++
	caption := fmt.Sprint(p.ids)
	p.put("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"caption-%s\"><table "+
		"class=\"heat\">\n<caption id=\"caption-%s\">", caption, caption)
	p.heading(h.Title)
	p.put("</caption>\n<thead><tr><th scope=\"col\">%s</th>", h.Head)
	if h.Beside != "" {
		p.put("<th scope=\"col\">%s</th>", h.Beside)
	}
	for _, c := range h.Columns {
		p.put("<th scope=\"col\">%s</th>", c)
	}
	p.put("</tr></thead>\n<tbody>\n")
	for _, r := range h.Rows {
		p.put("<tr><th scope=\"row\">%s</th>", r.Label)
		if h.Beside != "" {
			p.put("<td class=\"beside\">%s</td>", r.Beside)
		}
		for _, c := range r.Cells {
			p.put("<td%s>%s", c.look(), c.Text)
			p.putSome("<small>%s</small>", c.Under)
			p.put("</td>")
		}
		p.put("</tr>\n")
	}
	p.put("</tbody>\n</table></div>\n<p class=\"key heat\">")
	for _, k := range h.keys() {
		p.put("<span><i%s></i> %s</span> ", k.look(), k.words)
	}
	p.put("</p>\n")
	p.putSome("<p class=\"note\">%s</p>\n", h.Caption)
	p.files(h.Files)
	return nil
}

// look returns the class or the colour of a cell on a page, which suits light and dark backgrounds.
func (c HeatCell) look() markup {
	if c.Empty {
		return ` class="empty"`
	}
	colour, strength := tint(c.Shade)
	return markup(fmt.Sprintf(` style="background:rgba(%d,%d,%d,%.3f)"`, colour.R, colour.G, colour.B, strength))
}

// Image returns the heat map as a file on white. The format is one of ImageFormats. Equal maps give equal bytes.
func (h Heat) Image(format string) ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	s := h.lay()
	file, canvas, err := newFile(format, s.wide+2*chartMargin, s.tall()+2*chartMargin)
	if err != nil {
		return nil, err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	h.draw(draw.Crop(whole, chartMargin, -chartMargin, chartMargin, -chartMargin), s)
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("report: draw %q: %w", h.Title, err)
	}
	return b.Bytes(), nil
}
