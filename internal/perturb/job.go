package perturb

import (
	"context"
	"encoding/binary"
	"errors"
	"os"

	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Records are the records of an open file in one layout, such as histories or slates: ids
// and a row of cells each. Read is for one goroutine, Append for several.
type Records[C any] interface {
	// Length is the number of cells of every record.
	Length() int
	// Read pushes the next record onto a block; not ok at the end of the file.
	Read(b *Block[C]) (ok bool, err error)
	// Headers are the first lines of the tables that are written: the output, then those of
	// Job.Beside. One may be empty.
	Headers() []string
	// Append appends the lines of record i of a block to the tables in b.Lines.
	Append(b *Block[C], i int) error
	// Digest is the hex SHA-256 of the whole file.
	Digest() (string, error)
	Close()
}

// Job is one file to perturb. What happens goes in the order of the functions here, each of
// which returns an error that ends it.
type Job[C any] struct {
	*Settings
	Noun    string    // what progress calls the records, such as users
	Sources []string  // what else is read: it is never written over
	Beside  []Output  // tables beside the output, by their names and what stands for the end of its name, such as .empty.tsv
	Sort    *Codec[C] // to sort records by their first id; nil: they keep the order of the file
	Batch   int       // records in a row that make a block; 0: as many as are quick to work on

	// Open reads what is needed besides the file, and opens the file.
	Open func(ctx context.Context) (Records[C], error)
	// Release records the event of the release in the ledger and makes ready to draw noise.
	// spill makes a temporary file that is gone when it is closed, however the process ends.
	Release func(l *privacy.Ledger, spill func() (*os.File, error)) error
	// Order, where not nil, sees every block before a worker does, in the order of the file.
	Order func(b *Block[C]) error
	// Worker returns what perturbs the cells of a block in place, for one goroutine.
	Worker func() (func(b *Block[C]) error, error)
	// Finish ends the release, after the last noise. What it finds may still refuse it.
	Finish func(l *privacy.Ledger) error
	// Abandon, where not nil, gives back what a release holds that Finish did not end.
	Abandon func() error
	// Report says what was done.
	Report func(f Facts) (run.Result, error)
}

// Facts are what every report says.
type Facts struct {
	In, Digest string // file and its SHA-256
	Noise      privacy.Noise
	Seed       uint64       // 0 with secure noise
	Ledger     privacy.Seal // of the ledger beside the output
}

// Codec writes cells as bytes and reads them back, for sorting outside memory.
type Codec[C any] struct {
	Append func(dst []byte, cells []C) []byte
	Read   func(src []byte, cells []C)
}

// Items is a codec of items.
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

// Run carries out a job: it reads the records of In, perturbs them, and writes Out, the
// tables beside it, the ledger and a report as text and JSON, all of them or none. Memory
// does not grow with the number of records: it is a few blocks, what the job itself keeps,
// and 8 MiB where records are sorted, which takes their size on a file beside Out that has
// no name and goes with the process.
//
// A killed process leaves a folder .tmp-perturb-* beside Out, which the next one there
// removes, and nothing under the names of the files; killed while it replaces files (Force),
// it leaves no output, and the next call says where the old ones are.
func Run[C any](ctx context.Context, j Job[C]) (err error) {
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
	e := &engine[C]{Job: j, in: in, st: st}
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
	if err := ctx.Err(); err != nil { // the last moment to turn back
		return err
	}
	return st.Commit(j.Progress)
}

// nameless makes a temporary file that is gone when it is closed, however the process ends.
func nameless(dir string) (*os.File, error) {
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
