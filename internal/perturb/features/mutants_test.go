package features

import (
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
	"privrec/internal/run"
)

// said is a Progress that keeps what is said.
type said struct {
	run.Silent
	lines []string
}

func (s *said) Phase(line string) { s.lines = append(s.lines, line) }

// A changed table of features, or of ratings, is refused, is read the same, or says what is left out.
func TestMutants(t *testing.T) {
	age, err := Number("age=0..120")
	if err != nil {
		t.Fatal(err)
	}
	gender, err := Category("gender=F,M")
	if err != nil {
		t.Fatal(err)
	}
	attributes := formattest.Sheet{Header: []format.Meaning{format.User, "age", "gender"}, Rows: [][]string{
		{"u1", "31", "F"}, {"u2", "45", "M"}, {"u3", "18", "M"}, {"u4", "90", "F"},
	}}
	ratings := formattest.Sheet{Header: []format.Meaning{format.User, format.Rating}, Rows: [][]string{
		{"u1", "5"}, {"u1", "3"}, {"u2", "1"}, {"u3", "4"}, {"u4", "2"},
	}}
	statistics := &Statistics{Names: []string{"low", "high"}, Levels: 5, Of: func(counts []int, row []float64) error {
		row[0], row[1] = float64(counts[1]+counts[2]), float64(counts[4]+counts[5])
		return nil
	}}
	right := filepath.Join(t.TempDir(), "users.csv")
	write(t, right, "user_id,age,gender\nu1,31,F\nu2,45,M\nu3,18,M\nu4,90,F\n")
	for name, sheet := range map[string]formattest.Sheet{"features": attributes, "ratings": ratings} {
		for _, sep := range []string{",", "\t"} {
			t.Run(name+sep, func(t *testing.T) {
				ext, form := ".csv", format.CSV
				if sep == "\t" {
					ext, form = ".tsv", format.TSV
				}
				refused, same, word := sheet.Mutants(t, 1, 1000, ext, sep, func(path string) (v formattest.Verdict, err error) {
					src := Source{Attributes: path, AttributesForm: form, Columns: []Column{age, gender}, OutForm: format.CSV}
					if name == "ratings" {
						src.Attributes, src.AttributesForm = right, format.CSV
						src.Ratings, src.RatingsForm, src.Statistics = path, form, statistics
					}
					heard, spilled := &said{}, 0
					rows, err := readAll(t, src, &spilled)
					if err != nil {
						return v, err
					}
					r, err := Open(t.Context(), src)
					if err != nil {
						return v, err
					}
					defer r.Close()
					r.Say(heard)
					return formattest.Verdict{Rows: strings.Join(rows, "\n"), Said: heard.lines}, nil
				})
				t.Logf("%d refused, %d read the same, %d read with a word", refused, same, word)
				if refused < 100 || same < 100 {
					t.Errorf("the changes are too much alike")
				}
			})
		}
	}
}
