package features

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/perturb"
)

// join reads both sorted tables in parallel. They must have the same users.
type join struct {
	src           *Source
	rows, ratings *perturb.Sorter
	row           []float64
	counts        []int

	nextRow, nextRating func() (id, held []byte, ok bool)
	stop                []func()
	errs                [2]error // of going through the tables
	last                []byte   // user of the record before
	lastLine            int
	rater               []byte // user of the next rating
	rating              []byte
	more                bool // there is one
}

// begin starts both readers.
func (j *join) begin() {
	walk := func(s *perturb.Sorter, failed *error) func() ([]byte, []byte, bool) {
		next, stop := iter.Pull2(func(yield func(id, held []byte) bool) {
			errStop := errors.New("stopped")
			if err := s.Each(func(id, held []byte) error {
				if !yield(id, held) {
					return errStop
				}
				return nil
			}); !errors.Is(err, errStop) {
				*failed = err
			}
		})
		j.stop = append(j.stop, stop)
		return next
	}
	j.nextRow = walk(j.rows, &j.errs[0])
	if j.ratings != nil {
		j.nextRating = walk(j.ratings, &j.errs[1])
		j.counts = make([]int, j.src.Statistics.Levels+1)
		j.rater, j.rating, j.more = j.nextRating()
	}
}

// close ends the readers and removes the files.
func (j *join) close() (err error) {
	for _, stop := range j.stop {
		stop()
	}
	j.stop = nil
	for _, s := range []*perturb.Sorter{j.rows, j.ratings} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// next pushes the next user onto a block.
func (j *join) next(b *perturb.Block[float64]) (bool, error) {
	id, held, ok := j.nextRow()
	if err := errors.Join(j.errs[:]...); err != nil {
		return false, err
	}
	if !ok {
		if j.more {
			return false, j.stranger()
		}
		return false, nil
	}
	line, held := lineOf(held)
	if j.lastLine > 0 && bytes.Equal(id, j.last) {
		return false, &dataset.Error{File: j.src.Attributes, Line: max(line, j.lastLine), Field: userColumn,
			Msg:  fmt.Sprintf("user %s has a second row of features", dataset.Quote(id)),
			Hint: fmt.Sprintf("the first is on line %d", min(line, j.lastLine))}
	}
	j.last, j.lastLine = append(j.last[:0], id...), line
	cells := j.row
	if j.ratings != nil {
		n := len(j.src.Statistics.Names)
		if err := j.statistics(id, line, cells[:n]); err != nil {
			return false, err
		}
		cells = cells[n:]
	}
	for i := range cells {
		cells[i] = math.Float64frombits(binary.LittleEndian.Uint64(held[8*i:]))
	}
	copy(b.Push(line, j.last), j.row)
	return true, nil
}

// statistics writes the statistics of a user's ratings.
func (j *join) statistics(id []byte, line int, row []float64) error {
	clear(j.counts)
	first := 0
	if j.more && perturb.CompareIDs(j.rater, id) < 0 {
		return j.stranger()
	}
	for j.more && bytes.Equal(j.rater, id) {
		at, level := lineOf(j.rating)
		if first == 0 || at < first {
			first = at
		}
		j.counts[level[0]]++
		j.rater, j.rating, j.more = j.nextRating()
	}
	if first == 0 {
		return &dataset.Error{File: j.src.Attributes, Line: line, Field: userColumn,
			Msg:  fmt.Sprintf("user %s has a row of features, but no rating in %s", dataset.Quote(id), j.src.Ratings),
			Hint: "both tables must have the same users"}
	}
	if err := j.src.Statistics.Of(j.counts, row); err != nil {
		return &dataset.Error{File: j.src.Ratings, Line: first, Field: userColumn,
			Msg: fmt.Sprintf("user %s, whose first row this is", dataset.Quote(id)), Err: err}
	}
	return errors.Join(j.errs[:]...)
}

// stranger returns the error for a rating whose user has no row of features.
func (j *join) stranger() error {
	line, _ := lineOf(j.rating)
	return &dataset.Error{File: j.src.Ratings, Line: line, Field: userColumn,
		Msg: fmt.Sprintf("user %s has ratings, but no row of features in %s", dataset.Quote(j.rater),
			j.src.Attributes),
		Hint: "both tables must have the same users"}
}

// appendCells writes a line and cells; appendLevel a line and a level.
func appendCells(dst []byte, line int, cells []float64) []byte {
	dst = binary.AppendUvarint(dst, uint64(line))
	for _, v := range cells {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

func appendLevel(dst []byte, line, level int) []byte {
	return append(binary.AppendUvarint(dst, uint64(line)), byte(level))
}

// lineOf reads a line, and returns what follows it.
func lineOf(held []byte) (int, []byte) {
	n, at := binary.Uvarint(held)
	return int(n), held[at:]
}
