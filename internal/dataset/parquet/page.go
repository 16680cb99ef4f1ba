package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"privrec/internal/dataset/compress"
)

// Limits of a page. Writers make pages of about a megabyte and of 20,000 values.
const (
	maxPage    = 16 << 20 // bytes, after decompression
	maxValues  = 1 << 22
	maxEntries = 1 << 20 // of a dictionary
	maxHeader  = 1 << 16 // bytes
	maxList    = 1 << 16 // values
)

// Value holds the value of a cell.
type Value struct {
	Null  bool
	Int   int64 // of Int and of Time; of unsigned columns as a uint64's bits
	Float float64
	Text  []byte    // valid until the next row
	Items []Value   // of other lists, valid until the next row; an absent or empty one has one value, which is Null
	List  []float64 // of Floats, valid until the next row; a list that is absent or empty, or has a null, is Null
}

// cursor reads a column of a row group, a page at a time.
type cursor struct {
	f     *File
	c     Column
	at    int64 // of the next page
	left  int64 // values whose page is not read yet
	codec int64
	dict  []Value

	ready int      // values of the page that are not taken yet
	null  []bool   // of them; nil: none can be
	begin []bool   // of the values of lists: it is the first of a row
	index []uint32 // of them that are not null, in the dictionary; nil: they are in plain
	plain []byte
	list  []float64 // of the row
	items []Value   // likewise, of lists of other things
}

// cursor returns a cursor for a column of a row group.
func (f *File) cursor(group node, c Column) (*cursor, error) {
	chunks := group.at(1).list
	if c.chunk >= len(chunks) {
		return nil, errThrift
	}
	if len(chunks[c.chunk].at(1).bytes) > 0 {
		return nil, errors.New("its values are in another file")
	}
	meta := chunks[c.chunk].at(3)
	if !meta.has(9) {
		return nil, errors.New("it is encrypted")
	}
	at := meta.at(9).number
	if d := meta.at(11).number; meta.has(11) && d > 0 && d < at {
		at = d
	}
	if meta.at(1).number != c.physical {
		return nil, errThrift
	}
	return &cursor{f: f, c: c, at: at, left: meta.at(5).number, codec: meta.at(4).number}, nil
}

var errFew = errors.New("it has fewer values than rows")

// row returns the value of the next row.
func (p *cursor) row() (Value, error) {
	if !p.c.InLists {
		return p.value()
	}
	row := Value{}
	p.list, p.items = p.list[:0], p.items[:0]
	for first := true; ; first = false {
		ended, err := p.turn()
		if err != nil {
			return row, err
		}
		switch begins := !ended && p.begin[0]; {
		case first && ended:
			return row, errFew
		case first && !begins:
			return row, errors.New("a list does not begin where its row does")
		case !first && (ended || begins):
			row.List, row.Items = p.list, p.items
			return row, nil
		case max(len(p.list), len(p.items)) == maxList:
			return row, fmt.Errorf("a list of more than %d values", maxList)
		}
		v, err := p.value()
		if err != nil {
			return row, err
		}
		row.Null = row.Null || v.Null
		if p.c.Kind == Floats {
			p.list = append(p.list, v.Float)
			continue
		}
		v.Text = bytes.Clone(v.Text) // the page may be turned before the row ends
		p.items = append(p.items, v)
	}
}

// turn moves to the page with the next value. ended is true if there is none.
func (p *cursor) turn() (ended bool, err error) {
	for p.ready == 0 {
		if p.left <= 0 {
			return true, nil
		}
		if err := p.read(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// value returns the next value.
func (p *cursor) value() (v Value, err error) {
	ended, err := p.turn()
	switch {
	case err != nil:
		return v, err
	case ended:
		return v, errFew
	}
	p.ready--
	if p.c.InLists {
		p.begin = p.begin[1:]
	}
	if p.null != nil {
		is := p.null[0]
		if p.null = p.null[1:]; is {
			return Value{Null: true}, nil
		}
	}
	if p.index == nil {
		v, p.plain, err = p.c.take(p.plain)
		return v, err
	}
	v, p.index = p.dict[p.index[0]], p.index[1:]
	return v, nil
}

// read reads the next page.
func (p *cursor) read() error {
	if p.at < 4 || p.at >= p.f.size {
		return errThrift
	}
	head := make([]byte, min(maxHeader, p.f.size-p.at))
	if _, err := p.f.r.ReadAt(head, p.at); err != nil {
		return fmt.Errorf("read a page: %w", err)
	}
	d := &decoder{b: head}
	h, err := d.structure(0)
	if err != nil {
		return err
	}
	p.at += int64(len(head) - len(d.b))
	full, packed := h.at(2).number, h.at(3).number
	if full < 0 || full > maxPage || packed < 0 || packed > p.f.size-p.at {
		return fmt.Errorf("a page says that it has %d bytes, and %d in the file of %d bytes: at most %d are read", full,
			packed, p.f.size, maxPage)
	}
	b := make([]byte, packed)
	if _, err := p.f.r.ReadAt(b, p.at); err != nil {
		return fmt.Errorf("read a page: %w", err)
	}
	p.at += packed
	switch h.at(1).number {
	case 0:
		return p.data(h.at(5), b, int(full))
	case 2:
		return p.dictionary(h.at(7), b, int(full))
	case 3:
		return p.data2(h.at(8), b, int(full))
	case 1: // an index: not needed
		return nil
	}
	return errThrift
}

// codecs holds the compressions that are read.
var codecs = map[int64]compress.Kind{0: compress.Plain, 1: compress.Snappy, 2: compress.Gzip, 6: compress.Zstd}
var codecNames = map[int64]string{3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4_RAW"}

// unpack returns a page decompressed to its stated size.
func (p *cursor) unpack(b []byte, size int) ([]byte, error) {
	codec, ok := codecs[p.codec]
	if !ok {
		return nil, fmt.Errorf("compressed with %s, which is not read: write it with Snappy or zstd",
			codecNames[p.codec])
	}
	return compress.Unpack(codec, b, size)
}

// count returns the number of values that a page states, after checking it.
func (p *cursor) count(h node) (int, error) {
	n := h.at(1).number
	if n < 0 || n > maxValues {
		return 0, fmt.Errorf("a page says that it has %d values: at most %d are read", n, maxValues)
	}
	return int(n), nil
}

// dictionary reads a dictionary page.
func (p *cursor) dictionary(h node, b []byte, size int) error {
	n, err := p.count(h)
	if err != nil {
		return err
	}
	if n > maxEntries {
		return fmt.Errorf("a dictionary of %d values: at most %d are read", n, maxEntries)
	}
	if b, err = p.unpack(b, size); err != nil {
		return err
	}
	p.dict = nil
	for range n {
		var v Value
		if v, b, err = p.c.take(b); err != nil {
			return err
		}
		p.dict = append(p.dict, v)
	}
	return nil
}

// data reads a data page of version 1: levels and values are compressed together.
func (p *cursor) data(h node, b []byte, size int) error {
	n, err := p.count(h)
	if err != nil {
		return err
	}
	if b, err = p.unpack(b, size); err != nil {
		return err
	}
	var repeats, levels []byte
	if p.c.InLists {
		if repeats, b, err = runsOf(h.at(4).number, b); err != nil {
			return err
		}
	}
	if p.c.levels > 0 {
		if levels, b, err = runsOf(h.at(3).number, b); err != nil {
			return err
		}
	}
	return p.values(h.at(2).number, n, repeats, levels, b)
}

// runsOf cuts encoded levels, which begin with their length, from the front of a page.
func runsOf(encoding int64, b []byte) (levels, rest []byte, err error) {
	if encoding != 3 {
		return nil, nil, errors.New("levels that are not run lengths are not read")
	}
	if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
		return nil, nil, errRuns
	}
	length := int(binary.LittleEndian.Uint32(b))
	return b[4 : 4+length], b[4+length:], nil
}

// data2 reads a data page of version 2: levels are before the values and not compressed.
func (p *cursor) data2(h node, b []byte, size int) error {
	n, err := p.count(h)
	if err != nil {
		return err
	}
	levels, repeats := h.at(5).number, h.at(6).number
	if levels < 0 || repeats < 0 || levels > int64(len(b)) || repeats > int64(len(b)) ||
		levels+repeats > int64(min(len(b), size)) {
		return errRuns
	}
	above := int(levels + repeats)
	rep, def := b[:repeats], b[repeats:above]
	b = b[above:]
	if !h.has(7) || h.at(7).number != 0 {
		if b, err = p.unpack(b, size-above); err != nil {
			return err
		}
	}
	return p.values(h.at(4).number, n, rep, def, b)
}

// values takes the n values of a page, nulls included.
func (p *cursor) values(encoding int64, n int, repeats, levels, b []byte) error {
	if int64(n) > p.left {
		return errors.New("it has more values than it says")
	}
	p.left -= int64(n)
	p.null, p.begin, p.index, p.plain = nil, nil, nil, nil
	if p.c.InLists {
		if err := runs(repeats, 1, n, func(v uint32) error {
			p.begin = append(p.begin, v == 0)
			return nil
		}); err != nil {
			return err
		}
	}
	present := n
	if most := uint32(p.c.levels); most > 0 {
		present = 0
		if err := runs(levels, bits.Len32(most), n, func(v uint32) error {
			if v > most {
				return errRuns
			}
			p.null = append(p.null, v < most)
			if v == most {
				present++
			}
			return nil
		}); err != nil {
			return err
		}
	}
	switch encoding {
	case 0:
		p.plain = b
	case 2, 8:
		if err := p.indices(b, present); err != nil {
			return err
		}
	default:
		return fmt.Errorf("encoding %s is not read: write it plain or with a dictionary", encodingName(encoding))
	}
	p.ready = n
	return nil
}

func encodingName(e int64) string {
	names := map[int64]string{3: "RLE", 4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY",
		7: "DELTA_BYTE_ARRAY", 9: "BYTE_STREAM_SPLIT"}
	if n, ok := names[e]; ok {
		return n
	}
	return fmt.Sprint(e)
}

// indices reads n indices into the dictionary.
func (p *cursor) indices(b []byte, n int) error {
	p.index = []uint32{}
	if n == 0 {
		return nil
	}
	if len(b) == 0 {
		return errRuns
	}
	return runs(b[1:], int(b[0]), n, func(v uint32) error {
		if int64(v) >= int64(len(p.dict)) {
			return errors.New("a value is not in the dictionary")
		}
		p.index = append(p.index, v)
		return nil
	})
}

// widths holds the size in bytes of a value of each physical type; for text, of its length. 0: not read.
var widths = [8]int{1: 4, 2: 8, 4: 4, 5: 8, 6: 4}

var errShort = errors.New("a page is shorter than its values")

// take returns a plainly encoded value from the front of b, and the rest.
func (c Column) take(b []byte) (v Value, rest []byte, err error) {
	size := widths[c.physical&7]
	if size == 0 {
		return v, nil, errThrift
	}
	if len(b) < size {
		return v, nil, errShort
	}
	x, rest := uint64(binary.LittleEndian.Uint32(b)), b[size:]
	if size == 8 {
		x = binary.LittleEndian.Uint64(b)
	}
	switch c.physical {
	case 1:
		v.Int = int64(int32(x))
		if c.unsigned {
			v.Int = int64(x)
		}
	case 2:
		v.Int = int64(x)
	case 4:
		v.Float = float64(math.Float32frombits(uint32(x)))
	case 5:
		v.Float = math.Float64frombits(x)
	case 6:
		if x > uint64(len(rest)) {
			return v, nil, errShort
		}
		v.Text, rest = rest[:x], rest[x:]
	}
	return v, rest, nil
}
