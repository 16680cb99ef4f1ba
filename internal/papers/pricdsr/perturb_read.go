package pricdsr

import (
	"context"
	"fmt"
	"strconv"

	"privrec/internal/dataset/format"
)

// reader makes rows of histories (definition 1): of a user's items the first
// occurrences, of these the last L, zeros in front.
type reader struct {
	s      *format.Stream
	cat    *Catalogue
	length int
	strict bool

	seen []uint32 // by item: the mark of the user who had it last
	mark uint32
	ring []int32 // last items of the user, in a circle
	n    int64   // distinct items of the user

	left leftOut
}

// leftOut is what was read, what of it was left out, and of how many users.
type leftOut struct{ rows, repeats, repeatUsers, cut, cutUsers int64 }

func openReader(ctx context.Context, o Options, cat *Catalogue) (*reader, error) {
	s, err := format.OpenStream(ctx, o.In, o.InForm)
	if err != nil {
		return nil, err
	}
	return &reader{s: s, cat: cat, length: o.Length, strict: o.Strict, seen: make([]uint32, cat.Items+1), ring: make([]int32, o.Length)}, nil
}

func (r *reader) close() { r.s.Close() }

// fill reads the whole file into blocks.
func (r *reader) fill(next func() *block) error {
	b := next()
	var row []int32 // of the user at hand
	repeated := false
	finish := func() {
		if row == nil {
			return
		}
		r.finish(row)
		if repeated {
			r.left.repeatUsers++
		}
		row, repeated = nil, false
	}
	for r.s.Next() {
		if r.s.Starts {
			finish()
			if b != nil && b.full() {
				b = next()
			}
			if b == nil {
				return nil // given up: there is an error already
			}
			row = b.push(r.s.User, int64(r.s.Line()))
			r.begin()
		}
		if r.s.Item == nil {
			continue
		}
		r.left.rows++
		id, err := r.item(r.s.Item)
		if err != nil {
			return err
		}
		if r.seen[id] == r.mark {
			if r.strict {
				return r.s.Fail(r.field("item_id"), fmt.Sprintf("item %.40q comes again for user %.40q", r.s.Item, r.s.User), "without --strict the first occurrence counts")
			}
			r.left.repeats++
			repeated = true
			continue
		}
		r.seen[id] = r.mark
		if r.strict && r.n == int64(r.length) {
			return r.s.Fail(r.field("user_id"), fmt.Sprintf("user %.40q has more than %d items", r.s.User, r.length), "without --strict the last ones count; --length says how many")
		}
		r.ring[r.n%int64(r.length)] = id
		r.n++
	}
	finish()
	return r.s.Err()
}

// field is what a column is called on lines, which have none.
func (r *reader) field(name string) string {
	if r.s.Form() == format.Lines {
		return name[:len(name)-len("_id")]
	}
	return name
}

func (r *reader) begin() {
	r.mark++
	if r.mark == 0 { // 2^32 users: marks start over
		clear(r.seen)
		r.mark = 1
	}
	r.n = 0
}

// finish writes the user's row.
func (r *reader) finish(row []int32) {
	l := int64(r.length)
	kept := min(r.n, l)
	clear(row[:l-kept])
	for i := range kept {
		row[l-kept+i] = r.ring[(r.n-kept+i)%l]
	}
	if r.n > l {
		r.left.cut += r.n - l
		r.left.cutUsers++
	}
}

// item is the number of an id.
func (r *reader) item(b []byte) (int32, error) {
	if r.cat.names != nil {
		if id, ok := r.cat.index[string(b)]; ok {
			return id, nil
		}
		return 0, r.s.Fail(r.field("item_id"), fmt.Sprintf("item %.40q is not in the catalogue of %d items", b, r.cat.Items), "the catalogue is all items there are, whoever has them")
	}
	id := 0
	for _, c := range b {
		if c < '0' || c > '9' || len(b) > 10 {
			return 0, r.s.Fail(r.field("item_id"), fmt.Sprintf("item %.40q is not a number from 1 to %d", b, r.cat.Items), "give the ids in --catalogue FILE where they are not 1 to m")
		}
		id = 10*id + int(c-'0')
	}
	switch {
	case id == 0:
		return 0, r.s.Fail(r.field("item_id"), "item 0 is padding, items are 1 to "+strconv.Itoa(r.cat.Items), "number the items from 1, or give their ids in --catalogue FILE")
	case id > r.cat.Items:
		return 0, r.s.Fail(r.field("item_id"), fmt.Sprintf("item %d is outside the catalogue of %d items", id, r.cat.Items), "--items is the size of the whole catalogue, whoever has the items")
	}
	return int32(id), nil
}
