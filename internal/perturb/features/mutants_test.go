package features

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

// A changed table of features, or of the ratings beside it, is refused, has the same cells of every user, or says what
// is not read.
func TestMutants(t *testing.T) {
	attributes := formattest.Sheet{Once: true, Header: []format.Meaning{format.User, "gender", "age"},
		Numbers: []format.Meaning{"age"},
		Rows:    [][]string{{"1", "F", "34"}, {"2", "M", "46"}, {"3", "F", "45"}}}
	ratings := formattest.Sheet{Header: []format.Meaning{format.User, format.Rating},
		Rows: [][]string{{"1", "2"}, {"1", "3"}, {"2", "1"}, {"3", "2"}}}
	for _, c := range []struct {
		name, ext, sep string
		form           format.Form
		rated, missing bool
	}{
		{"features", ".csv", ",", format.CSV, false, false},
		{"features with tabs", ".tsv", "\t", format.TSV, false, false},
		{"features with gaps", ".csv", ",", format.CSV, false, true}, {"ratings", ".csv", ",", format.CSV, true, false},
		{"ratings with tabs", ".tsv", "\t", format.TSV, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 500
			if testing.Short() {
				n = 300
			}
			sheet, dir := attributes, t.TempDir()
			if c.rated {
				sheet = ratings
			}
			refused, same, said := sheet.Mutants(t, 1, n, c.ext, c.sep, func(path string) (formattest.Verdict, error) {
				src := Source{Attributes: path, AttributesForm: c.form, Missing: c.missing, OutForm: format.CSV,
					Columns: []Column{{Name: "gender", Levels: []string{"F", "M"}}, {Name: "age", High: 120}}}
				if c.rated {
					users := strings.ReplaceAll("user_id,gender,age\n1,F,34\n2,M,46\n3,F,45\n", ",", c.sep)
					src.Attributes = write(t, filepath.Join(dir, "users"+c.ext), users)
					src.Ratings, src.RatingsForm, src.Statistics = path, c.form, sums()
				}
				return cellsOf(t, src)
			})
			t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
			if refused < n/5 || same < n/5 {
				t.Errorf("the changes are too much alike")
			}
		})
	}
}

// cellsOf reads tables as text.
func cellsOf(t *testing.T, src Source) (v formattest.Verdict, err error) {
	r, err := Open(t.Context(), src)
	if err != nil {
		return v, err
	}
	defer r.Close()
	h := &heard{}
	r.Say(h)
	for {
		b := perturb.NewBlock[float64](r.Length(), 0, 1)
		ok, err := r.Read(b)
		if err != nil {
			return v, err
		}
		if !ok {
			break
		}
		v.Rows += fmt.Sprintf("%s %v\n", b.ID(0, 0), b.Cells(0))
	}
	if r.Empty > 0 { // as the report says
		h.said = append(h.said, "empty fields")
	}
	v.Said = h.said
	return v, nil
}
