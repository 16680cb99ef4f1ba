package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// A line that nobody may overlook comes first, in every form; without one nothing changes.
func TestLeadComesFirst(t *testing.T) {
	const line = "who has the seed repeats it"
	forms := map[string]func(d *Document) func(io.Writer) error{
		"text":     func(d *Document) func(io.Writer) error { return d.Text },
		"Markdown": func(d *Document) func(io.Writer) error { return d.Markdown },
		"LaTeX":    func(d *Document) func(io.Writer) error { return d.LaTeX },
		"page":     func(d *Document) func(io.Writer) error { return d.HTML },
		"JSON": func(d *Document) func(io.Writer) error {
			return func(w io.Writer) error {
				b, err := d.MarshalJSON()
				if err != nil {
					return err
				}
				_, err = w.Write(b)
				return err
			}
		},
	}
	for name, form := range forms {
		show := func(lead ...string) string {
			d := &Document{Title: "the title of all", Notes: []string{"a note"}}
			for _, l := range lead {
				d.Lead(l)
			}
			var b bytes.Buffer
			if err := form(d)(&b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		with := show(line)
		_, body, ok := strings.Cut(with, "<body")
		if !ok {
			body = with
		}
		if at := strings.Index(body, line); at < 0 || at > strings.Index(body, "the title of all") {
			t.Errorf("%s does not begin with the line:\n%s", name, body)
		}
		if show("") != show() {
			t.Errorf("%s: an empty line leaves a trace", name)
		}
	}
}
