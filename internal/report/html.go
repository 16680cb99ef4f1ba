package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"
)

//go:embed page.css
var pageStyle string

// page collects a web page. Package html/template would do, but it looks up methods by name, so the linker must then
// keep every exported method of the program, a fifth of the binary.
type page struct {
	bytes.Buffer
	scripted bool // it gets the script that sorts tables
	deeper   int  // sections around what is written
	ids      int  // names given to captions
}

// markup is text of a page that needs no escaping, because this package wrote it.
type markup string

// put writes a format with its arguments escaped, except those of type markup.
func (p *page) put(format string, args ...any) {
	for i, a := range args {
		if _, ours := a.(markup); !ours {
			args[i] = html.EscapeString(fmt.Sprint(a))
		}
	}
	fmt.Fprintf(p, format, args...)
}

// putSome is put for a text that may be empty; an empty one writes nothing.
func (p *page) putSome(format, text string) {
	if text != "" {
		p.put(format, text)
	}
}

// heading writes a heading at the current depth of the page.
func (p *page) heading(text string) {
	if text != "" {
		h := markup(fmt.Sprintf("h%d", 2+min(p.deeper, 2)))
		p.put("<%s>%s</%s>\n", h, text, h)
	}
}

// HTML writes the document as one page that loads nothing from elsewhere and has no script.
func (d *Document) HTML(w io.Writer) error {
	p := new(page)
	p.head(&Page{lead: d.lead, Title: d.Title, Subtitle: d.Subtitle, Conclusion: d.Conclusion, Level: d.Level,
		Facts: d.Facts})
	var parts []Part
	for _, c := range d.Charts {
		parts = append(parts, c)
	}
	for _, h := range d.Heats {
		parts = append(parts, h)
	}
	for _, t := range d.Tables {
		parts = append(parts, t)
	}
	for _, f := range d.Figures {
		parts = append(parts, f)
	}
	if len(d.Notes) > 0 {
		parts = append(parts, Section{ID: "notes", Title: "Notes", Parts: []Part{Notes(d.Notes)}})
	}
	for _, part := range parts {
		if err := part.put(p); err != nil {
			return err
		}
	}
	p.foot()
	_, err := w.Write(p.Bytes())
	return err
}

func (f Figure) put(p *page) error {
	svg, err := f.SVG()
	if err != nil {
		return err
	}
	p.heading(f.Title)
	// Our own drawing: gonum/plot escapes the labels it is given.
	p.put("<figure role=\"img\" aria-label=\"%s\">%s", f.Title, drawn(svg))
	p.putSome("<figcaption>%s</figcaption>", f.Caption)
	p.put("</figure>\n")
	return nil
}

// put writes every panel of a chart as a separate picture, so that the width of the screen decides whether they stand
// side by side or below each other.
func (c Chart) put(p *page) error {
	p.heading(c.Title)
	p.put("<figure role=\"group\" aria-label=\"%s\">\n<div class=\"panels\">\n", c.Title)
	for _, s := range c.Strips {
		for i := range s.Panels {
			svg, err := s.svg(i)
			if err != nil {
				return err
			}
			p.put("<div role=\"img\" aria-label=\"%s\">%s</div>\n", s.about(i), drawn(svg))
		}
	}
	p.put("</div>\n")
	p.putSome("<figcaption>%s</figcaption>", c.Caption)
	p.files(c.Files)
	p.put("</figure>\n")
	return nil
}

// about returns a description of a panel for readers who cannot see it.
func (s Strip) about(panel int) string {
	x := s.Panels[panel]
	var names []string
	for _, c := range x.Curves {
		names = append(names, c.Name)
	}
	text := strings.Trim(s.Title+": "+x.Title, ": ")
	if text != "" {
		text += ": "
	}
	text += x.Y
	if x.X != "" {
		text += " over " + x.X
	}
	return text + "; " + strings.Join(names, ", ")
}

// tones replaces the colours of drawings by those of the page, which has others in dark mode.
var tones = strings.NewReplacer(
	hex(ink), "currentColor", hex(gridColor), "var(--line)", hex(levelColor), "var(--soft)",
	hex(palette[0]), "var(--c0)", hex(palette[1]), "var(--c1)", hex(palette[2]), "var(--c2)",
	hex(palette[3]), "var(--c3)", hex(palette[4]), "var(--c4)", hex(palette[5]), "var(--c5)",
	"font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;",
)

// hex returns a colour in the form "#0072B2".
func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// drawn returns a drawing in the form that a page needs.
func drawn(svg []byte) markup { return markup(tones.Replace(string(svg))) }

// files writes links to other forms of a table or a figure.
func (p *page) files(list []Link) {
	if len(list) == 0 {
		return
	}
	p.put("<p class=\"files\">as ")
	for i, l := range list {
		if i > 0 {
			p.put(", ")
		}
		p.inline(l)
	}
	p.put("</p>\n")
}

// head writes everything before the first part: title, conclusion, evidence level, facts. The page's policy allows it
// to load nothing, and its icon is empty.
func (p *page) head(d *Page) {
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>%s</title>
<style>
%s%s</style>
</head>
<body>
<a class="skip" href="#main">skip to the content</a>
`, d.Title, markup(pageStyle), d.Style)
	if len(d.Trail) > 0 {
		p.put("<nav aria-label=\"pages above\">")
		for _, l := range d.Trail {
			p.inline(l)
			p.put(" <span aria-hidden=\"true\">/</span> ")
		}
		p.put("<span aria-current=\"page\">%s</span></nav>\n", d.Title)
	}
	p.put("<main id=\"main\">\n")
	p.putSome("<p class=\"sub\" role=\"note\">%s</p>\n", d.lead)
	p.put("<header>\n<div>\n<h1>%s</h1>\n", d.Title)
	p.putSome("<p class=\"sub\">%s</p>\n", d.Subtitle)
	p.put("</div>\n")
	if d.Level != 0 {
		warn := ""
		if !AllowsDelta(d.Level) {
			warn = "; not comparable with a paper's printed numbers"
		}
		p.put("<div class=\"stamp %s\"><b>Evidence level %s</b>%s%s</div>\n", d.Level, d.Level, d.Level.Meaning(), warn)
	}
	p.put("</header>\n")
	p.putSome("<p class=\"conclusion\">%s</p>\n", d.Conclusion)
	if len(d.Facts) > 0 {
		p.put("<dl>\n")
		for _, f := range d.Facts {
			p.put("<div><dt>%s</dt><dd>%s", f.Label, f.Value)
			p.putSome("<small>%s</small>", f.Note)
			p.put("</dd></div>\n")
		}
		p.put("</dl>\n")
	}
}

// foot ends the page.
func (p *page) foot() {
	p.put("</main>\n")
	if p.scripted {
		p.put("<script>\n%s</script>\n", markup(pageScript))
	}
	p.put("</body>\n</html>\n")
}

// put writes a table with its notes. Rows of floors, and rows that belong to the row above, have a class. The first
// cell of a row is its heading.
func (t *Table) put(p *page) error {
	cells, right := t.grid()
	p.ids++
	caption := fmt.Sprint(p.ids)
	class := markup("")
	if t.Sorts && p.scripted {
		class = ` class="sorts"`
	}
	p.put("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"caption-%s\"><table%s>\n<caption "+
		"id=\"caption-%s\">", caption, class, caption)
	if t.Title != "" {
		p.heading(t.Title)
	} else {
		p.put("<span class=\"unseen\">%s</span>", t.Name)
	}
	p.put("</caption>\n<thead><tr>")
	for c, col := range t.Columns {
		p.put("<th scope=\"col\"%s>%s</th>", markup(side(right[c])), col.Name)
	}
	p.put("</tr></thead>\n<tbody>\n")
	for r, row := range cells {
		switch {
		case strings.HasSuffix(row[0], "(floor)"):
			p.put(`<tr class="floor">`)
		case strings.HasPrefix(row[0], "  "):
			p.put(`<tr class="sub">`)
		default:
			p.put("<tr>")
		}
		for c := range row {
			t.cellTo(p, r, c, row[c], right[c])
		}
		p.put("</tr>\n")
	}
	p.put("</tbody>\n</table></div>\n")
	for _, n := range t.Notes {
		p.put("<p class=\"note\">%s</p>\n", n)
	}
	p.files(t.Files)
	return nil
}

// side returns the class of right-aligned cells.
func side(right bool) string {
	if right {
		return ` class="r"`
	}
	return ""
}

// longText is the number of bytes from which a cell may have several lines.
const longText = 36

// cellTo writes a cell of a page, with the exact number if a script may sort by it.
func (t *Table) cellTo(p *page, r, c int, text string, right bool) {
	tag, attributes := "td", side(right)
	if len(text) > longText {
		attributes = ` class="long"`
	}
	if c == 0 && strings.TrimSpace(text) != "" {
		tag, attributes = "th", attributes+` scope="row"`
	}
	var v any
	if c < len(t.Rows[r]) {
		v = t.Rows[r][c]
	}
	switch x := v.(type) {
	case Link, Tag:
		p.put("<%s%s>", markup(tag), markup(attributes))
		p.inline(x)
		p.put("</%s>", markup(tag))
		return
	case int, float64:
		if n := exact(x); t.Sorts && p.scripted && n != text {
			if n == "NaN" {
				n = ""
			}
			attributes += ` data-v="` + strings.Replace(n, "+Inf", "Infinity", 1) + `"`
		}
	}
	p.put("<%s%s>%s</%s>", markup(tag), markup(attributes), text, markup(tag))
}
