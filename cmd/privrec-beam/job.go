package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	"privrec/internal/private/gram"
	"privrec/internal/run"
)

// job describes a perturbation to the workers. It is written as JSON into the pipeline.
type job struct {
	Kind      string // the command
	Histories *pricdsr.Options
	Features  *features.FileOptions
	Slates    *protect.FileOptions
	Out       string      // name of the whole, without its folder
	Inputs    []string    // files, in order
	Ratings   int         // how many of Inputs, the last ones, are ratings or histories of users
	Shards    int         // of the output
	Parts     int         // by which users are grouped: Shards, but for slates
	Work      string      // folder for what is passed on, which all workers see
	Draws     *gram.Draws // what users contribute to counts that are released; nil: all they have
	Rank      *ranking    // what is ranked
	Program   string      // SHA-256 that the program of workers must have; "": any
}

// kind processes the rows of a command on one worker. It is also a performer or a writer.
type kind interface {
	reader
	grouped
}

// reader reads the rows of input files.
type reader interface {
	// columns finds the columns of a file.
	columns(r *format.Rows) error
	// row adds the rows of a line to those of their user. It fails on a bad row.
	row(r *format.Rows, add func(user, held []byte, p place) error) error
}

// vectorReader is a reader some of whose files are not tables.
type vectorReader interface {
	isVectors() bool
	readVectors(ctx context.Context, dir string, add func(user, held []byte, p place) error) (digest string, err error)
}

// grouped receives sorted rows, user by user.
type grouped interface {
	// begin, user, held and end write the rows where perform reads them.
	begin(dir string) error
	user(id []byte) error
	held(key, held []byte) error
	end() error
	users() int64 // that were written
}

// performer runs the command of one machine.
type performer interface {
	perform(ctx context.Context, out string, shard perturb.Shard) error
}

// reader returns the reader of an input file that is grouped by users.
func (j *job) reader(ctx context.Context, file int) (reader, error) {
	if j.Kind == protect.Kind {
		return &pastRows{}, nil
	}
	return j.kind(ctx, file, nil)
}

// kind returns the kind of the job's command. bad receives rows that turn out to be bad once they are sorted.
func (j *job) kind(ctx context.Context, file int, bad func(b badRow) error) (kind, error) {
	if j.Kind == evaluateKind {
		g, err := goodsOf(ctx, j.Rank)
		return &rankRows{o: j.Rank, file: file, inputs: j.Inputs, goods: g, bad: bad}, err
	}
	if j.Kind == features.Kind {
		return &featureRows{j: j, o: *j.Features, rating: file >= len(j.Inputs)-j.Ratings, bad: bad}, nil
	}
	cat, err := perturb.OpenCatalogue(ctx, &j.Histories.Settings, "an id a line")
	h := historyRows{j: j, o: *j.Histories, cat: cat, bad: bad}
	switch {
	case j.Kind == countsKind && j.Draws != nil:
		return &contributedRows{historyRows: h}, err
	case j.Kind == countsKind:
		return &countRows{historyRows: h}, err
	}
	return &h, err
}

// pieceNote locates one shard's rows of one file.
type pieceNote struct {
	Path string `json:"path"`
	File int    `json:"file"` // of the input
	Rows int64  `json:"rows"`
}

// fileNote describes what was read of a file.
type fileNote struct {
	File    int    `json:"file"`
	SHA256  string `json:"sha256"`
	Rows    int64  `json:"rows"` // that can be used
	Bad     int64  `json:"bad"`
	BadRows string `json:"bad_rows"`          // file of them; empty: none
	Counted int64  `json:"counted,omitempty"` // runs of slates of a user; their number was passed on
}

// shardNote describes the result for a shard.
type shardNote struct {
	Shard   int          `json:"shard"`
	Folder  string       `json:"folder"` // with the tables of the part
	Part    perturb.Part `json:"part"`
	Rows    int64        `json:"rows"` // that were read of pieces
	Users   int64        `json:"users"`
	Bad     int64        `json:"bad"`
	BadRows string       `json:"bad_rows"`
	Gram    string       `json:"gram,omitempty"` // file of the Gram matrix, of a job that counts

	Sums    string           `json:"sums,omitempty"`     // file of whole numbers that the driver adds up
	Kept    string           `json:"kept,omitempty"`     // file of the users, for a second pipeline
	RowHash *dataset.RowHash `json:"row_hash,omitempty"` // of the users
	Ranking *rankCounts      `json:"ranking,omitempty"`
}

// writer is a kind that stores its own results and says where.
type writer interface {
	write(ctx context.Context, work string, note *shardNote) error
}

// badFile collects the bad rows of one attempt at a piece of work.
type badFile struct {
	f *os.File
	w *bufio.Writer
	n int64
}

func (b *badFile) add(dir string, r badRow) (err error) {
	if b.f == nil {
		if b.f, err = os.CreateTemp(dir, "bad-*"); err != nil {
			return err
		}
		b.w = bufio.NewWriter(b.f)
	}
	b.n++
	return r.write(b.w)
}

// publish moves the rows to a folder that all workers see.
func (b *badFile) publish(ctx context.Context, work, name string) (string, error) {
	if b.f == nil {
		return "", nil
	}
	err := errors.Join(b.w.Flush(), b.f.Close())
	defer os.Remove(b.f.Name())
	if err != nil {
		return "", err
	}
	to := join(work, name)
	return to, copyFile(ctx, b.f.Name(), to, false)
}

// split reads one input file and writes its rows to pieces, one for each shard with rows.
func (j *job) split(ctx context.Context, file int, emit func(shard int, note string)) (note fileNote, err error) {
	dir, end, err := scratch()
	if err != nil {
		return note, err
	}
	defer end()
	k, err := j.reader(ctx, file)
	if err != nil {
		return note, err
	}
	note.File = file
	name := fmt.Sprintf("rows-%05d-%s", file, attempt())
	rows := newPieces(dir, j.Parts)
	defer rows.close()
	var bad badFile
	add := func(id, held []byte, p place) error {
		p.file = uint32(file)
		note.Rows++
		return rows.add(id, held, p)
	}
	if v, ok := k.(vectorReader); ok && v.isVectors() {
		note.SHA256, err = v.readVectors(ctx, dir, add)
	} else {
		note.SHA256, err = readRows(ctx, j.Inputs[file], dir, k.columns,
			func(r *format.Rows) error { return k.row(r, add) }, func(b badRow) error {
				note.Bad++
				return bad.add(dir, b)
			})
	}
	if err != nil {
		return note, err
	}
	if err := rows.publish(ctx, file, join(j.Work, name), emit); err != nil {
		return note, err
	}
	note.BadRows, err = bad.publish(ctx, j.Work, name+"-bad")
	return note, err
}

// make sorts the rows of a shard and perturbs its users, as the command of one machine does.
func (j *job) make(ctx context.Context, shard int, pieces []pieceNote) (note shardNote, err error) {
	dir, end, err := scratch()
	if err != nil {
		return note, err
	}
	defer end()
	note.Shard = shard
	for _, p := range pieces {
		note.Rows += p.Rows
	}
	var bad badFile
	k, err := j.kind(ctx, 0, func(b badRow) error { return bad.add(dir, b) })
	if err != nil {
		return note, err
	}
	if note.Users, err = j.sort(ctx, dir, k, pieces); err != nil {
		return note, err
	}
	if note.Users > 0 { // there are none if all rows are bad
		switch k := k.(type) {
		case writer:
			err = k.write(ctx, j.Work, &note)
		case performer:
			err = j.perform(ctx, dir, k, &note)
		}
		if err != nil {
			return note, err
		}
	}
	if note.BadRows, err = bad.publish(ctx, j.Work, fmt.Sprintf("shard-%05d-%s-bad", shard, attempt())); err != nil {
		return note, err
	}
	note.Bad = bad.n
	return note, nil
}

// sort passes the rows of a shard to k, user by user. It returns the number of users written.
func (j *job) sort(ctx context.Context, dir string, k grouped, pieces []pieceNote) (users int64, err error) {
	s := perturb.NewSorter(func() (*os.File, error) { return perturb.NamelessFile(dir) })
	s.Compare = compareKeys
	defer s.Close()
	for _, p := range pieces {
		n := int64(0)
		err := readPiece(ctx, p.Path, func(key, held []byte) error {
			n++
			return s.Add(key, func(dst []byte) []byte { return append(dst, held...) })
		})
		if err == nil && n != p.Rows {
			err = fmt.Errorf("%s has %d rows, want %d", p.Path, n, p.Rows)
		}
		if err != nil {
			return 0, err
		}
	}
	if err := k.begin(dir); err != nil {
		return 0, err
	}
	var last []byte
	first := true
	err = s.Each(func(key, held []byte) error {
		user, _ := userOf(key)
		if first || !bytes.Equal(user, last) {
			first, last = false, append(last[:0], user...)
			if err := k.user(user); err != nil {
				return err
			}
		}
		return k.held(key, held)
	})
	if err == nil {
		err = k.end()
	}
	return k.users(), err
}

// perform makes the part of a shard and stores it where the driver finds it.
func (j *job) perform(ctx context.Context, dir string, k performer, note *shardNote) (err error) {
	out, shard := filepath.Join(dir, j.Out), perturb.Shard{Shard: run.Shard{I: note.Shard, Of: j.Shards}}
	if err := k.perform(ctx, out, shard); err != nil {
		return err
	}
	if note.Part, err = perturb.ReadPart(shard.Beside(out, "part.json")); err != nil {
		return err
	}
	note.Folder = join(j.Work, fmt.Sprintf("shard-%05d-%s", note.Shard, attempt()))
	if isLocal(note.Folder) {
		if err := os.Mkdir(note.Folder, 0o755); err != nil {
			return err
		}
	}
	for _, t := range note.Part.Tables {
		if err := copyFile(ctx, filepath.Join(dir, t.Name), join(note.Folder, t.Name), true); err != nil {
			return err
		}
	}
	return nil
}
