package format

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/parquet"
)

// OfInput returns the form of a table to read, by the end of its name. A Parquet file is read as a table with tabs.
func OfInput(path string) (f Form, ok bool) {
	if strings.HasSuffix(path, ".parquet") {
		return TSV, true
	}
	return Of(path)
}

// openParquet makes in read the rows of a Parquet file as a table with tabs and a header.
func (in *Input) openParquet(f *os.File) error {
	if !strings.HasSuffix(in.file, ".parquet") {
		return &dataset.Error{File: in.file, Msg: "the file is Parquet", Hint: "end its name in .parquet"}
	}
	st, err := f.Stat()
	if err != nil {
		return &dataset.Error{File: in.file, Msg: "cannot read", Err: err}
	}
	p, err := parquet.Open(f, st.Size())
	if err != nil {
		return &dataset.Error{File: in.file, Msg: err.Error()}
	}
	for _, c := range p.Columns {
		if strings.ContainsAny(c.Name, "\t\r\n") {
			return &dataset.Error{File: in.file, Field: c.Name, Msg: "a column with a tab or a line end in its name",
				Hint: "give it another name"}
		}
		if c.InLists || c.Kind == parquet.Other {
			return &dataset.Error{File: in.file, Field: c.Name, Msg: "holds " + c.Type + ", want numbers or text",
				Hint: fmt.Sprintf("leave the column out, in pandas with df.drop(columns=[%q]), or convert it", c.Name)}
		}
	}
	from, to := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		to.CloseWithError(writeRows(in.ctx, p, to))
	}()
	in.closer = append(in.closer, func() { from.Close(); <-done })
	in.buf = bufio.NewReaderSize(from, 1<<17)
	return nil
}

// writeRows writes a header and the rows, with tabs between the fields. A missing value is an empty field.
func writeRows(ctx context.Context, p *parquet.File, to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<17)
	var all []int
	for i, c := range p.Columns {
		if i > 0 {
			w.WriteByte('\t')
		}
		w.WriteString(c.Name)
		all = append(all, i)
	}
	w.WriteByte('\n')
	var b []byte
	err := p.Read(ctx, all, func(n int64, v []parquet.Value) error {
		b = b[:0]
		for i, x := range v {
			if i > 0 {
				b = append(b, '\t')
			}
			switch c := p.Columns[i]; {
			case x.Null:
			case c.Kind == parquet.Float:
				b = strconv.AppendFloat(b, x.Float, 'f', -1, 64)
			case bytes.ContainsAny(x.Text, "\t\r\n"):
				return &parquet.ColumnError{Column: c.Name, Row: n,
					Err: errors.New("a text with a tab or a line end: " + dataset.Quote(x.Text))}
			case c.Kind == parquet.Time:
				b = strconv.AppendInt(b, x.Int, 10)
			default:
				b = x.ID(b, c)
			}
		}
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err == nil {
		err = w.Flush()
	}
	return err
}
