package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/private/gram"
	"privrec/internal/private/release"
)

// contributedRows counts the contributions of a shard's users to the released counts, on a worker. It draws as train
// dp-ease does and adds no noise. It keeps the users for the matrix.
type contributedRows struct {
	historyRows
	tally *release.Tally
	draw  release.Draw
	sum   dataset.RowHash
	items []int32 // of the user
	has   map[int32]bool
	out   *os.File
	keep  pieceWriter
	buf   []byte
}

func (c *contributedRows) begin(dir string) (err error) {
	c.draw, c.has = c.j.Draws.ToCounts(), map[int32]bool{}
	c.tally = release.NewTally(c.j.Draws.Counts, c.cat.Size)
	if c.out, err = os.Create(filepath.Join(dir, "contributed")); err != nil {
		return err
	}
	c.keep.w = bufio.NewWriterSize(c.out, 1<<17)
	return nil
}

func (c *contributedRows) user(id []byte) error {
	err := c.flush()
	c.last = append(c.last[:0], id...)
	return err
}

func (c *contributedRows) held(_, item []byte) error {
	i, err := c.fresh(c.has, item)
	if err == nil && i >= 0 {
		c.items = append(c.items, i)
	}
	return err
}

// flush counts the current user, if it has items.
func (c *contributedRows) flush() error {
	if len(c.items) == 0 {
		return nil
	}
	slices.Sort(c.items)
	id := string(c.last)
	c.n++
	c.sum.Add(id, c.items)
	c.buf = appendItems(c.buf[:0], c.items)
	err := c.tally.Add(c.draw.Of(id, c.items))
	if err == nil {
		err = c.keep.add(c.last, c.buf)
	}
	c.items = c.items[:0]
	clear(c.has)
	return err
}

func (c *contributedRows) end() error {
	if err := c.flush(); err != nil {
		return err
	}
	return closed(c.keep.w, c.out)
}

// write stores counts and users where the driver and other workers find them.
func (c *contributedRows) write(ctx context.Context, work string, note *shardNote) error {
	name := fmt.Sprintf("%05d-%s", note.Shard, attempt())
	note.Sums, note.Kept, note.RowHash = join(work, "counts-"+name), join(work, "users-"+name), &c.sum
	if err := writeSums(ctx, note.Sums, c.tally.Counts); err != nil {
		return err
	}
	return copyFile(ctx, c.out.Name(), note.Kept, false)
}

// terms sums the terms of a shard's users in the matrix of a plan.
func (s *step) terms(ctx context.Context, in shardNote) (note stepNote, err error) {
	p, err := readPlan(ctx, s.Plan)
	if err != nil {
		return note, err
	}
	t, draw := p.Terms(), s.Draws.ToMatrix(p)
	var items []int32
	err = readPiece(ctx, in.Kept, func(id, held []byte) (err error) {
		if items, _, err = readItems(items[:0], held); err != nil {
			return fmt.Errorf("%s: %w", in.Kept, err)
		}
		note.Users++
		return t.Add(draw.Of(string(id), items))
	})
	if err != nil {
		return note, err
	}
	note.Shard, note.Sums = in.Shard, join(s.Work, fmt.Sprintf("terms-%05d-%s", in.Shard, attempt()))
	return note, writeSums(ctx, note.Sums, t.Steps)
}

func readPlan(ctx context.Context, path string) (*gram.Plan, error) {
	f, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &gram.Plan{}
	return p, json.NewDecoder(f).Decode(p)
}
