package format

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
)

// Rows reads a table with any columns row by row, in memory that does not grow with the file.
// It is for one goroutine.
//
//	for r.Next() {
//		... r.Fields[i] of the column r.Columns[i]
//	}
//	err := r.Err()
type Rows struct {
	Columns []string // of the header, or of OpenColumns; nil in Lines
	Fields  [][]byte // of the row, valid until Next; one a column, in Lines any number

	cursor
}

// OpenRows opens a table and reads its header. A file of form Lines has no header and single spaces between fields.
func OpenRows(ctx context.Context, path string, form Form) (*Rows, error) {
	in, err := openInput(ctx, path)
	if err != nil {
		return nil, err
	}
	r := &Rows{cursor: cursor{in: in, form: form}}
	if form == Lines {
		r.split = &Splitter{Sep: " "}
		return r, nil
	}
	if r.split, r.Columns, err = in.columns(form); err != nil {
		in.Close()
		return nil, err
	}
	return r, nil
}

// OpenColumns opens a table without a header that has the given columns, separated by sep. Fields are taken literally:
// a quote is part of its field.
func OpenColumns(ctx context.Context, path, sep string, columns ...string) (*Rows, error) {
	in, err := openInput(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Rows{Columns: columns, cursor: cursor{in: in, split: &Splitter{Sep: sep}}}, nil
}

// Column returns the index of a column by its name, or by another name with the meaning that this name usually has.
func (r *Rows) Column(name string) (int, error) { return r.in.column(name, r.Columns) }

// Next moves to the next row. It returns false at the end and after an error. A table without
// any row is an error.
func (r *Rows) Next() bool {
	line, ok := r.line("no rows in the file")
	if !ok {
		return false
	}
	if r.rows&1023 == 0 && r.in.ctx.Err() != nil {
		r.err = r.in.ctx.Err()
		return false
	}
	if r.form == Lines {
		if line = bytes.TrimRight(line, " "); bytes.IndexByte(line, '\t') >= 0 {
			r.err = r.in.Fail("", "a tab in the line: "+dataset.Quote(line),
				"fields of a line are separated by single spaces")
			return false
		}
		if r.err = r.in.noTable(line); r.err != nil {
			return false
		}
	}
	if r.Fields, r.err = r.split.split(r.in, line); r.err != nil {
		return false
	}
	if r.form != Lines && len(r.Fields) != len(r.Columns) {
		r.err = r.split.wrongCount(r.in, len(r.Fields), len(r.Columns), r.Columns)
		return false
	}
	return true
}

// Float returns the finite number in a field of the row.
func (r *Rows) Float(i int) (float64, error) { return r.in.float(r.name(i), r.Fields[i]) }

// Int returns the whole number in a field of the row.
func (r *Rows) Int(i int) (int64, error) { return r.Integer(r.name(i), r.Fields[i]) }

// Time returns the time in a field of the row: whole units, and the digits after the point without
// zeros at their end.
func (r *Rows) Time(i int) (whole int64, part []byte, err error) {
	return r.in.instant(r.name(i), r.Fields[i])
}

// Unread returns the names of the columns that are not among the read ones.
func (r *Rows) Unread(read ...int) (names []string) {
	for i, name := range r.Columns {
		if !slices.Contains(read, i) {
			names = append(names, name)
		}
	}
	return names
}

// AddTime adds the time in a field of the row to a column.
func (r *Rows) AddTime(c *Clock, i int) error { return c.Add(r.in, r.name(i), r.Fields[i]) }

// Sorted returns a shell command that sorts the table by columns as text, and then by one as numbers.
func (r *Rows) Sorted(number int, text ...int) string {
	var by []sortKey
	for _, i := range text {
		by = append(by, sortKey{i, r.name(i), false})
	}
	return r.sorted(append(by, sortKey{number, r.name(number), true})...)
}

// Path returns the name of the file.
func (r *Rows) Path() string { return r.in.file }

// Skip passes over a row on which Next, or a reader of one of its fields, failed with err, so that Next continues with
// the row after it. It returns the text of the row, valid until Next, "" for blank lines. ok is false if the failure is
// not of one row: a damaged file, or one that is not text.
func (r *Rows) Skip(err error) (text []byte, ok bool) {
	if text, ok = r.in.skip(err); ok {
		r.err = nil
	}
	return text, ok
}

// Integer returns the whole number in b, a part of the named field.
func (r *Rows) Integer(field string, b []byte) (int64, error) { return r.in.Integer(field, b) }

// name returns the name of a column, or its number if there is no header.
func (r *Rows) name(i int) string {
	if r.Columns == nil {
		return fmt.Sprint(i + 1)
	}
	return r.Columns[i]
}

// cursor reads a file row by row.
type cursor struct {
	in    *Input
	form  Form
	split *Splitter
	rows  int
	err   error
}

// line returns the next line of the file. ok is false at the end and after an error; none is the error message for a
// file without a line.
func (c *cursor) line(none string) (line []byte, ok bool) {
	if c.err != nil {
		return nil, false
	}
	if line, c.err = c.in.line(); c.err != nil {
		if ignoreEOF(c.err) == nil && c.rows == 0 {
			c.err = &dataset.Error{File: c.in.file, Msg: none}
		}
		return nil, false
	}
	c.rows++
	return line, true
}

// Err returns the error that ended the rows; nil at the end of the file.
func (c *cursor) Err() error { return ignoreEOF(c.err) }

// Line returns the number of the current line, from 1.
func (c *cursor) Line() int { return c.in.num }

// Form returns the form of the file; "" after OpenColumns.
func (c *cursor) Form() Form { return c.form }

// Fail returns an error at the current line.
func (c *cursor) Fail(field, msg, hint string) error { return c.in.Fail(field, msg, hint) }

// Digest returns the hexadecimal SHA-256 of the whole file as it is on disk.
func (c *cursor) Digest() (string, error) { return c.in.Digest() }

// Close releases the file.
func (c *cursor) Close() { c.in.Close() }
