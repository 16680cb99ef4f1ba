package perturb

import (
	"context"
	"encoding/binary"
	"errors"
	"os"

	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Records is an open file in one layout, such as histories or slates. Each record has ids and a row
// of cells. Read is for one goroutine, Append for several.
type Records[C any] interface {
	// Length returns the number of cells of every record.
	Length() int
	// Read pushes the next record onto a block. ok is false at the end of the file.
	Read(b *Block[C]) (ok bool, err error)
	// Headers returns the first lines of the written tables: of the output, then of those of
	// Job.Beside. A header may be empty.
	Headers() []string
	// Append appends the lines of record i of a block to the tables in b.Lines.
	Append(b *Block[C], i int) error
	// Digest returns the hex SHA-256 of the whole file.
	Digest() (string, error)
	Close()
}

// Job describes one file to perturb. Its functions are called in the order of its fields. An error of any of them ends
// the job.
type Job[C any] struct {
	*Settings
	Noun    string   // what progress calls the records, such as users
	Sources []string // other files that are read, and so never overwritten
	// tables beside the output: a name, and the ending that replaces that of the output's name, such as .empty.tsv
	Beside []Output
	Sort   *Codec[C] // sorts records by their first id; nil: they keep the order of the file
	Batch  int       // consecutive records that make a block; 0: as many as are quick to work on
	Kind   string    // name of the command, for the merge of shards
	ByUser bool      // a shard has the records of some users, by their first ids; otherwise it has some blocks
	Ranked bool      // records come in the order of their first ids

	// Open reads all other inputs, and opens the file.
	Open func(ctx context.Context) (Records[C], error)
	// Spends returns the largest cost of the release, and the name of the command, for a budget (Settings.Parent). nil:
	// it cannot be charged to one.
	Spends func() (task string, p *privacy.Plan, err error)
	// Release records the event of the release in the ledger and prepares the noise. spill creates a temporary file
	// that disappears when it is closed or the process ends.
	Release func(l *privacy.Ledger, spill func() (*os.File, error)) error
	// Order, if set, is called with every block before a worker gets it, in the order of the file. own is false for a
	// block of another shard, which no worker of this process gets.
	Order func(b *Block[C], own bool) error
	// Worker returns a function that perturbs the cells of a block in place, for one goroutine.
	Worker func() (func(b *Block[C]) error, error)
	// Finish ends the release, after the last noise. It may still fail the job.
	Finish func(l *privacy.Ledger) error
	// Abandon, if set, frees the resources of a release that Finish did not end.
	Abandon func() error
	// Report returns the report of the job.
	Report func(f Facts) (run.Result, error)
	// State returns, after Report, the data for the report of the whole job: what is the same in every shard, and the
	// counts of this process. Both are written as JSON.
	State func() (same, counts any)
}

// Facts holds the data of every report.
type Facts struct {
	In, Digest string // file and its SHA-256
	Noise      privacy.Noise
	Seed       uint64       // 0 with secure noise
	Ledger     privacy.Seal // of the ledger beside the output
	Shard      Shard        // zero: of the whole
}

// Codec writes cells as bytes and reads them back, for sorting outside memory.
type Codec[C any] struct {
	Append func(dst []byte, cells []C) []byte
	Read   func(src []byte, cells []C)
}

// Items returns a codec of items.
func Items() *Codec[int32] {
	return &Codec[int32]{
		Append: func(dst []byte, cells []int32) []byte {
			for _, c := range cells {
				dst = binary.AppendUvarint(dst, uint64(c))
			}
			return dst
		},
		Read: func(src []byte, cells []int32) {
			for i := range cells {
				c, n := binary.Uvarint(src)
				cells[i], src = int32(c), src[n:]
			}
		},
	}
}

// Run carries out a job. It reads the records of In, perturbs them, and writes Out, the tables beside it, the ledger
// and a report as text and JSON: all of them or none. Memory does not grow with the number of records. It is a few
// blocks, what the job itself keeps, and 8 MiB if records are sorted. Sorting needs a nameless file of the size of the
// records beside Out, which disappears with the process.
//
// A killed process leaves a folder .tmp-perturb-* beside Out, which the next run there removes, and nothing under the
// names of the files. If it is killed while it replaces files (Force) it leaves no output, and the next call says where
// the old files are.
//
// With a shard it writes the shard's part of the output under the name from [Shard.Name], with an index and a [Part]
// beside it. [Merge] joins all parts.
func Run[C any](ctx context.Context, j Job[C]) (err error) {
	whole := j.Out
	if j.Shard.Of > 0 {
		own := *j.Settings
		own.Out = j.Shard.Name(whole)
		j.Settings = &own
	}
	set := Outputs{Files: j.outputs(), Force: j.Force, Sources: append([]string{j.In, j.Catalogue}, j.Sources...)}
	if err := set.Free(); err != nil {
		return err
	}
	in, err := j.Open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := NewStage(set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Drop()) }()
	e := &engine[C]{Job: j, in: in, st: st, read: j.First}
	f, err := e.release(ctx)
	if err != nil {
		return err
	}
	r, err := j.Report(f)
	if err != nil {
		return err
	}
	if err := st.report(r); err != nil {
		return err
	}
	if j.Shard.Of > 0 {
		if err := e.part(ctx, whole, f); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil { // the last moment to stop
		return err
	}
	return st.Commit(j.Progress)
}

// NamelessFile creates a temporary file in a folder that disappears when it is closed or the process ends.
func NamelessFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "records-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
