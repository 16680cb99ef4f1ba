package perturb

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/dataset/compress"
	"privrec/internal/dataset/format"
)

// mergeBytes bounds the total size of the buffers of all parts, if there are few parts.
const mergeBytes = 16 << 20

// joinTables writes the tables of the whole: the records of all parts in order, in the same blocks as a process without
// shards.
func joinTables(ctx context.Context, st *Stage, names []string, out, dir string, parts []Part) (err error) {
	j := &joiner{cells: parts[0].Cells, batch: parts[0].Batch, out: out}
	j.most = recordsOf(j.cells, 2*j.batch)
	h := &partHeap{ranked: parts[0].Ranked}
	defer func() {
		for _, r := range h.all {
			r.close()
		}
		if e := j.close(err == nil); err == nil && e != nil {
			err = &format.WriteError{File: out, Err: e}
		}
	}()
	for _, p := range parts {
		r, err := openPart(dir, p, min(1<<16, max(1<<12, mergeBytes/len(parts)/len(p.Tables))))
		if err != nil {
			return err
		}
		h.all = append(h.all, r)
	}
	if err := j.create(st, names, h.all[0].heads); err != nil {
		return err
	}
	for _, r := range h.all {
		for k := range r.heads {
			if !slices.Equal(r.heads[k], h.all[0].heads[k]) {
				return r.tables[k].fail(nil)
			}
		}
	}
	return join(ctx, h, j)
}

// join reads the records of the parts in order.
func join(ctx context.Context, h *partHeap, j *joiner) error {
	for _, r := range h.all {
		ok, err := r.next(h.ranked)
		if err != nil {
			return err
		}
		if ok {
			h.live = append(h.live, r)
		}
	}
	heap.Init(h)
	var last []byte
	for n := 0; len(h.live) > 0; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := h.live[0]
		if last != nil && h.compare(last, r.key) == 0 {
			return Refuse("make the shards again: the ledger of the whole has one release of each",
				"%s: a record of it is in another shard too", r.index.name)
		}
		last = append(last[:0], r.key...)
		if err := j.add(r); err != nil {
			return err
		}
		before := slices.Clone(r.key)
		ok, err := r.next(h.ranked)
		switch {
		case err != nil:
			return err
		case !ok:
			heap.Pop(h)
		case h.compare(before, r.key) > 0:
			return fmt.Errorf("%s: its records are not in order", r.index.name)
		default:
			heap.Fix(h, 0)
		}
	}
	for _, r := range h.all {
		if err := r.check(); err != nil {
			return err
		}
	}
	return j.flush(len(j.ends))
}

// partTable reads a file of a part, and hashes it.
type partTable struct {
	name string
	f    *os.File
	tee  *bufio.Reader // of what was not used yet; the hash has seen more
	sum  sum
	want Table
}

func openTable(dir string, t Table, buffer int) (*partTable, error) {
	x := &partTable{name: filepath.Join(dir, t.Name), want: t, sum: sum{hash: sha256.New()}}
	var err error
	if x.f, err = os.Open(x.name); err != nil {
		return nil, err
	}
	x.tee = bufio.NewReaderSize(io.TeeReader(x.f, x), buffer)
	return x, nil
}

// Write adds the bytes that were read to the hash.
func (x *partTable) Write(p []byte) (int, error) {
	x.sum.bytes += int64(len(p))
	return x.sum.hash.Write(p)
}

// fail returns the error for a file that changed after the part wrote it.
func (x *partTable) fail(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Refuse("copy it again, or make the shard again", "%s is not as the shard wrote it", x.name)
	}
	return fmt.Errorf("%s: %w", x.name, err)
}

// check fails if the file has more than was used, or changed after it was written.
func (x *partTable) check() error {
	if _, err := x.tee.ReadByte(); !errors.Is(err, io.EOF) {
		return x.fail(err)
	}
	if x.sum.bytes != x.want.Bytes || hex.EncodeToString(x.sum.hash.Sum(nil)) != x.want.SHA256 {
		return x.fail(nil)
	}
	return nil
}

// partReader reads the records of a part.
type partReader struct {
	tables []*partTable
	index  *partTable
	heads  [][]byte

	key  []byte // of the record: its id, or its line as 8 bytes
	ids  int    // bytes of its ids
	size []int64
}

func openPart(dir string, p Part, buffer int) (_ *partReader, err error) {
	r := &partReader{size: make([]int64, len(p.Tables)-1)}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	for k, t := range p.Tables {
		x, err := openTable(dir, t, buffer)
		if err != nil {
			return nil, err
		}
		if k == len(p.Tables)-1 {
			r.index = x
			break
		}
		r.tables = append(r.tables, x)
		if t.Head < 0 || t.Head > 1<<30 {
			return nil, x.fail(nil)
		}
		head := make([]byte, t.Head)
		if _, err := io.ReadFull(x.tee, head); err != nil {
			return nil, x.fail(err)
		}
		r.heads = append(r.heads, head)
	}
	return r, nil
}

func (r *partReader) close() {
	for _, x := range append(r.tables, r.index) {
		if x != nil {
			x.f.Close()
		}
	}
}

// next reads the next entry of the index. ok is false at the end.
func (r *partReader) next(ranked bool) (ok bool, err error) {
	in := r.index.tee
	n, err := binary.ReadUvarint(in)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil || n > 1<<30 {
		return false, r.index.fail(err)
	}
	r.ids = int(n)
	if ranked {
		r.key = slices.Grow(r.key[:0], r.ids)[:r.ids]
		_, err = io.ReadFull(in, r.key)
	} else {
		n, err = binary.ReadUvarint(in)
		r.key = binary.BigEndian.AppendUint64(r.key[:0], n)
	}
	for k := range r.size {
		if err == nil {
			n, err = binary.ReadUvarint(in)
			r.size[k] = int64(n)
		}
	}
	if err != nil {
		return false, r.index.fail(err)
	}
	return true, nil
}

func (r *partReader) check() error {
	for _, x := range append(slices.Clone(r.tables), r.index) {
		if err := x.check(); err != nil {
			return err
		}
	}
	return nil
}

// partHeap holds the parts with remaining records, the one with the least key first.
type partHeap struct {
	ranked    bool
	all, live []*partReader
}

func (h *partHeap) compare(a, b []byte) int {
	if h.ranked {
		return CompareIDs(a, b)
	}
	return cmp.Compare(binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(b))
}

// Len, Less, Swap, Push and Pop are for container/heap.
func (h *partHeap) Len() int           { return len(h.live) }
func (h *partHeap) Less(i, j int) bool { return h.compare(h.live[i].key, h.live[j].key) < 0 }
func (h *partHeap) Swap(i, j int)      { h.live[i], h.live[j] = h.live[j], h.live[i] }
func (h *partHeap) Push(x any)         { h.live = append(h.live, x.(*partReader)) }

// Pop removes the last part.
func (h *partHeap) Pop() any {
	last := h.live[len(h.live)-1]
	h.live = h.live[:len(h.live)-1]
	return last
}

// joiner writes the tables of the whole, in the same blocks as a process without shards.
type joiner struct {
	out         string
	cells       int
	batch, most int
	pack        *compress.Packer
	files       []*os.File
	lines       [][]byte // of the block, by table
	ends        [][]int  // of the lines of each record, by table
	ids         int      // bytes
	packed      []byte
}

// create creates the tables with their headers.
func (j *joiner) create(st *Stage, names []string, heads [][]byte) (err error) {
	if j.pack, err = compress.NewPacker(compress.Of(j.out)); err != nil {
		return err
	}
	j.lines = make([][]byte, len(names))
	for k, name := range names {
		f, err := os.Create(st.Path(name))
		if err != nil {
			return &format.WriteError{File: j.out, Err: err}
		}
		j.files = append(j.files, f)
		if err := j.put(k, heads[k]); err != nil {
			return err
		}
	}
	return nil
}

func (j *joiner) put(k int, lines []byte) (err error) {
	if j.packed, err = j.pack.Append(j.packed[:0], lines); err != nil {
		return err
	}
	if _, err := j.files[k].Write(j.packed); err != nil {
		return &format.WriteError{File: j.out, Err: err}
	}
	return nil
}

// add writes the current record of a part.
func (j *joiner) add(r *partReader) error {
	ends := make([]int, len(j.lines))
	for k, x := range r.tables {
		at := len(j.lines[k])
		if r.size[k] > x.want.Bytes {
			return x.fail(nil)
		}
		j.lines[k] = slices.Grow(j.lines[k], int(r.size[k]))[:at+int(r.size[k])]
		if _, err := io.ReadFull(x.tee, j.lines[k][at:]); err != nil {
			return x.fail(err)
		}
		ends[k] = len(j.lines[k])
	}
	j.ends = append(j.ends, ends)
	j.ids += r.ids
	switch {
	case j.batch > 0 && len(j.ends) == 2*j.batch:
		return j.flush(j.batch)
	case j.batch == 0 && isFull(len(j.ends), j.most, j.ids, j.cells):
		return j.flush(len(j.ends))
	}
	return nil
}

// flush writes the first n records as a block.
func (j *joiner) flush(n int) error {
	if n == 0 {
		return nil
	}
	for k := range j.lines {
		end := j.ends[n-1][k]
		if end > 0 {
			if err := j.put(k, j.lines[k][:end]); err != nil {
				return err
			}
		}
		j.lines[k] = append(j.lines[k][:0], j.lines[k][end:]...)
		for _, ends := range j.ends[n:] {
			ends[k] -= end
		}
	}
	j.ends, j.ids = append(j.ends[:0], j.ends[n:]...), 0
	return nil
}

// close closes the tables. If they are whole it makes them durable first.
func (j *joiner) close(whole bool) (err error) {
	for _, f := range j.files {
		if whole {
			err = errors.Join(err, f.Sync())
		}
		err = errors.Join(err, f.Close())
	}
	return err
}
