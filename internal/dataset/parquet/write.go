package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"privrec/internal/dataset/compress"
)

// Field describes a column to write. Int is written as INT64, Float as DOUBLE, Text as UTF-8, and Floats as a list of
// FLOAT. No value may be null.
type Field struct {
	Name string
	Kind Kind
}

// Remark holds a text about a file, stored in its footer.
type Remark struct{ Key, Text string }

// Sizes of pages and row groups.
const (
	pageBytes  = 1 << 20
	pageValues = 1 << 18
	groupBytes = 32 << 20
)

// Writer writes rows to a file. Pages are plain, of version 1, and compressed by zstd. Equal rows give equal bytes.
type Writer struct {
	w       io.Writer
	fields  []Field
	columns []writing
	pack    *compress.Packer
	at      int64 // bytes written
	rows    int64 // of the whole file
	inGroup int64
	groups  []group
	err     error
}

// writing holds a column of the current row group.
type writing struct {
	values  []byte // of the page at hand
	repeats []byte // run lengths of its repetition levels, of lists
	n       int    // values of the page
	pages   []byte // finished
	full    int64  // bytes of the finished pages before compression
	total   int64  // values
}

// group describes a written row group.
type group struct {
	rows    int64
	columns []chunk
}

// chunk holds the position and size of a column of a row group.
type chunk struct{ at, full, packed, values int64 }

// NewWriter writes the beginning of a file and returns a writer for its rows.
func NewWriter(w io.Writer, fields ...Field) (*Writer, error) {
	pack, err := compress.NewPacker(compress.Zstd)
	if err != nil {
		return nil, err
	}
	out := &Writer{w: w, fields: fields, columns: make([]writing, len(fields)), pack: pack}
	out.write([]byte(Magic))
	return out, out.err
}

// write writes bytes, unless writing failed before.
func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(b)
	w.at += int64(n)
	w.err = err
}

// Row appends a row: a value for each field.
func (w *Writer) Row(v ...Value) error {
	if len(v) != len(w.fields) {
		return fmt.Errorf("parquet: a row of %d values for %d columns", len(v), len(w.fields))
	}
	buffered := 0
	for i := range w.columns {
		c := &w.columns[i]
		if err := c.add(w.fields[i].Kind, v[i]); err != nil {
			return fmt.Errorf("parquet: column %q, row %d: %w", w.fields[i].Name, w.rows+1, err)
		}
		if len(c.values) >= pageBytes || c.n >= pageValues {
			w.page(i)
		}
		buffered += len(c.pages) + len(c.values)
	}
	w.rows, w.inGroup = w.rows+1, w.inGroup+1
	if buffered >= groupBytes {
		w.group()
	}
	return w.err
}

// add appends a value to the current page.
func (c *writing) add(kind Kind, v Value) error {
	le := binary.LittleEndian
	switch kind {
	case Int:
		c.values = le.AppendUint64(c.values, uint64(v.Int))
	case Float:
		c.values = le.AppendUint64(c.values, math.Float64bits(v.Float))
	case Text:
		c.values = append(le.AppendUint32(c.values, uint32(len(v.Text))), v.Text...)
	case Floats:
		if len(v.List) == 0 {
			return fmt.Errorf("an empty list")
		}
		for _, x := range v.List {
			c.values = le.AppendUint32(c.values, math.Float32bits(float32(x)))
		}
		c.repeats = append(c.repeats, 1<<1, 0) // a run of one 0: the first value of a row
		if rest := len(v.List) - 1; rest > 0 {
			c.repeats = append(binary.AppendUvarint(c.repeats, uint64(rest)<<1), 1)
		}
		c.n += len(v.List) - 1
	default:
		return fmt.Errorf("a column that cannot be written")
	}
	c.n++
	return nil
}

// page ends the current page of a column.
func (w *Writer) page(i int) {
	c := &w.columns[i]
	if c.n == 0 || w.err != nil {
		return
	}
	body := c.values
	if w.fields[i].Kind == Floats {
		levels := func(dst, runs []byte) []byte {
			return append(binary.LittleEndian.AppendUint32(dst, uint32(len(runs))), runs...)
		}
		body = levels(nil, c.repeats)
		body = levels(body, append(binary.AppendUvarint(nil, uint64(c.n)<<1), 1)) // all values are there
		body = append(body, c.values...)
	}
	packed, err := w.pack.Append(nil, body)
	if err != nil {
		w.err = err
		return
	}
	e := newEncoder()
	e.element(func() {
		e.int32(1, 0) // a data page of version 1
		e.int32(2, len(body))
		e.int32(3, len(packed))
		e.structure(5, func() {
			e.int32(1, c.n)
			e.int32(2, 0) // plain
			e.int32(3, 3) // levels are run lengths
			e.int32(4, 3)
		})
	})
	c.pages = append(append(c.pages, e.b...), packed...)
	c.full += int64(len(e.b) + len(body))
	c.total += int64(c.n)
	c.values, c.repeats, c.n = c.values[:0], c.repeats[:0], 0
}

// group writes the current row group.
func (w *Writer) group() {
	if w.inGroup == 0 {
		return
	}
	g := group{rows: w.inGroup}
	for i := range w.columns {
		w.page(i)
		c := &w.columns[i]
		g.columns = append(g.columns, chunk{at: w.at, full: c.full, packed: int64(len(c.pages)), values: c.total})
		w.write(c.pages)
		*c = writing{values: c.values[:0], repeats: c.repeats[:0], pages: c.pages[:0]}
	}
	w.groups, w.inGroup = append(w.groups, g), 0
}

// Close writes what is left and the footer. It does not close the writer beneath.
func (w *Writer) Close(remarks ...Remark) error {
	w.group()
	footer := w.footer(remarks)
	w.write(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))))
	w.write([]byte(Magic))
	return w.err
}

// kinds maps each kind to its physical type.
var kinds = map[Kind]int{Int: 2, Float: 5, Text: 6, Floats: 4}

// path returns the names on the way to a field's leaf.
func (f Field) path() []string {
	if f.Kind == Floats {
		return []string{f.Name, "list", "element"}
	}
	return []string{f.Name}
}

// footer returns the encoded metadata of the file.
func (w *Writer) footer(remarks []Remark) []byte {
	e := newEncoder()
	e.element(func() {
		e.int32(1, 2) // version of the format
		e.schema(w.fields)
		e.int64(3, w.rows)
		e.list(4, kindStruct, len(w.groups))
		for _, g := range w.groups {
			e.element(func() { e.group(g, w.fields) })
		}
		if len(remarks) > 0 {
			e.list(5, kindStruct, len(remarks))
			for _, r := range remarks {
				e.element(func() { e.text(1, r.Key); e.text(2, r.Text) })
			}
		}
		e.text(6, "privrec")
	})
	return e.b
}

// schema encodes the tree of columns, each node before its children.
func (e *encoder) schema(fields []Field) {
	nodes := 1 + len(fields)
	for _, f := range fields {
		nodes += len(f.path()) - 1
	}
	e.list(2, kindStruct, nodes)
	e.element(func() { e.text(4, "schema"); e.int32(5, len(fields)) })
	for _, f := range fields {
		if f.Kind != Floats {
			e.element(func() { e.leaf(f.Name, f.Kind) })
			continue
		}
		e.element(func() {
			e.int32(3, 0) // required
			e.text(4, f.Name)
			e.int32(5, 1)
			e.int32(6, 3)                                         // a list
			e.structure(10, func() { e.structure(3, func() {}) }) // the same, as newer readers want it
		})
		e.element(func() { e.int32(3, 2); e.text(4, "list"); e.int32(5, 1) }) // repeated
		e.element(func() { e.leaf("element", Floats) })
	}
}

func (e *encoder) leaf(name string, kind Kind) {
	e.int32(1, kinds[kind])
	e.int32(3, 0) // required
	e.text(4, name)
	if kind == Text {
		e.int32(6, 0)                                         // UTF-8
		e.structure(10, func() { e.structure(1, func() {}) }) // the same, as newer readers want it
	}
}

func (e *encoder) group(g group, fields []Field) {
	total := int64(0)
	e.list(1, kindStruct, len(g.columns))
	for i, c := range g.columns {
		total += c.full
		e.element(func() {
			e.int64(2, c.at)
			e.structure(3, func() {
				e.int32(1, kinds[fields[i].Kind])
				e.list(2, kindInt32, 2)
				e.zigzag(0) // plain
				e.zigzag(3) // run lengths, of levels
				path := fields[i].path()
				e.list(3, kindBytes, len(path))
				for _, name := range path {
					e.bytes(name)
				}
				e.int32(4, 6) // zstd
				e.int64(5, c.values)
				e.int64(6, c.full)
				e.int64(7, c.packed)
				e.int64(9, c.at)
			})
		})
	}
	e.int64(2, total)
	e.int64(3, g.rows)
}

// Remarks returns remarks ordered by their keys.
func Remarks(of map[string]string) []Remark {
	var out []Remark
	for _, key := range slices.Sorted(maps.Keys(of)) {
		out = append(out, Remark{key, of[key]})
	}
	return out
}
