package exposure

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// slateReader reads slates of one length: one a line, "user item item ...", one a row of
// a table with user_id and item_1 to item_T, or with user_id, slate_id, position and
// item_id one a stretch of rows. Other columns are passed over.
type slateReader struct {
	file string
	rows *format.Rows
	cat  *itemNames
	t    int  // 0: not known yet
	said bool // t is what the options say

	user, slate, position, item int   // columns; slate is -1 where a row is a slate
	wide                        []int // columns of the items of such a row

	// The slate at hand, valid until read.
	userID, slateID []byte
	items           []int32
	line            int // its first

	more bool       // long: a row of the next slate is at hand
	once slateTally // long: the slates so far
}

// openSlates opens the file and reads the first slate, which tells the length of all.
func openSlates(ctx context.Context, o *PerturbOptions, cat *itemNames) (*slateReader, error) {
	rows, err := format.OpenRows(ctx, o.In, o.InForm)
	if err != nil {
		return nil, err
	}
	r := &slateReader{file: o.In, rows: rows, cat: cat, t: o.Length, said: o.Length > 0, slate: -1}
	err = r.columns()
	ok := false
	if err == nil {
		ok, err = r.read()
	}
	if err == nil && !ok { // rows without any are an error of their own
		err = &dataset.Error{File: o.In, Msg: "no slates in the file"}
	}
	if err != nil {
		rows.Close()
		return nil, err
	}
	r.t = len(r.items)
	return r, nil
}

func (r *slateReader) close() { r.rows.Close() }

// long is true where slates have ids.
func (r *slateReader) long() bool { return r.slate >= 0 }

// fail is an error at the current line.
func (r *slateReader) fail(field, msg, hint string) error {
	if r.rows.Form() == format.Lines {
		field = strings.TrimSuffix(field, "_id")
	}
	return r.rows.Fail(field, msg, hint)
}

func (r *slateReader) columns() (err error) {
	if r.rows.Form() == format.Lines {
		return nil
	}
	if r.user, err = r.rows.Column("user_id"); err != nil {
		return err
	}
	if slices.Contains(r.rows.Columns, "slate_id") {
		for _, x := range []struct {
			name string
			at   *int
		}{{"slate_id", &r.slate}, {"position", &r.position}, {"item_id", &r.item}} {
			if *x.at, err = r.rows.Column(x.name); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		i := slices.Index(r.rows.Columns, "item_"+strconv.Itoa(len(r.wide)+1))
		if i < 0 {
			break
		}
		r.wide = append(r.wide, i)
	}
	for i, name := range r.rows.Columns { // not another column: one that would be lost
		n, found := strings.CutPrefix(name, "item_")
		if _, err := strconv.Atoi(n); found && err == nil && !slices.Contains(r.wide, i) {
			return r.rows.Fail("", fmt.Sprintf("column %s is in the header, and %d columns in a row from item_1", name, len(r.wide)), "positions count from 1, and none is left out")
		}
	}
	if len(r.wide) == 0 {
		return r.rows.Fail("", "neither slate_id nor item_1 is in the header: "+strings.Join(r.rows.Columns, ", "),
			"a slate a row has user_id and item_1 to item_T, an item a row has user_id, slate_id, position and item_id")
	}
	return nil
}

// read moves to the next slate; not ok at the end.
func (r *slateReader) read() (ok bool, err error) {
	if !r.more && !r.rows.Next() {
		return false, r.rows.Err()
	}
	r.items, r.line = r.items[:0], r.rows.Line()
	if r.long() {
		err = r.readLong()
	} else {
		err = r.readRow()
	}
	return err == nil, err
}

// readRow reads the slate of a row or a line.
func (r *slateReader) readRow() error {
	f := r.rows.Fields
	n := len(r.wide)
	if n == 0 {
		n = len(f) - 1
	}
	r.userID = append(r.userID[:0], f[r.user]...)
	if len(r.userID) == 0 {
		return r.fail("user_id", "empty", "every slate needs a user")
	}
	if err := r.length(n); err != nil {
		return err
	}
	for i := range n {
		at := i + 1
		if r.wide != nil {
			at = r.wide[i]
		}
		if err := r.push(f[at]); err != nil {
			return err
		}
	}
	return nil
}

// length refuses a slate of another length than the others, or than the one asked for.
func (r *slateReader) length(n int) error {
	switch {
	case n == 0:
		return r.fail("item_id", fmt.Sprintf("user %.40q has a slate without items", r.userID), "leave the line out")
	case r.t != 0 && n != r.t:
		due, hint := r.due()
		field := "item_id"
		if r.wide != nil { // all of its columns
			field = ""
		}
		return r.fail(field, fmt.Sprintf("the slate has %d items, %s", n, due), hint)
	}
	return nil
}

// due says which length a slate ought to have, and what to do about another.
func (r *slateReader) due() (due, hint string) {
	if r.said {
		return fmt.Sprintf("--length says %d", r.t), "leave out --length where all slates are of one length, or split the file by length"
	}
	return fmt.Sprintf("the others have %d", r.t), "slates of a file are of one length: split the file by length"
}

// field is the column of the item that is read next.
func (r *slateReader) field() string {
	if r.wide != nil {
		return "item_" + strconv.Itoa(len(r.items)+1)
	}
	return "item_id"
}

func (r *slateReader) push(item []byte) error {
	if len(item) == 0 {
		return r.fail(r.field(), "empty", "a position without an item cannot be protected")
	}
	id, err := r.cat.item(r, item)
	if err != nil {
		return err
	}
	r.items = append(r.items, id)
	return nil
}

// readLong reads the rows of a slate, of which the first is at hand.
func (r *slateReader) readLong() error {
	f := r.rows.Fields
	r.userID, r.slateID = append(r.userID[:0], f[r.user]...), append(r.slateID[:0], f[r.slate]...)
	if len(r.userID) == 0 || len(r.slateID) == 0 {
		return r.fail("user_id", "a user or a slate without an id", "every row needs both")
	}
	for {
		at, err := r.rows.Int(r.position)
		if err != nil {
			return err
		}
		if at != int64(len(r.items)+1) {
			return r.fail("position", fmt.Sprintf("position %d of slate %.40q comes where %d is due", at, r.slateID, len(r.items)+1),
				"the rows of a slate stand together, in order of position, from 1")
		}
		if at == 1 && !r.once.add(r.userID, r.slateID) {
			return r.fail("slate_id", fmt.Sprintf("slate %.40q of user %.40q is in the file twice", r.slateID, r.userID),
				"a slate is released once: leave one out, or give the other an id of its own")
		}
		if err := r.push(r.rows.Fields[r.item]); err != nil {
			return err
		}
		if r.t != 0 && len(r.items) > r.t {
			return r.length(len(r.items))
		}
		r.more = r.rows.Next()
		if !r.more {
			if err := r.rows.Err(); err != nil {
				return err
			}
			break
		}
		f := r.rows.Fields
		if !bytes.Equal(f[r.user], r.userID) || !bytes.Equal(f[r.slate], r.slateID) {
			break
		}
	}
	if r.t != 0 && len(r.items) != r.t {
		due, hint := r.due()
		return &dataset.Error{File: r.file, Line: r.line, Field: "position", Msg: fmt.Sprintf("slate %.40q has %d items, %s", r.slateID, len(r.items), due), Hint: hint}
	}
	return nil
}
