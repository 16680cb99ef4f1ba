// Package histories reads and writes what users did as records of perturb: the items of a user in
// order of time, in rows of fixed length. Of repeated items the first occurrence counts, and of
// longer histories the last items. Missing items are padding in front (definition 1 of
// "Privacy-preserving cross-domain sequential recommendation").
package histories

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
)

// EmptyFile is the name of the table of users with an empty row.
const EmptyFile = "empty"

// Beside returns the table beside the output: the users with an empty row.
func Beside() []perturb.Output { return []perturb.Output{{Name: EmptyFile, Path: ".empty.tsv"}} }

// Reader reads a file user by user. Cells are items from 1, and 0 is padding; the id is the user's.
// It is the Records of a job with the tables of [Beside].
type Reader struct {
	Tally Tally // what was left out so far

	s       *format.Stream
	cat     *perturb.Catalogue
	set     *perturb.Settings
	strict  bool
	more    bool // the next row, of the next user, is read already
	scratch []byte
	tails   [][]byte // what follows an item at each position

	seen []uint32 // by item: the mark of the user who had it last
	mark uint32
	ring []int32 // the last items of the user, in a circle
	n    int64   // distinct items of the user
}

// Tally counts the rows that were read, those left out, and the users concerned.
type Tally struct{ Rows, Repeats, RepeatUsers, Cut, CutUsers int64 }

// Open opens the file of settings. With strict it fails on repeated items and on longer histories.
func Open(ctx context.Context, s *perturb.Settings, cat *perturb.Catalogue, strict bool) (*Reader, error) {
	in, err := format.OpenStream(ctx, s.In, s.InForm)
	if err != nil {
		return nil, err
	}
	in.Together = true
	if s.Progress != nil {
		for _, left := range in.Left {
			s.Progress.Phase(filepath.Base(s.In) + ": " + left)
		}
	}
	r := &Reader{s: in, cat: cat, set: s, strict: strict, seen: make([]uint32, cat.Size+1),
		ring: make([]int32, s.Length), tails: make([][]byte, s.Length)}
	for c := range r.tails {
		r.tails[c] = append(strconv.AppendInt([]byte{s.OutForm.Separator()}, int64(c+1), 10), '\n')
	}
	return r, nil
}

// Close releases the file.
func (r *Reader) Close() { r.s.Close() }

// Digest returns the digest of the file.
func (r *Reader) Digest() (string, error) { return r.s.Digest() }

// Sort returns advice on how to put the rows of a user together.
func (r *Reader) Sort() string { return r.s.Sort() }

// Length returns the number of cells of a row.
func (r *Reader) Length() int { return r.set.Length }

// Read reads the next user.
func (r *Reader) Read(b *perturb.Block[int32]) (ok bool, err error) {
	if !r.more && !r.s.Next() {
		return false, r.s.Err()
	}
	if err := r.writable(); err != nil {
		return false, err
	}
	row := b.Push(r.s.Line(), r.s.User)
	r.begin()
	repeated := false
	for {
		if r.s.Item != nil {
			again, err := r.take()
			if err != nil {
				return false, err
			}
			repeated = repeated || again
		}
		if r.more = r.s.Next(); !r.more || r.s.Starts {
			break
		}
	}
	r.finish(row)
	if repeated {
		r.Tally.RepeatUsers++
	}
	return true, r.s.Err()
}

// writable fails on a user id that one of the tables cannot hold. The noise decides which table gets the id, but must
// not decide a failure: users who try again would choose among outputs.
func (r *Reader) writable() (err error) {
	r.scratch, err = Writable(r.scratch[:0], r.set.OutForm, r.s.User)
	return perturb.Placed(err, r.set.In, "user_id", r.s.Line())
}

// Writable appends a user id in the form of the output. It fails on one that the output or the list of empty rows
// cannot hold.
func Writable(dst []byte, out format.Form, user []byte) (_ []byte, err error) {
	if dst, err = out.AppendField(dst, user); err == nil && bytes.IndexByte(user, '\t') >= 0 {
		err = &dataset.Error{Msg: fmt.Sprintf(
			"user id %.40q has a tab in it, which the list of empty rows, a .tsv, cannot hold", user),
			Hint: "give the user another id"}
	}
	return dst, err
}

func (r *Reader) begin() {
	r.mark++
	if r.mark == 0 { // 2^32 users: marks start over
		clear(r.seen)
		r.mark = 1
	}
	r.n = 0
}

// take reads the item of the current row, unless the user has it already.
func (r *Reader) take() (again bool, err error) {
	r.Tally.Rows++
	id, err := r.item(r.s.Item)
	if err != nil {
		return false, err
	}
	if r.seen[id] == r.mark {
		if r.strict {
			return false, r.fail("item_id", "without --strict the first occurrence counts",
				"item %.40q comes again for user %.40q", r.s.Item, r.s.User)
		}
		r.Tally.Repeats++
		return true, nil
	}
	r.seen[id] = r.mark
	if r.strict && r.n == int64(len(r.ring)) {
		return false, r.fail("user_id", "without --strict the last ones count; --length says how many",
			"user %.40q has more than %d items", r.s.User, len(r.ring))
	}
	r.ring[r.n%int64(len(r.ring))] = id
	r.n++
	return false, nil
}

// finish writes the user's row.
func (r *Reader) finish(row []int32) {
	l := int64(len(r.ring))
	kept := min(r.n, l)
	clear(row[:l-kept])
	for i := range kept {
		row[l-kept+i] = r.ring[(r.n-kept+i)%l]
	}
	if r.n > l {
		r.Tally.Cut += r.n - l
		r.Tally.CutUsers++
	}
}

// fail returns an error at the current line. Files without columns have other field names.
func (r *Reader) fail(field, hint, msg string, args ...any) error {
	if r.s.Form() == format.Lines {
		field = field[:len(field)-len("_id")]
	}
	return r.s.Fail(field, fmt.Sprintf(msg, args...), hint)
}

// Cell returns the cell for an item's id. ok is false if there is no such item.
func Cell(cat *perturb.Catalogue, b []byte) (cell int32, ok bool) {
	if cat.Named() {
		id, ok := cat.Number(b)
		return id + 1, ok
	}
	id, ok := perturb.WholeNumber(b)
	return int32(id), ok && id > 0 && id <= cat.Size
}

// item returns the cell of an id.
func (r *Reader) item(b []byte) (int32, error) {
	if id, ok := Cell(r.cat, b); ok {
		return id, nil
	}
	if r.cat.Named() {
		return 0, r.fail("item_id", "the catalogue lists all items, also those that no user has",
			"item %.40q is not in the catalogue of %d items", b, r.cat.Size)
	}
	id, ok := perturb.WholeNumber(b)
	switch {
	case !ok:
		return 0, r.fail("item_id", "give the ids in --catalogue FILE where they are not 1 to m",
			"item %.40q is not a number from 1 to %d", b, r.cat.Size)
	case id == 0:
		return 0, r.fail("item_id", "number the items from 1, or give their ids in --catalogue FILE",
			"item 0 is padding, items are 1 to %d", r.cat.Size)
	}
	return 0, r.fail("item_id", "--items counts the whole catalogue, also the items that no user has",
		"item %d is outside the catalogue of %d items", id, r.cat.Size)
}
