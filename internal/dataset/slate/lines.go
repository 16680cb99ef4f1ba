package slate

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// openTable opens a table. It fails unless the header has exactly the given columns.
func openTable(ctx context.Context, path string, form format.Form, columns ...string) (*format.Rows, error) {
	in, err := format.OpenRows(ctx, path, form)
	if err != nil {
		return nil, err
	}
	sep := string(form.Separator())
	got, want := strings.Join(in.Columns, sep), strings.Join(columns, sep)
	if got != want {
		in.Close()
		return nil, in.Fail("", "not the header: "+dataset.Quote([]byte(got)),
			fmt.Sprintf("the first line must be %q", want))
	}
	return in, nil
}

// each calls row with the fields of every line, valid during the call.
func each(in *format.Rows, row func(v [][]byte) error) error {
	for in.Next() {
		if err := row(in.Fields); err != nil {
			return err
		}
	}
	return in.Err()
}

// integer returns a decimal number. It fails if that is below least or above most.
func integer(in *format.Rows, field string, b []byte, least, most int64) (int64, error) {
	v, err := in.Integer(field, b)
	switch {
	case err != nil:
		return 0, err
	case least == most && v != least:
		return 0, in.Fail(field, fmt.Sprintf("%d in place of %d", v, least), "")
	case v < least:
		return 0, in.Fail(field, fmt.Sprintf("%d is below %d", v, least), "")
	case v > most:
		return 0, in.Fail(field, fmt.Sprintf("%d is above %d", v, most), "")
	}
	return v, nil
}

// integers appends the numbers of a comma separated list to dst; an empty field has none.
func integers(in *format.Rows, dst []int32, field string, b []byte, least, most int64) ([]int32, error) {
	for more := len(b) > 0; more; {
		var x []byte
		x, b, more = bytes.Cut(b, []byte{','})
		v, err := integer(in, field, x, least, most)
		if err != nil {
			return dst, err
		}
		dst = append(dst, int32(v))
	}
	return dst, nil
}
