package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"

	"privrec/internal/metrics"
)

// measures holds the measures of a user, by metric.
type measures struct {
	rows                 int64 // of the truth
	own, random, popular []float64
}

func (m *measures) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(m.rows))
	for _, list := range [][]float64{m.own, m.random, m.popular} {
		for _, v := range list {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	return dst
}

// read reads measures of n metrics.
func (m *measures) read(b []byte, n int) error {
	rows, used := binary.Uvarint(b)
	if used <= 0 || len(b)-used != 8*3*n {
		return errUser
	}
	m.rows, b = int64(rows), b[used:]
	for _, list := range []*[]float64{&m.own, &m.random, &m.popular} {
		*list = (*list)[:0]
		for range n {
			*list, b = append(*list, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
		}
	}
	return nil
}

// means adds up measures user after user.
type means struct {
	metrics              []metrics.Metric
	users                int64
	own, random, popular []float64 // sums
}

func newMeans(ms []metrics.Metric) *means {
	return &means{metrics: ms, own: make([]float64, len(ms)), random: make([]float64, len(ms)),
		popular: make([]float64, len(ms))}
}

func (m *means) add(x *measures) {
	m.users++
	for k := range m.metrics {
		m.own[k] += x.own[k]
		m.random[k] += x.random[k]
		m.popular[k] += x.popular[k]
	}
}

// of returns the means of sums.
func (m *means) of(sums []float64) (out []metrics.Value) {
	for k, x := range m.metrics {
		out = append(out, metrics.Value{Metric: x, Value: sums[k] / float64(m.users), Count: int(m.users)})
	}
	return out
}

// merge reads the measures of all shards in the order of users on one machine, so that sums of floats equal those of
// one machine, whatever the shards. It writes them to a table.
func (f *evaluateFlags) merge(ctx context.Context, to string, made []stepNote, compare func(a, b []byte) int,
	m *means) error {
	return writeFile(ctx, to, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		b := bufio.NewWriterSize(z, 1<<16)
		b.WriteString("user_id\ttest_rows")
		for _, x := range m.metrics {
			b.WriteString("\t" + x.String())
		}
		b.WriteByte('\n')
		var files []string
		for _, n := range made {
			files = append(files, n.Score)
		}
		var x measures
		var line []byte
		err = mergePieces(ctx, files, compare, func(id, held []byte) error {
			if err := x.read(held, len(m.metrics)); err != nil {
				return err
			}
			m.add(&x)
			line = strconv.AppendInt(append(append(line[:0], id...), '\t'), x.rows, 10)
			for _, v := range x.own {
				line = strconv.AppendFloat(append(line, '\t'), v, 'g', -1, 64)
			}
			_, err := b.Write(append(line, '\n'))
			return err
		})
		return errors.Join(err, b.Flush(), z.Close())
	})
}

// mergePieces calls row with the rows of sorted pieces, in order. Each user is in one piece.
func mergePieces(ctx context.Context, files []string, compare func(a, b []byte) int,
	row func(key, held []byte) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type next struct {
		key, held []byte
		err       error
		end       bool
	}
	heads := make([]next, len(files))
	from := make([]chan next, len(files))
	for k, path := range files {
		from[k] = make(chan next, 64)
		go func() {
			err := readPiece(ctx, path, func(key, held []byte) error {
				select {
				case from[k] <- next{key: bytes.Clone(key), held: bytes.Clone(held)}:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			select {
			case from[k] <- next{err: err, end: true}:
			case <-ctx.Done():
			}
		}()
	}
	for k := range heads {
		heads[k] = <-from[k]
	}
	for {
		least := -1
		for k, h := range heads {
			switch {
			case h.err != nil:
				return h.err
			case h.end:
			case least < 0 || compare(h.key, heads[least].key) < 0:
				least = k
			}
		}
		if least < 0 {
			return nil
		}
		if err := row(heads[least].key, heads[least].held); err != nil {
			return err
		}
		heads[least] = <-from[least]
	}
}
