// Package gram writes the Gram matrix of items, of a graph of users and items or as the sum of those of
// disjoint groups of users, and reads it back. Entry (i, j) is how many users have both items; (i, i)
// is how many have i. The numbers are whole, so that sums of parts are exact in any order.
//
// A file has one line of text and then, for each item i from 0, the entries (i, j) with j at most i that
// are not 0: how many there are, then each as the distance from the j before (from -1 at first) and
// the number, all as varints. Equal matrices have equal bytes.
package gram

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"privrec/internal/graph"
)

// Header describes the data from which a matrix was computed.
type Header struct {
	Items        int
	Users        int64 // with an item
	Interactions int64 // pairs of user and item, each once
}

const headerForm = "privrec gram 1: %d items, %d users, %d interactions\n"

// maxItems is the largest number of items that a header may state.
const maxItems = 1 << 28

// Write writes the Gram matrix of a graph. It takes 8 bytes of memory for each item.
func Write(ctx context.Context, w io.Writer, g *graph.Bipartite) error {
	h := Header{Items: g.Items, Interactions: int64(g.Edges())}
	for u := range g.Users {
		if len(g.ItemsOf(u)) > 0 {
			h.Users++
		}
	}
	return write(w, h, func(i int, row []int64) error {
		if i&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, u := range g.UsersOf(i) {
			for _, j := range g.ItemsOf(int(u)) {
				if int(j) > i {
					break // ascending
				}
				row[j]++
			}
		}
		return nil
	})
}

// Sum writes the sum of the matrices of groups of users that have no user in common. It takes 8 bytes of memory for
// each item, and a buffer for each matrix.
func Sum(ctx context.Context, w io.Writer, parts ...*Reader) error {
	if len(parts) == 0 {
		return errors.New("gram: no matrices to add")
	}
	h := Header{Items: parts[0].Items}
	for _, p := range parts {
		if p.Items != h.Items {
			return fmt.Errorf("gram: matrices of %d and of %d items cannot be added", h.Items, p.Items)
		}
		h.Users += p.Users
		h.Interactions += p.Interactions
	}
	err := write(w, h, func(i int, row []int64) error {
		if i&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, p := range parts {
			if err := p.Row(func(j int, n int64) { row[j] += n }); err != nil {
				return err
			}
		}
		return nil
	})
	for _, p := range parts {
		if err == nil {
			err = p.End()
		}
	}
	return err
}

// write writes the rows. fill adds to each row, which starts with zeros.
func write(w io.Writer, h Header, fill func(i int, row []int64) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(b, headerForm, h.Items, h.Users, h.Interactions)
	all := make([]int64, h.Items)
	var line []byte
	for i := range h.Items {
		row := all[:i+1]
		if err := fill(i, row); err != nil {
			return err
		}
		n, last := 0, -1
		line = line[:0]
		for j, v := range row {
			if v != 0 {
				line = binary.AppendUvarint(binary.AppendUvarint(line, uint64(j-last)), uint64(v))
				n, last = n+1, j
			}
		}
		clear(row)
		var count [binary.MaxVarintLen64]byte
		b.Write(count[:binary.PutUvarint(count[:], uint64(n))])
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Reader reads a matrix row by row.
type Reader struct {
	Header
	name string
	in   *bufio.Reader
	next int // row
}

// NewReader returns a reader after reading the header of a matrix. name is for errors.
func NewReader(name string, in io.Reader) (*Reader, error) {
	r := &Reader{name: name, in: bufio.NewReaderSize(in, 1<<16)}
	line, err := r.in.ReadSlice('\n')
	if err == nil {
		_, err = fmt.Sscanf(string(line), headerForm, &r.Items, &r.Users, &r.Interactions)
	}
	if err != nil || r.Items < 0 || r.Items > maxItems || r.Users < 0 || r.Interactions < 0 ||
		string(line) != fmt.Sprintf(headerForm, r.Items, r.Users, r.Interactions) {
		return nil, fmt.Errorf("%s: not a Gram matrix: its first line is another", name)
	}
	return r, nil
}

// Row calls entry with the entries of the next row, in order.
func (r *Reader) Row(entry func(j int, n int64)) error {
	if r.next == r.Items {
		return fmt.Errorf("%s: no row %d", r.name, r.next)
	}
	count, err := binary.ReadUvarint(r.in)
	if err == nil && count > uint64(r.next)+1 {
		err = fmt.Errorf("%d entries", count)
	}
	j := -1
	for range count {
		if err != nil {
			break
		}
		var gap, n uint64
		if gap, err = binary.ReadUvarint(r.in); err != nil {
			break
		}
		if n, err = binary.ReadUvarint(r.in); err != nil {
			break
		}
		if gap == 0 || gap > uint64(r.next-j) || n == 0 || n > uint64(r.Users) {
			err = fmt.Errorf("entry %d after %d is %d of %d users", gap, j, n, r.Users)
			break
		}
		j += int(gap)
		entry(j, int64(n))
	}
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file is cut short")
		}
		return fmt.Errorf("%s: row %d: %w", r.name, r.next, err)
	}
	r.next++
	return nil
}

// Of calls entry with all entries (i, j), j at most i, in order. It fails on a matrix that does not belong to g: with
// another number of items, users or interactions, or with an item that has another number of users.
func (r *Reader) Of(ctx context.Context, g *graph.Bipartite, entry func(i, j int, n int64)) error {
	want := Header{Items: g.Items, Interactions: int64(g.Edges())}
	for u := range g.Users {
		if len(g.ItemsOf(u)) > 0 {
			want.Users++
		}
	}
	if r.Header != want {
		return fmt.Errorf("the Gram matrix is of %d items, %d users and %d interactions, the data have %d, %d and %d",
			r.Items, r.Users, r.Interactions, want.Items, want.Users, want.Interactions)
	}
	for i := range g.Items {
		if i&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		own := int64(0)
		err := r.Row(func(j int, n int64) {
			if j == i {
				own = n
			}
			entry(i, j, n)
		})
		if err != nil {
			return err
		}
		if have := len(g.UsersOf(i)); own != int64(have) {
			return fmt.Errorf("item %d has %d users in the Gram matrix and %d in the data: the matrix is of other "+
				"rows, or its items stand in another order", i, own, have)
		}
	}
	return r.End()
}

// End returns an error if rows are left, or data after the last.
func (r *Reader) End() error {
	if r.next != r.Items {
		return fmt.Errorf("%s: %d of %d rows were read", r.name, r.next, r.Items)
	}
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than %d rows", r.name, r.Items)
	}
	return nil
}
