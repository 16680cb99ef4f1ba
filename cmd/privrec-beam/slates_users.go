package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"privrec/internal/dataset/format"
	"privrec/internal/papers/exposure/protect"
)

// slates returns the settings, with a past of users if histories are read elsewhere.
func (j *job) slates() protect.FileOptions {
	o := *j.Slates
	if j.Ratings > 0 {
		o.Past = &protect.Past{}
	}
	return o
}

// most returns the largest number of slates of a user of a part.
func (j *job) most(ctx context.Context, part int, pieces []pieceNote) (note mostNote, err error) {
	dir, end, err := scratch()
	if err != nil {
		return note, err
	}
	defer end()
	var c userSlates
	_, err = j.sort(ctx, dir, &c, pieces)
	return mostNote{part, c.rows, c.most}, err
}

// userSlates counts the slates of users.
type userSlates struct {
	n    int64 // users
	rows int64
	own  int64 // slates of the user
	most int64
}

func (c *userSlates) begin(string) error { return nil }

func (c *userSlates) user([]byte) error {
	c.n++
	c.own = 0
	return nil
}

func (c *userSlates) held(_, held []byte) error {
	n, size := binary.Uvarint(held)
	if size <= 0 {
		return errors.New("a piece of counts of slates is damaged")
	}
	c.rows++
	c.own += int64(n)
	c.most = max(c.most, c.own)
	return nil
}

func (c *userSlates) end() error   { return nil }
func (c *userSlates) users() int64 { return c.n }

// pastRows does the work of perturb exposure on histories, for similarity, on a worker.
type pastRows struct {
	id, item int
	scratch  []byte

	sums *protect.Summer
	f    *os.File
	w    *bufio.Writer
	last []byte
	any  bool // the user has an item with a vector
	n    int64
	note pastNote
}

func (h *pastRows) columns(r *format.Rows) (err error) {
	h.id, h.item = 0, 1
	if r.Form() == format.Lines {
		return nil
	}
	if h.id, err = r.Column("user_id"); err == nil {
		h.item, err = r.Column("item_id")
	}
	return err
}

func (h *pastRows) row(r *format.Rows, add func(user, held []byte, p place) error) error {
	id := r.Fields[h.id]
	if len(id) == 0 {
		return r.Fail("user_id", "empty", "")
	}
	items := r.Fields[h.item : h.item+1]
	if r.Form() == format.Lines {
		items = r.Fields[1:]
	}
	for _, x := range items {
		if len(x) == 0 {
			return r.Fail("item_id", "empty", "")
		}
	}
	if len(items) >= 1<<itemBits {
		return r.Fail("", "more items than a line can have", "")
	}
	p := place{line: uint64(r.Line()) << itemBits}
	for _, x := range items {
		if err := add(id, x, p); err != nil {
			return err
		}
		p.line++
	}
	return nil
}

func (h *pastRows) begin(dir string) (err error) {
	if h.f, err = os.Create(filepath.Join(dir, "pasts")); err == nil {
		h.w = bufio.NewWriterSize(h.f, 1<<17)
	}
	return err
}

func (h *pastRows) user(id []byte) error {
	err := h.finish()
	h.n++
	h.last = append(h.last[:0], id...)
	return err
}

// finish writes the sum of a user.
func (h *pastRows) finish() error {
	if !h.any {
		return nil
	}
	h.any = false
	h.note.Users++
	h.scratch = append(binary.AppendUvarint(h.scratch[:0], uint64(len(h.last))), h.last...)
	for _, x := range h.sums.Sum {
		h.scratch = binary.LittleEndian.AppendUint32(h.scratch, math.Float32bits(x))
	}
	clear(h.sums.Sum)
	_, err := h.w.Write(h.scratch)
	return err
}

func (h *pastRows) held(_, item []byte) error {
	h.note.Rows++
	if h.sums.Add(item) {
		h.any = true
	} else {
		h.note.Passed++
	}
	return nil
}

func (h *pastRows) end() error { return errors.Join(h.finish(), closed(h.w, h.f)) }

func (h *pastRows) users() int64 { return h.n }

// sumPasts sums the past items of the users of a part, and stores the sums where all workers see them.
func (j *job) sumPasts(ctx context.Context, part int, pieces []pieceNote) (note pastNote, err error) {
	dir, end, err := scratch()
	if err != nil {
		return note, err
	}
	defer end()
	o := j.slates()
	cat, err := o.Declare(ctx, newThrowaway(&o.Settings))
	if err != nil {
		return note, err
	}
	if o.Vectors, err = local(ctx, o.Vectors, dir); err != nil {
		return note, err
	}
	var h pastRows
	if h.sums, err = protect.OpenSummer(ctx, &o, cat); err != nil {
		return note, err
	}
	if _, err := j.sort(ctx, dir, &h, pieces); err != nil {
		return note, err
	}
	h.note.Numbers = len(h.sums.Sum)
	h.note.Path = join(j.Work, fmt.Sprintf("past-%05d-%s", part, attempt()))
	return h.note, copyFile(ctx, filepath.Join(dir, "pasts"), h.note.Path, false)
}

// readPasts reads the sums of some users, and the counts of all.
func readPasts(ctx context.Context, notes []pastNote, users map[string]bool) (*protect.Past, error) {
	all := &protect.Past{}
	for _, n := range notes {
		all.Users += n.Users
		all.Passed += n.Passed
		if err := readSums(ctx, n, users, all); err != nil {
			return nil, fmt.Errorf("%s: %w", n.Path, err)
		}
	}
	return all, nil
}

// readSums adds the sums of some users of a part.
func readSums(ctx context.Context, n pastNote, users map[string]bool, to *protect.Past) error {
	f, err := openFile(ctx, n.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<17)
	var id, packed []byte
	var sum []float32
	for range n.Users {
		size, err := binary.ReadUvarint(r)
		if err == nil && size > maxRow {
			err = fmt.Errorf("an id of %d bytes", size)
		}
		if err != nil {
			return err
		}
		id = append(id[:0], make([]byte, size)...)
		packed = append(packed[:0], make([]byte, 4*n.Numbers)...)
		if _, err := io.ReadFull(r, id); err != nil {
			return err
		}
		if _, err := io.ReadFull(r, packed); err != nil {
			return err
		}
		if !users[string(id)] {
			continue
		}
		sum = sum[:0]
		for i := 0; i < len(packed); i += 4 {
			sum = append(sum, math.Float32frombits(binary.LittleEndian.Uint32(packed[i:])))
		}
		to.Add(id, sum)
	}
	return nil
}
