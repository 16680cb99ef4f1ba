package format

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
)

// ReadIDs reads a list of distinct ids, such as a catalogue: the named column of a table, or
// every line of a file of form Lines.
func ReadIDs(ctx context.Context, path string, form Form, column string) ([]string, error) {
	return ReadFile(ctx, path, func(in *Input) ([]string, error) { return in.ids(form, column) })
}

func (in *Input) ids(form Form, column string) (ids []string, err error) {
	s := &Splitter{Sep: "\n"} // a line is one field
	names, at := []string{column}, 0
	if form != Lines {
		x := Stream{in: in, form: form}
		if err := x.columns(); err != nil {
			return nil, err
		}
		s, names = x.split, x.names
		if at = slices.Index(names, column); at < 0 {
			return nil, in.MissingColumn(column, names)
		}
	}
	lineOf := map[string]int{}
	err = in.EachRow(s, names, func(v [][]byte) error {
		id, err := in.Token(column, v[at])
		if err != nil {
			return err
		}
		if first, ok := lineOf[string(id)]; ok {
			return in.Fail(column, "second row of "+dataset.Quote(id), fmt.Sprintf("the first is line %d", first))
		}
		ids = append(ids, string(id))
		lineOf[ids[len(ids)-1]] = in.num
		return nil
	})
	if err == nil && len(ids) == 0 {
		err = &dataset.Error{File: in.file, Msg: "no ids in the file"}
	}
	return ids, err
}
