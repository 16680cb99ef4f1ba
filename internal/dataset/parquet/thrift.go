package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

// node holds a value of Thrift's compact protocol: a number, bytes, a list or a struct.
type node struct {
	number int64
	bytes  []byte
	list   []node
	fields map[int16]node
}

// at returns a field of a struct; the zero node if it is absent.
func (n node) at(field int16) node { return n.fields[field] }

// has reports whether a struct has a field.
func (n node) has(field int16) bool {
	_, ok := n.fields[field]
	return ok
}

// Limits of a Thrift value.
const (
	maxNodes = 1 << 19
	maxDepth = 16
)

// errThrift is the error for bytes that are not a Thrift value.
var errThrift = errors.New("the metadata are damaged")

// decoder decodes a Thrift value. Its memory is bounded by the length of b, since every entry of a list takes a byte.
type decoder struct {
	b     []byte
	nodes int
}

func (d *decoder) byte() (byte, error) {
	if len(d.b) == 0 {
		return 0, errThrift
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c, nil
}

func (d *decoder) varint() (uint64, error) {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		return 0, errThrift
	}
	d.b = d.b[n:]
	return v, nil
}

func (d *decoder) zigzag() (int64, error) {
	v, err := d.varint()
	return int64(v>>1) ^ -int64(v&1), err
}

// length reads a length, and fails if the remaining bytes cannot hold it.
func (d *decoder) length() (int, error) {
	v, err := d.varint()
	if err != nil || v > uint64(len(d.b)) {
		return 0, errThrift
	}
	return int(v), nil
}

// structure reads a struct.
func (d *decoder) structure(depth int) (n node, err error) {
	if depth > maxDepth {
		return n, errThrift
	}
	n.fields = map[int16]node{}
	last := int64(0)
	for {
		head, err := d.byte()
		if err != nil || head == 0 {
			return n, err
		}
		id := last + int64(head>>4)
		if head>>4 == 0 {
			if id, err = d.zigzag(); err != nil {
				return n, err
			}
		}
		if id < 0 || id > math.MaxInt16 {
			return n, errThrift
		}
		last = id
		var v node
		if kind := head & 15; kind == 1 || kind == 2 { // the kind is the value
			v.number = int64(2 - kind)
		} else if v, err = d.value(kind, depth+1); err != nil {
			return n, err
		}
		n.fields[int16(id)] = v
	}
}

// value reads a value of a kind.
func (d *decoder) value(kind byte, depth int) (n node, err error) {
	if d.nodes++; d.nodes > maxNodes || depth > maxDepth {
		return n, errThrift
	}
	switch kind {
	case 1, 2, 3: // in a list a boolean is a byte
		c, err := d.byte()
		n.number = int64(int8(c))
		return n, err
	case 4, 5, 6:
		n.number, err = d.zigzag()
		return n, err
	case 7:
		if len(d.b) < 8 {
			return n, errThrift
		}
		d.b = d.b[8:] // no double is needed
		return n, nil
	case 8:
		length, err := d.length()
		if err != nil {
			return n, err
		}
		n.bytes, d.b = d.b[:length], d.b[length:]
		return n, nil
	case 9, 10:
		return d.elements(depth)
	case 12:
		return d.structure(depth)
	}
	return n, errThrift // maps do not occur
}

// elements reads a list.
func (d *decoder) elements(depth int) (n node, err error) {
	head, err := d.byte()
	if err != nil {
		return n, err
	}
	length := int(head >> 4)
	if length == 15 {
		if length, err = d.length(); err != nil {
			return n, err
		}
	}
	for range length {
		v, err := d.value(head&15, depth+1)
		if err != nil {
			return n, err
		}
		n.list = append(n.list, v)
	}
	return n, nil
}
