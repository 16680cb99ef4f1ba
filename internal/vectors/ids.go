package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/parquet"
)

// IDs holds the content read from a file of ids.
type IDs struct {
	Path   string
	Digest string   // hexadecimal SHA-256 of the file as it is on disk
	IDs    []string // in the order of the rows of vectors
	Left   []string // sentences on columns that are not read, or are read under unusual names
}

// ReadIDs returns ids: one a line, or a column of a table with a header, or of Parquet. column names it. With "" it is
// the only column, or the one that is called id, or by one of the names of the side, "user" or "item", as in all
// tables. No id may occur twice.
func ReadIDs(ctx context.Context, path, side, column string) (*IDs, error) {
	out := &IDs{Path: path}
	var err error
	if st, bad := os.Stat(path); bad == nil && !st.Mode().IsRegular() {
		return nil, &dataset.Error{File: path, Msg: "is not a regular file"}
	}
	if parquet.IsNamed(path) {
		err = out.parquet(ctx, side, column)
	} else {
		err = out.text(ctx, side, column)
	}
	if err != nil {
		return nil, err
	}
	sum, err := format.HashFile(ctx, path)
	out.Digest = sum.SHA256
	return out, err
}

// meaning returns the meaning of a column of ids of a side.
func meaning(side string) format.Meaning {
	if side == "item" {
		return format.Item
	}
	return format.User
}

// ownNames holds names of columns of ids of either side.
var ownNames = []string{"id", pandasIndex}

// ofSide reports whether a column with a name can have the ids of a side.
func ofSide(column, side string) bool {
	return slices.Contains(ownNames, strings.ToLower(column)) || meaning(side).Means(column)
}

// holdsIDs reports whether a column's name says that it has ids, of either side.
func holdsIDs(column string) bool {
	return slices.Contains(ownNames, strings.ToLower(column)) || format.User.Usual(column) || format.Item.Usual(column)
}

// text reads ids of a text file.
func (out *IDs) text(ctx context.Context, side, column string) error {
	path := out.Path
	first, err := format.ReadFile(ctx, path, func(in *format.Input) ([]byte, error) {
		b, err := in.FirstLine()
		return bytes.Clone(b), err
	})
	if err != nil {
		return err
	}
	header := []string{string(first)}
	form := format.Lines
	switch {
	case bytes.IndexByte(first, '\t') >= 0:
		form, header = format.TSV, strings.Split(string(first), "\t")
	case bytes.IndexByte(first, ',') >= 0, bytes.HasPrefix(first, []byte(`"`)):
		form, header = format.CSV, strings.Split(string(first), ",")
	case column != "" && column == string(first),
		!bytes.ContainsAny(first, " ;|\r") && ofSide(strings.Trim(string(first), `" `), side):
		if form = format.TSV; strings.HasSuffix(strings.ToLower(path), ".csv") { // a table of one column
			form = format.CSV
		}
	}
	of, _ := format.Of(path)
	table := of == format.CSV || of == format.TSV
	if table && form == format.Lines && bytes.ContainsAny(first, " ;|") {
		return &dataset.Error{File: path, Line: 1, Msg: "several fields and no header: " + dataset.Quote(first),
			Hint: "separate the columns by commas or tabs, under a header; a file of one id a line ends in .txt"}
	}
	if form == format.Lines {
		if column != "" {
			return &dataset.Error{File: path, Line: 1, Field: column, Msg: "column is missing",
				Hint: "the file has one id a line and no header"}
		}
		if err := oneColumn(path, first, side); err != nil {
			return err
		}
		return out.checked(ctx, form, side, side)
	}
	for i := range header {
		header[i] = strings.Trim(header[i], `" `)
	}
	at := slices.Index(header, column)
	switch {
	case column == "":
		if at, err = chosen(header, side); err != nil {
			return &dataset.Error{File: path, Line: 1, Msg: err.Error(),
				Hint: "the columns are " + strings.Join(header, ", ")}
		}
		column = header[at]
		out.taken(column, side)
	case at < 0 && meaning(side).Usual(column): // as other tables are read
		fail := func(field, msg, hint string) error {
			return &dataset.Error{File: path, Line: 1, Field: field, Msg: msg, Hint: hint}
		}
		if at, err = meaning(side).Column(header, fail); err != nil {
			return err
		}
	}
	out.unread(header, at)
	return out.checked(ctx, form, side, column)
}

// beside returns which kind of text besides ids, common in such files, a text is; "" if it can be an id.
func beside(side, id string) string {
	switch {
	case !strings.Contains(id, ":") && ofSide(id, side), strings.HasSuffix(id, ":token") && ofSide(id, side):
		return "the name of a column in place of an id: " + dataset.Quote([]byte(id))
	case strings.HasPrefix(id, "# "):
		return "a remark in place of an id: " + dataset.Quote([]byte(id))
	}
	return ""
}

// checked reads ids, and fails on other text that files have beside ids.
func (out *IDs) checked(ctx context.Context, form format.Form, side, column string) (err error) {
	if out.IDs, err = format.ReadIDs(ctx, out.Path, form, column); err != nil {
		return err
	}
	first := 2
	if form == format.Lines {
		first = 1
	}
	for i, id := range out.IDs {
		if why := beside(side, id); why != "" {
			return &dataset.Error{File: out.Path, Line: i + first, Field: column, Msg: why,
				Hint: "were files joined? remove this line"}
		}
	}
	out.saysSeparators()
	return nil
}

// oneColumn returns an error if the first line of a file of ids, one a line, is the header of a table with another
// separator.
func oneColumn(path string, first []byte, side string) error {
	for _, sep := range []string{";", "|", "::", " "} {
		header := strings.Split(string(first), sep)
		of := func(h string) bool { return ofSide(strings.Trim(h, `" `), side) }
		if len(header) > 1 && slices.ContainsFunc(header, of) {
			const why = "%s looks like the header of a table with %q between its columns"
			return &dataset.Error{File: path, Line: 1, Msg: fmt.Sprintf(why, dataset.Quote(first), sep),
				Hint: "separate columns by commas or tabs, or leave one id a line"}
		}
	}
	return nil
}

// taken records that a column whose name does not say so is read as the ids of a side.
func (out *IDs) taken(column, side string) {
	if m := meaning(side); !m.Usual(column) && !slices.Contains(ownNames, strings.ToLower(column)) {
		out.Left = append(out.Left, filepath.Base(out.Path)+": "+m.Taken(column))
	}
}

// unread records the columns that are not read.
func (out *IDs) unread(header []string, at int) {
	for i, h := range header {
		if at >= 0 && i != at && !format.Counts(h) { // else its absence is an error
			out.Left = append(out.Left, fmt.Sprintf("%s: the column %s is not read", filepath.Base(out.Path), h))
		}
	}
}

// saysSeparators records that ids contain what separates columns elsewhere: perhaps they are several columns.
func (out *IDs) saysSeparators() {
	n := 0
	for _, id := range out.IDs {
		if strings.ContainsAny(id, ",;|\t") {
			n++
		}
	}
	if n > 0 {
		const holds = "%s: %d ids hold a comma, semicolon, bar or tab, which is a part of them"
		out.Left = append(out.Left, fmt.Sprintf(holds, filepath.Base(out.Path), n))
	}
}

// chosen returns the column that has the ids of a side.
func chosen(header []string, side string) (int, error) {
	for _, is := range []func(h string) bool{
		func(h string) bool { return meaning(side).Usual(h) || strings.EqualFold(h, "id") },
		meaning(side).Means,
		func(h string) bool { return h == pandasIndex },
	} {
		found := -1
		for i, h := range header {
			switch h = strings.Trim(h, `" `); {
			case !is(h):
			case found >= 0:
				return 0, fmt.Errorf("the columns %s and %s both may have the ids", header[found], h)
			default:
				found = i
			}
		}
		if found >= 0 {
			return found, nil
		}
	}
	if len(header) == 1 {
		return 0, nil
	}
	return 0, fmt.Errorf("no column is called %s or id", side+"_id")
}

// noText returns why a text is not an id; "" if it can be one.
func noText(text []byte) string {
	switch {
	case !utf8.Valid(text):
		return "invalid UTF-8"
	case bytes.IndexByte(text, 0) >= 0:
		return "a zero byte in the id " + dataset.Quote(text)
	}
	return format.NoID(text)
}

// parquet reads a column of ids of a Parquet file.
func (out *IDs) parquet(ctx context.Context, side, column string) error {
	in, err := os.Open(out.Path)
	if err != nil {
		return &dataset.Error{File: out.Path, Msg: "cannot open", Err: err}
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return &dataset.Error{File: out.Path, Msg: "cannot read", Err: err}
	}
	if err := out.rows(ctx, in, st.Size(), side, column); err != nil {
		return (&File{Path: out.Path}).placed(ctx, err)
	}
	return nil
}

// rows reads the ids of an open Parquet file of size bytes.
func (out *IDs) rows(ctx context.Context, in io.ReaderAt, size int64, side, column string) error {
	p, err := parquet.Open(in, size)
	if err != nil {
		return err
	}
	header := make([]string, len(p.Columns))
	for i, c := range p.Columns {
		header[i] = c.Name
	}
	at := slices.Index(header, column)
	if column == "" {
		if at, err = chosen(header, side); err != nil {
			return err
		}
		out.taken(header[at], side)
	}
	if at < 0 {
		return &dataset.Error{Field: column, Msg: "column is missing",
			Hint: "the columns are " + strings.Join(header, ", ")}
	}
	out.unread(header, at)
	c := p.Columns[at]
	if c.Kind != parquet.Int && c.Kind != parquet.Text {
		return &parquet.ColumnError{Column: c.Name, Err: fmt.Errorf("holds %s, want whole numbers or text", c.Type)}
	}
	seen := map[string]int64{}
	var text []byte
	err = p.Read(ctx, []int{at}, func(n int64, v []parquet.Value) error {
		fault := ""
		text = v[0].ID(text[:0], c)
		switch {
		case v[0].Null:
			fault = "empty"
		case noText(text) != "":
			fault = noText(text)
		case beside(side, string(text)) != "":
			fault = beside(side, string(text))
		case seen[string(text)] > 0:
			fault = fmt.Sprintf("second row of %s, the first is row %d", dataset.Quote(text), seen[string(text)])
		}
		if fault != "" {
			return &parquet.ColumnError{Column: c.Name, Row: n, Err: errors.New(fault)}
		}
		out.IDs = append(out.IDs, string(text))
		seen[string(text)] = n
		return nil
	})
	if err == nil && len(out.IDs) == 0 {
		err = errors.New("no ids in the file")
	}
	return err
}
