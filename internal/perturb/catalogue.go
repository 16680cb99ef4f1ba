package perturb

import (
	"context"
	"errors"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// Catalogue holds the items of records, counted from 0: names, or the numbers from 1 to Size.
type Catalogue struct {
	Size  int
	index map[string]int32 // of names; nil: numbers
	names []byte           // one after the other
	ends  []int            // of each
}

// OpenCatalogue opens the catalogue of the settings. line describes a line of a .txt file, for errors.
func OpenCatalogue(ctx context.Context, s *Settings, line string) (*Catalogue, error) {
	if s.Catalogue == "" {
		return &Catalogue{Size: s.Items}, nil
	}
	form, err := FormOf("catalogue", s.Catalogue, line, "")
	if err != nil {
		return nil, err
	}
	names, err := format.ReadIDs(ctx, s.Catalogue, form, "item_id")
	if err != nil {
		return nil, err
	}
	c := NewCatalogue()
	for _, name := range names {
		c.Add(name)
	}
	return c, nil
}

// NewCatalogue returns a catalogue for names, with none yet.
func NewCatalogue() *Catalogue { return &Catalogue{index: map[string]int32{}} }

// Add adds a name that the catalogue does not have, and returns its number.
func (c *Catalogue) Add(name string) int32 {
	item := int32(c.Size)
	c.names, c.index[name] = append(c.names, name...), item
	c.ends = append(c.ends, len(c.names))
	c.Size++
	return item
}

// Named reports whether items have names. Otherwise they are numbers.
func (c *Catalogue) Named() bool { return c.index != nil }

// Number returns the number of an item; ok is false if there is no such item. A numeric id has at
// most ten digits and no leading zero, so that no two ids are one item.
func (c *Catalogue) Number(id []byte) (item int32, ok bool) {
	if c.Named() {
		item, ok = c.index[string(id)]
		return item, ok
	}
	n, ok := WholeNumber(id)
	if !ok || id[0] == '0' || n > c.Size {
		return 0, false
	}
	return int32(n - 1), true
}

// WholeNumber reads one to ten digits.
func WholeNumber(id []byte) (n int, ok bool) {
	for _, c := range id {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(id) > 0 && len(id) <= 10
}

// Append writes an item's id as a field of a form.
func (c *Catalogue) Append(dst []byte, f format.Form, item int32) ([]byte, error) {
	if !c.Named() {
		return strconv.AppendInt(dst, int64(item)+1, 10), nil
	}
	from := 0
	if item > 0 {
		from = c.ends[item-1]
	}
	return f.AppendField(dst, c.names[from:c.ends[item]])
}

// Name returns an item's id.
func (c *Catalogue) Name(item int32) string {
	if !c.Named() {
		return strconv.FormatInt(int64(item)+1, 10)
	}
	from := 0
	if item > 0 {
		from = c.ends[item-1]
	}
	return string(c.names[from:c.ends[item]])
}

// Writable fails on names that a form cannot hold, also on those that would not be drawn: a failure that depended on
// the noise would let users choose among outputs. file names the source of the names.
func (c *Catalogue) Writable(f format.Form, file string) error {
	var b []byte
	for i := range c.ends {
		var err error
		if b, err = c.Append(b[:0], f, int32(i)); err != nil {
			return Placed(err, file, "item_id", 0)
		}
	}
	return nil
}

// Placed adds the place of an id to the error that a form cannot hold it. Line 0 means unknown.
func Placed(err error, file, column string, line int) error {
	if e := (*dataset.Error)(nil); errors.As(err, &e) {
		e.File, e.Field, e.Line = file, column, line
	}
	return err
}
