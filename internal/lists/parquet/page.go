package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"privrec/internal/dataset/format"
)

// The limits of a page. Writers make pages of about a megabyte and of 20,000 values.
const (
	maxPage    = 16 << 20 // bytes, after decompression
	maxValues  = 1 << 22
	maxEntries = 1 << 20 // of a dictionary
	maxHeader  = 1 << 16 // bytes
)

// Value is a cell.
type Value struct {
	Null  bool
	Int   int64 // of Int; of unsigned columns as a uint64's bits
	Float float64
	Text  []byte // valid until the next row
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
	index []uint32 // of them that are not null, in the dictionary; nil: they are in plain
	plain []byte
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

// value returns the next value.
func (p *cursor) value() (v Value, err error) {
	for p.ready == 0 {
		if p.left <= 0 {
			return v, errors.New("it has fewer values than rows")
		}
		if err := p.read(); err != nil {
			return v, err
		}
	}
	p.ready--
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
		return fmt.Errorf("a page says that it has %d bytes, and %d in the file of %d bytes: at most %d are read", full, packed, p.f.size, maxPage)
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

// codecs are the compressions that are read, and the names of the others.
var codecs = map[int64]format.Compression{0: format.Plain, 1: format.Snappy, 2: format.Gzip, 6: format.Zstd}
var codecNames = map[int64]string{3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4_RAW"}

// unpack decompresses a page to the size that it says.
func (p *cursor) unpack(b []byte, size int) ([]byte, error) {
	codec, ok := codecs[p.codec]
	if !ok {
		return nil, fmt.Errorf("compressed with %s, which is not read: write it with Snappy or zstd", codecNames[p.codec])
	}
	return format.Unpack(codec, b, size)
}

// count checks how many values a page says it has.
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
	var levels []byte
	if p.c.optional {
		if h.at(3).number != 3 {
			return errors.New("definition levels that are not run lengths are not read")
		}
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return errRuns
		}
		length := int(binary.LittleEndian.Uint32(b))
		levels, b = b[4:4+length], b[4+length:]
	}
	return p.values(h.at(2).number, n, levels, b)
}

// data2 reads a data page of version 2: levels stand before the values, and are not compressed.
func (p *cursor) data2(h node, b []byte, size int) error {
	n, err := p.count(h)
	if err != nil {
		return err
	}
	levels, repeats := h.at(5).number, h.at(6).number
	if levels < 0 || repeats < 0 || levels > int64(len(b)) || repeats > int64(len(b)) || levels+repeats > int64(min(len(b), size)) {
		return errRuns
	}
	above := int(levels + repeats)
	def := b[repeats:above]
	b = b[above:]
	if !h.has(7) || h.at(7).number != 0 {
		if b, err = p.unpack(b, size-above); err != nil {
			return err
		}
	}
	return p.values(h.at(4).number, n, def, b)
}

// values takes the n values of a page, nulls included.
func (p *cursor) values(encoding int64, n int, levels, b []byte) error {
	if int64(n) > p.left {
		return errors.New("it has more values than it says")
	}
	p.left -= int64(n)
	p.null, p.index, p.plain = nil, nil, nil
	present := n
	if p.c.optional {
		present = 0
		if err := runs(levels, 1, n, func(v uint32) error {
			p.null = append(p.null, v == 0)
			present += int(v & 1)
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
	names := map[int64]string{3: "RLE", 4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY", 9: "BYTE_STREAM_SPLIT"}
	if n, ok := names[e]; ok {
		return n
	}
	return fmt.Sprint(e)
}

// indices reads n places in the dictionary.
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

// widths are the bytes of a value of each physical type; of text those of its length. 0: it is not read.
var widths = [8]int{1: 4, 2: 8, 4: 4, 5: 8, 6: 4}

var errShort = errors.New("a page is shorter than its values")

// take takes a value that is written as it is from the front of b.
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
