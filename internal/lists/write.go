package lists

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/compress"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/parquet"
)

// Form names a file form in which lists are written.
type Form string

// The forms. Read reads each of them, and each has user, item, rank and score.
const (
	TSV     Form = "tsv"     // a header and tabs
	CSV     Form = "csv"     // a header and commas, quotes where needed
	TREC    Form = "trec"    // a TREC run: user Q0 item rank score name
	Parquet Form = "parquet" // columns user_id and item_id of text, rank, score
)

// FormOf returns the form and the compression that the end of a file's name stands for: .tsv, .csv, .trec, .run or
// .parquet, and the first four with .gz or .zst.
func FormOf(path string) (Form, compress.Kind, error) {
	kind := compress.Of(path)
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	form := Form(strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), "."))
	switch {
	case form == "run":
		form = TREC
	case form == Parquet && kind != compress.Plain:
		return "", kind, fmt.Errorf("%s: Parquet is compressed inside: leave out the last ending", path)
	case form != TSV && form != CSV && form != TREC && form != Parquet:
		return "", kind, fmt.Errorf("%s: the name says no form: it should end in .tsv, .csv, .trec or .parquet", path)
	}
	return form, kind, nil
}

// Writer writes rows of lists. Equal rows give equal bytes.
type Writer struct {
	w      io.Writer
	form   Form
	ranked bool
	pack   *compress.Packer
	buf    []byte
	packed []byte
	table  *parquet.Writer
	row    []parquet.Value
	rows   int64
}

// block is the number of bytes of text that are compressed at a time.
const block = 1 << 20

// NewWriter returns a writer after beginning a file. Without ranked, rows have no rank, which a TREC run must have.
func NewWriter(w io.Writer, form Form, kind compress.Kind, ranked bool) (*Writer, error) {
	out := &Writer{w: w, form: form, ranked: ranked}
	columns := []string{"user_id", "item_id", "rank", "score"}
	if !ranked {
		columns = []string{"user_id", "item_id", "score"}
	}
	var err error
	switch form {
	case Parquet:
		kinds := map[string]parquet.Kind{"user_id": parquet.Text, "item_id": parquet.Text, "rank": parquet.Int,
			"score": parquet.Float}
		fields := make([]parquet.Field, len(columns))
		for i, c := range columns {
			fields[i] = parquet.Field{Name: c, Kind: kinds[c]}
		}
		out.table, err = parquet.NewWriter(w, fields...)
		return out, err
	case TSV:
		out.buf = append(out.buf, strings.Join(columns, "\t")+"\n"...)
	case CSV:
		out.buf = append(out.buf, strings.Join(columns, ",")+"\n"...)
	case TREC:
		if !ranked {
			return nil, fmt.Errorf("lists: a TREC run has ranks, and these rows have none")
		}
	default:
		return nil, fmt.Errorf("lists: unknown form %q", form)
	}
	out.pack, err = compress.NewPacker(kind)
	return out, err
}

// Row writes a row. The rank counts from 1.
func (w *Writer) Row(user, item string, rank int, score float64) error {
	w.rows++
	if w.table != nil {
		w.row = append(w.row[:0], parquet.Value{Text: []byte(user)}, parquet.Value{Text: []byte(item)})
		if w.ranked {
			w.row = append(w.row, parquet.Value{Int: int64(rank)})
		}
		return w.table.Row(append(w.row, parquet.Value{Float: score})...)
	}
	var err error
	if w.form == TREC {
		for i, id := range []string{user, item} {
			if strings.ContainsAny(id, " \t") {
				return &dataset.Error{Msg: fmt.Sprintf(
					"the id %s has a space in it, which separates the fields of a TREC run", dataset.Quote([]byte(id))),
					Hint: "write .tsv, .csv or .parquet"}
			}
			w.buf = append(append(w.buf, id...), [2]string{" Q0 ", " "}[i]...)
		}
		w.buf = appendScore(append(strconv.AppendInt(w.buf, int64(rank), 10), ' '), score)
		w.buf = append(w.buf, " privrec\n"...)
		return w.flush(block)
	}
	sep := map[Form]byte{TSV: '\t', CSV: ','}[w.form]
	for _, id := range []string{user, item} {
		if w.buf, err = format.Form(w.form).AppendField(w.buf, []byte(id)); err != nil {
			return &dataset.Error{Msg: fmt.Sprintf("the id %s has a tab in it", dataset.Quote([]byte(id))),
				Hint: "write .csv or .parquet"}
		}
		w.buf = append(w.buf, sep)
	}
	if w.ranked {
		w.buf = append(strconv.AppendInt(w.buf, int64(rank), 10), sep)
	}
	w.buf = append(appendScore(w.buf, score), '\n')
	return w.flush(block)
}

// appendScore appends the shortest number that reads back as the score, at the score's width.
func appendScore(dst []byte, score float64) []byte {
	if float64(float32(score)) == score {
		return strconv.AppendFloat(dst, score, 'g', -1, 32)
	}
	return strconv.AppendFloat(dst, score, 'g', -1, 64)
}

// flush writes the buffer if it holds at least from bytes.
func (w *Writer) flush(from int) (err error) {
	if len(w.buf) < from {
		return nil
	}
	if w.packed, err = w.pack.Append(w.packed[:0], w.buf); err != nil {
		return err
	}
	w.buf = w.buf[:0]
	_, err = io.Copy(w.w, bytes.NewReader(w.packed))
	return err
}

// Close writes the rest of the rows. It does not close the writer beneath.
func (w *Writer) Close() error {
	if w.table != nil {
		return w.table.Close()
	}
	return w.flush(0)
}

// Rows returns the number of rows written.
func (w *Writer) Rows() int64 { return w.rows }
