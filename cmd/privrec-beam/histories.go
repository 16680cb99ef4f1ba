package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/dataset/format"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	"privrec/internal/perturb/histories"
)

// historyRows does the work of perturb pricdsr on a worker.
type historyRows struct {
	j   *job
	o   pricdsr.Options
	cat *perturb.Catalogue
	bad func(b badRow) error

	id, item, when int
	scratch        []byte

	path string
	f    *os.File
	w    *bufio.Writer
	n    int64
	last []byte
	seen map[string]bool // items of the user; at most as many as the catalogue has
}

func (h *historyRows) columns(r *format.Rows) (err error) {
	h.id, h.item, h.when = 0, 1, -1
	if r.Form() == format.Lines {
		return nil
	}
	if h.id, err = r.Column("user_id"); err != nil {
		return err
	}
	if h.item, err = r.Column("item_id"); err != nil {
		return err
	}
	h.when = slices.Index(r.Columns, "timestamp")
	return nil
}

// itemBits is the number of bits of a place's line that number an item on the line.
const itemBits = 24

func (h *historyRows) row(r *format.Rows, add func(user, held []byte, p place) error) (err error) {
	id := r.Fields[h.id]
	if len(id) == 0 {
		return r.Fail("user_id", "empty", "")
	}
	if h.scratch, err = histories.Writable(h.scratch[:0], h.o.OutForm, id); err != nil {
		return r.Fail("user_id", err.Error(), "")
	}
	p := place{line: uint64(r.Line()) << itemBits}
	items := r.Fields[h.item : h.item+1]
	if r.Form() == format.Lines {
		items = r.Fields[1:]
	}
	if h.when >= 0 {
		if p.time, p.part, err = r.Time(h.when); err != nil {
			return err
		}
	}
	for _, x := range items {
		if _, ok := histories.Cell(h.cat, x); !ok {
			return r.Fail("item_id", fmt.Sprintf("%.40q is not in the catalogue of %d items", x, h.cat.Size), "")
		}
	}
	if len(items) >= 1<<itemBits {
		return r.Fail("", "more items than a line can have", "")
	}
	if len(items) == 0 {
		return add(id, nil, p)
	}
	for _, x := range items {
		if err := add(id, x, p); err != nil {
			return err
		}
		p.line++
	}
	return nil
}

// form returns the form in which the users of a shard are passed on: lines of items if the input has that form, which
// allows users without items, otherwise a table, which allows any names.
func (h *historyRows) form() format.Form {
	if f, _ := format.Of(h.j.Inputs[0]); f == format.Lines {
		return f
	}
	return format.CSV
}

func (h *historyRows) begin(dir string) (err error) {
	h.path, h.seen = filepath.Join(dir, "users"), map[string]bool{}
	if h.f, err = os.Create(h.path); err != nil {
		return err
	}
	h.w = bufio.NewWriterSize(h.f, 1<<17)
	if h.form() != format.Lines {
		h.w.WriteString("user_id,item_id\n")
	}
	return nil
}

func (h *historyRows) user(id []byte) error {
	if h.form() == format.Lines {
		if h.n > 0 {
			h.w.WriteByte('\n')
		}
		h.w.Write(id)
	}
	h.n++
	h.last = append(h.last[:0], id...)
	clear(h.seen)
	return nil
}

func (h *historyRows) held(key, item []byte) (err error) {
	if len(item) == 0 { // of a line with a user alone
		return nil
	}
	if h.o.Strict {
		if h.seen[string(item)] {
			file, line := whereOf(key)
			return h.bad(badRow{h.j.Inputs[file], line >> itemBits, "item_id: comes again for its user",
				string(h.last) + " " + string(item)})
		}
		h.seen[string(item)] = true
	}
	if h.form() == format.Lines {
		h.w.WriteByte(' ')
		_, err = h.w.Write(item)
		return err
	}
	if h.scratch, err = format.CSV.AppendField(h.scratch[:0], h.last); err != nil {
		return err
	}
	if h.scratch, err = format.CSV.AppendField(append(h.scratch, ','), item); err != nil {
		return err
	}
	_, err = h.w.Write(append(h.scratch, '\n'))
	return err
}

func (h *historyRows) end() error {
	if h.form() == format.Lines {
		h.w.WriteByte('\n')
	}
	return closed(h.w, h.f)
}

// closed flushes and closes a file.
func closed(w *bufio.Writer, f *os.File) error {
	err := w.Flush()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func (h *historyRows) users() int64 { return h.n }

func (h *historyRows) perform(ctx context.Context, out string, shard perturb.Shard) error {
	o := h.o
	o.In, o.InForm, o.Out, o.Shard, o.Workers, o.Strict = h.path, h.form(), out, shard, 1, false
	_, err := pricdsr.Perturb(ctx, o)
	return err
}
