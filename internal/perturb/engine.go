package perturb

import (
	"context"
	"errors"
	"os"

	"privrec/internal/dataset/compress"
	"privrec/internal/privacy"
)

// engine runs one job.
type engine[C any] struct {
	Job[C]
	in       Records[C]
	st       *Stage
	read     uint64 // records in the blocks that were passed to workers
	dealt    int    // blocks that were read, also those of other shards
	files    []*os.File
	sums     []sum // of the tables of a shard
	written  int64 // records
	finished bool
}

// release perturbs and writes all records under a ledger, which it closes if all goes well.
func (e *engine[C]) release(ctx context.Context) (f Facts, err error) {
	spent, err := e.reserve()
	if err != nil {
		return f, err
	}
	ledger, err := privacy.CreateLedger(e.st.Path(ledgerFile), e.Noise(), e.Key)
	if err != nil {
		return f, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ledger.Leave())
		} else if err = ledger.Close(); err == nil {
			f.Ledger, _ = ledger.Seal()
		}
		// What was recorded may have drawn noise, and stays charged also where the command failed.
		err = errors.Join(err, spent.settle(ledger.Entries()))
	}()
	if err := e.Release(ledger, e.spill); err != nil {
		return f, Refuse("", "%v", err)
	}
	defer func() {
		if !e.finished && e.Abandon != nil {
			err = errors.Join(err, e.Abandon())
		}
	}()
	if err := e.tables(ctx, ledger); err != nil {
		return f, err
	}
	if err := e.finish(ledger); err != nil {
		return f, err
	}
	f = Facts{In: e.In, Noise: e.Noise(), Shard: e.Shard}
	if !e.Secure {
		f.Seed = uint64(e.Seed)
	}
	f.Digest, err = e.in.Digest()
	return f, err
}

// spill creates a temporary file beside the output.
func (e *engine[C]) spill() (*os.File, error) { return NamelessFile(e.st.Dir()) }

// finish ends the release, once.
func (e *engine[C]) finish(l *privacy.Ledger) error {
	if e.finished {
		return nil
	}
	e.finished = true
	return e.Finish(l)
}

// tables writes all output tables of the job.
func (e *engine[C]) tables(ctx context.Context, l *privacy.Ledger) (err error) {
	defer func() { err = errors.Join(err, e.close(err == nil)) }()
	workers := make([]*blockWorker[C], e.Workers)
	for i := range workers {
		if workers[i], err = e.newBlockWorker(); err != nil {
			return err
		}
	}
	if err := e.create(workers[0].pack); err != nil {
		return err
	}
	perturb := func(i int, b *Block[C]) error { return workers[i].perturb(b) }
	format := func(i int, b *Block[C]) error { return workers[i].format(b) }
	if e.Sort != nil {
		return e.sorted(ctx, perturb, format, l)
	}
	return inOrder(ctx, e.Workers, e.blocks(), e.fill, func(i int, b *Block[C]) error {
		if err := perturb(i, b); err != nil {
			return err
		}
		return format(i, b)
	}, e.write)
}

// sorted perturbs all records, sorts them by their first id and writes them.
func (e *engine[C]) sorted(ctx context.Context, perturb, format func(i int, b *Block[C]) error,
	l *privacy.Ledger) (err error) {
	s := NewSorter(e.spill)
	defer func() { err = errors.Join(err, s.Close()) }()
	done := int64(0)
	err = inOrder(ctx, e.Workers, e.blocks(), e.fill, perturb, func(b *Block[C]) error {
		for i := range b.Len() {
			if err := s.Add(b.ID(i, 0), func(dst []byte) []byte { return e.Sort.Append(dst, b.Cells(i)) }); err != nil {
				return err
			}
		}
		e.reportProgress("perturbed", &done, b)
		return nil
	})
	if err != nil {
		return err
	}
	if err := e.finish(l); err != nil {
		return err
	}
	return inOrder(ctx, e.Workers, e.blocks(), func(next func() *Block[C]) error {
		b := next()
		return s.Each(func(id, cells []byte) error {
			if b == nil {
				return context.Canceled
			}
			e.Sort.Read(cells, b.Push(0, id))
			if b.full() {
				b = next()
			}
			return nil
		})
	}, format, e.write)
}

// blocks returns enough blocks to keep the workers busy.
func (e *engine[C]) blocks() []*Block[C] {
	list := make([]*Block[C], 2*e.Workers+2)
	for i := range list {
		list[i] = NewBlock[C](e.in.Length(), 2*e.Batch, e.width())
	}
	return list
}

// width returns the number of written tables, including the index of a shard.
func (e *engine[C]) width() int {
	n := 1 + len(e.Beside)
	if e.Shard.Of > 0 {
		n++
	}
	return n
}

// fill reads the file into blocks. With a Batch every block is one batch. It passes a block on only when it has read as
// many records again, so that the last block is never small. It leaves out records of other shards.
func (e *engine[C]) fill(next func() *Block[C]) error {
	for b := next(); b != nil; { // nil: the work has failed and has its error
		ok, err := e.in.Read(b)
		if err != nil {
			return err
		}
		if ok && e.ByUser && !e.Shard.Has(b.ID(b.Len()-1, 0)) {
			b.pop()
			continue
		}
		var later *Block[C]
		switch {
		case !ok:
			_, err := e.order(b)
			return err
		case e.Batch > 0 && b.Len() == 2*e.Batch:
			later = b.cut(e.Batch)
		case e.Batch > 0 || !b.full():
			continue
		}
		own, err := e.order(b)
		if err != nil {
			return err
		}
		if own {
			b = next()
		}
		if b != nil && later != nil {
			for i := range later.Len() {
				b.take(later, i)
			}
		}
	}
	return nil
}

// order numbers the records of a block before it is passed on. It empties a block of another shard; own is then false.
func (e *engine[C]) order(b *Block[C]) (own bool, err error) {
	b.First = e.read
	e.read += uint64(b.Len())
	own = e.ByUser || e.Own || e.Shard.Of == 0 || e.dealt%e.Shard.Of == e.Shard.I-1
	e.dealt++
	if e.Order != nil && !b.Empty() {
		err = e.Order(b, own)
	}
	if !own {
		b.Reset()
	}
	return own, err
}

// blockWorker perturbs and formats blocks for one goroutine.
type blockWorker[C any] struct {
	perturb func(b *Block[C]) error
	in      Records[C]
	pack    *compress.Packer
	index   bool // of a shard
	ranked  bool
	byUser  bool
	was     []int
}

func (e *engine[C]) newBlockWorker() (h *blockWorker[C], err error) {
	h = &blockWorker[C]{in: e.in, index: e.Shard.Of > 0, ranked: e.ranked(), byUser: e.ByUser,
		was: make([]int, 1+len(e.Beside))}
	if h.perturb, err = e.Worker(); err != nil {
		return nil, err
	}
	h.pack, err = compress.NewPacker(compress.Of(e.Out))
	return h, err
}

// format packs the lines of a block.
func (h *blockWorker[C]) format(b *Block[C]) (err error) {
	for i := range b.Len() {
		for k := range h.was {
			h.was[k] = len(b.Lines[k])
		}
		if err := h.in.Append(b, i); err != nil {
			return err
		}
		if h.index {
			h.note(b, i)
		}
	}
	for k, lines := range b.Lines {
		if len(lines) == 0 {
			continue
		}
		if b.packed[k], err = h.pack.Append(b.packed[k], lines); err != nil {
			return err
		}
	}
	return nil
}
