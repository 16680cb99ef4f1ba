package vectors

import (
	"fmt"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
)

// A changed table of ids of vectors is refused, is read the same, or says what is left out.
func TestMutants(t *testing.T) {
	for side, sheet := range map[string]formattest.Sheet{
		"user": {Header: []format.Meaning{format.User, "name"}, Rows: [][]string{{"7", "a"}, {"3", "b"}, {"12", "c"}, {"5", "d"}}},
		"item": {Header: []format.Meaning{format.Item}, Rows: [][]string{{"x"}, {"z"}, {"y"}, {"film"}}},
	} {
		for _, sep := range []string{",", "\t"} {
			t.Run(side+sep, func(t *testing.T) {
				ext := map[string]string{",": ".csv", "\t": ".tsv"}[sep]
				refused, same, said := sheet.Mutants(t, 1, 1000, ext, sep, func(path string) (v formattest.Verdict, err error) {
					ids, err := ReadIDs(t.Context(), path, side, "")
					if err != nil {
						return v, err
					}
					if len(ids.IDs) != len(sheet.Rows) { // as many as vectors: import compares them
						return v, fmt.Errorf("%s: %d ids for %d vectors", path, len(ids.IDs), len(sheet.Rows))
					}
					return formattest.Verdict{Rows: strings.Join(ids.IDs, "\n"), Said: ids.Left}, nil
				})
				t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
				if refused < 100 || same < 100 {
					t.Errorf("the changes are too much alike")
				}
			})
		}
	}
}
