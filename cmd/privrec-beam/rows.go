package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/parquet"
	"privrec/internal/perturb"
)

// badRow describes a row that cannot be used.
type badRow struct {
	file   string
	line   uint64
	reason string
	text   string // the row, as it is
}

// write writes a bad row as a line. The text is quoted, so that nothing is lost.
func (b badRow) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\t%d\t%s\t%q\n", b.file, b.line,
		strings.NewReplacer("\t", " ", "\n", " ").Replace(b.reason), b.text)
	return err
}

// badHead is the first line of a file of bad rows.
const badHead = "file\tline\treason\trow\n"

// readRows calls open with an input file after its header was read, row with every row, and bad with every row that
// cannot be split or that row refuses. It returns the SHA-256 of the file. Only a file that cannot be read, or that
// lacks a column, is an error. dir is for temporary files.
func readRows(ctx context.Context, path, dir string, open, row func(r *format.Rows) error,
	bad func(b badRow) error) (digest string, err error) {
	at, err := local(ctx, path, dir)
	if err != nil {
		return "", err
	}
	if at != path {
		defer os.Remove(at)
	}
	form, ok := format.Of(path)
	if strings.HasSuffix(path, ".parquet") {
		if at, digest, err = tableOf(ctx, at, dir); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		defer os.Remove(at)
		form, ok = format.CSV, true
	}
	// The digest is of what was read, whatever becomes of the file meanwhile.
	done := func(r *format.Rows) (string, error) {
		if digest == "" {
			return r.Digest()
		}
		return digest, nil
	}
	if !ok {
		return "", fmt.Errorf("%s: its name does not tell the form: want .tsv, .csv, .inter or .txt, then .gz or "+
			".zst, or .parquet", path)
	}
	r, err := format.OpenRows(ctx, at, form)
	if err != nil {
		if e := (*dataset.Error)(nil); digest == "" && errors.As(err, &e) && e.Msg == "file is empty" {
			return perturb.FileSum(at)
		}
		return "", err
	}
	defer r.Close()
	if err := open(r); err != nil {
		return "", err
	}
	for {
		if !r.Next() {
			if r.Err() == nil {
				return done(r)
			}
			if e := (*dataset.Error)(nil); errors.As(r.Err(), &e) && e.Line == 0 && e.Msg == "no rows in the file" {
				return done(r)
			}
			err = r.Err()
		} else {
			err = row(r)
		}
		if err == nil {
			continue
		}
		text, ok := r.Skip(err)
		e := (*dataset.Error)(nil)
		if !ok || !errors.As(err, &e) {
			return "", err
		}
		reason := e.Msg
		if e.Field != "" {
			reason = e.Field + ": " + reason
		}
		if err := bad(badRow{path, uint64(e.Line), reason, string(text)}); err != nil {
			return "", err
		}
	}
}

// tableOf writes a Parquet file as a table. It returns the table, and the digest of the file.
func tableOf(ctx context.Context, path, dir string) (table, digest string, err error) {
	before, err := perturb.FileSum(path)
	if err != nil {
		return "", "", err
	}
	if table, err = fromParquet(ctx, path, dir); err != nil {
		return "", "", err
	}
	if digest, err = perturb.FileSum(path); err == nil && digest != before {
		err = errors.New("the file changed while it was read")
	}
	return table, digest, err
}

// fromParquet writes the columns of a Parquet file as a table, which it returns. Missing values are
// empty fields. A row with a line break has too few fields there.
func fromParquet(ctx context.Context, path, dir string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	p, err := parquet.Open(f, info.Size())
	if err != nil {
		return "", err
	}
	var columns []int
	var names []string
	for i, c := range p.Columns {
		switch {
		case c.Kind == parquet.Int || c.Kind == parquet.Float || c.Kind == parquet.Text:
			columns, names = append(columns, i), append(names, c.Name)
		case c.Name == "timestamp": // without it rows would have another order
			return "", &dataset.Error{Field: c.Name, Msg: "holds " + c.Type + ", want numbers",
				Hint: "write the times as seconds or milliseconds"}
		}
	}
	to := filepath.Join(dir, attempt()+".csv")
	out, err := os.Create(to)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(out, 1<<16)
	table := csv.NewWriter(w)
	fields := make([]string, len(columns))
	err = table.Write(names)
	if err == nil {
		err = p.Read(ctx, columns, func(_ int64, v []parquet.Value) error {
			for i, x := range v {
				if c := p.Columns[columns[i]]; c.Kind == parquet.Text && bytes.ContainsAny(x.Text, "\r\n") {
					// a bad row: its one field is all there is
					return table.Write([]string{fmt.Sprintf("line break in %s: %q", c.Name, x.Text)})
				}
			}
			for i, x := range v {
				c := p.Columns[columns[i]]
				switch {
				case x.Null:
					fields[i] = ""
				case c.Kind == parquet.Text:
					fields[i] = string(x.Text)
				case c.Kind == parquet.Float:
					fields[i] = strconv.FormatFloat(x.Float, 'f', -1, 64)
				case c.Unsigned():
					fields[i] = strconv.FormatUint(uint64(x.Int), 10)
				default:
					fields[i] = strconv.FormatInt(x.Int, 10)
				}
			}
			return table.Write(fields)
		})
	}
	table.Flush()
	if err = errors.Join(err, table.Error(), w.Flush(), out.Close()); err != nil {
		os.Remove(to)
		return "", err
	}
	return to, nil
}
