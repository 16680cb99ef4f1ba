package pricdsr

// block is some users with their rows. Where one ends depends on the input alone.
type block struct {
	length, most int
	ids          []byte
	ends         []int   // of ids
	at           []int64 // lines
	rows         []int32 // length cells a user

	out, empty []byte // packed lines of the output, and of the list of empty rows
	plain      []byte
	none       []byte
}

// newBlock has room for 2^14 cells, or one row.
func newBlock(length int) *block {
	most := min(max(1<<14/length, 1), 512)
	return &block{length: length, most: most, rows: make([]int32, most*length)}
}

// blockBytes bounds what ids take on the lines of a block: one stands on every line.
const blockBytes = 4 << 20

// full is true of as many users as there is room for, or of long ids.
func (b *block) full() bool {
	return len(b.ends) == b.most || len(b.ids) >= max(blockBytes/b.length, 1)
}

func (b *block) users() int        { return len(b.ends) }
func (b *block) row(u int) []int32 { return b.rows[u*b.length : (u+1)*b.length] }

func (b *block) id(u int) []byte {
	from := 0
	if u > 0 {
		from = b.ends[u-1]
	}
	return b.ids[from:b.ends[u]]
}

// push adds a user and returns the row to fill, with whatever is in it.
func (b *block) push(id []byte, line int64) []int32 {
	b.ids = append(b.ids, id...)
	b.ends = append(b.ends, len(b.ids))
	b.at = append(b.at, line)
	return b.row(len(b.ends) - 1)
}

// Reset empties the block.
func (b *block) Reset() {
	b.ids, b.ends, b.at = b.ids[:0], b.ends[:0], b.at[:0]
	b.out, b.empty, b.plain, b.none = b.out[:0], b.empty[:0], b.plain[:0], b.none[:0]
}

// Empty is true of a block without users.
func (b *block) Empty() bool { return len(b.ends) == 0 }

// blocks makes as many as keep the workers busy.
func (p *perturber) blocks() []*block {
	list := make([]*block, 2*p.o.Workers+2)
	for i := range list {
		list[i] = newBlock(p.m.Length)
	}
	return list
}
