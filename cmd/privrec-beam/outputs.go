package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/papers/exposure/protect"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// counters holds the counts of a job.
type counters struct {
	Files int   `json:"files"`
	Rows  int64 `json:"rows"` // that could be used
	Bad   int64 `json:"bad_rows"`
	Users int64 `json:"users"` // or slates
}

// countersOf returns the sums of the counts of files and shards.
func countersOf(all notes) (c counters) {
	c.Files = len(all.Files)
	for _, n := range all.Files {
		c.Rows += n.Rows
		c.Bad += n.Bad
	}
	for _, n := range all.Shards {
		c.Users += n.Users
		c.Bad += n.Bad
	}
	return c
}

// write writes the counters as JSON.
func (c counters) write(w io.Writer) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// outputs names the files that a job writes.
type outputs struct {
	whole  string
	shards int
	work   string
}

// job returns the name of a file about the whole job.
func (o outputs) job(ending string) string {
	return perturb.Shard{}.Beside(o.whole, "job."+ending)
}

// shardFiles returns all files of shards under the name of the whole, of whatever job.
func (o outputs) shardFiles(ctx context.Context) ([]string, error) {
	return matches(ctx, literal(stemOf(o.whole))+".shard-*")
}

// free fails if a file that the job writes exists, or a shard of another job, whose users would be shown twice. With
// force these are replaced. It also fails if an input is the output of a job.
func (o outputs) free(ctx context.Context, inputs []string, force bool) error {
	for _, name := range inputs {
		if whole, err := absolute(o.whole); err != nil {
			return err
		} else if isOutput(ctx, name) || name == whole {
			return &run.UsageError{Message: name + " is an output of a job, and is to be read",
				Fix: "choose a pattern that finds the input alone, and another --output"}
		}
	}
	list, err := o.shardFiles(ctx)
	if err != nil {
		return err
	}
	if force {
		return nil
	}
	for _, ending := range []string{"ledger.jsonl", "report.txt", "report.json", "bad.tsv", "counters.json"} {
		if name := o.job(ending); there(ctx, name) {
			list = append(list, name)
		}
	}
	if len(list) > 0 {
		return &run.UsageError{Message: list[0] + " is there already",
			Fix: "choose another --output, or --force to replace what is there"}
	}
	return nil
}

// isOutput reports whether a job wrote a file.
func isOutput(ctx context.Context, name string) bool {
	if at := strings.LastIndex(name, ".shard-"); at >= 0 {
		var i, of int
		if n, _ := fmt.Sscanf(name[at:], ".shard-%d-of-%d.", &i, &of); n == 2 {
			return there(ctx, perturb.Shard{Shard: run.Shard{I: i, Of: of}}.Beside(name[:at]+".x", "part.json"))
		}
	}
	at := strings.LastIndex(name, ".job.")
	return at >= 0 && there(ctx, name[:at]+".job.ledger.jsonl")
}

// clear removes the shards of other jobs, before those of this one get their names. It first removes the files that
// declare a shard complete.
func (o outputs) clear(ctx context.Context) error {
	list, err := o.shardFiles(ctx)
	if err != nil {
		return err
	}
	var tables []string
	for _, name := range list {
		if !strings.HasSuffix(name, ".part.json") {
			tables = append(tables, name)
		} else if err := removeNamed(ctx, name); err != nil {
			return err
		}
	}
	return removeNamed(ctx, tables...)
}

// commit gives the tables of all shards their names, and returns the report of the whole.
func (o outputs) commit(ctx context.Context, j job, all notes, seal privacy.Seal,
	ledger string) (_ run.Result, c counters, err error) {
	whole := j.whole()
	digest := sha256.New()
	c.Files = len(all.Files)
	for _, n := range all.Files {
		fmt.Fprintf(digest, "%s\n", n.SHA256)
		c.Rows += n.Rows
		c.Bad += n.Bad
	}
	var same, counts []json.RawMessage
	made := map[int]shardNote{}
	var shown *shardNote
	for _, n := range all.Shards {
		c.Users += n.Users
		c.Bad += n.Bad
		c.Rows -= n.Bad
		if n.Users == 0 {
			continue
		}
		if shown == nil {
			shown = &n
		}
		if (privacy.Seal{Entries: n.Part.Entries, Chain: n.Part.Chain}) != seal {
			return nil, c, fmt.Errorf("the worker of shard %d released something else than the ledger says", n.Shard)
		}
		// of features each shard has its own
		others := j.Kind == features.Kind || slices.Equal(n.Part.Others, shown.Part.Others)
		if !others || n.Part.Cells != shown.Part.Cells || n.Part.Form != shown.Part.Form {
			return nil, c, fmt.Errorf("shards %d and %d were made of different catalogues or vectors: a file changed "+
				"while the job ran, or workers see different ones", shown.Shard, n.Shard)
		}
		made[n.Shard] = n
		same, counts = append(same, n.Part.Same), append(counts, n.Part.Counts)
	}
	if len(same) == 0 {
		return nil, c, &run.UsageError{Message: fmt.Sprintf("no row of the input can be used: all %d are bad", c.Bad)}
	}
	joined, err := whole.Join(same)
	if err != nil {
		return nil, c, err
	}
	if joined, ledger, seal, err = o.hold(ctx, j, all, joined, ledger, seal); err != nil {
		return nil, c, err
	}
	first := shown.Part
	first.Entries, first.Chain = seal.Entries, seal.Chain
	first.SHA256, first.Same, first.In = hex.EncodeToString(digest.Sum(nil)), joined, filepath.Base(j.Inputs[0])
	if len(j.Inputs) > 1 {
		first.In = fmt.Sprintf("%s and %d more", first.In, len(j.Inputs)-1)
	}
	heads, err := o.heads(ctx, *shown)
	if err != nil {
		return nil, c, err
	}
	if err := o.clear(ctx); err != nil {
		return nil, c, err
	}
	for i := 1; i <= o.shards; i++ {
		p := first
		p.Shard = i
		n, ok := made[i]
		if ok {
			p.Tables, p.Counts = n.Part.Tables, n.Part.Counts
		} else { // no user has this shard
			p.Tables, p.Counts = o.empty(i, first.Tables, heads), json.RawMessage("null")
		}
		for k, t := range p.Tables {
			to := join(folderOf(o.whole), t.Name)
			if ok {
				err = moveFile(ctx, join(n.Folder, t.Name), to)
			} else {
				err = writeFile(ctx, to, func(w io.Writer) error { _, err := w.Write(heads[k]); return err })
			}
			if err != nil {
				return nil, c, err
			}
		}
		s := perturb.Shard{Shard: run.Shard{I: i, Of: o.shards}}
		if err := copyFile(ctx, ledger, s.Beside(o.whole, "ledger.jsonl"), true); err != nil {
			return nil, c, err
		}
		if err := writeFile(ctx, s.Beside(o.whole, "part.json"), p.Write); err != nil {
			return nil, c, err
		}
	}
	if err := o.bad(ctx, all); err != nil {
		return nil, c, err
	}
	r, err := whole.Report(perturb.Facts{In: first.In, Digest: first.SHA256, Noise: first.Noise, Seed: first.Seed,
		Ledger: seal}, joined, counts)
	return r, c, err
}

// hold adds the largest number of slates of a user to the ledger, and to the data that the shards share, if each slate
// has an epsilon. It returns both, and the path of the ledger.
func (o outputs) hold(ctx context.Context, j job, all notes, same json.RawMessage, ledger string,
	seal privacy.Seal) (json.RawMessage, string, privacy.Seal, error) {
	if j.Kind != protect.Kind || j.Slates.Replace != protect.ReplaceRR {
		return same, ledger, seal, nil
	}
	most := int64(0)
	for _, m := range all.Most {
		most = max(most, m.Most)
	}
	ledger += ".held"
	l, err := privacy.CreateLedger(ledger, j.settings().Noise(), nil)
	if err != nil {
		return nil, "", seal, err
	}
	err = j.declare(ctx, l)
	if err == nil {
		same, err = protect.Hold(l, same, most)
	}
	if err != nil {
		return nil, "", seal, errors.Join(err, l.Leave())
	}
	if err := l.Close(); err != nil {
		return nil, "", seal, err
	}
	seal, _ = l.Seal()
	return same, ledger, seal, copyFile(ctx, ledger, o.job("ledger.jsonl"), true)
}

// heads returns the headers of the tables of a shard.
func (o outputs) heads(ctx context.Context, n shardNote) (heads [][]byte, err error) {
	for _, t := range n.Part.Tables {
		b := make([]byte, t.Head)
		f, err := openFile(ctx, join(n.Folder, t.Name))
		if err != nil {
			return nil, err
		}
		_, err = io.ReadFull(f, b)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		heads = append(heads, b)
	}
	return heads, nil
}

// empty returns the tables of a shard without a user.
func (o outputs) empty(i int, like []perturb.Table, heads [][]byte) (tables []perturb.Table) {
	from := strings.SplitN(like[0].Name, ".shard-", 2)[0]
	for k, t := range like {
		_, ending, _ := strings.Cut(strings.TrimPrefix(t.Name, from+".shard-"), ".")
		sum := sha256.Sum256(heads[k])
		n := int64(len(heads[k]))
		tables = append(tables, perturb.Table{Name: fmt.Sprintf("%s.shard-%d-of-%d.%s", from, i, o.shards, ending),
			Head: n, Bytes: n, SHA256: hex.EncodeToString(sum[:])})
	}
	return tables
}

// bad writes all bad rows to one file.
func (o outputs) bad(ctx context.Context, all notes) error {
	return writeFile(ctx, o.job("bad.tsv"), func(w io.Writer) error { return writeBad(ctx, w, all) })
}

// writeBad writes all bad rows, in the order of the input and then of the shards.
func writeBad(ctx context.Context, w io.Writer, all notes) error {
	var files []string
	for _, n := range all.Files {
		files = append(files, n.BadRows)
	}
	for _, n := range all.Shards {
		files = append(files, n.BadRows)
	}
	if _, err := io.WriteString(w, badHead); err != nil {
		return err
	}
	for _, name := range files {
		if name == "" {
			continue
		}
		f, err := openFile(ctx, name)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
