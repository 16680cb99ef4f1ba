package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"privrec/internal/papers/exposure/protect"
)

// notes holds the results of a pipeline: what was read of every file, and what was made of every shard.
type notes struct {
	Files  []fileNote
	Shards []shardNote
	Pasts  []pastNote `json:",omitempty"` // of slates: what users did before
	Most   []mostNote `json:",omitempty"` // of slates: how many a user has
}

// check fails if the engine lost or doubled a file or rows.
func (n *notes) check(j job) error {
	if len(n.Files) != len(j.Inputs) {
		return fmt.Errorf("the pipeline read %d of %d files", len(n.Files), len(j.Inputs))
	}
	var read, counted, made, past, most int64
	for i, f := range n.Files {
		if f.File != i {
			return fmt.Errorf("the pipeline read file %d twice", f.File+1)
		}
		if j.Kind == protect.Kind && i >= len(j.Inputs)-j.Ratings {
			past += f.Rows
		} else {
			read += f.Rows
		}
		counted += f.Counted
	}
	for i, s := range n.Shards {
		if i > 0 && n.Shards[i-1].Shard == s.Shard {
			return fmt.Errorf("the pipeline made shard %d twice", s.Shard)
		}
		made += s.Rows
	}
	for _, p := range n.Pasts {
		past -= p.Rows
	}
	for _, m := range n.Most {
		most += m.Rows
	}
	switch {
	case made != read:
		return fmt.Errorf("the pipeline read %d rows and made %d of them: some are lost or came twice", read, made)
	case past != 0:
		return fmt.Errorf("the pipeline read %d rows of histories more than it summed up", past)
	case most != counted:
		return fmt.Errorf("the pipeline noted %d runs of slates of users and counted %d", counted, most)
	}
	return nil
}

// resultFile is the name in the working folder of the notes.
const resultFile = "result.json"

// counters of a job, which engines show while it runs.
var (
	rowsRead  = beam.NewCounter("privrec", "rows")
	rowsBad   = beam.NewCounter("privrec", "bad_rows")
	usersMade = beam.NewCounter("privrec", "users")
)

func init() {
	register.DoFn4x1[context.Context, int, func(int, string), func(string), error](&splitFn{})
	register.DoFn4x1[context.Context, int, func(*string) bool, func(string), error](&makeFn{})
	register.DoFn4x1[context.Context, int, func(*string) bool, func(string), error](&finishFn{})
	register.Emitter2[int, string]()
	register.Emitter1[string]()
	register.Iter1[string]()
}

// splitFn reads an input file. Its job is in JSON, since Beam writes down the types of fields.
type splitFn struct{ Job string }

// ProcessElement emits the pieces of a file by shard, and what was read of the file.
func (f *splitFn) ProcessElement(ctx context.Context, file int, piece func(int, string), note func(string)) error {
	j, err := readJob(f.Job)
	if err != nil {
		return err
	}
	n, err := j.split(ctx, file, piece)
	if err != nil {
		return err
	}
	rowsRead.Inc(ctx, n.Rows)
	rowsBad.Inc(ctx, n.Bad)
	return emitJSON(noted{File: &n}, note)
}

// makeFn makes a shard.
type makeFn struct{ Job string }

// ProcessElement makes the shard of all its pieces, and emits what was made.
func (f *makeFn) ProcessElement(ctx context.Context, shard int, next func(*string) bool, note func(string)) error {
	pieces, err := pieceNotes(next)
	if err != nil {
		return err
	}
	j, err := readJob(f.Job)
	if err != nil {
		return err
	}
	n, err := j.make(ctx, shard, pieces)
	if err != nil {
		return err
	}
	usersMade.Inc(ctx, n.Users)
	rowsBad.Inc(ctx, n.Bad)
	return emitJSON(noted{Shard: &n}, note)
}

func readJob(text string) (j job, err error) {
	if err = json.Unmarshal([]byte(text), &j); err == nil {
		err = j.check()
	}
	return j, err
}

// noted is a note of either kind.
type noted struct {
	File  *fileNote  `json:"file,omitempty"`
	Shard *shardNote `json:"shard,omitempty"`
	Past  *pastNote  `json:"past,omitempty"`
	Most  *mostNote  `json:"most,omitempty"`
}

func emitJSON(v any, emit func(string)) error {
	b, err := json.Marshal(v)
	if err == nil {
		emit(string(b))
	}
	return err
}

// finishFn writes the notes of a job.
type finishFn struct{ Work string }

// ProcessElement writes all notes, without those of attempts that the engine gave up.
func (f *finishFn) ProcessElement(ctx context.Context, _ int, next func(*string) bool, _ func(string)) error {
	var all notes
	var text string
	for next(&text) {
		var n noted
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return err
		}
		if n.File != nil {
			all.Files = append(all.Files, *n.File)
		}
		if n.Shard != nil {
			all.Shards = append(all.Shards, *n.Shard)
		}
		if n.Past != nil {
			all.Pasts = append(all.Pasts, *n.Past)
		}
		if n.Most != nil {
			all.Most = append(all.Most, *n.Most)
		}
	}
	slices.SortFunc(all.Files, func(a, b fileNote) int { return a.File - b.File })
	slices.SortFunc(all.Shards, func(a, b shardNote) int { return a.Shard - b.Shard })
	return writeFile(ctx, join(f.Work, resultFile), func(w io.Writer) error { return json.NewEncoder(w).Encode(all) })
}

// one returns the note with a key that all notes share.
func one(text string) (int, string) { return 0, text }

func init() { register.Function1x2(one) }

// runPerturb runs the pipeline of a job: files to pieces, pieces to shards, notes to one file.
func runPerturb(ctx context.Context, j job) (all notes, err error) {
	var end func()
	if j.Program, end, err = workersOf(); err != nil {
		return all, err
	}
	defer end()
	if j.Parts == 0 {
		j.Parts = j.Shards
	}
	text, err := json.Marshal(j)
	if err != nil {
		return all, err
	}
	p, s := beam.NewPipelineWithRoot()
	files := make([]int, len(j.Inputs))
	for i := range files {
		files[i] = i
	}
	each := beam.Reshuffle(s, beam.CreateList(s, files)) // files go to workers one by one
	var noted []beam.PCollection
	if j.Kind == protect.Kind {
		noted = slatePipeline(s, j, string(text), each)
	} else {
		pieces, read := beam.ParDo2(s.Scope("read files"), &splitFn{string(text)}, each)
		noted = append(noted, read, beam.ParDo(s.Scope("make shards"), &makeFn{string(text)},
			beam.GroupByKey(s, pieces)))
	}
	keyed := beam.ParDo(s, one, beam.Flatten(s, noted...))
	beam.ParDo(s.Scope("write notes"), &finishFn{j.Work}, beam.GroupByKey(s, keyed))
	if err := beamx.Run(ctx, p); err != nil {
		return all, err
	}
	f, err := openFile(ctx, join(j.Work, resultFile))
	if err != nil {
		return all, err
	}
	defer f.Close()
	if err := json.NewDecoder(f).Decode(&all); err != nil {
		return all, fmt.Errorf("%s: %w", resultFile, err)
	}
	return all, all.check(j)
}
