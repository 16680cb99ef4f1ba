package vectors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/parquet"
	"privrec/internal/tensor"
)

// pandasIndex is the name that pandas gives to an index without a name.
const pandasIndex = "__index_level_0__"

// readParquet reads the vectors of a file of size bytes: one column of lists, or columns of numbers in their order, and
// a column of ids if there is one.
func readParquet(ctx context.Context, in io.ReaderAt, size int64, w Want) (t Table, err error) {
	p, err := parquet.Open(in, size)
	if err != nil {
		return t, err
	}
	id, numbers, err := layout(p.Columns)
	if err != nil {
		return t, err
	}
	columns := numbers
	if id >= 0 {
		columns = append([]int{id}, numbers...)
	}
	lead := len(columns) - len(numbers)
	var flat []tensor.Float
	cols := 0
	add := func(n int64, column int, x float64) error {
		v, err := narrow(x)
		if err != nil {
			return &parquet.ColumnError{Column: p.Columns[column].Name, Row: n, Err: err}
		}
		flat = append(flat, v)
		return nil
	}
	var text []byte
	err = p.Read(ctx, columns, func(n int64, v []parquet.Value) error {
		for i := range v {
			if v[i].Null {
				return &parquet.ColumnError{Column: p.Columns[columns[i]].Name, Row: n,
					Err: errors.New("empty, or with an empty number")}
			}
		}
		if lead == 1 {
			text = v[0].ID(text[:0], p.Columns[id])
			if why := noText(text); why != "" {
				return &parquet.ColumnError{Column: p.Columns[id].Name, Row: n, Err: errors.New("not an id: " + why)}
			}
			t.IDs = append(t.IDs, string(text))
		}
		before := len(flat)
		for i, column := range numbers {
			values := v[lead+i].List
			if p.Columns[column].Kind == parquet.Float {
				values = []float64{v[lead+i].Float}
			}
			for _, x := range values {
				if err := add(n, column, x); err != nil {
					return err
				}
			}
		}
		width := len(flat) - before
		switch {
		case n == 1:
			cols = width
		case width != cols:
			return &parquet.ColumnError{Column: p.Columns[numbers[0]].Name, Row: n,
				Err: fmt.Errorf("%d numbers, and %d in the rows before", width, cols)}
		}
		if len(flat) > maxCells || !plausible(int64(len(flat))*4, size) {
			return fmt.Errorf("more than %d numbers, which a file of %d bytes cannot tell apart", before, size)
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	rows, cols, err := array{shape: []int{int(p.Rows), cols}}.size(w.Flat)
	if err != nil {
		return t, err
	}
	if at, again := repeated(t.IDs); again {
		return t, &parquet.ColumnError{Column: p.Columns[id].Name, Row: int64(at + 1),
			Err: errors.New("second row of " + dataset.Quote([]byte(t.IDs[at])))}
	}
	t.Rows = tensor.From(rows, cols, flat)
	return t, nil
}

// layout returns the column of ids, -1 for none, and those of the vectors.
func layout(all []parquet.Column) (id int, numbers []int, err error) {
	id = -1
	var lists []int
	for i, c := range all {
		switch {
		case holdsIDs(c.Name):
			if id >= 0 {
				return 0, nil, &parquet.ColumnError{Column: c.Name,
					Err: fmt.Errorf("the column %s has ids too: keep one of them", all[id].Name)}
			}
			if c.InLists || c.Kind != parquet.Int && c.Kind != parquet.Text {
				return 0, nil, &parquet.ColumnError{Column: c.Name,
					Err: fmt.Errorf("holds %s, want whole numbers or text", c.Type)}
			}
			id = i
		case c.Kind == parquet.Floats:
			lists = append(lists, i)
		case c.Kind == parquet.Float && !c.InLists:
			numbers = append(numbers, i)
		default:
			return 0, nil, &parquet.ColumnError{Column: c.Name,
				Err: fmt.Errorf("holds %s, want numbers, lists of numbers, or ids under the name id, user_id or "+
					"item_id", c.Type)}
		}
	}
	switch {
	case len(lists) > 1:
		return 0, nil, &parquet.ColumnError{Column: all[lists[1]].Name,
			Err: fmt.Errorf("the column %s has lists too: keep one of them", all[lists[0]].Name)}
	case len(lists) == 1 && len(numbers) > 0:
		return 0, nil, &parquet.ColumnError{Column: all[numbers[0]].Name,
			Err: fmt.Errorf("numbers beside the lists of %s: keep one of them", all[lists[0]].Name)}
	case len(lists) == 1:
		return id, lists, nil
	case len(numbers) == 0:
		return 0, nil, errors.New("no column of numbers or of lists of numbers")
	case counted(all, numbers) != nil:
		return 0, nil, counted(all, numbers)
	case len(numbers) > maxWidth:
		return 0, nil, errors.New("more than " + strconv.Itoa(maxWidth) + " columns of numbers")
	}
	return id, numbers, nil
}

// counted returns an error if columns of numbers are not those of one vector in their order: if one of them is called
// by a word and a number, such as x0, all must be, and the numbers must count by one.
func counted(all []parquet.Column, numbers []int) error {
	first, stem, from := -1, "", 0
	for _, i := range numbers {
		if word, n, ok := split(all[i].Name); ok {
			first, stem, from = i, word, n
			break
		}
	}
	for k, i := range numbers {
		name := all[i].Name
		if slices.ContainsFunc(numbers[:k], func(j int) bool { return all[j].Name == name }) {
			return &parquet.ColumnError{Column: name, Err: errors.New("stands twice: keep one of them")}
		}
		if first < 0 {
			continue
		}
		if word, n, ok := split(name); !ok || word != stem || n != from+k {
			const why = "stands among the numbers of a vector, which begin with %s and count by one: "
			err := fmt.Errorf(why+"put them in order, and leave other numbers out", all[first].Name)
			return &parquet.ColumnError{Column: name, Err: err}
		}
	}
	return nil
}

// split returns a name such as x10, or x10:float with any type, as a word, in lower case, and a number.
func split(name string) (word string, n int, ok bool) {
	name, _, _ = strings.Cut(name, ":")
	word = strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(word):])
	return strings.ToLower(word), n, err == nil
}

// repeated returns the position of the first id that occurs twice.
func repeated(ids []string) (at int, again bool) {
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		if seen[id] {
			return i, true
		}
		seen[id] = true
	}
	return 0, false
}
