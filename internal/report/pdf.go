package report

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// pdfCanvas draws on one page of a PDF file. Letters are drawn as outlines, so the file needs no font, shows every
// sign, and equal drawings have equal bytes. The drawing library's own PDF canvas writes its letters in code page 1252,
// which has no sign for infinity, and records the time of day.
type pdfCanvas struct {
	body   bytes.Buffer
	w, h   vg.Length
	states []pdfState
	alphas []uint8 // opacities in use, in the order of their names
	err    error   // the first one
}

// pdfState holds the state that Push saves.
type pdfState struct {
	color color.NRGBA
	width vg.Length
}

// newPDF returns an empty page.
func newPDF(w, h vg.Length) *pdfCanvas {
	c := &pdfCanvas{w: w, h: h, states: make([]pdfState, 1)}
	vg.Initialize(c)
	return c
}

// Size returns width and height of the page.
func (c *pdfCanvas) Size() (w, h vg.Length) { return c.w, c.h }

func (c *pdfCanvas) put(format string, args ...any) { fmt.Fprintf(&c.body, format+"\n", args...) }

func (c *pdfCanvas) state() *pdfState { return &c.states[len(c.states)-1] }

// decimal returns a number in the form that PDF needs: without an exponent.
func decimal(x float64) string {
	s := strconv.FormatFloat(math.Round(x*1e4)/1e4, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

func (c *pdfCanvas) matrix(a, b, d, e, x, y float64) {
	c.put("%s %s %s %s %s %s cm", decimal(a), decimal(b), decimal(d), decimal(e), decimal(x), decimal(y))
}

// SetLineWidth sets the width of lines.
func (c *pdfCanvas) SetLineWidth(w vg.Length) {
	c.state().width = w
	c.put("%s w", decimal(w.Points()))
}

// SetLineDash sets the dashes of lines.
func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	list := ""
	for i, l := range pattern {
		if i > 0 {
			list += " "
		}
		list += decimal(l.Points())
	}
	c.put("[%s] %s d", list, decimal(offset.Points()))
}

// SetColor sets the colour of lines and areas.
func (c *pdfCanvas) SetColor(k color.Color) {
	if k == nil {
		k = color.Black
	}
	n := color.NRGBAModel.Convert(k).(color.NRGBA)
	c.state().color = n
	rgb := decimal(float64(n.R)/255) + " " + decimal(float64(n.G)/255) + " " + decimal(float64(n.B)/255)
	at := bytes.IndexByte(c.alphas, n.A)
	if at < 0 {
		at, c.alphas = len(c.alphas), append(c.alphas, n.A)
	}
	c.put("%s rg %s RG /A%d gs", rgb, rgb, at)
}

// Rotate rotates everything drawn afterwards.
func (c *pdfCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	c.matrix(cos, sin, -sin, cos, 0, 0)
}

// Translate moves everything drawn afterwards.
func (c *pdfCanvas) Translate(p vg.Point) { c.matrix(1, 0, 0, 1, p.X.Points(), p.Y.Points()) }

// Scale scales everything drawn afterwards.
func (c *pdfCanvas) Scale(x, y float64) { c.matrix(x, 0, 0, y, 0, 0) }

// Push saves colour, line and transformation.
func (c *pdfCanvas) Push() {
	c.states = append(c.states, *c.state())
	c.put("q")
}

// Pop restores what Push saved.
func (c *pdfCanvas) Pop() {
	c.states = c.states[:len(c.states)-1]
	c.put("Q")
}

// Stroke draws a path as a line.
func (c *pdfCanvas) Stroke(p vg.Path) {
	if c.state().width > 0 {
		c.path(p)
		c.put("S")
	}
}

// Fill fills a path.
func (c *pdfCanvas) Fill(p vg.Path) {
	c.path(p)
	c.put("f")
}

func (c *pdfCanvas) point(p vg.Point, operator string) {
	c.put("%s %s %s", decimal(p.X.Points()), decimal(p.Y.Points()), operator)
}

func (c *pdfCanvas) path(p vg.Path) {
	var at vg.Point
	for i, s := range p {
		switch s.Type {
		case vg.MoveComp:
			c.point(s.Pos, "m")
		case vg.LineComp:
			c.point(s.Pos, "l")
		case vg.ArcComp:
			at = c.arc(s, i == 0)
			continue
		case vg.CurveComp:
			a := s.Control[0]
			b := a
			if len(s.Control) > 1 {
				b = s.Control[1]
			} else { // a parabola as a cubic curve
				a, b = at.Add(a.Sub(at).Scale(2.0/3)), s.Pos.Add(a.Sub(s.Pos).Scale(2.0/3))
			}
			c.put("%s %s %s %s %s %s c", decimal(a.X.Points()), decimal(a.Y.Points()), decimal(b.X.Points()),
				decimal(b.Y.Points()), decimal(s.Pos.X.Points()), decimal(s.Pos.Y.Points()))
		case vg.CloseComp:
			c.put("h")
			continue
		}
		at = s.Pos
	}
}

// arc draws an arc of a circle as cubic curves, each of at most a quarter, and returns its end.
func (c *pdfCanvas) arc(s vg.PathComp, first bool) vg.Point {
	on := func(angle float64) vg.Point {
		sin, cos := math.Sincos(angle)
		return s.Pos.Add(vg.Point{X: s.Radius * vg.Length(cos), Y: s.Radius * vg.Length(sin)})
	}
	c.point(on(s.Start), map[bool]string{true: "m", false: "l"}[first])
	n := max(1, int(math.Ceil(math.Abs(s.Angle)/(math.Pi/2)-1e-9)))
	step := s.Angle / float64(n)
	k := vg.Length(4.0/3*math.Tan(step/4)) * s.Radius // length of the handles
	var q vg.Point
	for i := range n {
		from := s.Start + float64(i)*step
		p := on(from)
		q = on(from + step)
		s0, c0 := math.Sincos(from)
		s1, c1 := math.Sincos(from + step)
		a := p.Add(vg.Point{X: -k * vg.Length(s0), Y: k * vg.Length(c0)})
		b := q.Add(vg.Point{X: k * vg.Length(s1), Y: -k * vg.Length(c1)})
		c.put("%s %s %s %s %s %s c", decimal(a.X.Points()), decimal(a.Y.Points()), decimal(b.X.Points()),
			decimal(b.Y.Points()), decimal(q.X.Points()), decimal(q.Y.Points()))
	}
	return q
}

// FillString draws a text as the outlines of its letters.
func (c *pdfCanvas) FillString(f font.Face, at vg.Point, s string) {
	em := fixed.Int26_6(f.Face.UnitsPerEm())
	unit := f.Font.Size.Points() / float64(em) // points of a unit of the outlines
	var buf sfnt.Buffer
	var before sfnt.GlyphIndex
	x := 0.0
	c.put("q")
	c.matrix(unit, 0, 0, unit, at.X.Points(), at.Y.Points())
	for i, r := range s {
		g, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			c.fail(err)
			continue
		}
		if kern, err := f.Face.Kern(&buf, before, g, em, 0); err == nil && i > 0 {
			x += float64(kern)
		}
		c.glyph(f, &buf, g, em, x)
		wide, err := f.Face.GlyphAdvance(&buf, g, em, 0)
		if err != nil {
			c.fail(err)
		}
		x, before = x+float64(wide), g
	}
	c.put("Q")
}

// glyph draws one letter at a place of its line, in units of its outlines.
func (c *pdfCanvas) glyph(f font.Face, buf *sfnt.Buffer, g sfnt.GlyphIndex, em fixed.Int26_6, x float64) {
	outline, err := f.Face.LoadGlyph(buf, g, em, nil)
	if err != nil {
		c.fail(err)
		return
	}
	if len(outline) == 0 {
		return // a blank
	}
	var at [2]float64
	// y runs down there
	place := func(p fixed.Point26_6) [2]float64 { return [2]float64{x + float64(p.X), -float64(p.Y)} }
	for _, s := range outline {
		a := place(s.Args[0])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			c.put("%s %s m", decimal(a[0]), decimal(a[1]))
			at = a
		case sfnt.SegmentOpLineTo:
			c.put("%s %s l", decimal(a[0]), decimal(a[1]))
			at = a
		case sfnt.SegmentOpQuadTo:
			b := place(s.Args[1])
			third := func(p, q float64) string { return decimal(p + 2.0/3*(q-p)) }
			c.put("%s %s %s %s %s %s c", third(at[0], a[0]), third(at[1], a[1]), third(b[0], a[0]), third(b[1], a[1]),
				decimal(b[0]), decimal(b[1]))
			at = b
		case sfnt.SegmentOpCubeTo:
			b, e := place(s.Args[1]), place(s.Args[2])
			c.put("%s %s %s %s %s %s c", decimal(a[0]), decimal(a[1]), decimal(b[0]), decimal(b[1]), decimal(e[0]),
				decimal(e[1]))
			at = e
		}
	}
	c.put("f")
}

func (c *pdfCanvas) fail(err error) {
	if c.err == nil {
		c.err = fmt.Errorf("report: draw letters: %w", err)
	}
}

// DrawImage records an error, since no drawing of this package holds a picture.
func (c *pdfCanvas) DrawImage(vg.Rectangle, image.Image) {
	c.fail(errors.New("a picture in a PDF file"))
}

// WriteTo writes the file: catalogue, page, opacities, and the compressed drawing.
func (c *pdfCanvas) WriteTo(w io.Writer) (int64, error) {
	if c.err != nil {
		return 0, c.err
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(c.body.Bytes()); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	states := ""
	for i, a := range c.alphas {
		states += fmt.Sprintf("/A%d << /ca %s /CA %s >> ", i, decimal(float64(a)/255), decimal(float64(a)/255))
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %s %s] /Contents 4 0 R /Resources << /ExtGState << "+
			"%s>> >> >>", decimal(c.w.Points()), decimal(c.h.Points()), states),
		fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.Bytes()),
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, p := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", p)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return b.WriteTo(w)
}
