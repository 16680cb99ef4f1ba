package parquet

import "encoding/binary"

// encoder encodes a struct of Thrift's compact protocol. Fields come in ascending order.
type encoder struct {
	b    []byte
	last []int16 // field before, of each open struct
}

// The kinds of the protocol.
const (
	kindInt32  = 5
	kindInt64  = 6
	kindBytes  = 8
	kindList   = 9
	kindStruct = 12
)

func newEncoder() *encoder { return &encoder{last: []int16{0}} }

// field begins a field. Its number is at most 15 more than that of the field before.
func (e *encoder) field(id int16, kind byte) {
	at := len(e.last) - 1
	e.b = append(e.b, byte(id-e.last[at])<<4|kind)
	e.last[at] = id
}

func (e *encoder) zigzag(v int64) { e.b = binary.AppendUvarint(e.b, uint64(v<<1)^uint64(v>>63)) }

func (e *encoder) bytes(s string) {
	e.b = append(binary.AppendUvarint(e.b, uint64(len(s))), s...)
}

func (e *encoder) int32(id int16, v int)   { e.field(id, kindInt32); e.zigzag(int64(v)) }
func (e *encoder) int64(id int16, v int64) { e.field(id, kindInt64); e.zigzag(v) }
func (e *encoder) text(id int16, s string) { e.field(id, kindBytes); e.bytes(s) }
func (e *encoder) begin()                  { e.last = append(e.last, 0) }
func (e *encoder) end()                    { e.b, e.last = append(e.b, 0), e.last[:len(e.last)-1] }
func (e *encoder) structure(id int16, f func()) {
	e.field(id, kindStruct)
	e.element(f)
}

// element encodes a struct that is not a field: the whole, or one of a list.
func (e *encoder) element(f func()) {
	e.begin()
	f()
	e.end()
}

// list begins a list of n elements.
func (e *encoder) list(id int16, kind byte, n int) {
	e.field(id, kindList)
	if n < 15 {
		e.b = append(e.b, byte(n)<<4|kind)
		return
	}
	e.b = binary.AppendUvarint(append(e.b, 15<<4|kind), uint64(n))
}
