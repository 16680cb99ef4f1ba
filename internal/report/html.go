package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Parse(pageSource))

type pageTable struct {
	Title  string
	Header []pageCell
	Rows   [][]pageCell
	Kinds  []string // class of each row
	Notes  []string
}

type pageCell struct {
	Text  string
	Right bool
}

type pageFigure struct {
	Title, Caption string
	SVG            template.HTML
}

// HTML writes the document as one page that needs nothing from elsewhere: no
// script, no font, no picture by address.
func (d *Document) HTML(w io.Writer) error {
	data := struct {
		Doc                  *Document
		Level, Meaning, Warn string
		Tables               []pageTable
		Figures              []pageFigure
	}{Doc: d}
	if d.Level != 0 {
		data.Level, data.Meaning = d.Level.String(), d.Level.Meaning()
		if !AllowsDelta(d.Level) {
			data.Warn = "not comparable with a paper's printed numbers"
		}
	}
	for _, t := range d.Tables {
		data.Tables = append(data.Tables, htmlTable(t))
	}
	for _, f := range d.Figures {
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		// Our own drawing: gonum/plot escapes the labels it is given.
		data.Figures = append(data.Figures, pageFigure{f.Title, f.Caption, template.HTML(svg)})
	}
	return page.Execute(w, data)
}

func htmlTable(t *Table) pageTable {
	cells, right := t.grid()
	out := pageTable{Title: t.Title, Notes: t.Notes}
	for c, col := range t.Columns {
		out.Header = append(out.Header, pageCell{col.Name, right[c]})
	}
	for _, row := range cells {
		var line []pageCell
		for c, s := range row {
			line = append(line, pageCell{s, right[c]})
		}
		kind := ""
		switch {
		case strings.HasSuffix(row[0], "(floor)"):
			kind = "floor"
		case strings.HasPrefix(row[0], "  "):
			kind = "sub"
		}
		out.Rows, out.Kinds = append(out.Rows, line), append(out.Kinds, kind)
	}
	return out
}
