package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
)

//go:embed page.css
var pageStyle string

// page collects a web page. Package html/template would do, but it looks methods up by name;
// then the linker must keep every exported method of the program, a fifth of the binary.
type page struct{ bytes.Buffer }

// markup is text of a page that is not escaped, because this package wrote it.
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

// putSome does what put does, if the text is not empty.
func (p *page) putSome(format, text string) {
	if text != "" {
		p.put(format, text)
	}
}

// HTML writes the document as one page that loads nothing from elsewhere: no script, no font,
// no picture.
func (d *Document) HTML(w io.Writer) error {
	p := new(page)
	p.head(d)
	for _, c := range d.Charts {
		if err := p.chart(c); err != nil {
			return err
		}
	}
	for _, t := range d.Tables {
		p.table(t)
	}
	for _, f := range d.Figures {
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		// Our own drawing: gonum/plot escapes the labels it is given. // our own drawing: gonum/plot escapes its labels
		p.put("<h2>%s</h2>\n<figure role=\"img\" aria-label=\"%s\">%s", f.Title, f.Title, markup(svg))
		p.putSome("<figcaption>%s</figcaption>", f.Caption)
		p.put("</figure>\n")
	}
	if len(d.Notes) > 0 {
		p.put("<h2>Notes</h2>\n<ul>\n")
		for _, n := range d.Notes {
			p.put("<li>%s</li>\n", n)
		}
		p.put("</ul>\n")
	}
	p.put("</main>\n</body>\n</html>\n")
	_, err := w.Write(p.Bytes())
	return err
}

// chart writes every panel of a chart as a picture of its own, so that they stand side by side
// or below each other as the screen is wide.
func (p *page) chart(c Chart) error {
	p.put("<h2>%s</h2>\n<figure role=\"group\" aria-label=\"%s\">\n<div class=\"panels\">\n", c.Title, c.Title)
	for _, s := range c.Strips {
		for i := range s.Panels {
			svg, err := s.svg(i)
			if err != nil {
				return err
			}
			p.put("%s\n", markup(svg))
		}
	}
	p.put("</div>\n")
	p.putSome("<figcaption>%s</figcaption>", c.Caption)
	p.put("</figure>\n")
	return nil
}

// head writes what comes before the first table: title, evidence level, facts.
func (p *page) head(d *Document) {
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<main>
<header>
<div>
<h1>%s</h1>
`, d.Title, markup(pageStyle), d.Title)
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

// table writes a table with its notes. Rows of floors and rows that belong to the row above
// have a class.
func (p *page) table(t *Table) {
	cells, right := t.grid()
	put := func(tag, text string, right bool) {
		class := markup("")
		if right {
			class = ` class="r"`
		}
		p.put("<%s%s>%s</%s>", markup(tag), class, text, markup(tag))
	}
	p.putSome("<h2>%s</h2>\n", t.Title)
	p.put("<div class=\"scroll\"><table>\n<thead><tr>")
	for c, col := range t.Columns {
		put("th", col.Name, right[c])
	}
	p.put("</tr></thead>\n<tbody>\n")
	for _, row := range cells {
		switch {
		case strings.HasSuffix(row[0], "(floor)"):
			p.put(`<tr class="floor">`)
		case strings.HasPrefix(row[0], "  "):
			p.put(`<tr class="sub">`)
		default:
			p.put("<tr>")
		}
		for c, s := range row {
			put("td", s, right[c])
		}
		p.put("</tr>\n")
	}
	p.put("</tbody>\n</table></div>\n")
	for _, n := range t.Notes {
		p.put("<p class=\"note\">%s</p>\n", n)
	}
}
