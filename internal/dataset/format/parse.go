package format

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"privrec/internal/dataset"
)

// ReadFile opens path, returns the result of parse on it and closes it.
func ReadFile[T any](ctx context.Context, path string, parse func(*Input) (T, error)) (T, error) {
	in, err := openInput(ctx, path)
	if err != nil {
		var none T
		return none, err
	}
	defer in.Close()
	return parse(in)
}

// EachRow calls row for every remaining line, split into exactly len(names) fields.
func (in *Input) EachRow(s *Splitter, names []string, row func(fields [][]byte) error) error {
	for {
		line, err := in.line()
		if err != nil {
			return ignoreEOF(err)
		}
		v, err := s.split(in, line)
		if err != nil {
			return err
		}
		if len(v) != len(names) {
			return s.wrongCount(in, len(v), len(names), names)
		}
		if err := row(v); err != nil {
			return err
		}
	}
}

// Finish hashes the file and returns the ordered rows. It fails on a file without rows.
func (in *Input) Finish(b *dataset.Builder) (*dataset.Log, error) {
	if len(b.UserOf) == 0 {
		return nil, &dataset.Error{File: in.file, Msg: "no interactions in the file"}
	}
	if len(b.UserOf) > maxRows {
		return nil, &dataset.Error{File: in.file, Msg: fmt.Sprintf("more than %d rows", maxRows)}
	}
	sum, err := in.Digest()
	if err != nil {
		return nil, err
	}
	return b.Log(sum), nil
}

// maxRows is the largest number of rows that a 32-bit row number can count.
const maxRows = 1<<31 - 1

// ignoreEOF returns nil for io.EOF, the regular end of a file, and other errors unchanged.
func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// ReadIDs reads a list of distinct ids, such as a catalogue: the named column of a table, or
// every line of a file of form Lines.
func ReadIDs(ctx context.Context, path string, form Form, column string) ([]string, error) {
	return ReadFile(ctx, path, func(in *Input) ([]string, error) { return in.ids(form, column) })
}

func (in *Input) ids(form Form, column string) (ids []string, err error) {
	s := &Splitter{Sep: "\n"} // a line is one field
	names, at := []string{column}, 0
	if form != Lines {
		if s, names, err = in.columns(form); err != nil {
			return nil, err
		}
		if at, err = in.column(column, names); err != nil {
			return nil, err
		}
	}
	lineOf := map[string]int{}
	err = in.EachRow(s, names, func(v [][]byte) error {
		id, err := in.Token(column, v[at])
		if err != nil {
			return err
		}
		switch {
		case form == Lines && bytes.IndexByte(id, '\t') >= 0:
			return in.Fail(column, "a tab in the line: "+dataset.Quote(id), "a line is one id; a table has a header")
		case form != CSV && inQuotes(id):
			return in.Fail(column, "an id in quotes: "+dataset.Quote(id),
				"write the file without quotes, or with commas as .csv: here they would be part of the id")
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
