package report

import (
	"bytes"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// All texts of a document appear escaped, in text and in attributes, in each of its
// fields.
func TestPageEscapes(t *testing.T) {
	const hostile, harmless = `"><i onload='x'>&`, "&#34;&gt;&lt;i onload=&#39;x&#39;&gt;&amp;"
	table := &Table{Name: "t", Title: hostile, Columns: Columns("", hostile, hostile), Notes: []string{hostile}}
	table.Add(hostile, hostile)
	d := &Document{
		Title: hostile, Subtitle: hostile, Level: dataset.LevelD, Notes: []string{hostile},
		Facts:  []Fact{{Label: hostile, Value: hostile, Note: hostile}},
		Tables: []*Table{table},
		Figures: []Figure{{Title: hostile, Caption: hostile, X: hostile, Y: hostile,
			Lines: []Line{{Name: hostile, X: []float64{1, 2}, Y: []float64{2, 1}}}}},
	}
	var b bytes.Buffer
	if err := d.HTML(&b); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	if strings.Contains(s, "<i ") || strings.Contains(s, `=""`) {
		t.Error("text of the document became markup")
	}
	// title and heading, subtitle, fact with label and note, heading, two columns, two
	// cells and note of the table, heading, label and caption of the figure, note.
	page := s
	if at := strings.Index(page, "<svg"); at >= 0 {
		page = page[:at] + page[strings.Index(page, "</svg>"):]
	}
	if got := strings.Count(page, harmless); got != 16 {
		t.Errorf("escaped %d times, want 16", got)
	}
	for _, tag := range []string{"main", "header", "dl", "table", "thead", "tbody", "tr", "figure", "ul", "li", "body", "html"} {
		if open, closed := strings.Count(s, "<"+tag+">")+strings.Count(s, "<"+tag+" "), strings.Count(s, "</"+tag+">"); open != closed || open == 0 {
			t.Errorf("%s opens %d times and closes %d times", tag, open, closed)
		}
	}
}
