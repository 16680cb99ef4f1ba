package perturb

import "slices"

// Block holds consecutive records for one worker. Its end depends only on the file and the settings.
type Block[C any] struct {
	First uint64   // number of the first record in the file, from 0
	State any      // what Job.Order leaves for the worker
	Lines [][]byte // what Records.Append writes, one element for each table

	length, most int
	cells        []C // length for each record
	ids          []byte
	names        int   // ids for each record
	ends         []int // of ids
	lines        []int
	packed       [][]byte
}

// blockBytes bounds the bytes of a block's ids, since every line has one.
const blockBytes = 4 << 20

// NewBlock returns a block for records with length cells each. most is the largest number of records; 0 means as many
// as have 2^14 cells.
func NewBlock[C any](length, most, tables int) *Block[C] {
	return &Block[C]{length: length, most: recordsOf(length, most), Lines: make([][]byte, tables),
		packed: make([][]byte, tables)}
}

// recordsOf returns the default number of records of length cells in a block.
func recordsOf(length, most int) int {
	if most == 0 {
		most = min(max(1<<14/length, 1), 512)
	}
	return most
}

// Len returns the number of records.
func (b *Block[C]) Len() int { return len(b.lines) }

// Cells returns the cells of record i.
func (b *Block[C]) Cells(i int) []C { return b.cells[i*b.length : (i+1)*b.length] }

// ID returns the k-th id of record i.
func (b *Block[C]) ID(i, k int) []byte {
	k += i * b.names
	from := 0
	if k > 0 {
		from = b.ends[k-1]
	}
	return b.ids[from:b.ends[k]]
}

// Line returns the line of the file at which record i begins.
func (b *Block[C]) Line(i int) int { return b.lines[i] }

// Push adds a record with its ids. It returns the record's cells, which the caller must fill: they
// may hold old values.
func (b *Block[C]) Push(line int, ids ...[]byte) []C {
	for _, id := range ids {
		b.ids = append(b.ids, id...)
		b.ends = append(b.ends, len(b.ids))
	}
	b.names, b.lines = len(ids), append(b.lines, line)
	n := len(b.cells)
	b.cells = slices.Grow(b.cells, b.length)[:n+b.length]
	return b.cells[n:]
}

// full reports whether the block has its largest number of records or bytes of ids.
func (b *Block[C]) full() bool { return isFull(b.Len(), b.most, len(b.ids), b.length) }

// isFull reports whether a block of records with length cells takes no more: it has most records, or too many bytes of
// ids.
func isFull(records, most, ids, length int) bool {
	return records == most || ids >= max(blockBytes/length, 1)
}

// cut keeps n records in the block and returns the others.
func (b *Block[C]) cut(n int) *Block[C] {
	later := NewBlock[C](b.length, b.most, len(b.Lines))
	for i := n; i < b.Len(); i++ {
		later.take(b, i)
	}
	k := n * b.names
	b.cells, b.ids, b.ends, b.lines = b.cells[:n*b.length], b.ids[:b.ends[k-1]], b.ends[:k], b.lines[:n]
	return later
}

// pop removes the last record.
func (b *Block[C]) pop() {
	n := b.Len() - 1
	k := n * b.names
	from := 0
	if k > 0 {
		from = b.ends[k-1]
	}
	b.cells, b.ids, b.ends, b.lines = b.cells[:n*b.length], b.ids[:from], b.ends[:k], b.lines[:n]
}

// idBytes returns the total length of the ids of record i.
func (b *Block[C]) idBytes(i int) int {
	from := 0
	if k := i * b.names; k > 0 {
		from = b.ends[k-1]
	}
	return b.ends[(i+1)*b.names-1] - from
}

// take adds record i of another block.
func (b *Block[C]) take(from *Block[C], i int) {
	ids := make([][]byte, from.names)
	for k := range ids {
		ids[k] = from.ID(i, k)
	}
	copy(b.Push(from.lines[i], ids...), from.Cells(i))
}

// Reset empties the block.
func (b *Block[C]) Reset() {
	b.State = nil
	b.cells, b.ids, b.ends, b.lines = b.cells[:0], b.ids[:0], b.ends[:0], b.lines[:0]
	for k := range b.Lines {
		b.Lines[k], b.packed[k] = b.Lines[k][:0], b.packed[k][:0]
	}
}

// Empty reports whether the block has no records.
func (b *Block[C]) Empty() bool { return b.Len() == 0 }
