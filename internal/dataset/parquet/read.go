package parquet

import (
	"context"
	"fmt"
	"strconv"
)

// ColumnError is the error for a fault in a column.
type ColumnError struct {
	Column string
	Row    int64 // from 1; 0: not with one row
	Err    error
}

// Error returns a message with the name of the column.
func (e *ColumnError) Error() string { return fmt.Sprintf("column %q: %v", e.Column, e.Err) }

// Unwrap returns the cause.
func (e *ColumnError) Unwrap() error { return e.Err }

// spread is the largest number of rows that a byte of a file may stand for, beyond the first few. Lists have less than
// one: no two items of a list are equal.
const spread, few = 64, 1 << 20

// Read calls row with the values of some columns, for every row from 1 on. It needs memory for one page of each column.
func (f *File) Read(ctx context.Context, columns []int, row func(n int64, v []Value) error) error {
	if f.Rows < 0 || f.Rows > few && (f.Rows-few)/spread > f.size {
		return fmt.Errorf("the footer says that there are %d rows, which a file of %d bytes cannot tell apart", f.Rows,
			f.size)
	}
	n := int64(0)
	v := make([]Value, len(columns))
	cursors := make([]*cursor, len(columns))
	for _, group := range f.groups {
		rows := group.at(3).number
		if rows < 0 || rows > f.Rows-n {
			return errThrift
		}
		for i, c := range columns {
			var err error
			if cursors[i], err = f.cursor(group, f.Columns[c]); err != nil {
				return &ColumnError{f.Columns[c].Name, 0, err}
			}
		}
		for range rows {
			n++
			if n&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			for i, p := range cursors {
				var err error
				if v[i], err = p.row(); err != nil {
					return &ColumnError{p.c.Name, n, err}
				}
			}
			if err := row(n, v); err != nil {
				return err
			}
		}
	}
	if n != f.Rows {
		return fmt.Errorf("the footer says that there are %d rows, and the groups of rows have %d", f.Rows, n)
	}
	return nil
}

// Unsigned reports whether a column's whole numbers are unsigned.
func (c Column) Unsigned() bool { return c.unsigned }

// ID appends an id of a column of text or of whole numbers to dst, as text.
func (v Value) ID(dst []byte, c Column) []byte {
	switch {
	case c.Kind == Text:
		return append(dst, v.Text...)
	case c.unsigned:
		return strconv.AppendUint(dst, uint64(v.Int), 10)
	}
	return strconv.AppendInt(dst, v.Int, 10)
}
