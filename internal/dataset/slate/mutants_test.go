package slate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
	"privrec/internal/dataset/registry"
)

// A changed table of impressions is refused, is read the same, or says what is left out.
func TestMutants(t *testing.T) {
	sheet := formattest.Sheet{Header: []format.Meaning{format.User, format.Item, format.Shown, format.Clicked}, Rows: [][]string{
		{"1", "x", "1577836801", "0"}, {"1", "y", "1577836801", "1577836805"}, {"2", "z", "1577836803", "1577836806"}, {"2", "y", "1577836803", "0"}},
		Also: map[format.Meaning][]string{format.Shown: {"shown", "impressionTime"}, format.Clicked: {"clicked", "click_time"}}}
	refused, same, said := sheet.Mutants(t, 1, 2000, ".csv", ",", func(path string) (formattest.Verdict, error) {
		l, err := ReadGeneric(t.Context(), path, format.CSV, registry.Columns{})
		if err != nil {
			return formattest.Verdict{}, err
		}
		var rows []string
		for i := range l.Users {
			rows = append(rows, fmt.Sprint(l.UserIDs[l.Users[i]], " ", l.ItemIDs[l.Items[i]], " ", l.Shown[i], " ", l.Clicked[i]))
		}
		slices.Sort(rows)
		return formattest.Verdict{Rows: strings.Join(rows, "\n"), Said: l.Left}, nil
	})
	t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
	if refused < 200 || same < 200 {
		t.Errorf("the changes are too much alike")
	}
}
