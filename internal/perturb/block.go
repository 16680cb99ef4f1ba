package perturb

import "slices"

// Block is some records in a row, for one worker. Where one ends depends on the file and
// the settings alone.
type Block[C any] struct {
	First uint64   // number of the first record in the file, from 0
	State any      // what Job.Order leaves for the worker
	Lines [][]byte // what Records.Append writes, one a table

	length, most int
	cells        []C // length a record
	ids          []byte
	names        int   // ids a record
	ends         []int // of ids
	lines        []int
	packed       [][]byte
}

// blockBytes bounds what ids take on the lines of a block: one stands on every line.
const blockBytes = 4 << 20

// NewBlock makes a block for records of some cells. most is how many it takes, 0 as many as
// have 2^14 cells.
func NewBlock[C any](length, most, tables int) *Block[C] {
	if most == 0 {
		most = min(max(1<<14/length, 1), 512)
	}
	return &Block[C]{length: length, most: most, Lines: make([][]byte, tables), packed: make([][]byte, tables)}
}

// Len is the number of records.
func (b *Block[C]) Len() int { return len(b.lines) }

// Cells are those of record i.
func (b *Block[C]) Cells(i int) []C { return b.cells[i*b.length : (i+1)*b.length] }

// ID is the k-th id of record i.
func (b *Block[C]) ID(i, k int) []byte {
	k += i * b.names
	from := 0
	if k > 0 {
		from = b.ends[k-1]
	}
	return b.ids[from:b.ends[k]]
}

// Line is where record i begins in its file.
func (b *Block[C]) Line(i int) int { return b.lines[i] }

// Push adds a record with its ids, and returns its cells for the caller to fill: something
// may stand in them.
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

// full is true of as many records as there is room for, or of long ids.
func (b *Block[C]) full() bool {
	return b.Len() == b.most || len(b.ids) >= max(blockBytes/b.length, 1)
}

// cut leaves n records in the block and returns the others.
func (b *Block[C]) cut(n int) *Block[C] {
	later := NewBlock[C](b.length, b.most, len(b.Lines))
	for i := n; i < b.Len(); i++ {
		later.take(b, i)
	}
	k := n * b.names
	b.cells, b.ids, b.ends, b.lines = b.cells[:n*b.length], b.ids[:b.ends[k-1]], b.ends[:k], b.lines[:n]
	return later
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

// Empty is true of a block without records.
func (b *Block[C]) Empty() bool { return b.Len() == 0 }
