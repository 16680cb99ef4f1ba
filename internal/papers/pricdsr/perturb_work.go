package pricdsr

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/privacy/mechanism/sequence"
)

// worker perturbs and formats blocks for one goroutine.
type worker struct {
	s      *sequence.Sampler
	before []int32
	t      *tally

	in    string // file of the histories, for messages
	form  format.Form
	cat   *Catalogue
	tails [][]byte // what follows an item at each position
	user  []byte
	pack  *format.Packer
}

func (p *perturber) workers(seq *sequence.Run) ([]*worker, error) {
	ws := make([]*worker, p.o.Workers)
	sep := separator(p.o.OutForm)
	tails := make([][]byte, p.m.Length)
	for c := range tails {
		tails[c] = append(strconv.AppendInt([]byte{sep}, int64(c+1), 10), '\n')
	}
	for i := range ws {
		s, err := seq.UserSampler()
		if err != nil {
			return nil, err
		}
		pack, err := format.NewPacker(format.CompressionOf(p.o.Out))
		if err != nil {
			return nil, err
		}
		ws[i] = &worker{s: s, before: make([]int32, p.m.Length), t: newTally(p.m), in: p.o.In, form: p.o.OutForm, cat: p.cat, tails: tails, pack: pack}
	}
	return ws, nil
}

// perturb perturbs the rows of a block.
func (w *worker) perturb(b *block) error {
	for u := range b.users() {
		if err := w.writable(b.id(u), b.at[u]); err != nil {
			return err
		}
		row := b.row(u)
		copy(w.before, row)
		if err := w.s.RowOf(sequence.KeyOf(b.id(u)), b.at[u], row); err != nil {
			return err
		}
		w.t.see(w.before, row)
	}
	return nil
}

// writable refuses a user whom one of the tables cannot hold. Whether it comes to that
// depends on the noise, and a refusal must not: whoever tries again would choose among outputs.
func (w *worker) writable(id []byte, line int64) (err error) {
	if w.user, err = w.form.AppendField(w.user[:0], id); err == nil && bytes.IndexByte(id, '\t') >= 0 {
		err = &dataset.Error{Msg: fmt.Sprintf("user id %.40q has a tab in it, and may have to stand in the list of empty rows, a .tsv", id), Hint: "give the user another id"}
	}
	return placed(err, w.in, "user_id", line)
}

// placed says of an id that a form cannot hold where it stands; line 0 is unknown.
func placed(err error, file, column string, line int64) error {
	if e := (*dataset.Error)(nil); errors.As(err, &e) {
		e.File, e.Field, e.Line = file, column, int(line)
	}
	return err
}

func separator(f format.Form) byte {
	switch f {
	case format.CSV:
		return ','
	case format.Lines:
		return ' '
	}
	return '\t'
}

// header is the first line of an output; lines have none.
func header(f format.Form) string {
	switch f {
	case format.Atomic:
		return "user_id:token\titem_id:token\tposition:float\n"
	case format.CSV:
		return "user_id,item_id,position\n"
	case format.Lines:
		return ""
	}
	return "user_id\titem_id\tposition\n"
}

// format packs the lines of a block: a row a cell but padding, or a line a user.
func (w *worker) format(b *block) (err error) {
	sep := separator(w.form)
	for u := range b.users() {
		if w.user, err = w.form.AppendField(w.user[:0], b.id(u)); err != nil {
			return err
		}
		start := len(b.plain)
		for c, id := range b.row(u) {
			switch {
			case id == 0:
				continue
			case w.form == format.Lines:
				if len(b.plain) == start {
					b.plain = append(b.plain, w.user...)
				}
				b.plain = append(b.plain, sep)
				if b.plain, err = w.item(b.plain, id); err != nil {
					return err
				}
				continue
			}
			b.plain = append(append(b.plain, w.user...), sep)
			if b.plain, err = w.item(b.plain, id); err != nil {
				return err
			}
			b.plain = append(b.plain, w.tails[c]...)
		}
		switch {
		case len(b.plain) == start:
			if b.none, err = format.TSV.AppendField(b.none, b.id(u)); err != nil {
				return err
			}
			b.none = append(b.none, '\n')
		case w.form == format.Lines:
			b.plain = append(b.plain, '\n')
		}
	}
	if len(b.plain) > 0 {
		if b.out, err = w.pack.Append(b.out, b.plain); err != nil {
			return err
		}
	}
	if len(b.none) > 0 {
		b.empty, err = w.pack.Append(b.empty, b.none)
	}
	return err
}

func (w *worker) item(dst []byte, id int32) ([]byte, error) {
	if w.cat.names == nil {
		return w.cat.append(dst, id), nil
	}
	return w.form.AppendField(dst, []byte(w.cat.names[id-1]))
}
