package vectors

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
	"privrec/internal/dataset/parquet"
	"privrec/internal/tensor"
)

// A changed file of ids is refused, or has the same ids in the same order: an id in another row would be given
// another's vector.
func TestMutantsOfIDs(t *testing.T) {
	only := formattest.Sheet{Header: []format.Meaning{format.Item}, Rows: [][]string{{"7"}, {"x"}, {"12"}, {"café"}}}
	wide := formattest.Sheet{Header: []format.Meaning{format.Item, "title", "year"}, Numbers: []format.Meaning{"year"},
		Rows: [][]string{{"7", "a", "1999"}, {"x", "b", "2001"}, {"12", "c", "2003"}}}
	lines := only
	lines.Bare = true
	packed := wide
	packed.Write = asParquet
	for _, c := range []struct {
		name, ext, sep, column string
		sheet                  formattest.Sheet
	}{
		{"lines", ".txt", "\t", "", lines}, {"a column", ".csv", ",", "", only}, {"csv", ".csv", ",", "", wide},
		{"tsv", ".tsv", "\t", "", wide}, {"named", ".csv", ",", "item_id", wide},
		{"parquet", ".parquet", ",", "", packed},
	} {
		t.Run(c.name, func(t *testing.T) {
			mutants(t, c.sheet, c.ext, c.sep, func(path string) (formattest.Verdict, error) {
				ids, err := ReadIDs(t.Context(), path, "item", c.column)
				if err != nil {
					return formattest.Verdict{}, err
				}
				if len(ids.IDs) != len(c.sheet.Rows) { // as the caller must notice
					return formattest.Verdict{}, fmt.Errorf("%s: %d ids", path, len(ids.IDs))
				}
				return formattest.Verdict{Rows: strings.Join(ids.IDs, "\n"), Said: ids.Left}, nil
			})
		})
	}
}

// A changed Parquet file of vectors is refused, or has the same vectors of the same ids.
func TestMutantsOfVectors(t *testing.T) {
	sheet := formattest.Sheet{Header: []format.Meaning{format.Item, "x0", "x1"}, Write: asParquet,
		Numbers: []format.Meaning{"x0", "x1"},
		Rows:    [][]string{{"7", "0.5", "-1.25"}, {"9", "0.25", "3.5"}, {"12", "1.5", "2.75"}}}
	mutants(t, sheet, ".parquet", ",", func(path string) (formattest.Verdict, error) {
		f, err := Read(t.Context(), path, Want{})
		if err != nil {
			return formattest.Verdict{}, err
		}
		table, rows := f.Tables[0], []string(nil)
		if table.Rows.Cols != 2 { // as the caller must notice
			return formattest.Verdict{}, fmt.Errorf("%s: vectors of %d numbers", path, table.Rows.Cols)
		}
		for i := range table.Rows.Rows {
			id := ""
			if table.IDs != nil {
				id = table.IDs[i]
			}
			rows = append(rows, fmt.Sprint(id, " ", tensor.Row(table.Rows, i)))
		}
		return formattest.Verdict{Rows: strings.Join(rows, "\n")}, nil
	})
}

// mutants tries changed files of a sheet, of which many must be refused and many read.
func mutants(t *testing.T, s formattest.Sheet, ext, sep string, read formattest.Read) {
	t.Helper()
	n := 400
	if testing.Short() {
		n = 300
	}
	refused, same, said := s.Mutants(t, 1, n, ext, sep, read)
	t.Logf("%d refused, %d read the same, %d read with a word", refused, same, said)
	if refused < n/5 || same < n/5 {
		t.Errorf("the changes are too much alike")
	}
}

// asParquet writes rows as pandas would: a column of whole numbers, of numbers where each is one, or of text.
func asParquet(names []string, rows [][]string) []byte {
	var b bytes.Buffer
	fields := make([]parquet.Field, len(names))
	field := func(r []string, k int) string {
		if k < len(r) {
			return r[k]
		}
		return ""
	}
	for k, name := range names {
		fields[k] = parquet.Field{Name: name, Kind: parquet.Int}
		for _, r := range rows {
			_, whole := strconv.ParseInt(field(r, k), 10, 64)
			_, number := strconv.ParseFloat(field(r, k), 64)
			switch {
			case number != nil:
				fields[k].Kind = parquet.Text
			case whole != nil && fields[k].Kind == parquet.Int:
				fields[k].Kind = parquet.Float
			}
		}
	}
	w, err := parquet.NewWriter(&b, fields...)
	for _, r := range rows {
		values := make([]parquet.Value, len(names))
		for k := range names {
			text := field(r, k)
			whole, _ := strconv.ParseInt(text, 10, 64)
			number, _ := strconv.ParseFloat(text, 64)
			values[k] = parquet.Value{Text: []byte(text), Int: whole, Float: number}
		}
		if err == nil {
			err = w.Row(values...)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	return slices.Clip(b.Bytes())
}
