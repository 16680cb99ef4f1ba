package perturb

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// CompareIDs orders ids: whole numbers first, by value, then the others byte by byte. It depends only on the two ids,
// so that a stream can be sorted before all of it is known.
func CompareIDs(a, b []byte) int {
	x, y := isNumber(a), isNumber(b)
	switch {
	case x && y && len(a) != len(b):
		return len(a) - len(b)
	case x != y && x:
		return -1
	case x != y:
		return 1
	}
	return bytes.Compare(a, b)
}

// isNumber reports whether an id has only digits, without a leading zero.
func isNumber(id []byte) bool {
	for _, c := range id {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(id) > 0 && (id[0] != '0' || len(id) == 1)
}

const (
	sortBytes = 4 << 20 // of records in memory
	sortWays  = 128     // pieces merged at once
)

// Sorter sorts records by id in memory that does not grow with their number. It writes sorted pieces of sortBytes to
// nameless files, and merges sortWays pieces of one size to one of the next size.
type Sorter struct {
	Compare func(a, b []byte) int // of ids; CompareIDs, if it is not set to another order before the first Add

	file func() (*os.File, error) // makes a file without a name
	most int                      // bytes
	ways int

	buf    []byte
	recs   []record
	levels []*level
}

// record locates a record in the buffer: its id, then its content.
type record struct{ from, id, to int }

// level holds the sorted pieces of one size on one file.
type level struct {
	f      *os.File
	end    int64
	pieces [][2]int64
}

// NewSorter returns a sorter that keeps 4 MiB in memory and the rest on files from file. They should disappear when
// they are closed or the process ends.
func NewSorter(file func() (*os.File, error)) *Sorter {
	return &Sorter{Compare: CompareIDs, file: file, most: sortBytes, ways: sortWays}
}

// Add adds a record. hold appends its content.
func (s *Sorter) Add(id []byte, hold func(dst []byte) []byte) error {
	if s.recs == nil { // at full size: growing would leave as much memory behind again
		s.buf, s.recs = make([]byte, 0, s.most), make([]record, 0, s.most/96)
	}
	if len(s.buf)+24*len(s.recs) > s.most {
		if err := s.flush(); err != nil {
			return err
		}
	}
	r := record{from: len(s.buf)}
	s.buf = binary.AppendUvarint(s.buf, uint64(len(id)))
	s.buf = append(s.buf, id...)
	r.id = len(s.buf) - len(id)
	s.buf = hold(s.buf)
	r.to = len(s.buf)
	s.recs = append(s.recs, r)
	return nil
}

func (s *Sorter) idOf(r record) []byte {
	n, _ := binary.Uvarint(s.buf[r.from:])
	return s.buf[r.id : r.id+int(n)]
}

func (s *Sorter) order() {
	slices.SortFunc(s.recs, func(a, b record) int { return s.Compare(s.idOf(a), s.idOf(b)) })
}

// flush writes the records in memory as a piece.
func (s *Sorter) flush() error {
	s.order()
	err := s.addPiece(0, func(w *bufio.Writer) error {
		for _, r := range s.recs {
			if err := putRecord(w, s.buf[r.from:r.to]); err != nil {
				return err
			}
		}
		return nil
	})
	s.buf, s.recs = s.buf[:0], s.recs[:0]
	return err
}

// addPiece appends a piece to a level, and merges the level if it is full.
func (s *Sorter) addPiece(at int, write func(w *bufio.Writer) error) error {
	if at == len(s.levels) {
		f, err := s.file()
		if err != nil {
			return err
		}
		s.levels = append(s.levels, &level{f: f})
	}
	l := s.levels[at]
	c := &counter{w: l.f}
	w := bufio.NewWriterSize(c, 1<<16)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return err
	}
	l.pieces = append(l.pieces, [2]int64{l.end, l.end + c.n})
	l.end += c.n
	if len(l.pieces) < s.ways {
		return nil
	}
	m, err := s.merge(l.pieces, l)
	if err != nil {
		return err
	}
	err = s.addPiece(at+1, func(w *bufio.Writer) error {
		return m.each(func(rec []byte) error { return putRecord(w, rec) })
	})
	if err != nil {
		return err
	}
	l.pieces, l.end = nil, 0
	_, seek := l.f.Seek(0, io.SeekStart)
	return errors.Join(l.f.Truncate(0), seek)
}

// Each calls f with every record in order of the ids. Both slices are valid only during the call.
func (s *Sorter) Each(f func(id, held []byte) error) error {
	decode := func(rec []byte) error {
		n, at := binary.Uvarint(rec)
		return f(rec[at:at+int(n)], rec[at+int(n):])
	}
	if len(s.levels) == 0 {
		s.order()
		for _, r := range s.recs {
			if err := decode(s.buf[r.from:r.to]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.buf, s.recs = nil, nil
	m := &merger{compare: s.Compare}
	for _, l := range s.levels {
		part, err := s.merge(l.pieces, l)
		if err != nil {
			return err
		}
		m.heads = append(m.heads, part.heads...)
	}
	heap.Init(m)
	return m.each(decode)
}

func (s *Sorter) merge(pieces [][2]int64, l *level) (*merger, error) {
	m := &merger{compare: s.Compare}
	for _, p := range pieces {
		h := &head{r: bufio.NewReaderSize(io.NewSectionReader(l.f, p[0], p[1]-p[0]), max(1<<12, s.most/s.ways))}
		ok, err := h.next()
		if err != nil {
			return nil, err
		}
		if ok {
			m.heads = append(m.heads, h)
		}
	}
	heap.Init(m)
	return m, nil
}

// Close closes the files.
func (s *Sorter) Close() error {
	var errs []error
	for _, l := range s.levels {
		errs = append(errs, l.f.Close())
	}
	s.levels, s.buf, s.recs = nil, nil, nil
	return errors.Join(errs...)
}

func putRecord(w *bufio.Writer, rec []byte) error {
	var n [binary.MaxVarintLen64]byte
	w.Write(n[:binary.PutUvarint(n[:], uint64(len(rec)))])
	_, err := w.Write(rec)
	return err
}

// head is the next record of a piece.
type head struct {
	r   *bufio.Reader
	rec []byte
	id  []byte
}

func (h *head) next() (ok bool, err error) {
	n, err := binary.ReadUvarint(h.r)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err == nil {
		h.rec = slices.Grow(h.rec[:0], int(n))[:n]
		_, err = io.ReadFull(h.r, h.rec)
	}
	if err != nil {
		return false, fmt.Errorf("read back sorted records: %w", err)
	}
	k, at := binary.Uvarint(h.rec)
	h.id = h.rec[at : at+int(k)]
	return true, nil
}

// merger returns the records of several pieces in order.
type merger struct {
	compare func(a, b []byte) int
	heads   []*head
}

func (m *merger) each(f func(rec []byte) error) error {
	for len(m.heads) > 0 {
		if err := f(m.heads[0].rec); err != nil {
			return err
		}
		ok, err := m.heads[0].next()
		switch {
		case err != nil:
			return err
		case ok:
			heap.Fix(m, 0)
		default:
			heap.Pop(m)
		}
	}
	return nil
}

// Len, Less, Swap, Push and Pop are for container/heap: the piece with the least id comes first.
func (m *merger) Len() int           { return len(m.heads) }
func (m *merger) Less(i, j int) bool { return m.compare(m.heads[i].id, m.heads[j].id) < 0 }
func (m *merger) Swap(i, j int)      { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }
func (m *merger) Push(x any)         { m.heads = append(m.heads, x.(*head)) }

// Pop removes the last piece.
func (m *merger) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}

// counter counts the bytes that are written through it.
type counter struct {
	w io.Writer
	n int64
}

// Write writes to the counter's writer, and counts.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
