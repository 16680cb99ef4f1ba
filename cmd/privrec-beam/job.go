package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/dataset/format"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	"privrec/internal/perturb/histories"
)

// histJob is the perturbation of histories, as workers are told of it. It is written as JSON into the
// pipeline.
type histJob struct {
	Options pricdsr.Options // In, Out and Shard are each worker's own
	Out     string          // name of the whole, without its folder
	Inputs  []string        // files, in order
	Shards  int
	Work    string // folder for what is passed on, which all workers see
	Strict  bool   // repeated items are bad rows
}

// pieceNote says where the rows are that one shard has of one file.
type pieceNote struct {
	Path string `json:"path"`
	Rows int64  `json:"rows"`
}

// fileNote says what was read of a file.
type fileNote struct {
	File    int    `json:"file"`
	SHA256  string `json:"sha256"`
	Rows    int64  `json:"rows"` // that can be used
	Bad     int64  `json:"bad"`
	BadRows string `json:"bad_rows"` // file of them; empty: none
}

// shardNote says what was made of a shard.
type shardNote struct {
	Shard   int          `json:"shard"`
	Folder  string       `json:"folder"` // with the tables of the part
	Part    perturb.Part `json:"part"`
	Users   int64        `json:"users"`
	Bad     int64        `json:"bad"`
	BadRows string       `json:"bad_rows"`
}

// badFile collects the bad rows of one attempt at some work.
type badFile struct {
	path string
	f    *os.File
	w    *bufio.Writer
	n    int64
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

// split reads one input file and writes its rows to pieces, one for each shard that has some.
func (j *histJob) split(ctx context.Context, file int, emit func(shard int, note string)) (note fileNote, err error) {
	dir, err := os.MkdirTemp("", "privrec-beam-")
	if err != nil {
		return note, err
	}
	defer os.RemoveAll(dir)
	cat, err := perturb.OpenCatalogue(ctx, &j.Options.Settings, "an id a line")
	if err != nil {
		return note, err
	}
	note.File = file
	name := fmt.Sprintf("rows-%05d-%s", file, attempt())
	out := make([]*os.File, j.Shards)
	pieces := make([]*pieceWriter, j.Shards)
	defer func() {
		for _, f := range out {
			if f != nil {
				f.Close()
			}
		}
	}()
	var bad badFile
	var key, scratch []byte
	var user, item, when int
	add := func(id, itemID []byte, p place) (err error) {
		s := perturb.ShardOf(id, j.Shards).I - 1
		if pieces[s] == nil {
			if out[s], err = os.Create(filepath.Join(dir, fmt.Sprint(s))); err != nil {
				return err
			}
			pieces[s] = &pieceWriter{w: bufio.NewWriterSize(out[s], 1<<16)}
		}
		p.file = uint32(file)
		key = appendKey(key[:0], id, p)
		note.Rows++
		return pieces[s].add(key, itemID)
	}
	note.SHA256, err = readRows(ctx, j.Inputs[file], dir, func(r *format.Rows) (err error) {
		user, item, when = 0, 1, -1
		if r.Form() == format.Lines {
			return nil
		}
		if user, err = r.Column("user_id"); err != nil {
			return err
		}
		if item, err = r.Column("item_id"); err != nil {
			return err
		}
		when = slices.Index(r.Columns, "timestamp")
		return nil
	}, func(r *format.Rows) (err error) {
		id := r.Fields[user]
		if len(id) == 0 {
			return r.Fail("user_id", "empty", "")
		}
		if scratch, err = histories.Writable(scratch[:0], j.Options.OutForm, id); err != nil {
			return r.Fail("user_id", err.Error(), "")
		}
		p := place{line: uint64(r.Line()) << 24}
		if r.Form() == format.Lines {
			items := r.Fields[1:]
			for _, x := range items {
				if _, ok := histories.Cell(cat, x); !ok {
					return r.Fail("item", fmt.Sprintf("%.40q is not in the catalogue of %d items", x, cat.Size), "")
				}
			}
			if len(items) >= 1<<24 {
				return r.Fail("", "more items than a row can have", "")
			}
			if len(items) == 0 {
				return add(id, nil, p)
			}
			for i, x := range items {
				p.line = uint64(r.Line())<<24 | uint64(i)
				if err := add(id, x, p); err != nil {
					return err
				}
			}
			return nil
		}
		if when >= 0 {
			if p.time, p.part, err = r.Time(when); err != nil {
				return err
			}
		}
		if _, ok := histories.Cell(cat, r.Fields[item]); !ok {
			return r.Fail("item_id", fmt.Sprintf("%.40q is not in the catalogue of %d items", r.Fields[item], cat.Size), "")
		}
		return add(id, r.Fields[item], p)
	}, func(b badRow) error {
		note.Bad++
		return bad.add(dir, b)
	})
	if err != nil {
		return note, err
	}
	for s, p := range pieces {
		if p == nil {
			continue
		}
		if err := p.w.Flush(); err != nil {
			return note, err
		}
		to := join(j.Work, fmt.Sprintf("%s-%05d", name, s+1))
		if err := copyFile(ctx, out[s].Name(), to, false); err != nil {
			return note, err
		}
		b, err := json.Marshal(pieceNote{to, p.n})
		if err != nil {
			return note, err
		}
		emit(s+1, string(b))
	}
	note.BadRows, err = bad.publish(ctx, j.Work, name+"-bad")
	return note, err
}

// make sorts the rows of a shard and perturbs its users, as the command of one machine does.
func (j *histJob) make(ctx context.Context, shard int, pieces []pieceNote) (note shardNote, err error) {
	dir, err := os.MkdirTemp("", "privrec-beam-")
	if err != nil {
		return note, err
	}
	defer os.RemoveAll(dir)
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
			return note, err
		}
	}
	note.Shard = shard
	var bad badFile
	in := filepath.Join(dir, "users")
	if err := j.users(in, dir, s, &note, &bad); err != nil {
		return note, err
	}
	o := j.Options
	o.In, o.Out, o.Workers, o.Strict = in, filepath.Join(dir, j.Out), 1, false
	o.InForm = j.form()
	o.Shard = perturb.Shard{I: shard, Of: j.Shards}
	if _, err := pricdsr.Perturb(ctx, o); err != nil {
		return note, err
	}
	if note.Part, err = perturb.ReadPart(o.Shard.Beside(o.Out, "part.json")); err != nil {
		return note, err
	}
	note.Folder = join(j.Work, fmt.Sprintf("shard-%05d-%s", shard, attempt()))
	if isLocal(note.Folder) {
		if err := os.Mkdir(note.Folder, 0o755); err != nil {
			return note, err
		}
	}
	for _, t := range note.Part.Tables {
		if err := copyFile(ctx, filepath.Join(dir, t.Name), join(note.Folder, t.Name), true); err != nil {
			return note, err
		}
	}
	if note.BadRows, err = bad.publish(ctx, j.Work, filepath.Base(note.Folder)+"-bad"); err != nil {
		return note, err
	}
	note.Bad = bad.n
	return note, nil
}

// form returns the form in which the users of a shard are handed on: lines of items if that is the form
// of the input, which has users without items, and else a table, which has any names.
func (j *histJob) form() format.Form {
	if f, _ := format.Of(j.Inputs[0]); f == format.Lines {
		return f
	}
	return format.CSV
}

// users writes the sorted rows of all users to a file.
func (j *histJob) users(path, dir string, s *perturb.Sorter, note *shardNote, bad *badFile) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<17)
	defer f.Close()
	lines := j.form() == format.Lines
	if !lines {
		w.WriteString("user_id,item_id\n")
	}
	var last, row []byte
	seen := map[string]bool{} // items of the user; at most as many as the catalogue has
	err = s.Each(func(key, item []byte) (err error) {
		user, _ := userOf(key)
		if note.Users == 0 || !bytes.Equal(user, last) {
			if lines && note.Users > 0 {
				w.WriteByte('\n')
			}
			note.Users++
			last = append(last[:0], user...)
			if lines {
				w.Write(user)
			}
			clear(seen)
		}
		if len(item) == 0 { // of a line with a user alone
			return nil
		}
		if j.Strict {
			if seen[string(item)] {
				file, line := whereOf(key)
				return bad.add(dir, badRow{j.Inputs[file], line >> 24, "item_id: comes again for its user", string(user) + " " + string(item)})
			}
			seen[string(item)] = true
		}
		if lines {
			w.WriteByte(' ')
			_, err = w.Write(item)
			return err
		}
		if row, err = format.CSV.AppendField(row[:0], user); err != nil {
			return err
		}
		if row, err = format.CSV.AppendField(append(row, ','), item); err != nil {
			return err
		}
		_, err = w.Write(append(row, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	if lines {
		w.WriteByte('\n')
	}
	return w.Flush()
}
