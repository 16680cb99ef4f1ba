package perturb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/dataset/format"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/run"
)

// Shard is part I of Of parts of a job, from 1. The zero value means the whole. A part reads the whole input and
// perturbs its own records: those of some users, by a hash of their ids, or every Of-th block. The choice depends only
// on the input and the settings.
type Shard struct{ run.Shard }

// Name returns the name of a shard's table. It is beside that of the whole and never compressed.
func (s Shard) Name(out string) string {
	if s.Of == 0 {
		return out
	}
	stem, ext := splitName(out)
	return fmt.Sprintf("%s.shard-%d-of-%d%s", stem, s.I, s.Of, ext)
}

// Has reports whether the user with an id belongs to the shard, in commands whose shards divide users.
func (s Shard) Has(id []byte) bool {
	return s.Of == 0 || ShardOf(id, s.Of) == s
}

// ShardOf returns the shard, of n, that the user with an id belongs to.
func ShardOf(id []byte, n int) Shard {
	return Shard{run.Shard{I: int(sequence.KeyOf(id)[0]%uint64(n)) + 1, Of: n}}
}

// sum counts and hashes the bytes written to a table.
type sum struct {
	hash        hash.Hash
	head, bytes int64
}

// PartVersion is the version of Part.
const PartVersion = 1

// Part describes a shard's output and its input. It is stored in a file beside the shard's table.
type Part struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`  // the command
	Out     string `json:"out"`   // name of the whole, without its folder
	Shard   int    `json:"shard"` // from 1
	Of      int    `json:"of"`

	// The following fields are equal in all parts.
	Noise  privacy.Noise `json:"noise"`
	Seed   uint64        `json:"seed,omitempty"`
	Form   format.Form   `json:"form"`
	SHA256 string        `json:"input_sha256"`
	Others []string      `json:"others_sha256,omitempty"` // of the other files that were read, catalogue first
	// records are in the order of their ids, not in that of the file
	Ranked  bool            `json:"ranked"`
	Cells   int             `json:"cells"`           // of a record
	Batch   int             `json:"batch,omitempty"` // records in a block; 0: as many as are quick to work on
	Same    json.RawMessage `json:"settings"`        // of the command, and what every part counted alike
	Entries int             `json:"ledger_entries"`
	Chain   string          `json:"ledger_chain"`

	// The following fields describe this part alone.
	In     string          `json:"input"`
	Tables []Table         `json:"tables"` // as they were written: the output, those beside it, the index
	Counts json.RawMessage `json:"counts"`
}

// Table describes a file of a part.
type Table struct {
	Name   string `json:"name"`
	Head   int64  `json:"header_bytes"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ranked reports whether records are written in the order of their ids.
func (e *engine[C]) ranked() bool { return e.Sort != nil || e.Ranked }

// note appends record i, whose lines were just written, to the index: the length of its ids, then its
// id if records are in that order and else its line or its number, then the bytes that it has in each table.
func (h *blockWorker[C]) note(b *Block[C], i int) {
	last := len(b.Lines) - 1
	x := binary.AppendUvarint(b.Lines[last], uint64(b.idBytes(i)))
	switch {
	case h.ranked:
		x = append(x, b.ID(i, 0)...)
	case h.byUser: // records of others are not in the block, and numbers not known
		x = binary.AppendUvarint(x, uint64(b.Line(i)))
	default:
		x = binary.AppendUvarint(x, b.First+uint64(i))
	}
	for k, was := range h.was {
		x = binary.AppendUvarint(x, uint64(len(b.Lines[k])-was))
	}
	b.Lines[last] = x
}

// part writes the description of the shard's output and its input.
func (e *engine[C]) part(ctx context.Context, whole string, f Facts) error {
	same, counts := e.State()
	p := Part{
		Version: PartVersion, Kind: e.Kind, Out: filepath.Base(whole), Shard: e.Shard.I, Of: e.Shard.Of,
		Noise: f.Noise, Seed: f.Seed, Form: e.OutForm, SHA256: f.Digest, Ranked: e.ranked(), Cells: e.in.Length(),
		Batch:   e.Batch,
		Entries: f.Ledger.Entries, Chain: f.Ledger.Chain, In: f.In,
	}
	var err error
	if p.Same, err = json.Marshal(same); err != nil {
		return err
	}
	if p.Counts, err = json.Marshal(counts); err != nil {
		return err
	}
	for _, path := range append([]string{e.Catalogue}, e.Sources...) {
		if path == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		digest, err := sumOf(path)
		if err != nil {
			return err
		}
		p.Others = append(p.Others, digest)
	}
	paths := map[string]string{}
	for _, x := range e.outputs() {
		paths[x.Name] = filepath.Base(x.Path)
	}
	names := []string{outFile}
	for _, x := range e.Beside {
		names = append(names, x.Name)
	}
	for k, name := range append(names, indexFile) {
		p.Tables = append(p.Tables, Table{paths[name], e.sums[k].head, e.sums[k].bytes,
			hex.EncodeToString(e.sums[k].hash.Sum(nil))})
	}
	return e.st.Create(partFile, p.Write)
}

// Write writes a part as [ReadPart] reads it.
func (p Part) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(p)
}

// Beside returns the name of a file of the shard: the index, "part.json", "ledger.jsonl" and others.
func (s Shard) Beside(out, ending string) string {
	stem, _ := splitName(s.Name(out))
	return stem + "." + ending
}

// sumOf returns the SHA-256 of a file, or of the names and files of a folder. It refuses files that can be read only
// once.
func sumOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().IsRegular() {
		return FileSum(path)
	}
	if !info.IsDir() {
		return "", Refuse("copy it to a file", "%s can be read once, and a shard says which files it was made of", path)
	}
	all := sha256.New()
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		one, err := FileSum(at)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(path, at)
		fmt.Fprintf(all, "%q %s\n", filepath.ToSlash(name), one)
		return err
	})
	return hex.EncodeToString(all.Sum(nil)), err
}
