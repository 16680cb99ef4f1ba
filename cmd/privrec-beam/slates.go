package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
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

// The result for a slate depends on its number in the whole input, and with in-batch also on the slates of its batch,
// which are consecutive. So a file is a shard, and files are read twice: to leave out bad rows and count the others,
// and to protect them once the number of earlier ones is known. The batch in which a file ends is whole in the shard of
// the file in which it begins.
//
// Two things of users are grouped, by as many parts as --shards says: how many slates each has, for the epsilon of a
// user, and what they did before, for similarity to it.

// slateNote locates the good slates of a file.
type slateNote struct {
	File   int    `json:"file"`
	Path   string `json:"path"`
	Slates int64  `json:"slates"`
}

// pastNote locates the pasts of the users of a part.
type pastNote struct {
	Path    string `json:"path"`
	Numbers int    `json:"numbers"` // of a sum
	Users   int    `json:"users"`   // with past behaviour
	Passed  int64  `json:"passed"`
	Rows    int64  `json:"rows"` // that were read
}

// mostNote holds the largest number of slates of a user of a part.
type mostNote struct {
	Part int   `json:"part"`
	Rows int64 `json:"rows"` // that were read: runs of slates of a user
	Most int64 `json:"most"`
}

// slateTask locates the slates that a shard protects, and the pasts of users.
type slateTask struct {
	Shard  int         `json:"shard"`
	First  int64       `json:"first"` // number of its first slate in the whole input
	Slates int64       `json:"slates"`
	Parts  []slatePart `json:"parts"`
	Pasts  []pastNote  `json:"pasts"`
}

// slatePart is a run of consecutive slates of a file.
type slatePart struct {
	Path       string `json:"path"`
	Skip, Take int64
}

// handedOn holds what is known of the input after it was read.
type handedOn struct {
	Slates *slateNote `json:"slates,omitempty"`
	Past   *pastNote  `json:"past,omitempty"`
}

func init() {
	register.DoFn5x1[context.Context, int, func(int, string), func(int, string), func(string), error](&cleanFn{})
	register.DoFn5x1[context.Context, int, func(*string) bool, func(int, string), func(string), error](&pastFn{})
	register.DoFn4x1[context.Context, int, func(*string) bool, func(string), error](&mostFn{})
	register.DoFn3x1[int, func(*string) bool, func(string), error](&dealFn{})
	register.DoFn3x1[context.Context, string, func(string), error](&protectFn{})
}

// cleanFn reads a file of slates.
type cleanFn struct{ Job string }

// ProcessElement emits the place of the good slates of a file, pieces with the number of slates of each user, and what
// was read.
func (f *cleanFn) ProcessElement(ctx context.Context, file int, slates, piece func(int, string),
	note func(string)) error {
	j, err := readJob(f.Job)
	if err != nil {
		return err
	}
	s, n, err := j.clean(ctx, file, piece)
	if err != nil {
		return err
	}
	rowsRead.Inc(ctx, n.Rows)
	rowsBad.Inc(ctx, n.Bad)
	b, err := json.Marshal(handedOn{Slates: &s})
	if err != nil {
		return err
	}
	slates(0, string(b))
	return emitJSON(noted{File: &n}, note)
}

// mostFn finds the user of a part with the most slates.
type mostFn struct{ Job string }

// ProcessElement emits the number of the user's slates.
func (f *mostFn) ProcessElement(ctx context.Context, part int, next func(*string) bool, note func(string)) error {
	j, pieces, err := readPart(f.Job, next)
	if err != nil {
		return err
	}
	n, err := j.most(ctx, part, pieces)
	if err != nil {
		return err
	}
	return emitJSON(noted{Most: &n}, note)
}

// pastFn sums the past items of the users of a part.
type pastFn struct{ Job string }

// ProcessElement emits the place of the sums.
func (f *pastFn) ProcessElement(ctx context.Context, part int, next func(*string) bool, past func(int, string),
	note func(string)) error {
	j, pieces, err := readPart(f.Job, next)
	if err != nil {
		return err
	}
	n, err := j.sumPasts(ctx, part, pieces)
	if err != nil {
		return err
	}
	b, err := json.Marshal(handedOn{Past: &n})
	if err != nil {
		return err
	}
	past(0, string(b))
	return emitJSON(noted{Past: &n}, note)
}

// readPart reads a job and the notes of the pieces of a part.
func readPart(text string, next func(*string) bool) (j job, pieces []pieceNote, err error) {
	if j, err = readJob(text); err != nil {
		return j, nil, err
	}
	pieces, err = pieceNotes(next)
	return j, pieces, err
}

// dealFn deals the slates of all files to shards.
type dealFn struct{ Job string }

// ProcessElement emits the slates that each shard protects.
func (f *dealFn) ProcessElement(_ int, next func(*string) bool, emit func(string)) error {
	j, err := readJob(f.Job)
	if err != nil {
		return err
	}
	var all []slateNote
	var pasts []pastNote
	var text string
	for next(&text) {
		var h handedOn
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			return err
		}
		if h.Slates != nil {
			all = append(all, *h.Slates)
		}
		if h.Past != nil {
			pasts = append(pasts, *h.Past)
		}
	}
	slices.SortFunc(all, func(a, b slateNote) int { return a.File - b.File })
	if want := len(j.Inputs) - j.Ratings; len(all) != want {
		return fmt.Errorf("the engine handed on %d of %d files of slates", len(all), want)
	}
	batch := int64(1)
	if j.Slates.Replace == protect.ReplaceInBatch {
		batch = int64(j.Slates.Batch)
	}
	for _, t := range deal(all, batch) {
		if t.Pasts = pasts; t.Slates == 0 {
			t.Pasts = nil
		}
		if err := emitJSON(t, emit); err != nil {
			return err
		}
	}
	return nil
}

// deal returns a shard for every file: the batches that begin in the file. All batches have the same number of slates
// except the last, which also has the remaining ones, as on one machine.
func deal(files []slateNote, batch int64) (tasks []slateTask) {
	total := int64(0)
	for _, f := range files {
		total += f.Slates
	}
	last := max(total/batch, 1) * batch // no batch begins here or later
	begin := func(slate int64) int64 {
		if at := (slate + batch - 1) / batch * batch; at < last {
			return at
		}
		return total
	}
	first := int64(0)
	for i, f := range files {
		from, to := begin(first), begin(first+f.Slates)
		t := slateTask{Shard: i + 1, First: from, Slates: to - from}
		at := first
		for _, g := range files[i:] {
			a, b := max(from, at), min(to, at+g.Slates)
			if a < b {
				t.Parts = append(t.Parts, slatePart{g.Path, a - at, b - a})
			}
			at += g.Slates
		}
		tasks = append(tasks, t)
		first += f.Slates
	}
	return tasks
}

// protectFn protects the slates of a shard.
type protectFn struct{ Job string }

// ProcessElement emits the result for a shard.
func (f *protectFn) ProcessElement(ctx context.Context, text string, note func(string)) error {
	j, err := readJob(f.Job)
	if err != nil {
		return err
	}
	var t slateTask
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	n, err := j.protect(ctx, t)
	if err != nil {
		return err
	}
	usersMade.Inc(ctx, n.Users)
	return emitJSON(noted{Shard: &n}, note)
}

// slatePipeline builds the passes over files, and returns their notes.
func slatePipeline(s beam.Scope, j job, text string, files beam.PCollection) (notes []beam.PCollection) {
	var history beam.PCollection
	if j.Ratings > 0 {
		files, history = beam.ParDo2(s.Scope("tell files apart"), &apartFn{len(j.Inputs) - j.Ratings}, files)
	}
	handed, counted, read := beam.ParDo3(s.Scope("read slates"), &cleanFn{text}, files)
	notes = append(notes, read, beam.ParDo(s.Scope("count slates of users"), &mostFn{text},
		beam.GroupByKey(s, counted)))
	if j.Ratings > 0 {
		pieces, read := beam.ParDo2(s.Scope("read histories"), &splitFn{text}, history)
		past, summed := beam.ParDo2(s.Scope("sum up histories"), &pastFn{text}, beam.GroupByKey(s, pieces))
		handed = beam.Flatten(s, handed, past)
		notes = append(notes, read, summed)
	}
	tasks := beam.ParDo(s.Scope("deal slates"), &dealFn{text}, beam.GroupByKey(s, handed))
	return append(notes, beam.ParDo(s.Scope("protect slates"), &protectFn{text}, beam.Reshuffle(s, tasks)))
}

// apartFn separates files of slates from those of histories, which come after them.
type apartFn struct{ Slates int }

// ProcessElement emits a file.
func (f *apartFn) ProcessElement(file int, slates, history func(int)) {
	if file < f.Slates {
		slates(file)
	} else {
		history(file)
	}
}

func init() {
	register.DoFn3x0[int, func(int), func(int)](&apartFn{})
	register.Emitter1[int]()
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
		return 0, nil, r.Fail("slate_id",
			"items of slates in rows of their own, which only privrec perturb exposure reads",
			"give a row for each slate: user_id and item_1 to item_T")
	}
	for i := range length {
		at, err := r.Column("item_" + strconv.Itoa(i+1))
		if err != nil {
			return 0, nil, err
		}
		items = append(items, at)
	}
	if slices.Contains(r.Columns, "item_"+strconv.Itoa(length+1)) {
		return 0, nil, r.Fail("", fmt.Sprintf("more than %d items in a slate", length),
			"--length says how many a slate has")
	}
	return user, items, nil
}

// clean writes the good slates of a file as a table, in their order. If a user has an epsilon, piece gets the number of
// slates of each user.
func (j *job) clean(ctx context.Context, file int, piece func(int, string)) (s slateNote, note fileNote, err error) {
	dir, end, err := scratch()
	if err != nil {
		return s, note, err
	}
	defer end()
	o := j.slates()
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
	users := newPieces(dir, j.Parts)
	defer users.close()
	var last []byte
	var streak int64 // slates of the last user in a row
	count := func() error {
		if streak == 0 || o.Replace != protect.ReplaceRR {
			return nil
		}
		note.Counted++
		return users.add(last, binary.AppendUvarint(scratch[:0], uint64(streak)),
			place{file: uint32(file), line: uint64(note.Counted)})
	}
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
				return r.Fail("item_"+strconv.Itoa(i+1), fmt.Sprintf("%.40q is not in the catalogue of %d items",
					r.Fields[at], cat.Size), "")
			}
			if line, err = format.CSV.AppendField(append(line, ','), r.Fields[at]); err != nil {
				return r.Fail("item_"+strconv.Itoa(i+1), err.Error(), "")
			}
		}
		note.Rows++
		if streak > 0 && !bytes.Equal(last, id) {
			if err := count(); err != nil {
				return err
			}
			streak = 0
		}
		streak++
		last = append(last[:0], id...)
		_, err = w.Write(append(line, '\n'))
		return err
	}, func(b badRow) error {
		note.Bad++
		return bad.add(dir, b)
	})
	if err = errors.Join(err, count(), w.Flush()); err != nil {
		return s, note, err
	}
	name := fmt.Sprintf("slates-%05d-%s", file, attempt())
	if note.BadRows, err = bad.publish(ctx, j.Work, name+"-bad"); err != nil {
		return s, note, err
	}
	if err := users.publish(ctx, file, join(j.Work, name+"-users"), piece); err != nil {
		return s, note, err
	}
	s = slateNote{File: file, Path: join(j.Work, name+".csv"), Slates: note.Rows}
	return s, note, copyFile(ctx, path, s.Path, false)
}

// protect runs the command of one machine on the slates of a shard.
func (j *job) protect(ctx context.Context, t slateTask) (note shardNote, err error) {
	dir, end, err := scratch()
	if err != nil {
		return note, err
	}
	defer end()
	note.Shard, note.Rows, note.Users = t.Shard, t.Slates, t.Slates
	if t.Slates == 0 {
		return note, nil
	}
	h := slateRows{o: j.slates(), in: filepath.Join(dir, "slates.csv"), first: uint64(t.First)}
	users, err := gatherSlates(ctx, h.in, t)
	if err != nil {
		return note, err
	}
	if h.o.Vectors, err = local(ctx, h.o.Vectors, dir); err != nil {
		return note, err
	}
	if j.Ratings > 0 {
		if h.o.Past, err = readPasts(ctx, t.Pasts, users); err != nil {
			return note, err
		}
	}
	if err := j.perform(ctx, dir, &h, &note); err != nil {
		return note, fmt.Errorf("slates %d to %d of the input, without bad rows: %w", t.First+1, t.First+t.Slates, err)
	}
	return note, nil
}

// gatherSlates writes the slates of a shard to one table, and returns their users.
func gatherSlates(ctx context.Context, to string, t slateTask) (users map[string]bool, err error) {
	out, err := os.Create(to)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<17)
	users = map[string]bool{}
	for i, p := range t.Parts {
		if err := gatherPart(ctx, w, p, i == 0, len(t.Pasts) > 0, users); err != nil {
			return nil, err
		}
	}
	return users, errors.Join(w.Flush(), out.Close())
}

// gatherPart writes some slates of a file. An id has no end of a line in it, so a line is a slate.
func gatherPart(ctx context.Context, w *bufio.Writer, p slatePart, head, keep bool, users map[string]bool) error {
	f, err := openFile(ctx, p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<17)
	for n := int64(-1); n < p.Skip+p.Take; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := r.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
		if n < 0 && head || n >= p.Skip {
			w.Write(line)
		}
		if keep && n >= p.Skip {
			users[string(firstField(line))] = true
		}
	}
	return nil
}

// firstField returns the first field of a row of a table with commas, as clean writes it.
func firstField(line []byte) []byte {
	if line[0] != '"' {
		id, _, _ := bytes.Cut(line, []byte{','})
		return id
	}
	id, _, _ := bytes.Cut(line[1:], []byte(`",`))
	return bytes.ReplaceAll(id, []byte(`""`), []byte(`"`))
}

// slateRows does the work of perturb exposure on a worker.
type slateRows struct {
	o     protect.FileOptions
	in    string
	first uint64
}

func (h *slateRows) perform(ctx context.Context, out string, shard perturb.Shard) error {
	o := h.o
	o.In, o.InForm, o.Out, o.Shard, o.Own, o.First, o.Workers = h.in, format.CSV, out, shard, true, h.first, 1
	_, err := protect.File(ctx, o)
	return err
}

// perturbExposure returns the command that protects slates.
func perturbExposure(flags *flag.FlagSet) func(ctx context.Context, stdout, stderr io.Writer) error {
	var f ioFlags
	var n noiseFlags
	var o protect.FileOptions
	f.add(flags)
	flags.Lookup("shards").Usage = "parts in which users are counted, and histories summed up; of the output every " +
		"input file is a shard"
	n.add(flags, &o.Settings, "slates")
	flags.StringVar(&o.Replace, "replace", protect.ReplaceUniform, "uniform, popularity, in-batch or rr")
	flags.StringVar(&o.Select, "select", "", "random, similar or dissimilar; default: random")
	flags.BoolVar(&o.Weighted, "weighted", false,
		"draw positions with weights by similarity, in place of the first ones")
	flags.Float64Var(&o.Tau, "tau", protect.DefaultTau, "temperature of --weighted")
	flags.StringVar(&o.Reference, "reference", protect.ReferencePast,
		"what similarity is measured to: past (behaviour) or slate (its mean)")
	flags.StringVar(&o.Vectors, "vectors", "",
		"item vectors, which all workers see: table of item_id and numbers, or directory of a finished run of train "+
			"sasrec")
	history := flags.String("history", "",
		"files of past behaviour, as a pattern: tables of user_id and item_id, or \"user item item ...\" (.txt)")
	flags.IntVar(&o.Batch, "batch", protect.DefaultBatch, "in-batch: how many slates in a row are a batch")
	flags.BoolVar(&o.OwnRows, "own-rows", false,
		"in-batch: draw from the user's own slates too, as the published program does")
	flags.Float64Var(&o.Ratio, "ratio", 0, "share R of the positions, at least 0 and below 1")
	flags.Float64Var(&o.Epsilon, "epsilon", 0, "epsilon of one position, with --replace rr")
	flags.StringVar(&o.Catalogue, "catalogue", "",
		"file with the ids of all items, which all workers see; with count for popularity")
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
		if o.Vectors, err = absolute(o.Vectors); err != nil {
			return err
		}
		inputs, err := f.open(ctx, f.input)
		if err != nil {
			return err
		}
		defer f.close()
		if len(inputs) > 10000 {
			return &run.UsageError{Message: fmt.Sprintf("--input: %d files, want at most 10000", len(inputs)),
				Fix: "join some"}
		}
		j := job{Kind: protect.Kind, Slates: &o, Out: filepath.Base(f.output), Shards: len(inputs), Parts: f.shards,
			Work: f.work}
		f.shards = len(inputs)
		if *history != "" {
			more, err := f.files(ctx, "history", *history)
			if err != nil {
				return err
			}
			o.Past, j.Ratings, inputs = &protect.Past{}, len(more), append(inputs, more...)
		}
		j.Inputs = inputs
		return f.perturb(ctx, j, stdout, stderr)
	}
}
