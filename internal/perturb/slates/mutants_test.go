package slates

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
	"privrec/internal/perturb"
	"privrec/internal/run"
)

// said is a Progress that keeps what is said.
type said struct {
	run.Silent
	lines []string
}

func (s *said) Phase(line string) { s.lines = append(s.lines, line) }

// A changed file of slates is refused, is read the same, or says what is left out, one item a row or one slate a row.
func TestMutants(t *testing.T) {
	long := formattest.Sheet{Header: []format.Meaning{format.User, "slate_id", "position", format.Item}, Rows: [][]string{
		{"u1", "s1", "1", "x"}, {"u1", "s1", "2", "y"}, {"u1", "s2", "1", "y"}, {"u1", "s2", "2", "z"},
		{"u2", "s3", "1", "z"}, {"u2", "s3", "2", "x"},
	}}
	wide := formattest.Sheet{Header: []format.Meaning{format.User, "item_1", "item_2"}, Rows: [][]string{
		{"u1", "x", "y"}, {"u1", "y", "z"}, {"u2", "z", "x"},
	}}
	for name, sheet := range map[string]formattest.Sheet{"rows of items": long, "rows of slates": wide} {
		for _, sep := range []string{",", "\t"} {
			t.Run(name+sep, func(t *testing.T) {
				ext, form := ".csv", format.CSV
				if sep == "\t" {
					ext, form = ".tsv", format.TSV
				}
				refused, same, word := sheet.Mutants(t, 1, 1000, ext, sep, func(path string) (v formattest.Verdict, err error) {
					heard := &said{}
					cat := perturb.NewCatalogue()
					r, err := Open(t.Context(), &perturb.Settings{In: path, InForm: form, Progress: heard}, cat, 100)
					if err != nil {
						return v, err
					}
					defer r.Close()
					var rows []string
					for ok := true; ok; ok, err = r.Next() {
						var items []string
						for _, i := range r.Items {
							items = append(items, cat.Name(i))
						}
						rows = append(rows, fmt.Sprintf("%s %s: %s", r.userID, r.slateID, strings.Join(items, " ")))
					}
					slices.Sort(rows) // slates are released one by one
					return formattest.Verdict{Rows: strings.Join(rows, "\n"), Said: heard.lines}, err
				})
				t.Logf("%d refused, %d read the same, %d read with a word", refused, same, word)
				if refused < 100 || same < 100 {
					t.Errorf("the changes are too much alike")
				}
			})
		}
	}
}
