package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/parquet"
)

// IDs is what was read of a file of ids.
type IDs struct {
	Path   string
	Digest string   // hexadecimal SHA-256 of the file as it is on disk
	IDs    []string // in the order of the rows of vectors
}

// ReadIDs reads ids: one a line, or a column of a table with a header, or of Parquet. column names it; "": the only
// column, or the one that is called id, or by a name of the side, "user" or "item". No id may stand twice.
func ReadIDs(ctx context.Context, path, side, column string) (*IDs, error) {
	out := &IDs{Path: path}
	var err error
	if st, bad := os.Stat(path); bad == nil && !st.Mode().IsRegular() {
		return nil, &dataset.Error{File: path, Msg: "is not a regular file"}
	}
	if parquet.IsNamed(path) {
		out.IDs, err = parquetIDs(ctx, path, side, column)
	} else {
		out.IDs, err = textIDs(ctx, path, side, column)
	}
	if err != nil {
		return nil, err
	}
	sum, err := format.HashFile(ctx, path)
	out.Digest = sum.SHA256
	return out, err
}

// sideNames are the names of columns of ids of one side, in lower case.
func sideNames(side string) []string {
	return []string{"id", side + "_id", side, side + "id", side[:1] + "id", side + "_id:token", pandasIndex}
}

// heads reports whether a line is the name of a column of ids, as this program or others write it. An id such as item:7
// is none.
func heads(side, line string) bool {
	name := strings.ToLower(strings.Trim(line, `" `))
	for _, kind := range []string{":token", ":float"} {
		name = strings.TrimSuffix(name, kind)
	}
	known := format.Meaning(side+"_id").Means(name) && !strings.Contains(name, ":")
	return known || slices.Contains(sideNames(side), name)
}

// textIDs reads ids of a text file.
func textIDs(ctx context.Context, path, side, column string) ([]string, error) {
	first, err := format.ReadFile(ctx, path, func(in *format.Input) ([]byte, error) {
		b, err := in.FirstLine()
		return bytes.Clone(b), err
	})
	if err != nil {
		return nil, err
	}
	form := format.Lines
	switch {
	case bytes.IndexByte(first, '\t') >= 0:
		form = format.TSV
	case bytes.IndexByte(first, ',') >= 0, bytes.HasPrefix(first, []byte(`"`)):
		form = format.CSV
	case column != "" && column == string(first), heads(side, string(first)):
		form, column = format.TSV, string(first) // a table of one column
		if of, _ := format.Of(path); of == format.CSV {
			form = format.CSV
		}
	}
	of, _ := format.Of(path)
	table := of == format.CSV || of == format.TSV
	if table && form == format.Lines && bytes.ContainsAny(first, " ;|") {
		return nil, &dataset.Error{File: path, Line: 1, Msg: "several fields and no header: " + dataset.Quote(first),
			Hint: "separate the columns by commas or tabs, under a header; a file of one id a line ends in .txt"}
	}
	if form == format.Lines {
		if column != "" {
			return nil, &dataset.Error{File: path, Line: 1, Field: column, Msg: "column is missing", Hint: "the file has one id a line and no header"}
		}
		return checked(ctx, path, form, side, side)
	}
	if column == "" {
		sep := map[format.Form]string{format.TSV: "\t", format.CSV: ","}[form]
		header := strings.Split(string(first), sep)
		at, err := chosen(header, side)
		if err != nil {
			return nil, &dataset.Error{File: path, Line: 1, Msg: err.Error(), Hint: "the columns are " + strings.Join(header, ", ")}
		}
		column = strings.Trim(header[at], `" `)
	}
	return checked(ctx, path, form, side, column)
}

// beside says in which way a field is what files have beside ids; "": it can be an id.
func beside(side, id string) string {
	switch {
	case heads(side, id):
		return "the name of a column in place of an id: " + dataset.Quote([]byte(id))
	case strings.HasPrefix(id, "# "):
		return "a remark in place of an id: " + dataset.Quote([]byte(id))
	}
	return ""
}

// checked reads ids, and fails on what files have beside ids.
func checked(ctx context.Context, path string, form format.Form, side, column string) ([]string, error) {
	ids, err := format.ReadIDs(ctx, path, form, column)
	if err != nil {
		return nil, err
	}
	first := 2
	if form == format.Lines {
		first = 1
	}
	for i, id := range ids {
		if why := beside(side, id); why != "" {
			return nil, &dataset.Error{File: path, Line: i + first, Field: column, Msg: why,
				Hint: "were files joined? remove this line"}
		}
	}
	return ids, nil
}

// chosen returns the column that has the ids of a side.
func chosen(header []string, side string) (int, error) {
	found := -1
	for i, h := range header {
		if !slices.Contains(sideNames(side), strings.ToLower(strings.Trim(h, `" `))) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("the columns %s and %s both may have the ids", header[found], h)
		}
		found = i
	}
	switch {
	case found >= 0:
		return found, nil
	case len(header) == 1:
		return 0, nil
	}
	return 0, fmt.Errorf("no column is called %s or id", side+"_id")
}

// parquetIDs reads a column of ids of a Parquet file.
func parquetIDs(ctx context.Context, path, side, column string) (ids []string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, &dataset.Error{File: path, Msg: "cannot open", Err: err}
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return nil, &dataset.Error{File: path, Msg: "cannot read", Err: err}
	}
	f := &File{Path: path}
	if ids, err = idsOf(ctx, in, st.Size(), side, column); err != nil {
		return nil, f.placed(ctx, err)
	}
	return ids, nil
}

// noText says in which way a text is no id; "": it can be one.
func noText(text []byte) string {
	switch {
	case !utf8.Valid(text):
		return "invalid UTF-8"
	case bytes.IndexByte(text, 0) >= 0:
		return "a zero byte in the id " + dataset.Quote(text)
	}
	return format.NoID(text)
}

func idsOf(ctx context.Context, in io.ReaderAt, size int64, side, column string) (ids []string, err error) {
	p, err := parquet.Open(in, size)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(p.Columns))
	for i, c := range p.Columns {
		names[i] = c.Name
	}
	at := slices.Index(names, column)
	if column == "" {
		if at, err = chosen(names, side); err != nil {
			return nil, err
		}
	}
	if at < 0 {
		return nil, &dataset.Error{Field: column, Msg: "column is missing", Hint: "the columns are " + strings.Join(names, ", ")}
	}
	c := p.Columns[at]
	if c.Kind != parquet.Int && c.Kind != parquet.Text {
		return nil, &parquet.ColumnError{Column: c.Name, Err: fmt.Errorf("holds %s, want whole numbers or text", c.Type)}
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
		ids = append(ids, string(text))
		seen[ids[len(ids)-1]] = n
		return nil
	})
	if err == nil && len(ids) == 0 {
		err = errors.New("no ids in the file")
	}
	return ids, err
}
