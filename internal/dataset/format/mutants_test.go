package format_test

import (
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
)

// A changed file of histories that is read row by row is refused, is read the same, or says what is left out.
func TestMutantsOfStreams(t *testing.T) {
	timed := formattest.Sheet{Header: []format.Meaning{format.User, format.Item, format.Time}, Rows: [][]string{
		{"1", "x", "1577836801"}, {"1", "y", "1577836802"}, {"1", "z", "1577836803"}, {"2", "y", "1577836801"}, {"2", "z", "1577836802"}}}
	for form, sep := range map[format.Form]string{format.CSV: ",", format.TSV: "\t"} {
		t.Run(string(form), func(t *testing.T) {
			refused, same, said := timed.Mutants(t, 1, 2000, "."+string(form), sep, func(path string) (formattest.Verdict, error) {
				s, err := format.OpenStream(t.Context(), path, form)
				if err != nil {
					return formattest.Verdict{}, err
				}
				defer s.Close()
				var rows, users []string
				for s.Next() {
					if s.Starts {
						if slices.Contains(users, string(s.User)) {
							return formattest.Verdict{}, s.Fail("user_id", "comes again", "") // as the caller must notice
						}
						users = append(users, string(s.User))
					}
					rows = append(rows, string(s.User)+" "+string(s.Item))
				}
				if err := s.Err(); err != nil {
					return formattest.Verdict{}, err
				}
				return formattest.Verdict{Rows: strings.Join(rows, "\n"), Said: s.Left}, nil
			})
			t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
			if refused < 200 || same < 200 {
				t.Errorf("the changes are too much alike")
			}
		})
	}
}
