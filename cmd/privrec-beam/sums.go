package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// writeSums writes non-negative whole numbers as varints.
func writeSums(ctx context.Context, path string, sums []int64) error {
	return putFile(ctx, path, false, func(w io.Writer) error {
		var b [binary.MaxVarintLen64]byte
		for _, n := range sums {
			if _, err := w.Write(b[:binary.PutUvarint(b[:], uint64(n))]); err != nil {
				return err
			}
		}
		return nil
	})
}

// addSums adds the numbers of a file to sums. It fails if their number differs.
func addSums(ctx context.Context, path string, sums []int64) error {
	f, err := openFile(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for k := range sums {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return fmt.Errorf("%s: number %d of %d: %w", path, k+1, len(sums), err)
		}
		sums[k] += int64(n)
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than %d numbers", path, len(sums))
	}
	return nil
}

// appendItems appends ascending items as their number and their distances.
func appendItems(dst []byte, items []int32) []byte {
	dst, last := binary.AppendUvarint(dst, uint64(len(items))), int32(0)
	for _, i := range items {
		dst, last = binary.AppendUvarint(dst, uint64(i-last)), i
	}
	return dst
}

// readItems reads the output of appendItems into dst, and returns the rest.
func readItems(dst []int32, b []byte) (items []int32, rest []byte, err error) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)) {
		return nil, nil, errors.New("a damaged list of items")
	}
	b, last := b[used:], int32(0)
	for range n {
		d, used := binary.Uvarint(b)
		if used <= 0 || d > 1<<31-1 {
			return nil, nil, errors.New("a damaged list of items")
		}
		last += int32(d)
		dst, b = append(dst, last), b[used:]
	}
	return dst, b, nil
}

// writeIDs writes ids with their values, in any order.
func writeIDs(ctx context.Context, path string, ids map[string]bool) error {
	return putFile(ctx, path, false, func(w io.Writer) error {
		p := pieceWriter{w: bufio.NewWriter(w)}
		for id, yes := range ids {
			var held []byte
			if yes {
				held = []byte{1}
			}
			if err := p.add([]byte(id), held); err != nil {
				return err
			}
		}
		return p.w.Flush()
	})
}

// readIDs adds the output of writeIDs to ids; a true value stays true. A missing file has no ids.
func readIDs(ctx context.Context, path string, ids map[string]bool) error {
	if path == "" {
		return nil
	}
	return readPiece(ctx, path, func(id, held []byte) error {
		ids[string(id)] = ids[string(id)] || len(held) > 0
		return nil
	})
}
