package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"privrec/internal/dataset"
)

// sealEntry returns a function that writes a cache file.
func sealEntry(e *entry) func(io.Writer) error {
	payload := encodeEntry(e)
	sum := sha256.Sum256(payload)
	return func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(strings.NewReader(cacheVersion), bytes.NewReader(sum[:]),
			bytes.NewReader(payload)))
		return err
	}
}

// encodeEntry returns the columns one after another, each as a uvarint length and little-endian values. A nil column
// has length 0 like an empty one.
func encodeEntry(e *entry) []byte {
	var b []byte
	l := e.log
	b = putStrings(b, []string{l.Name, l.Hash})
	b = append(b, bit(l.StandIn))
	b = putStrings(b, l.UserIDs)
	b = putStrings(b, l.ItemIDs)
	b = putColumn(b, l.Users)
	b = putColumn(b, l.Items)
	b = putColumn(b, l.Times)
	b = binary.AppendUvarint(b, uint64(l.TimesPerUnit))
	b = putColumn(b, l.Values)
	b = putColumn(b, l.Parts)
	b = binary.AppendUvarint(b, uint64(len(e.ladder)))
	for _, r := range e.ladder {
		b = putStrings(b, []string{r.Name})
		b = putColumn(b, []int64{int64(r.Users), int64(r.Items), int64(r.Rows), int64(r.Samples)})
	}
	if e.features == nil {
		return append(b, 0)
	}
	kind := byte(1)
	if e.features.Partial {
		kind = 2
	}
	b = putStrings(append(b, kind), e.features.UserIDs)
	b = binary.AppendUvarint(b, uint64(len(e.features.Columns)))
	for _, c := range e.features.Columns {
		b = putStrings(append(b, byte(c.Kind)), []string{c.Name})
		b = putColumn(b, c.Numbers)
		b = putColumn(b, c.Codes)
		b = putStrings(b, c.Levels)
	}
	return b
}

func putColumn[T any](b []byte, col []T) []byte {
	b = binary.AppendUvarint(b, uint64(len(col)))
	if len(col) == 0 {
		return b
	}
	b, err := binary.Append(b, binary.LittleEndian, col)
	if err != nil {
		panic(err) // only for types without a fixed size, which no column has
	}
	return b
}

func putStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// decoder decodes the bytes of encodeEntry. After the first fault it returns zero values, and err is the fault.
type decoder struct {
	b   []byte
	err error
}

var errEntry = errors.New("malformed entry")

// decodeEntry returns the decoded entry after checking that its columns fit together.
func decodeEntry(b []byte) (*entry, error) {
	d := decoder{b: b}
	e := &entry{log: &dataset.Log{}}
	l := e.log
	if head := d.strings(); len(head) == 2 {
		l.Name, l.Hash = head[0], head[1]
	} else {
		d.fail()
	}
	l.StandIn = d.byte() == 1
	l.UserIDs, l.ItemIDs = d.strings(), d.strings()
	l.Users, l.Items = column[int32](&d, 4), column[int32](&d, 4)
	l.Times, l.TimesPerUnit = column[int64](&d, 8), d.number()
	l.Values, l.Parts = column[float32](&d, 4), column[dataset.Part](&d, 1)
	for n := d.length(1); n > 0 && d.err == nil; n-- {
		name, counts := d.strings(), column[int64](&d, 8)
		if len(name) != 1 || len(counts) != 4 {
			d.fail()
			break
		}
		e.ladder = append(e.ladder, dataset.Rung{Name: name[0], Users: int(counts[0]), Items: int(counts[1]),
			Rows: int(counts[2]), Samples: int(counts[3])})
	}
	if kind := d.byte(); kind == 1 || kind == 2 {
		e.features = d.features()
		e.features.Partial = kind == 2
	}
	if d.err == nil && len(d.b) > 0 {
		d.err = fmt.Errorf("%w: %d bytes too many", errEntry, len(d.b))
	}
	if d.err == nil {
		if err := l.Valid(); err != nil {
			d.err = fmt.Errorf("%w: %w", errEntry, err)
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	if len(e.ladder) == 0 {
		return nil, errEntry
	}
	return e, nil
}

func (d *decoder) features() *dataset.Features {
	f := &dataset.Features{UserIDs: d.strings()}
	for n := d.length(1); n > 0 && d.err == nil; n-- {
		c := dataset.Column{Kind: dataset.Kind(d.byte())}
		if name := d.strings(); len(name) == 1 {
			c.Name = name[0]
		} else {
			d.fail()
		}
		c.Numbers, c.Codes, c.Levels = column[float64](d, 8), column[int32](d, 4), d.strings()
		rows := len(c.Codes)
		if c.Kind == dataset.Numeric {
			rows = len(c.Numbers)
		}
		bad := slices.ContainsFunc(c.Codes, func(code int32) bool { return code < -1 || int(code) >= len(c.Levels) })
		if c.Kind > dataset.Numeric || rows != len(f.UserIDs) || bad {
			d.fail()
		}
		f.Columns = append(f.Columns, c)
	}
	return f
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = errEntry
	}
	d.b = nil
}

// length returns a number of elements of at least size bytes each. It fails if the remaining bytes cannot hold them, so
// that a damaged number allocates nothing.
func (d *decoder) length(size int) int {
	n, k := binary.Uvarint(d.b)
	if k <= 0 || n > uint64(len(d.b)-k)/uint64(size) {
		d.fail()
		return 0
	}
	d.b = d.b[k:]
	return int(n)
}

// number reads a whole number from 0.
func (d *decoder) number() int64 {
	n, k := binary.Uvarint(d.b)
	if k <= 0 || n > math.MaxInt64 {
		d.fail()
		return 0
	}
	d.b = d.b[k:]
	return int64(n)
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) strings() []string {
	n := d.length(1)
	if n == 0 {
		return nil
	}
	out := make([]string, 0, n)
	for ; n > 0; n-- {
		k := d.length(1)
		if d.err != nil {
			return nil
		}
		out = append(out, string(d.b[:k]))
		d.b = d.b[k:]
	}
	return out
}

// column reads a column; an empty one is returned as nil.
func column[T any](d *decoder, size int) []T {
	n := d.length(size)
	if n == 0 {
		return nil
	}
	out := make([]T, n)
	k, err := binary.Decode(d.b, binary.LittleEndian, out)
	if err != nil {
		d.fail()
		return nil
	}
	d.b = d.b[k:]
	return out
}
