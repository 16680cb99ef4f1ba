package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
)

// A changed file of own data is refused, is read the same, or says what is left out.
func TestMutantsOfOwnData(t *testing.T) {
	rated := formattest.Sheet{Header: []format.Meaning{format.User, format.Item, format.Rating, format.Time}, Rows: [][]string{
		{"1", "x", "3", "1577836803"}, {"1", "y", "4", "1577836801"}, {"1", "z", "5", "1577836802"}, {"2", "y", "1", "1577836802"}, {"2", "z", "2", "1577836801"}}}
	for ext, sep := range map[string]string{".csv": ",", ".tsv": "\t"} {
		t.Run(ext, func(t *testing.T) {
			refused, same, said := rated.Mutants(t, 1, 2000, ext, sep, func(path string) (formattest.Verdict, error) {
				folder := filepath.Join(filepath.Dir(path), "own-mutant")
				if err := os.Mkdir(folder, 0o700); err != nil {
					return formattest.Verdict{}, err
				}
				if err := os.Rename(path, filepath.Join(folder, "own-mutant"+ext)); err != nil {
					return formattest.Verdict{}, err
				}
				s, err := Load(t.Context(), "own-mutant", "all", dataset.View{},
					Options{Dir: filepath.Dir(path), NoCache: true})
				if err != nil {
					return formattest.Verdict{}, err
				}
				l, _, err := LoadLog(t.Context(), "own-mutant", dataset.View{},
					Options{Dir: filepath.Dir(path), NoCache: true})
				if err != nil {
					return formattest.Verdict{}, err
				}
				return formattest.Verdict{Rows: inOrder(l), Said: s.Source.Notes}, nil
			})
			t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
			if refused < 200 || same < 200 {
				t.Errorf("the changes are too much alike")
			}
		})
	}
}

// inOrder writes the rows of a log, in order, without their times.
func inOrder(l *dataset.Log) string {
	var rows []string
	for i := range l.Users {
		row := l.UserIDs[l.Users[i]] + " " + l.ItemIDs[l.Items[i]]
		if l.Values != nil {
			row += fmt.Sprint(" ", l.Values[i])
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "\n")
}

// A changed table of attributes is refused, or has the same values of every user.
func TestMutantsOfAttributes(t *testing.T) {
	users := formattest.Sheet{Header: []format.Meaning{format.User, "gender", "age"}, Rows: [][]string{{"1", "F", "34"}, {"2", "M", "46"}, {"3", "F", "45"}}}
	refused, same, said := users.Mutants(t, 1, 2000, ".csv", ",", func(path string) (formattest.Verdict, error) {
		f, err := (format.Table{Sep: ","}).ReadFeatures(t.Context(), path)
		if err != nil {
			return formattest.Verdict{}, err
		}
		var rows, said []string
		for _, c := range f.Columns {
			if name := strings.ToLower(c.Name); name != "gender" && name != "age" {
				said = append(said, "an attribute "+c.Name)
				continue
			}
			for u, id := range f.UserIDs {
				value := "missing"
				if c.Codes[u] >= 0 {
					value = c.Levels[c.Codes[u]]
				} else {
					said = append(said, "a missing value of "+c.Name)
				}
				rows = append(rows, strings.ToLower(c.Name)+" "+id+" "+value)
			}
		}
		slices.Sort(rows)
		rows = slices.Compact(rows) // GENDER beside gender
		return formattest.Verdict{Rows: strings.Join(rows, "\n"), Said: said}, nil
	})
	t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
	if refused < 200 || same < 200 {
		t.Errorf("the changes are too much alike")
	}
}
