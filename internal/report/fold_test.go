package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// seen is a terminal of some columns.
type seen struct {
	strings.Builder
	columns int
}

func (s *seen) Width() int { return s.columns }

// Tables and notes are folded to the width of a terminal, and nothing of them is lost.
func TestTextFitsTheTerminal(t *testing.T) {
	table := &Table{Title: "Settings", Columns: []Column{{Name: "setting"}, {Name: "epsilon", Format: "%.2f"}, {Name: "what is not protected"}}}
	table.Add("one matrix, one release", 1.5, "labels of the training; the choice of the epoch; lists made without noise")
	table.Add("both", 12345.25, "nothing")
	d := &Document{Title: "Epsilon", Tables: []*Table{table}, Facts: []Fact{{Label: "noise", Value: "research noise", Note: "whoever knows the seed takes it off again"}},
		Notes: []string{"as written: the noise that the paper describes, with every release that the unit is in"}}
	var whole strings.Builder
	if err := d.Text(&whole); err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{0, 40, 60, 80, 300} {
		w := &seen{columns: columns}
		if err := d.Text(w); err != nil {
			t.Fatal(err)
		}
		text := w.String()
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); columns > 0 && n > columns {
				t.Errorf("%d columns: a line of %d: %q", columns, n, line)
			}
		}
		if (columns == 0 || columns == 300) != (text == whole.String()) {
			t.Errorf("%d columns:\n%s", columns, text)
		}
		for _, word := range strings.Fields(whole.String()) {
			if word = strings.Trim(word, "-"); !strings.Contains(text, word) {
				t.Errorf("%d columns: %q is lost", columns, word)
			}
		}
	}
}
