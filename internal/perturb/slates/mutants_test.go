package slates

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
	"privrec/internal/perturb"
	"privrec/internal/run"
)

// heard is a progress that keeps what is said.
type heard struct {
	run.Silent
	said []string
}

// Phase keeps a sentence.
func (h *heard) Phase(text string) { h.said = append(h.said, text) }

// A changed file of slates is refused, is read the same, or says what is left out: one slate a line, one a row, and one
// item a row, of a catalogue that is stated and of one that is found.
func TestMutants(t *testing.T) {
	lines := formattest.Sheet{Header: []format.Meaning{format.User, "item_1", "item_2", "item_3"}, Bare: true,
		Rows: [][]string{{"a", "3", "1", "2"}, {"a", "2", "5", "6"}, {"b", "4", "3", "1"}}}
	wide := lines
	wide.Bare = false
	apart := formattest.Sheet{
		Header:  []format.Meaning{format.User, "slate_id", "position", format.Item},
		Numbers: []format.Meaning{"position"},
		Rows: [][]string{{"a", "s", "1", "3"}, {"a", "s", "2", "1"}, {"a", "t", "1", "2"}, {"a", "t", "2", "5"},
			{"b", "s", "1", "4"}, {"b", "s", "2", "3"}}}
	for _, c := range []struct {
		name, ext, sep string
		form           format.Form
		sheet          formattest.Sheet
	}{
		{"lines", ".txt", " ", format.Lines, lines}, {"rows", ".csv", ",", format.CSV, wide},
		{"rows with tabs", ".tsv", "\t", format.TSV, wide},
		{"items", ".csv", ",", format.CSV, apart}, {"items with tabs", ".tsv", "\t", format.TSV, apart},
	} {
		for _, items := range []int{6, 0} {
			t.Run(fmt.Sprint(c.name, " of ", items), func(t *testing.T) {
				n := 400
				if testing.Short() {
					n = 300
				}
				read := func(path string) (formattest.Verdict, error) { return slatesOf(t, path, c.form, items) }
				refused, same, said := c.sheet.Mutants(t, 1, n, c.ext, c.sep, read)
				t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
				if refused < n/5 || same < n/5 {
					t.Errorf("the changes are too much alike")
				}
			})
		}
	}
}

// slatesOf reads slates as text. items is the size of the catalogue; 0: it takes every item.
func slatesOf(t *testing.T, path string, form format.Form, items int) (formattest.Verdict, error) {
	h := &heard{}
	cat := &perturb.Catalogue{Size: items}
	if items == 0 {
		cat = perturb.NewCatalogue()
	}
	r, err := Open(t.Context(), &perturb.Settings{In: path, InForm: form, Items: items, Progress: h}, cat, 100)
	if err != nil {
		return formattest.Verdict{}, err
	}
	defer r.Close()
	var rows []string
	for {
		b := perturb.NewBlock[int32](r.Length(), 0, 1)
		ok, err := r.Read(b)
		if err != nil {
			return formattest.Verdict{}, err
		}
		if !ok {
			for i, text := range h.said {
				h.said[i] = strings.TrimPrefix(text, filepath.Base(path))
			}
			return formattest.Verdict{Rows: strings.Join(rows, "\n"), Said: h.said}, nil
		}
		row := string(b.ID(0, 0))
		if r.Named() {
			row += " " + string(b.ID(0, 1))
		}
		for _, item := range b.Cells(0) {
			row += " " + cat.Name(item)
		}
		rows = append(rows, row)
	}
}
