package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"privrec/internal/dataset/format"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/perturb"
	"privrec/internal/run"
)

// Slates need no grouping: what becomes of one depends on its number in the whole input. So a file is
// a shard, and files are read twice: to leave out bad rows and count the others, and to protect them
// once it is known how many come before.

// slateNote says where the good slates of a file are.
type slateNote struct {
	File   int    `json:"file"`
	Path   string `json:"path"`
	Slates int64  `json:"slates"`
	First  int64  `json:"first"` // number of the first in the whole input
}

func init() {
	register.DoFn4x1[context.Context, int, func(int, string), func(string), error](&cleanFn{})
	register.DoFn3x1[int, func(*string) bool, func(string), error](&numberFn{})
	register.DoFn3x1[context.Context, string, func(string), error](&protectFn{})
}

// cleanFn reads a file of slates.
type cleanFn struct{ Job string }

// ProcessElement emits where the good slates of a file are, and what was read.
func (f *cleanFn) ProcessElement(ctx context.Context, file int, piece func(int, string), note func(string)) error {
	j, err := readJob(f.Job)
	if err != nil {
		return err
	}
	s, n, err := j.clean(ctx, file)
	if err != nil {
		return err
	}
	rowsRead.Inc(ctx, n.Rows)
	rowsBad.Inc(ctx, n.Bad)
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	piece(0, string(b))
	return emitJSON(noted{File: &n}, note)
}

// numberFn numbers the slates of all files.
type numberFn struct{}

// ProcessElement emits each file with the number of its first slate.
func (f *numberFn) ProcessElement(_ int, next func(*string) bool, emit func(string)) error {
	var all []slateNote
	var text string
	for next(&text) {
		var s slateNote
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b slateNote) int { return a.File - b.File })
	first := int64(0)
	for _, s := range all {
		s.First = first
		first += s.Slates
		if err := emitJSON(s, emit); err != nil {
			return err
		}
	}
	return nil
}

// protectFn protects the slates of a file.
type protectFn struct{ Job string }

// ProcessElement emits what was made of a file.
func (f *protectFn) ProcessElement(ctx context.Context, text string, note func(string)) error {
	j, err := readJob(f.Job)
	if err != nil {
		return err
	}
	var s slateNote
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	n, err := j.protect(ctx, s)
	if err != nil {
		return err
	}
	return emitJSON(noted{Shard: &n}, note)
}

// slatePipeline lays out the two passes over files. It returns the notes.
func slatePipeline(s beam.Scope, text string, files beam.PCollection) (read, made beam.PCollection) {
	counted, read := beam.ParDo2(s.Scope("read files"), &cleanFn{text}, files)
	numbered := beam.ParDo(s.Scope("number slates"), &numberFn{}, beam.GroupByKey(s, counted))
	return read, beam.ParDo(s.Scope("protect slates"), &protectFn{text}, beam.Reshuffle(s, numbered))
}

// slateColumns finds the user and the items of a row.
func slateColumns(r *format.Rows, length int) (user int, items []int, err error) {
	if r.Form() == format.Lines {
		return 0, nil, nil
	}
	if user, err = r.Column("user_id"); err != nil {
		return 0, nil, err
	}
	if slices.Contains(r.Columns, "slate_id") {
		return 0, nil, r.Fail("slate_id", "items of slates in rows of their own, which only privrec perturb exposure reads", "give a row for each slate: user_id and item_1 to item_T")
	}
	for i := range length {
		at, err := r.Column("item_" + strconv.Itoa(i+1))
		if err != nil {
			return 0, nil, err
		}
		items = append(items, at)
	}
	if slices.Contains(r.Columns, "item_"+strconv.Itoa(length+1)) {
		return 0, nil, r.Fail("", fmt.Sprintf("more than %d items in a slate", length), "--length says how many a slate has")
	}
	return user, items, nil
}

// clean writes the good slates of a file as a table, in their order.
func (j *job) clean(ctx context.Context, file int) (s slateNote, note fileNote, err error) {
	dir, err := os.MkdirTemp("", "privrec-beam-")
	if err != nil {
		return s, note, err
	}
	defer os.RemoveAll(dir)
	o := j.Slates
	cat, err := o.Declare(ctx, newThrowaway(&o.Settings))
	if err != nil {
		return s, note, err
	}
	path := filepath.Join(dir, "slates.csv")
	f, err := os.Create(path)
	if err != nil {
		return s, note, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<17)
	w.WriteString("user_id")
	for i := range o.Length {
		fmt.Fprintf(w, ",item_%d", i+1)
	}
	w.WriteByte('\n')
	var user int
	var items []int
	var line, scratch []byte
	var bad badFile
	note.File = file
	note.SHA256, err = readRows(ctx, j.Inputs[file], dir, func(r *format.Rows) (err error) {
		user, items, err = slateColumns(r, o.Length)
		return err
	}, func(r *format.Rows) (err error) {
		id := r.Fields[user]
		if len(id) == 0 {
			return r.Fail("user_id", "empty", "")
		}
		if scratch, err = o.OutForm.AppendField(scratch[:0], id); err != nil {
			return r.Fail("user_id", err.Error(), "")
		}
		if line, err = format.CSV.AppendField(line[:0], id); err != nil {
			return r.Fail("user_id", err.Error(), "")
		}
		if items == nil && len(r.Fields) != o.Length+1 {
			return r.Fail("", fmt.Sprintf("the slate has %d items, --length says %d", len(r.Fields)-1, o.Length), "")
		}
		for i := range o.Length {
			at := i + 1
			if items != nil {
				at = items[i]
			}
			if _, ok := cat.Number(r.Fields[at]); !ok {
				return r.Fail("item_"+strconv.Itoa(i+1), fmt.Sprintf("%.40q is not in the catalogue of %d items", r.Fields[at], cat.Size), "")
			}
			if line, err = format.CSV.AppendField(append(line, ','), r.Fields[at]); err != nil {
				return r.Fail("item_"+strconv.Itoa(i+1), err.Error(), "")
			}
		}
		note.Rows++
		_, err = w.Write(append(line, '\n'))
		return err
	}, func(b badRow) error {
		note.Bad++
		return bad.add(dir, b)
	})
	if err = errors.Join(err, w.Flush()); err != nil {
		return s, note, err
	}
	name := fmt.Sprintf("slates-%05d-%s", file, attempt())
	if note.BadRows, err = bad.publish(ctx, j.Work, name+"-bad"); err != nil {
		return s, note, err
	}
	s = slateNote{File: file, Path: join(j.Work, name+".csv"), Slates: note.Rows}
	return s, note, copyFile(ctx, path, s.Path, false)
}

// protect carries out the command of one machine on the good slates of a file.
func (j *job) protect(ctx context.Context, s slateNote) (note shardNote, err error) {
	dir, err := os.MkdirTemp("", "privrec-beam-")
	if err != nil {
		return note, err
	}
	defer os.RemoveAll(dir)
	note.Shard, note.Users = s.File+1, s.Slates
	if s.Slates == 0 {
		return note, nil
	}
	in, err := local(ctx, s.Path, dir)
	if err != nil {
		return note, err
	}
	return note, j.perform(ctx, dir, &slateRows{j.Slates, in, uint64(s.First)}, &note)
}

// slateRows does what perturb exposure does, on a worker.
type slateRows struct {
	o     *protect.FileOptions
	in    string
	first uint64
}

func (h *slateRows) perform(ctx context.Context, out string, shard perturb.Shard) error {
	o := *h.o
	o.In, o.InForm, o.Out, o.Shard, o.Own, o.First, o.Workers = h.in, format.CSV, out, shard, true, h.first, 1
	_, err := protect.File(ctx, o)
	return err
}

// perturbExposure is the command that protects slates.
func perturbExposure(flags *flag.FlagSet) func(ctx context.Context, stdout, stderr io.Writer) error {
	var f ioFlags
	var n noiseFlags
	var o protect.FileOptions
	f.add(flags)
	flags.Lookup("shards").Usage = "not used: every input file is a shard"
	n.add(flags, &o.Settings, "slates")
	flags.StringVar(&o.Replace, "replace", protect.ReplaceUniform, "uniform, popularity or rr")
	flags.Float64Var(&o.Ratio, "ratio", 0, "share R of the positions, at least 0 and below 1")
	flags.Float64Var(&o.Epsilon, "epsilon", 0, "epsilon of one position, with --replace rr")
	flags.StringVar(&o.Catalogue, "catalogue", "", "file with the ids of all items, which all workers see; with count for popularity")
	flags.IntVar(&o.Items, "items", 0, "size M of a catalogue with the ids 1 to M")
	flags.IntVar(&o.Length, "length", 0, "number T of positions in a slate")
	return func(ctx context.Context, stdout, stderr io.Writer) (err error) {
		if o.Replace != protect.ReplaceRR {
			n.free = true // there is no epsilon
		}
		if err := n.check(flags, f.output, "a slate a line"); err != nil {
			return err
		}
		if o.Catalogue, err = absolute(o.Catalogue); err != nil {
			return err
		}
		inputs, err := f.open(ctx, f.input)
		if err != nil {
			return err
		}
		defer f.close()
		if f.shards = len(inputs); f.shards > 10000 {
			return &run.UsageError{Message: fmt.Sprintf("--input: %d files, want at most 10000", f.shards), Fix: "join some"}
		}
		return f.perturb(ctx, job{Kind: protect.Kind, Slates: &o, Out: filepath.Base(f.output), Inputs: inputs, Shards: f.shards, Work: f.work}, stdout, stderr)
	}
}
