package lists

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
)

// A changed file of lists, truth or training rows is refused, is read the same, or says what is left out.
func TestMutants(t *testing.T) {
	lists := formattest.Sheet{Header: []format.Meaning{format.User, format.Item, format.Score}, Rows: [][]string{
		{"1", "x", "0.25"}, {"1", "y", "0.75"}, {"1", "z", "0.5"}, {"2", "y", "1e-38"}, {"2", "z", "3e-38"}, {"2", "x", "2e-38"}}}
	ranked := formattest.Sheet{Header: []format.Meaning{format.User, format.Item, format.Rank}, Rows: [][]string{
		{"1", "x", "3"}, {"1", "y", "1"}, {"1", "z", "2"}, {"2", "y", "2"}, {"2", "z", "1"}}}
	truth := formattest.Sheet{Header: []format.Meaning{format.User, format.Item, format.Relevance}, Rows: [][]string{
		{"1", "x", "1"}, {"1", "y", "0"}, {"1", "z", "2"}, {"2", "y", "1"}}}
	history := formattest.Sheet{Header: []format.Meaning{format.User, format.Item, format.Time}, Rows: [][]string{
		{"1", "x", "1577836803"}, {"1", "y", "1577836801"}, {"1", "z", "1577836802"}, {"2", "y", "1577836802"}, {"2", "z", "1577836801"}}}
	for _, c := range []struct {
		name  string
		sheet formattest.Sheet
		kind  Kind
	}{{"lists by score", lists, Recommended}, {"lists by rank", ranked, Recommended}, {"truth", truth, Truth}, {"history", history, History}} {
		for _, sep := range []string{",", "\t"} {
			t.Run(c.name+sep, func(t *testing.T) {
				refused, same, said := c.sheet.Mutants(t, 1, 1000, map[string]string{",": ".csv", "\t": ".tsv"}[sep], sep, func(path string) (formattest.Verdict, error) {
					ids := &IDs{}
					f, err := Read(t.Context(), path, c.kind, ids)
					if err != nil {
						return formattest.Verdict{}, err
					}
					var users []string
					for u, rows := range f.ByUser(len(ids.Users.IDs)) {
						var items []string
						for _, r := range rows {
							items = append(items, ids.Items.IDs[r.Item])
							if c.kind == Truth {
								items[len(items)-1] += fmt.Sprint(" ", r.Score)
							}
						}
						if c.kind == Truth { // a set
							slices.Sort(items)
						}
						users = append(users, ids.Users.IDs[u]+": "+strings.Join(items, ", "))
					}
					slices.Sort(users)
					return formattest.Verdict{Rows: strings.Join(users, "\n"), Said: f.Left()}, nil
				})
				t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
				if refused < 100 || same < 100 {
					t.Errorf("the changes are too much alike")
				}
			})
		}
	}
}
