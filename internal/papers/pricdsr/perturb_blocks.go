package pricdsr

import (
	"context"
	"sync"
)

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
	err        error
	done       chan struct{}
}

// newBlock has room for 2^14 cells, or one row.
func newBlock(length int) *block {
	most := min(max(1<<14/length, 1), 512)
	return &block{length: length, most: most, rows: make([]int32, most*length), done: make(chan struct{}, 1)}
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

func (b *block) reset() {
	b.ids, b.ends, b.at = b.ids[:0], b.ends[:0], b.at[:0]
	b.out, b.empty, b.plain, b.none, b.err = b.out[:0], b.empty[:0], b.plain[:0], b.none[:0], nil
}

// blocks makes as many as keep the workers busy.
func (p *perturber) blocks() func() []*block {
	return func() []*block {
		list := make([]*block, 2*p.o.Workers+2)
		for i := range list {
			list[i] = newBlock(p.m.Length)
		}
		return list
	}
}

// inOrder fills blocks in one goroutine, works on them in several and uses them, in
// the order in which they were filled, in the caller's. fill asks for the next empty
// block, which hands on the one before; it gets nil when the work was given up. The
// first error of any of them ends the work, as does the context, and is returned.
func inOrder(ctx context.Context, workers int, blocks func() []*block, fill func(next func() *block) error, work func(worker int, b *block) error, use func(b *block) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	list := blocks()
	free, todo, line := make(chan *block, len(list)), make(chan *block, len(list)), make(chan *block, len(list))
	for _, b := range list {
		free <- b
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(line)
		defer close(todo)
		var now *block
		hand := func() {
			if now != nil && now.users() > 0 {
				line <- now
				todo <- now
			}
			now = nil
		}
		err := fill(func() *block {
			hand()
			select {
			case now = <-free:
				now.reset()
				return now
			case <-ctx.Done():
				return nil
			}
		})
		if err != nil {
			cancel(err)
		}
		hand()
	})
	for i := range workers {
		wg.Go(func() {
			for b := range todo {
				if ctx.Err() == nil {
					b.err = work(i, b)
				}
				b.done <- struct{}{}
			}
		})
	}
	for b := range line {
		<-b.done
		if ctx.Err() == nil {
			err := b.err
			if err == nil {
				err = use(b)
			}
			if err != nil {
				cancel(err)
			}
		}
		free <- b
	}
	wg.Wait()
	return context.Cause(ctx)
}
