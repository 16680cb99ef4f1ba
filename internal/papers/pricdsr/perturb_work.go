package pricdsr

import (
	"bytes"
	"math"
	"os"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/run"
)

// worker perturbs and formats blocks for one goroutine.
type worker struct {
	s      *mechanism.SequenceSampler
	before []int32
	t      *tally

	form  dataset.Form
	cat   *Catalogue
	tails [][]byte // what follows an item at each position
	user  []byte
	pack  *dataset.Packer
}

func (p *perturber) workers(seq *mechanism.SequenceRun) ([]*worker, error) {
	ws := make([]*worker, p.o.Workers)
	sep := separator(p.o.OutForm)
	tails := make([][]byte, p.m.Length)
	for c := range tails {
		tails[c] = append(strconv.AppendInt([]byte{sep}, int64(c+1), 10), '\n')
	}
	for i := range ws {
		s, err := seq.UserSampler()
		if err != nil {
			return nil, err
		}
		pack, err := dataset.NewPacker(dataset.CompressionOf(p.o.Out))
		if err != nil {
			return nil, err
		}
		ws[i] = &worker{s: s, before: make([]int32, p.m.Length), t: newTally(p.m), form: p.o.OutForm, cat: p.cat, tails: tails, pack: pack}
	}
	return ws, nil
}

// perturb perturbs the rows of a block.
func (w *worker) perturb(b *block) error {
	for u := range b.users() {
		row := b.row(u)
		copy(w.before, row)
		if err := w.s.RowOf(mechanism.KeyOf(b.id(u)), b.at[u], row); err != nil {
			return err
		}
		w.t.see(w.before, row)
	}
	return nil
}

func separator(f dataset.Form) byte {
	switch f {
	case dataset.FormCSV:
		return ','
	case dataset.FormLines:
		return ' '
	}
	return '\t'
}

// header is the first line of an output; lines have none.
func header(f dataset.Form) string {
	switch f {
	case dataset.FormAtomic:
		return "user_id:token\titem_id:token\tposition:float\n"
	case dataset.FormCSV:
		return "user_id,item_id,position\n"
	case dataset.FormLines:
		return ""
	}
	return "user_id\titem_id\tposition\n"
}

// format packs the lines of a block: a row a cell but padding, or a line a user.
func (w *worker) format(b *block) (err error) {
	sep := separator(w.form)
	for u := range b.users() {
		if w.user, err = field(w.user[:0], b.id(u), w.form); err != nil {
			return err
		}
		start := len(b.plain)
		for c, id := range b.row(u) {
			switch {
			case id == 0:
				continue
			case w.form == dataset.FormLines:
				if len(b.plain) == start {
					b.plain = append(b.plain, w.user...)
				}
				b.plain = append(b.plain, sep)
				if b.plain, err = w.item(b.plain, id); err != nil {
					return err
				}
				continue
			}
			b.plain = append(append(b.plain, w.user...), sep)
			if b.plain, err = w.item(b.plain, id); err != nil {
				return err
			}
			b.plain = append(b.plain, w.tails[c]...)
		}
		switch {
		case len(b.plain) == start:
			if b.none, err = field(b.none, b.id(u), dataset.FormTSV); err != nil {
				return err
			}
			b.none = append(b.none, '\n')
		case w.form == dataset.FormLines:
			b.plain = append(b.plain, '\n')
		}
	}
	if len(b.plain) > 0 {
		if b.out, err = w.pack.Append(b.out, b.plain); err != nil {
			return err
		}
	}
	if len(b.none) > 0 {
		b.empty, err = w.pack.Append(b.empty, b.none)
	}
	return err
}

func (w *worker) item(dst []byte, id int32) ([]byte, error) {
	if w.cat.names == nil {
		return w.cat.append(dst, id), nil
	}
	return field(dst, []byte(w.cat.names[id-1]), w.form)
}

// field appends an id as the form can hold it.
func field(dst, id []byte, f dataset.Form) ([]byte, error) {
	bad := "\t"
	switch f {
	case dataset.FormCSV:
		if !bytes.ContainsAny(id, ",\"") {
			return append(dst, id...), nil
		}
		dst = append(dst, '"')
		dst = append(dst, bytes.ReplaceAll(id, []byte(`"`), []byte(`""`))...)
		return append(dst, '"'), nil
	case dataset.FormLines:
		bad = " \t"
	}
	if bytes.ContainsAny(id, bad) {
		return nil, refuse("--out-form csv quotes what it must", "id %.40q has a separator of the form %q in it", id, string(f))
	}
	return append(dst, id...), nil
}

// writer writes the two tables of a perturbation.
type writer struct {
	out, empty *os.File
	path       string
	done       int64
}

func newWriter(p *perturber) (w *writer, err error) {
	pack, err := dataset.NewPacker(dataset.CompressionOf(p.o.Out))
	if err != nil {
		return nil, err
	}
	w = &writer{path: p.o.Out}
	if w.out, err = os.Create(p.st.path(outFile)); err != nil {
		return nil, &dataset.WriteError{File: p.o.Out, Err: err}
	}
	if w.empty, err = os.Create(p.st.path(emptyFile)); err != nil {
		w.out.Close()
		return nil, &dataset.WriteError{File: p.o.Out, Err: err}
	}
	for _, x := range []struct {
		f    *os.File
		head string
	}{{w.out, header(p.o.OutForm)}, {w.empty, "user_id\n"}} {
		var b []byte
		if b, err = pack.Append(nil, []byte(x.head)); err == nil {
			_, err = x.f.Write(b)
		}
		if err != nil {
			w.abandon()
			return nil, &dataset.WriteError{File: p.o.Out, Err: err}
		}
	}
	return w, nil
}

func (w *writer) write(b *block, p run.Progress) error {
	_, err := w.out.Write(b.out)
	if err == nil {
		_, err = w.empty.Write(b.empty)
	}
	if err != nil {
		return &dataset.WriteError{File: w.path, Err: err}
	}
	tell(p, "written", &w.done, b)
	return nil
}

// close makes both files durable.
func (w *writer) close() error {
	for _, f := range []*os.File{w.out, w.empty} {
		if err := f.Sync(); err != nil {
			w.abandon()
			return &dataset.WriteError{File: w.path, Err: err}
		}
	}
	return w.abandon()
}

func (w *writer) abandon() error {
	a, b := w.out.Close(), w.empty.Close()
	for _, err := range []error{a, b} {
		if err != nil {
			return &dataset.WriteError{File: w.path, Err: err}
		}
	}
	return nil
}

// tally counts rows before and after: of true data, so it is not for release.
type tally struct {
	m       mechanism.Sequence
	rows    int64
	lengths []int64 // rows by their items
	inPlace int64   // items in their column afterwards
	written int64   // cells other than padding afterwards
	found   int64   // rows with an item in its column
	emptied int64   // rows that came out empty
	left    leftOut
}

func newTally(m mechanism.Sequence) *tally {
	return &tally{m: m, lengths: make([]int64, m.Length+1)}
}

func (t *tally) see(before, after []int32) {
	items, same, written := 0, 0, 0
	for c, id := range before {
		if after[c] != 0 {
			written++
		}
		if id != 0 {
			items++
			if after[c] == id {
				same++
			}
		}
	}
	t.rows++
	t.lengths[items]++
	t.inPlace += int64(same)
	t.written += int64(written)
	if same > 0 {
		t.found++
	}
	if written == 0 {
		t.emptied++
	}
}

// sum takes together what the workers and the reader counted.
func (t *tally) sum(r *reader, ws []*worker) {
	for _, w := range ws {
		t.rows += w.t.rows
		t.inPlace += w.t.inPlace
		t.written += w.t.written
		t.found += w.t.found
		t.emptied += w.t.emptied
		for i, n := range w.t.lengths {
			t.lengths[i] += n
		}
	}
	t.left = r.left
}

// items is how many items the rows had.
func (t *tally) items() (n int64) {
	for k, rows := range t.lengths {
		n += int64(k) * rows
	}
	return n
}

// expected is the number of items that should be in their column, and its standard
// deviation, as if cells were independent: they are but for terms of 1/m.
func (t *tally) expected() (mean, sd float64) {
	s := Survivals(t.m)
	longer, v := int64(0), 0.0 // rows that have an item in the column
	for c := range s {
		longer += t.lengths[t.m.Length-c] // padding is in front: column c belongs to rows of at least L-c items
		mean += float64(longer) * s[c]
		v += float64(longer) * s[c] * (1 - s[c])
	}
	return mean, math.Sqrt(v)
}
