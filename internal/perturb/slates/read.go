// Package slates reads and writes recommended slates as records of perturb: lists of one length,
// each with the user to whom it was shown, and with an id of its own if the file has one.
package slates

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
)

// Reader reads slates of one length. The file has one slate a line, "user item item ...", or one a
// row of a table with user_id and item_1 to item_T, or one item a row with user_id, slate_id,
// position and item_id. Other columns are ignored. Cells are items from 0. The ids are the user's
// and, in the last layout, the slate's. Reader is the Records of a job.
type Reader struct {
	Items []int32 // items of the current slate, valid until Next

	set  *perturb.Settings
	rows *format.Rows
	cat  *perturb.Catalogue
	new  bool // the catalogue takes every new item
	t    int  // 0: not known yet

	user, slate, position, item int   // columns; slate is -1 if a row is a slate
	wide                        []int // columns of the items of such a row

	// The current slate, valid until Next.
	userID, slateID []byte
	line            int  // its first line
	held            bool // Read has not returned it yet

	more  bool       // in the last layout: the row of the next slate is read already
	tally slateTally // in the last layout: the slates so far
}

// MaxItems keeps every item in 32 bits.
const MaxItems = 1 << 30

// Open opens the file of settings and reads the first slate, which sets the length of all. room is the number of slates
// remembered to find repeated ones.
func Open(ctx context.Context, s *perturb.Settings, cat *perturb.Catalogue, room int) (*Reader, error) {
	rows, err := format.OpenRows(ctx, s.In, s.InForm)
	if err != nil {
		return nil, err
	}
	r := &Reader{set: s, rows: rows, cat: cat, new: cat.Size == 0, t: s.Length, slate: -1,
		tally: slateTally{room: room}}
	err = r.columns()
	ok := false
	if err == nil {
		ok, err = r.Next()
	}
	if err == nil && !ok { // rows without a slate have an error of their own
		err = &dataset.Error{File: s.In, Msg: "no slates in the file"}
	}
	if err != nil {
		rows.Close()
		return nil, err
	}
	r.t, r.held = len(r.Items), true
	read := append([]int{r.user}, r.wide...)
	if r.slate >= 0 {
		read = append(read, r.slate, r.position, r.item)
	}
	perturb.Unread(s.Progress, s.In, rows.Unread(read...))
	return r, nil
}

// Close releases the file.
func (r *Reader) Close() { r.rows.Close() }

// Digest returns the digest of the file.
func (r *Reader) Digest() (string, error) { return r.rows.Digest() }

// Length returns the number of items of every slate.
func (r *Reader) Length() int { return r.t }

// Named reports whether slates have ids.
func (r *Reader) Named() bool { return r.slate >= 0 }

// Distinct reports whether each slate is certainly in the file only once.
func (r *Reader) Distinct() bool { return r.tally.complete() }

// Read reads the next slate.
func (r *Reader) Read(b *perturb.Block[int32]) (ok bool, err error) {
	if !r.held {
		if ok, err := r.Next(); !ok || err != nil {
			return false, err
		}
	}
	r.held = false
	if r.Named() {
		copy(b.Push(r.line, r.userID, r.slateID), r.Items)
	} else {
		copy(b.Push(r.line, r.userID), r.Items)
	}
	return true, nil
}

// fail returns an error at the current line.
func (r *Reader) fail(field, msg, hint string) error {
	if r.rows.Form() == format.Lines {
		field = strings.TrimSuffix(field, "_id")
	}
	return r.rows.Fail(field, msg, hint)
}

func (r *Reader) columns() (err error) {
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
	for i, name := range r.rows.Columns { // not another column: its items would be lost
		n, found := strings.CutPrefix(name, "item_")
		if _, err := strconv.Atoi(n); found && err == nil && !slices.Contains(r.wide, i) {
			return r.rows.Fail("", fmt.Sprintf(
				"column %s is in the header, but only %d consecutive columns from item_1", name, len(r.wide)),
				"positions count from 1, and none is left out")
		}
	}
	if len(r.wide) == 0 {
		return r.rows.Fail("", "neither slate_id nor item_1 is in the header: "+strings.Join(r.rows.Columns, ", "),
			"slates in rows have user_id and item_1 to item_T, items in rows have user_id, slate_id, position and "+
				"item_id")
	}
	return nil
}

// Next moves to the next slate. ok is false at the end.
func (r *Reader) Next() (ok bool, err error) {
	if !r.more && !r.rows.Next() {
		return false, r.rows.Err()
	}
	r.Items, r.line = r.Items[:0], r.rows.Line()
	if r.Named() {
		err = r.readLong()
	} else {
		err = r.readRow()
	}
	return err == nil, err
}

// readRow reads the slate of a row or a line.
func (r *Reader) readRow() error {
	f := r.rows.Fields
	n := len(r.wide)
	if n == 0 {
		n = len(f) - 1
	}
	r.userID = append(r.userID[:0], f[r.user]...)
	if why := format.NoID(r.userID); why != "" {
		return r.fail("user_id", why, "every slate needs a user")
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

// length fails on a slate whose length differs from the others, or from the one asked for.
func (r *Reader) length(n int) error {
	switch {
	case n == 0:
		return r.fail("item_id", fmt.Sprintf("user %.40q has a slate without items", r.userID), "leave the line out")
	case r.t != 0 && n != r.t:
		due, hint := r.wanted()
		field := "item_id"
		if r.wide != nil { // all of its columns
			field = ""
		}
		return r.fail(field, fmt.Sprintf("the slate has %d items, %s", n, due), hint)
	}
	return nil
}

// wanted returns the required length of a slate, and a hint for another length.
func (r *Reader) wanted() (due, hint string) {
	if r.set.Length > 0 {
		return fmt.Sprintf("--length says %d", r.t),
			"leave out --length where all slates are of one length, or split the file by length"
	}
	return fmt.Sprintf("the others have %d", r.t), "slates of a file are of one length: split the file by length"
}

// field returns the column of the item that is read next.
func (r *Reader) field() string {
	if r.wide != nil {
		return "item_" + strconv.Itoa(len(r.Items)+1)
	}
	return "item_id"
}

func (r *Reader) push(item []byte) error {
	if why := format.NoID(item); why != "" {
		return r.fail(r.field(), why, "a position without an item cannot be protected")
	}
	id, ok := r.cat.Number(item)
	if !ok {
		if !r.new {
			return r.unknown(item)
		}
		if r.cat.Size == MaxItems {
			return r.fail(r.field(), fmt.Sprintf("more than %d items", MaxItems), "")
		}
		id = r.cat.Add(string(item))
	}
	r.Items = append(r.Items, id)
	return nil
}

// unknown returns the error for an item that is not in the catalogue.
func (r *Reader) unknown(item []byte) error {
	n, ok := perturb.WholeNumber(item)
	switch {
	case r.cat.Named():
		return r.fail(r.field(), fmt.Sprintf("item %.40q is not in the catalogue of %d items", item, r.cat.Size),
			"the catalogue must list all items, shown or not")
	case !ok || item[0] == '0' && len(item) > 1:
		return r.fail(r.field(), fmt.Sprintf("item %.40q is not a number from 1 to %d, without zeros in front", item,
			r.cat.Size), "give the ids in --catalogue FILE where they are not 1 to M")
	}
	return r.fail(r.field(), fmt.Sprintf("item %d is outside the catalogue of %d items", n, r.cat.Size),
		"--items is the size of the whole catalogue, from 1")
}

// readLong reads the rows of a slate. The first is read already.
func (r *Reader) readLong() error {
	f := r.rows.Fields
	r.userID, r.slateID = append(r.userID[:0], f[r.user]...), append(r.slateID[:0], f[r.slate]...)
	for i, id := range [][]byte{r.userID, r.slateID} {
		if why := format.NoID(id); why != "" {
			return r.fail([]string{"user_id", "slate_id"}[i], why, "every row needs a user and a slate")
		}
	}
	for {
		at, err := r.rows.Int(r.position)
		if err != nil {
			return err
		}
		if at != int64(len(r.Items)+1) {
			return r.fail("position", fmt.Sprintf("position %d of slate %.40q comes where %d is due", at, r.slateID,
				len(r.Items)+1),
				"the rows of a slate stand together, in order of position, from 1: "+
					r.rows.Sorted(r.position, r.user, r.slate))
		}
		if at == 1 && !r.tally.add(r.userID, r.slateID) {
			return r.fail("slate_id", fmt.Sprintf("slate %.40q of user %.40q is in the file twice", r.slateID,
				r.userID),
				"a slate is released once: leave one out, or give the other an id of its own")
		}
		if err := r.push(r.rows.Fields[r.item]); err != nil {
			return err
		}
		if r.t != 0 && len(r.Items) > r.t {
			return r.length(len(r.Items))
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
	if r.t != 0 && len(r.Items) != r.t {
		due, hint := r.wanted()
		return &dataset.Error{File: r.set.In, Line: r.line, Field: "position",
			Msg: fmt.Sprintf("slate %.40q has %d items, %s", r.slateID, len(r.Items), due), Hint: hint}
	}
	return nil
}
