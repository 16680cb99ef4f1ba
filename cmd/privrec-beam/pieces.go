package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"privrec/internal/perturb"
)

// place orders the rows of a user: by time, then by file, then by line.
type place struct {
	time int64
	part []byte // digits after the point
	file uint32
	line uint64
}

// appendKey appends the sort key of a row: the user, then the place. The key's length is that of the id and some 30
// bytes, whatever the length of the row.
func appendKey(dst, user []byte, p place) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(user))), user...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.time)^1<<63)
	dst = append(dst, p.part...)
	dst = binary.BigEndian.AppendUint32(dst, p.file)
	return binary.BigEndian.AppendUint64(dst, p.line)
}

// userOf returns the user of a key, and the rest.
func userOf(key []byte) (user, rest []byte) {
	n, at := binary.Uvarint(key)
	return key[at : at+int(n)], key[at+int(n):]
}

// whereOf returns the file and the line of a key.
func whereOf(key []byte) (file uint32, line uint64) {
	n := len(key)
	return binary.BigEndian.Uint32(key[n-12:]), binary.BigEndian.Uint64(key[n-8:])
}

// compareKeys orders keys: users as the output has them, then their rows by time and place.
func compareKeys(a, b []byte) int {
	ua, ra := userOf(a)
	ub, rb := userOf(b)
	if c := perturb.CompareIDs(ua, ub); c != 0 {
		return c
	}
	return cmp.Or(
		bytes.Compare(ra[:8], rb[:8]),
		bytes.Compare(ra[8:len(ra)-12], rb[8:len(rb)-12]),
		bytes.Compare(ra[len(ra)-12:], rb[len(rb)-12:]))
}

// pieceWriter writes rows to a piece: one shard's rows of one input file.
type pieceWriter struct {
	w *bufio.Writer
	n int64
}

func (p *pieceWriter) add(key, held []byte) error {
	var n [binary.MaxVarintLen64]byte
	for _, b := range [][]byte{key, held} {
		p.w.Write(n[:binary.PutUvarint(n[:], uint64(len(b)))])
		if _, err := p.w.Write(b); err != nil {
			return err
		}
	}
	p.n++
	return nil
}

// pieces holds the pieces of all shards that one attempt at an input file writes, in a folder of its machine.
type pieces struct {
	dir string
	out []*os.File // by shard; nil: no row so far
	w   []*pieceWriter
	key []byte
}

func newPieces(dir string, shards int) *pieces {
	return &pieces{dir: dir, out: make([]*os.File, shards), w: make([]*pieceWriter, shards)}
}

// add adds a row to the piece of its user's shard.
func (p *pieces) add(user, held []byte, at place) (err error) {
	s := perturb.ShardOf(user, len(p.out)).I - 1
	if p.w[s] == nil {
		if p.out[s], err = os.CreateTemp(p.dir, "rows-*"); err != nil {
			return err
		}
		p.w[s] = &pieceWriter{w: bufio.NewWriterSize(p.out[s], 1<<16)}
	}
	p.key = appendKey(p.key[:0], user, at)
	return p.w[s].add(p.key, held)
}

// publish stores the pieces where all workers see them, under a name that no other attempt has.
func (p *pieces) publish(ctx context.Context, file int, name string, emit func(shard int, note string)) error {
	for s, w := range p.w {
		if w == nil {
			continue
		}
		if err := w.w.Flush(); err != nil {
			return err
		}
		to := fmt.Sprintf("%s-%05d", name, s+1)
		if err := copyFile(ctx, p.out[s].Name(), to, false); err != nil {
			return err
		}
		b, err := json.Marshal(pieceNote{to, file, w.n})
		if err != nil {
			return err
		}
		emit(s+1, string(b))
	}
	return nil
}

// close closes the files.
func (p *pieces) close() {
	for _, f := range p.out {
		if f != nil {
			f.Close()
		}
	}
}

// pieceNotes reads the notes of the pieces of a shard. It fails if a file occurs twice.
func pieceNotes(next func(*string) bool) (list []pieceNote, err error) {
	var text string
	seen := map[int]bool{}
	for next(&text) {
		var p pieceNote
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			return nil, err
		}
		if seen[p.File] {
			return nil, fmt.Errorf("the engine handed on file %d twice", p.File)
		}
		seen[p.File] = true
		list = append(list, p)
	}
	return list, nil
}

// maxRow bounds the size of a row that is read back, in bytes.
const maxRow = 64 << 20

// readPiece calls row with every row of a piece. The slices are valid during the call.
func readPiece(ctx context.Context, path string, row func(key, held []byte) error) (err error) {
	f, err := openFile(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<17)
	var both [2][]byte
	for {
		for i := range both {
			n, err := binary.ReadUvarint(r)
			if errors.Is(err, io.EOF) && i == 0 {
				return nil
			}
			if err == nil && n > maxRow {
				err = fmt.Errorf("a row of %d bytes", n)
			}
			if err == nil {
				both[i] = slices.Grow(both[i][:0], int(n))[:n]
				_, err = io.ReadFull(r, both[i])
			}
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		if err := row(both[0], both[1]); err != nil {
			return err
		}
	}
}
