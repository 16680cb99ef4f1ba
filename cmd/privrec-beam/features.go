package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/dataset/format"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/perturb"
)

// featureRows does the work of perturb features on a worker.
type featureRows struct {
	j      *job
	o      features.FileOptions
	rating bool // the file that is read has ratings
	bad    func(b badRow) error

	id, score int
	at        []int
	scratch   []byte

	path    [2]string // of features, and of ratings
	f       [2]*os.File
	w       [2]*bufio.Writer
	n       int64
	last    []byte
	line    []byte // the user's row of features
	lineKey []byte
	has     bool // the user has such a row
	ratings []rating
	over    bool // the user had more ratings than there are items
}

func (h *featureRows) columns(r *format.Rows) (err error) {
	if h.id, err = r.Column("user_id"); err != nil {
		return err
	}
	if h.rating {
		h.score, err = r.Column("rating")
		return err
	}
	h.at = h.at[:0]
	for _, c := range h.o.Columns {
		i, err := r.Column(c.Name)
		if err != nil {
			return err
		}
		h.at = append(h.at, i)
	}
	return nil
}

func (h *featureRows) row(r *format.Rows, add func(user, held []byte, p place) error) (err error) {
	id := r.Fields[h.id]
	if len(id) == 0 {
		return r.Fail("user_id", "empty", "")
	}
	if h.scratch, err = h.o.OutForm.AppendField(h.scratch[:0], id); err != nil {
		return r.Fail("user_id", err.Error(), "")
	}
	p := place{line: uint64(r.Line())}
	if h.rating {
		x, err := r.Float(h.score)
		if err != nil {
			return err
		}
		if level := int(x); float64(level) != x || level < 1 || level > features.Levels {
			return r.Fail("rating", fmt.Sprintf("%v is not a whole number from 1 to %d", x, features.Levels), "")
		}
		return add(id, append(h.scratch[:0], r.Fields[h.score]...), p)
	}
	h.scratch = h.scratch[:0]
	for i, c := range h.o.Columns {
		if err := c.Accepts(r, h.at[i], h.o.Missing); err != nil {
			return err
		}
		if i > 0 {
			h.scratch = append(h.scratch, ',')
		}
		if h.scratch, err = format.CSV.AppendField(h.scratch, r.Fields[h.at[i]]); err != nil {
			return r.Fail(c.Name, err.Error(), "")
		}
	}
	return add(id, h.scratch, p)
}

func (h *featureRows) begin(dir string) (err error) {
	heads := [2][]byte{[]byte("user_id"), []byte("user_id,rating")}
	for _, c := range h.o.Columns {
		if heads[0], err = format.CSV.AppendField(append(heads[0], ','), []byte(c.Name)); err != nil {
			return err
		}
	}
	for i, name := range []string{"features.csv", "ratings.csv"} {
		h.path[i] = filepath.Join(dir, name)
		if h.f[i], err = os.Create(h.path[i]); err != nil {
			return err
		}
		h.w[i] = bufio.NewWriterSize(h.f[i], 1<<16)
		h.w[i].Write(append(heads[i], '\n'))
	}
	return nil
}

// user ends the previous user.
func (h *featureRows) user(id []byte) error {
	if err := h.finish(); err != nil {
		return err
	}
	h.last, h.has, h.over = append(h.last[:0], id...), false, false
	return nil
}

// finish writes the rows of a user. They are bad rows if there are ratings and the user has none, or more than there
// are items.
func (h *featureRows) finish() error {
	switch {
	case !h.has:
		return nil
	case h.over:
		return h.fail(h.lineKey, "user_id: "+h.tooMany(), h.line)
	case h.j.Ratings > 0 && len(h.ratings) == 0:
		return h.fail(h.lineKey, "user_id: no rating of the user", h.line)
	}
	for _, r := range h.ratings {
		if err := h.write(1, r.held); err != nil {
			return err
		}
	}
	h.ratings = h.ratings[:0]
	h.n++
	return h.write(0, h.line)
}

// tooMany returns the reason why a user's ratings cannot all be of different items.
func (h *featureRows) tooMany() string {
	return fmt.Sprintf("the user has more ratings than the catalogue's %d items", h.o.Items)
}

// rate adds a rating. Until the number of items is known it keeps all ratings.
func (h *featureRows) rate(key, held []byte) error {
	if !h.over && len(h.ratings) < h.o.Items {
		h.ratings = append(h.ratings, rating{slices.Clone(key), slices.Clone(held)})
		return nil
	}
	h.over = true
	for _, r := range append(h.ratings, rating{key, held}) {
		if err := h.fail(r.key, "rating: "+h.tooMany(), r.held); err != nil {
			return err
		}
	}
	h.ratings = h.ratings[:0]
	return nil
}

// rating holds a row of ratings of the user.
type rating struct{ key, held []byte }

// fail adds a bad row.
func (h *featureRows) fail(key []byte, reason string, held []byte) error {
	file, line := whereOf(key)
	return h.bad(badRow{h.j.Inputs[file], line, reason, string(h.last) + "," + string(held)})
}

func (h *featureRows) write(i int, held []byte) (err error) {
	if h.scratch, err = format.CSV.AppendField(h.scratch[:0], h.last); err != nil {
		return err
	}
	_, err = h.w[i].Write(append(append(append(h.scratch, ','), held...), '\n'))
	return err
}

// held adds a row. Rows of features come first, since their files do.
func (h *featureRows) held(key, held []byte) error {
	file, _ := whereOf(key)
	switch {
	case int(file) >= len(h.j.Inputs)-h.j.Ratings:
		if !h.has {
			return h.fail(key, "user_id: no row of features of the user", held)
		}
		return h.rate(key, held)
	case h.has:
		return h.fail(key, "user_id: a second row of features", held)
	}
	h.has, h.line, h.lineKey = true, append(h.line[:0], held...), append(h.lineKey[:0], key...)
	return nil
}

func (h *featureRows) end() error {
	err := h.finish()
	for i := range h.f {
		if e := closed(h.w[i], h.f[i]); err == nil {
			err = e
		}
	}
	return err
}

func (h *featureRows) users() int64 { return h.n }

func (h *featureRows) perform(ctx context.Context, out string, shard perturb.Shard) error {
	o := h.o
	o.Attributes, o.AttributesForm, o.Out, o.Shard, o.Workers = h.path[0], format.CSV, out, shard, 1
	o.In, o.InForm = "", ""
	if h.j.Ratings > 0 {
		o.In, o.InForm = h.path[1], format.CSV
	}
	_, err := features.File(ctx, o)
	return err
}
