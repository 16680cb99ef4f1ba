package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"privrec/internal/dataset"
)

// Document holds a whole result: tables, figures and remarks with one level of evidence. It can be printed as text or
// Markdown, marshalled as JSON, and written as a page.
type Document struct {
	Title    string
	Subtitle string // one line: task, data, profile
	// Conclusion is the result in one sentence. Only the page has it.
	Conclusion string
	Level      dataset.Level
	Facts      []Fact // the few values that matter most, such as the epsilons
	Tables     []*Table
	Figures    []Figure // only on the page
	Charts     []Chart  // on the page, and in Markdown where they have a file
	Heats      []Heat   // likewise
	Notes      []string

	lead string // stands before all else; "": nothing does
}

// Lead puts a line before everything else, for what nobody may overlook. An empty line adds nothing.
func (d *Document) Lead(line string) { d.lead = line }

// Fact holds a value with its label.
type Fact struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Note  string `json:"note,omitempty"` // why, or under which assumptions
}

// stamp returns a line on how far to trust the numbers.
func (d *Document) stamp() string {
	if d.Level == 0 {
		return ""
	}
	return fmt.Sprintf("evidence level %v: %s", d.Level, d.Level.Meaning())
}

// Wide is a writer that knows the number of text columns visible at once, such as a terminal; 0: any number.
type Wide interface{ Width() int }

// Text writes the document for a terminal. If w is Wide, tables are folded to its width.
func (d *Document) Text(w io.Writer) error {
	var b strings.Builder
	width := 0
	if seen, ok := w.(Wide); ok {
		width = seen.Width()
	}
	if d.lead != "" {
		b.WriteString(d.lead + "\n\n")
	}
	b.WriteString(d.Title + "\n")
	for _, s := range []string{d.Subtitle, d.stamp()} {
		if s != "" {
			b.WriteString(s + "\n")
		}
	}
	if len(d.Facts) > 0 {
		b.WriteByte('\n')
		wide := 0
		for _, f := range d.Facts {
			wide = max(wide, utf8.RuneCountInString(f.Label)) // as Sprintf counts
		}
		for _, f := range d.Facts {
			line := fmt.Sprintf("%-*s  %s", wide, f.Label, f.Value)
			if f.Note != "" {
				line += "  (" + f.Note + ")"
			}
			hang(&b, line, width, wide+2)
		}
	}
	for _, t := range d.Tables {
		b.WriteByte('\n')
		t.text(&b, width)
	}
	if len(d.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range d.Notes {
		hang(&b, "- "+n, width, 2)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the document for a README or a note.
func (d *Document) Markdown(w io.Writer) error {
	var b strings.Builder
	if d.lead != "" {
		b.WriteString("> " + escapeMarkdown(d.lead) + "\n\n")
	}
	b.WriteString("# " + escapeMarkdown(d.Title) + "\n")
	for _, s := range []string{d.Subtitle, d.stamp()} {
		if s != "" {
			b.WriteString("\n" + escapeMarkdown(s) + "\n")
		}
	}
	if len(d.Facts) > 0 {
		b.WriteByte('\n')
	}
	for _, f := range d.Facts {
		b.WriteString("- " + escapeMarkdown(f.Label) + ": " + escapeMarkdown(f.Value))
		if f.Note != "" {
			b.WriteString(" (" + escapeMarkdown(f.Note) + ")")
		}
		b.WriteByte('\n')
	}
	for _, c := range d.Charts {
		if c.File != "" {
			b.WriteString("\n![" + escapeMarkdown(c.Title) + "](" + c.File + ".svg)\n")
		}
		if c.File != "" && c.Caption != "" {
			b.WriteString("\n" + escapeMarkdown(c.Caption) + "\n")
		}
	}
	for _, h := range d.Heats {
		if h.File != "" {
			b.WriteString("\n![" + escapeMarkdown(h.Title) + "](" + h.File + ".svg)\n")
		}
		if h.File != "" && h.Caption != "" {
			b.WriteString("\n" + escapeMarkdown(h.Caption) + "\n")
		}
	}
	for _, t := range d.Tables {
		b.WriteByte('\n')
		if err := t.Markdown(&b); err != nil {
			return err
		}
	}
	if len(d.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range d.Notes {
		b.WriteString("- " + escapeMarkdown(n) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// MarshalJSON writes everything except the figures, whose numbers belong in tables.
func (d *Document) MarshalJSON() ([]byte, error) {
	level := ""
	if d.Level != 0 {
		level = d.Level.String()
	}
	return json.Marshal(documentForm{d.lead, d.Title, d.Subtitle, level, d.Facts, d.Tables, d.Notes})
}

// documentForm is a document in JSON.
type documentForm struct {
	Lead     string   `json:"lead,omitempty"`
	Title    string   `json:"title"`
	Subtitle string   `json:"subtitle,omitempty"`
	Level    string   `json:"level,omitempty"`
	Facts    []Fact   `json:"facts,omitempty"`
	Tables   []*Table `json:"tables,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// JSONForms returns the types that MarshalJSON writes.
func (d *Document) JSONForms() []any { return []any{documentForm{}} }
