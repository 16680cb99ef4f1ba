package run

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Column is one column of a table of scores. Values is a slice of string,
// int32, int64, float32 or float64.
type Column struct {
	Name   string
	Values any
}

// WriteScores writes name + ".tsv.gz": a header line, then one line per user (or sample). Equal
// input gives equal bytes, and numbers read back exactly.
func (e *Env) WriteScores(name string, columns ...Column) error {
	cells := make([]func(b []byte, i int) []byte, len(columns))
	rows := -1
	for c, col := range columns {
		cell, n, err := columnCells(col.Values)
		if err == nil && rows >= 0 && n != rows {
			err = fmt.Errorf("%d values, but other columns have %d", n, rows)
		}
		if err == nil && strings.ContainsAny(col.Name, "\t\n\r") {
			err = fmt.Errorf("a tab or line break in the name")
		}
		if err != nil {
			return fmt.Errorf("write scores %s: column %q: %w", name, col.Name, err)
		}
		cells[c], rows = cell, n
	}
	if err := e.stated(); err != nil {
		return fmt.Errorf("write scores %s: %w", name, err)
	}
	return e.write(name+".tsv.gz", true, func(w io.Writer) error {
		z := zippers.Get().(*gzip.Writer)
		defer zippers.Put(z)
		z.Reset(w)
		b := bufio.NewWriterSize(z, 1<<16)
		var line []byte
		for i := -1; i < rows; i++ {
			line = line[:0]
			for c, col := range columns {
				if c > 0 {
					line = append(line, '\t')
				}
				if i < 0 {
					line = append(line, col.Name...)
				} else {
					line = cells[c](line, i)
				}
			}
			if _, err := b.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if err := b.Flush(); err != nil {
			return err
		}
		return z.Close()
	})
}

// zippers keeps writers for tables of scores: each has a megabyte of buffers, far more than a small table.
var zippers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one that gzip has
	}
	return z
}}

func columnCells(values any) (func(b []byte, i int) []byte, int, error) {
	switch v := values.(type) {
	case []string:
		for i, s := range v {
			if strings.ContainsAny(s, "\t\n\r") {
				return nil, 0, fmt.Errorf("value %d holds a tab or line break", i)
			}
		}
		return func(b []byte, i int) []byte { return append(b, v[i]...) }, len(v), nil
	case []int32:
		return func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(v[i]), 10) }, len(v), nil
	case []int64:
		return func(b []byte, i int) []byte { return strconv.AppendInt(b, v[i], 10) }, len(v), nil
	case []float32:
		return func(b []byte, i int) []byte { return strconv.AppendFloat(b, float64(v[i]), 'g', -1, 32) }, len(v), nil
	case []float64:
		return func(b []byte, i int) []byte { return strconv.AppendFloat(b, v[i], 'g', -1, 64) }, len(v), nil
	}
	return nil, 0, fmt.Errorf("values of type %T", values)
}

// WriteArtefact writes a file of the run directory, whole or not at all. The name is relative to the directory. Only
// the owner may read it, who decides what to show.
func (e *Env) WriteArtefact(name string, write func(w io.Writer) error) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("write artefact: %q leaves the run directory", name)
	}
	if err := e.stated(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return e.write(name, true, write)
}
