package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Magic is the text at the beginning and at the end of a file.
const Magic = "PAR1"

// Is reports whether an open file is a regular one that begins like Parquet.
func Is(f *os.File) bool {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() { // a pipe can be read once only, and Parquet begins at its end
		return false
	}
	var b [len(Magic)]byte
	_, err = f.ReadAt(b[:], 0)
	return err == nil && string(b[:]) == Magic
}

// IsNamed reports whether a name belongs to a regular file that begins like Parquet.
func IsNamed(path string) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() { // opening a pipe would wait for its writer
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return Is(f)
}

// maxFooter is the largest footer in bytes. Files of lists have some kilobytes.
const maxFooter = 16 << 20

// Kind names the kind of values in a column.
type Kind uint8

// The kinds of columns.
const (
	Other Kind = iota // not read
	Int
	Float
	Text
	Floats // a list of floating-point numbers in every row
	Time   // a time as a whole number, in the unit that the file says
)

// Column is a column of a file.
type Column struct {
	Name     string
	Kind     Kind
	Type     string // in words, for messages
	physical int64
	unsigned bool
	levels   int  // definition levels: optional and repeated nodes on the way to it
	InLists  bool // its rows are lists of what the kind says
	chunk    int  // index of its chunk in a row group
}

// File is an open Parquet file.
type File struct {
	Columns []Column
	Rows    int64

	r      io.ReaderAt
	size   int64
	groups []node
}

// The physical types, of parquet.thrift.
var physical = []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// Open reads the footer of a file.
func Open(r io.ReaderAt, size int64) (*File, error) {
	if size < 12 {
		return nil, errors.New("the file is too short for Parquet")
	}
	var tail [8]byte
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, fmt.Errorf("read the end of the file: %w", err)
	}
	switch string(tail[4:]) {
	case Magic:
	case "PARE":
		return nil, errors.New("the file is encrypted")
	default:
		return nil, errors.New("the file does not end as Parquet does: was it cut?")
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	if length > size-12 || length > maxFooter {
		return nil, fmt.Errorf("the footer says that it has %d bytes, of a file of %d bytes and %d at most", length,
			size, maxFooter)
	}
	b := make([]byte, length)
	if _, err := r.ReadAt(b, size-8-length); err != nil {
		return nil, fmt.Errorf("read the footer: %w", err)
	}
	meta, err := (&decoder{b: b}).structure(0)
	if err != nil {
		return nil, err
	}
	f := &File{r: r, size: size, Rows: meta.at(3).number, groups: meta.at(4).list}
	return f, f.schema(meta.at(2).list)
}

// schema sets the columns. The list holds a tree, each node before its children.
func (f *File) schema(list []node) error {
	if len(list) == 0 {
		return errThrift
	}
	chunk := 0
	var walk func(at int, w way) (int, error)
	walk = func(at int, w way) (int, error) {
		if at >= len(list) || len(w.path) > maxDepth {
			return 0, errThrift
		}
		e := list[at]
		children := e.at(5).number
		if at > 0 {
			w = w.to(e)
			if children == 0 {
				f.Columns = append(f.Columns, column(e, w, chunk))
				chunk++
				return at + 1, nil
			}
			w.only = w.only && children == 1
		}
		at++
		for range children {
			var err error
			if at, err = walk(at, w); err != nil {
				return 0, err
			}
		}
		return at, nil
	}
	end, err := walk(0, way{only: true})
	if err == nil && end != len(list) {
		err = errThrift
	}
	return err
}

// way holds a leaf of the schema with the nodes above it.
type way struct {
	path             []string
	levels, repeated int  // of its nodes, those that are optional or repeated, and those that are repeated
	only             bool // each node has no other children
}

// to returns the way extended to a node.
func (w way) to(e node) way {
	w.path = append(slices.Clip(w.path), string(e.at(4).bytes))
	switch e.at(3).number {
	case 1:
		w.levels++
	case 2:
		w.levels, w.repeated = w.levels+1, w.repeated+1
	}
	return w
}

// column describes a leaf of the schema. A list is called by the name of its outermost node, a list of one field of
// groups by the name of the field.
func column(e node, w way, chunk int) Column {
	c := Column{Name: strings.Join(w.path, "."), physical: e.at(1).number, levels: w.levels, chunk: chunk}
	c.Type = "unknown"
	if c.physical >= 0 && c.physical < int64(len(physical)) {
		c.Type = physical[c.physical]
	}
	flat := len(w.path) == 1 && w.repeated == 0
	if meaning := logical(e); meaning != "" {
		if c.Type = meaning; meaning == "TIMESTAMP" && c.physical == 2 && flat {
			c.Kind = Time
		}
		return c
	}
	switch {
	case !flat && w.only && w.repeated == 1 && (c.physical == 4 || c.physical == 5):
		c.Name, c.Kind, c.InLists, c.Type = w.path[0], Floats, true, "lists of "+c.Type
	case !flat && w.repeated != 1:
		c.Type = "a list or a group of " + c.Type
	case !flat:
		if c.Name = w.path[len(w.path)-1]; w.only {
			c.Name = w.path[0]
		}
		c.InLists, c.Type = true, "lists of "+c.Type
		c.number(e)
	default:
		c.number(e)
	}
	return c
}

// number returns the kind of a column of numbers or of text.
func (c *Column) number(e node) {
	switch {
	case c.physical == 1 || c.physical == 2:
		c.Kind = Int
		converted := e.at(6).number
		c.unsigned = e.has(6) && converted >= 11 && converted <= 14 || e.at(10).has(10) &&
			e.at(10).at(10).at(2).number == 0
	case c.physical == 4 || c.physical == 5:
		c.Kind = Float
	case c.physical == 6:
		c.Kind = Text
	}
}

// logical returns the name of a column's logical type if it is neither a number nor text; "" otherwise.
func logical(e node) string {
	for id, name := range map[int16]string{5: "DECIMAL", 6: "DATE", 7: "TIME", 8: "TIMESTAMP", 11: "UNKNOWN",
		13: "BSON", 14: "UUID", 15: "FLOAT16"} {
		if e.at(10).has(id) {
			return name
		}
	}
	if e.has(6) {
		switch t := e.at(6).number; t {
		case 5, 6, 7, 8, 9, 10, 20, 21:
			return map[int64]string{5: "DECIMAL", 6: "DATE", 7: "TIME", 8: "TIME", 9: "TIMESTAMP", 10: "TIMESTAMP",
				20: "BSON", 21: "INTERVAL"}[t]
		}
	}
	return ""
}
