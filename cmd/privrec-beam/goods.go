package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/protocol/imported"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// ranking says what to rank. It is written as JSON into the pipeline.
type ranking struct {
	Job     string               // a name that no other job has
	Vectors imported.VectorFiles // all but the files of users
	Users   []string             // files of vectors of users, the last ones of the job's inputs
	IDs     []string             // of their ids; none: the files of vectors have them
	Truth   int                  // how many of the inputs before them are truth; those before are training rows
	K       []int                // cut-offs
	Top     int                  // length of the lists that are written; 0: none are
}

// side returns the files of one side: those of items, or file number at of users.
func (o *ranking) side(at int) imported.VectorFiles {
	c := o.Vectors
	if o.Users[at] != c.Files[0] { // else one file has both
		c.Files = []string{o.Users[at], c.Files[0]}
	}
	if len(c.IDs) > 0 {
		c.IDs = []string{o.IDs[at], c.IDs[0]}
	}
	return c
}

// goods holds the items that are ranked.
type goods struct {
	ids   []string // in the order of dataset.Ascending
	place map[string]int32
	rows  tensor.Matrix // a row for each
	files []dataset.File
}

// kept holds the vectors of items that this process read last. Its shards share them.
var kept struct {
	sync.Mutex
	of string
	g  *goods
}

// goodsOf reads the vectors of items, once in a process.
func goodsOf(ctx context.Context, o *ranking) (*goods, error) {
	c := o.side(0)
	kept.Lock()
	defer kept.Unlock()
	if kept.of == o.Job {
		return kept.g, nil
	}
	dir, end, err := scratch()
	if err != nil {
		return nil, err
	}
	defer end()
	side, err := readSide(ctx, c, 1, dir)
	if err != nil {
		return nil, err
	}
	g := &goods{place: make(map[string]int32, len(side.IDs)), files: side.Files}
	var at []int32
	at, g.ids = dataset.Ascending(side.IDs)
	g.rows = tensor.New(side.Rows.Rows, side.Rows.Cols)
	for i, to := range at {
		copy(tensor.Row(g.rows, int(to)), tensor.Row(side.Rows, i))
		g.place[side.IDs[i]] = to
	}
	if len(g.place) != len(side.IDs) {
		return nil, &dataset.Error{File: side.Path, Msg: "an item has two vectors"}
	}
	// A product of so few items would be cut along the vectors, and its bits would depend on how many users are
	// ranked at once.
	if d := side.Rows.Cols; d >= 1024 && d >= 4*max(len(g.ids), eval.ChunkSize(len(g.ids))) {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"%d items have vectors of %d numbers: so few items are ranked on one machine", len(g.ids), d),
			Fix: "privrec import --vectors"}
	}
	kept.of, kept.g = o.Job, g
	return g, nil
}

// readSide reads the vectors of a side, from files of any file system.
func readSide(ctx context.Context, c imported.VectorFiles, k int, dir string) (*imported.Side, error) {
	for _, list := range [][]string{c.Files, c.IDs, c.Biases} {
		for i, path := range list {
			if path == "" || len(list) == 2 && i != k || isLocal(path) {
				continue
			}
			at, err := local(ctx, path, dir)
			if err != nil {
				return nil, err
			}
			list[i] = at
		}
	}
	s, err := imported.ReadSide(ctx, c, k)
	if err == nil && len(s.IDs) != s.Rows.Rows {
		err = errors.New(s.Path + ": rows and ids are not as many")
	}
	return s, err
}

// universe holds all items of a ranking: those with a vector, and those in the truth alone.
type universe struct {
	ids    []string // in the order of dataset.Ascending
	rows   tensor.Matrix
	of     []int32          // the number of an item with a vector
	others map[string]int32 // of one without
	barred []int32          // items without a vector, which are never listed
}

// newUniverse returns the items of goods with further items without a vector.
func newUniverse(g *goods, strange []string) *universe {
	u := &universe{ids: g.ids, rows: g.rows, others: map[string]int32{}}
	all := append(append(make([]string, 0, len(g.ids)+len(strange)), g.ids...), strange...)
	var at []int32
	at, u.ids = dataset.Ascending(all)
	u.of = at[:len(g.ids)]
	if len(strange) > 0 {
		u.rows = tensor.New(len(all), g.rows.Cols)
		for i, to := range u.of {
			copy(tensor.Row(u.rows, int(to)), tensor.Row(g.rows, i))
		}
	}
	for k, id := range strange {
		u.others[id] = at[len(g.ids)+k]
		u.barred = append(u.barred, at[len(g.ids)+k])
	}
	return u
}
