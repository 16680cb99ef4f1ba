package exposure

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
)

// slateBlock is some slates in a row. Where one ends depends on the file and the method
// alone.
type slateBlock struct {
	t, most int
	rows    []int32 // (slates, t)
	ids     []byte  // of users and slates, one after the other
	ends    []int   // of each
	lines   []int
	first   uint64 // number of the first slate, from 0
	answers *local.ResponseRows

	plain, packed []byte
}

func newSlateBlock(t, most int) *slateBlock { return &slateBlock{t: t, most: most} }

// Reset empties the block.
func (b *slateBlock) Reset() {
	b.rows, b.ids, b.ends, b.lines = b.rows[:0], b.ids[:0], b.ends[:0], b.lines[:0]
	b.plain, b.packed, b.answers = b.plain[:0], b.packed[:0], nil
}

// Empty is true of a block without slates.
func (b *slateBlock) Empty() bool { return len(b.lines) == 0 }

func (b *slateBlock) len() int          { return len(b.lines) }
func (b *slateBlock) row(i int) []int32 { return b.rows[i*b.t : (i+1)*b.t] }

func (b *slateBlock) id(k int) []byte {
	from := 0
	if k > 0 {
		from = b.ends[k-1]
	}
	return b.ids[from:b.ends[k]]
}

func (b *slateBlock) user(i int) []byte  { return b.id(2 * i) }
func (b *slateBlock) slate(i int) []byte { return b.id(2*i + 1) }

func (b *slateBlock) push(user, slate []byte, items []int32, line int) {
	b.rows = append(b.rows, items...)
	b.ids = append(b.ids, user...)
	b.ends = append(b.ends, len(b.ids))
	b.ids = append(b.ids, slate...)
	b.ends = append(b.ends, len(b.ids))
	b.lines = append(b.lines, line)
}

// slateBlockBytes bounds what ids take on the lines of a block.
const slateBlockBytes = 4 << 20

func (b *slateBlock) full() bool {
	return b.len() == b.most || len(b.ids) >= max(slateBlockBytes/b.t, 1)
}

// fill reads the file into blocks. A block of in-batch is a batch: it is handed on when
// as many slates again have been read, so that a last one is never small.
func (p *filePerturber) fill(next func() *slateBlock) error {
	batch := 0
	if p.o.Replace == ReplaceInBatch {
		batch = p.o.Batch
	}
	b, first := next(), uint64(0)
	hand := func() (err error) { // the block to a worker, and the next one here
		if err = p.seal(b); err == nil {
			first += uint64(b.len())
			if b = next(); b != nil {
				b.first = first
			}
		}
		return err
	}
	for b != nil { // nil: given up, there is an error already
		b.push(p.in.userID, p.in.slateID, p.in.items, p.in.line)
		if p.answers != nil {
			p.users.add(p.in.userID)
		}
		var err error
		switch {
		case batch > 0 && b.len() == 2*batch:
			later := b.cut(batch)
			if err = hand(); b != nil {
				b.append(later)
			}
		case batch == 0 && b.full():
			err = hand()
		}
		if err != nil {
			return err
		}
		ok, err := p.in.read()
		if err != nil {
			return err
		}
		if !ok {
			return p.seal(b)
		}
	}
	return nil
}

// append adds the slates of another block.
func (b *slateBlock) append(o *slateBlock) {
	for i := range o.len() {
		b.push(o.user(i), o.slate(i), o.row(i), o.lines[i])
	}
}

// cut leaves n slates in the block and returns the others.
func (b *slateBlock) cut(n int) *slateBlock {
	later := newSlateBlock(b.t, b.most)
	for i := n; i < b.len(); i++ {
		later.push(b.user(i), b.slate(i), b.row(i), b.lines[i])
	}
	b.rows, b.ids, b.ends, b.lines = b.rows[:n*b.t], b.ids[:b.ends[2*n-1]], b.ends[:2*n], b.lines[:n]
	return later
}

// seal readies a block for a worker: the rows of the mechanism go in the order of the
// file.
func (p *filePerturber) seal(b *slateBlock) (err error) {
	if p.answers != nil && b != nil && !b.Empty() {
		b.answers, err = p.answers.Rows(b.len())
	}
	return err
}

// slateWorker perturbs and formats blocks for one goroutine.
type slateWorker struct {
	p      *filePerturber
	choose *chooser
	new    distinct
	urn    urn
	secret *rng.Secret // nil: keyed
	base   rng.Stream
	stream rng.Stream
	count  int
	sum    []float64
	before []int32
	pack   *format.Packer

	slates, replaced, blind int64
}

func newSlateWorker(p *filePerturber) (w *slateWorker, err error) {
	w = &slateWorker{p: p, base: p.stream(), before: make([]int32, p.t)}
	if p.o.Secure {
		w.secret = &rng.Secret{}
	}
	if p.o.Replace != ReplaceRR {
		m := p.o.method()
		if p.near != nil {
			m.Vectors, w.sum = p.near.vectors, make([]float64, p.near.dim)
		}
		w.count = positions(p.t, p.o.Ratio)
		w.choose, w.new = newChooser(m, p.t, w.count), distinct{marks: make([]uint32, p.cat.len())}
		w.urn = p.urn
	}
	w.pack, err = format.NewPacker(format.CompressionOf(p.o.Out))
	return w, err
}

// do perturbs a block and formats it.
func (w *slateWorker) do(b *slateBlock) error {
	var around *fileBatch
	if w.p.o.Replace == ReplaceInBatch {
		around = newFileBatch(b)
	}
	for i := range b.len() {
		row := b.row(i)
		copy(w.before, row)
		if err := w.slate(b, i, row, around); err != nil {
			return err
		}
		w.slates++
		for k, item := range row {
			if item != w.before[k] {
				w.replaced++
			}
		}
	}
	if b.answers != nil {
		if err := b.answers.Close(); err != nil {
			return err
		}
	}
	return w.format(b)
}

// slate perturbs slate i of a block in place.
func (w *slateWorker) slate(b *slateBlock, i int, row []int32, around *fileBatch) error {
	if b.answers != nil {
		return b.answers.Row(row)
	}
	if w.count == 0 {
		return nil
	}
	d := dice{w.secret}
	if w.secret == nil {
		w.stream = w.base.Sub(b.first + uint64(i))
		d = dice{&w.stream}
	}
	var reference []float64
	if w.p.near != nil {
		if w.p.o.Reference == ReferenceSlate {
			var known bool
			if reference, known = w.choose.reference(row); !known {
				w.blind++
			}
		} else if reference = w.p.near.reference(b.user(i), w.sum); reference == nil {
			w.blind++
			reference = w.sum
			clear(reference)
		}
	}
	u := w.urn
	if around != nil {
		u = around.urn(i, w.p.o.OwnRows)
	}
	err := swapItems(w.choose, &w.new, d, row, reference, u)
	var few *errUrn
	if errors.As(err, &few) {
		hint := "the catalogue is too small for this ratio"
		if around != nil {
			hint = "--batch takes more slates together, of more users"
		}
		return &dataset.Error{File: w.p.o.In, Line: b.lines[i], Msg: err.Error(), Hint: hint}
	}
	return err
}

// fileBatch is the items of a block's slates by user.
type fileBatch struct {
	items []int32
	of    []int32  // by slate: its user
	at    [][2]int // by user
}

func newFileBatch(b *slateBlock) *fileBatch {
	f := &fileBatch{items: make([]int32, 0, len(b.rows)), of: make([]int32, b.len())}
	users, slates := map[string]int32{}, [][]int32{}
	for i := range b.len() {
		u, ok := users[string(b.user(i))]
		if !ok {
			u = int32(len(slates))
			users[string(b.user(i))], slates = u, append(slates, nil)
		}
		f.of[i], slates[u] = u, append(slates[u], int32(i))
	}
	for _, list := range slates {
		from := len(f.items)
		for _, i := range list {
			f.items = append(f.items, b.row(int(i))...)
		}
		f.at = append(f.at, [2]int{from, len(f.items)})
	}
	return f
}

func (f *fileBatch) urn(slate int, own bool) others {
	if own {
		return others{items: f.items}
	}
	return others{f.items, f.at[f.of[slate]]}
}

// format packs the lines of a block.
func (w *slateWorker) format(b *slateBlock) (err error) {
	form := w.p.o.OutForm
	sep := fieldSeparator(form)
	for i := range b.len() {
		start := len(b.plain)
		if b.plain, err = form.AppendField(b.plain, b.user(i)); err != nil {
			return placed(err, w.p.o.In, "user_id", b.lines[i])
		}
		if !w.p.in.long() {
			for _, item := range b.row(i) {
				if b.plain, err = w.p.cat.append(append(b.plain, sep), item, form); err != nil {
					return err
				}
			}
			b.plain = append(b.plain, '\n')
			continue
		}
		if b.plain, err = form.AppendField(append(b.plain, sep), b.slate(i)); err != nil {
			return placed(err, w.p.o.In, "slate_id", b.lines[i])
		}
		ids := bytes.Clone(b.plain[start:])
		for k, item := range b.row(i) {
			if k > 0 {
				b.plain = append(b.plain, ids...)
			}
			b.plain = strconv.AppendInt(append(b.plain, sep), int64(k+1), 10)
			if b.plain, err = w.p.cat.append(append(b.plain, sep), item, form); err != nil {
				return err
			}
			b.plain = append(b.plain, '\n')
		}
	}
	b.packed, err = w.pack.Append(b.packed, b.plain)
	return err
}

// header is the first line of the output; lines have none.
func (p *filePerturber) header() string {
	sep, form := string(fieldSeparator(p.o.OutForm)), p.o.OutForm
	token, number := "", ""
	switch form {
	case format.Lines:
		return ""
	case format.Atomic:
		token, number = ":token", ":float"
	}
	if p.in.long() {
		return "user_id" + token + sep + "slate_id" + token + sep + "position" + number + sep + "item_id" + token + "\n"
	}
	s := "user_id" + token
	for i := range p.t {
		s += fmt.Sprintf("%sitem_%d%s", sep, i+1, token)
	}
	return s + "\n"
}

func fieldSeparator(f format.Form) byte {
	switch f {
	case format.CSV:
		return ','
	case format.Lines:
		return ' '
	}
	return '\t'
}

// placed says of an id that a form cannot hold where it stands; line 0 is unknown.
func placed(err error, file, column string, line int) error {
	if e := (*dataset.Error)(nil); errors.As(err, &e) {
		e.File, e.Field, e.Line = file, column, line
	}
	return err
}
