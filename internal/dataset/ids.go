package dataset

import (
	"context"
	"fmt"
	"slices"
)

// ReadIDs reads a list of distinct ids, such as a catalogue: the column of that name
// of a table, or of a file of form FormLines every line.
func ReadIDs(ctx context.Context, path string, form Form, column string) ([]string, error) {
	return readFile(ctx, path, func(in *input) ([]string, error) { return in.ids(form, column) })
}

func (in *input) ids(form Form, column string) (ids []string, err error) {
	s := &splitter{sep: "\n"} // a line is one field
	names, at := []string{column}, 0
	if form != FormLines {
		x := Stream{in: in, form: form}
		if err := x.columns(); err != nil {
			return nil, err
		}
		s, names = x.split, x.names
		if at = slices.Index(names, column); at < 0 {
			return nil, in.missingColumn(column, names)
		}
	}
	lineOf := map[string]int{}
	err = in.eachRow(s, names, func(v [][]byte) error {
		id, err := in.token(column, v[at])
		if err != nil {
			return err
		}
		if first, ok := lineOf[string(id)]; ok {
			return in.fail(column, "second row of "+Quote(id), fmt.Sprintf("the first is line %d", first))
		}
		ids = append(ids, string(id))
		lineOf[ids[len(ids)-1]] = in.num
		return nil
	})
	if err == nil && len(ids) == 0 {
		err = &Error{File: in.file, Msg: "no ids in the file"}
	}
	return ids, err
}
