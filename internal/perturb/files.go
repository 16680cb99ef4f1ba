package perturb

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset/compress"
	"privrec/internal/dataset/format"
	"privrec/internal/run"
)

// Names on the stage of the files that every perturbation writes.
const (
	outFile    = "out"
	ledgerFile = "ledger"
	textFile   = "text"
	jsonFile   = "json"
	indexFile  = "index" // of a shard
	partFile   = "part"  // of a shard
)

// outputs returns the paths of the files, the output last.
func (j *Job[C]) outputs() []Output {
	stem, _ := splitName(j.Out)
	var list []Output
	for _, x := range j.Beside {
		list = append(list, Output{x.Name, stem + x.Path + packing(j.Out)})
	}
	if j.Shard.Of > 0 {
		list = append(list, Output{indexFile, stem + ".index"}, Output{partFile, stem + ".part.json"})
	}
	return append(list,
		Output{ledgerFile, stem + ".ledger.jsonl"},
		Output{textFile, stem + ".report.txt"},
		Output{jsonFile, stem + ".report.json"},
		Output{outFile, j.Out})
}

// splitName returns the name of an output without its endings, and its ending before one of compression.
func splitName(out string) (stem, ext string) {
	name := strings.TrimSuffix(strings.TrimSuffix(out, ".gz"), ".zst")
	ext = filepath.Ext(name)
	return strings.TrimSuffix(name, ext), ext
}

// packing returns the ending of the names of packed tables.
func packing(out string) string {
	switch compress.Of(out) {
	case compress.Gzip:
		return ".gz"
	case compress.Zstd:
		return ".zst"
	}
	return ""
}

// report writes a report as text and as JSON.
func (s *Stage) report(r run.Result) error {
	return errors.Join(
		s.Create(textFile, func(w io.Writer) error { return run.Show(w, false, r) }),
		s.Create(jsonFile, func(w io.Writer) error { return run.Show(w, true, r) }))
}

// create creates the tables and writes their headers.
func (e *engine[C]) create(pack *compress.Packer) error {
	names := []string{outFile}
	for _, x := range e.Beside {
		names = append(names, x.Name)
	}
	heads := e.in.Headers()
	if e.Shard.Of > 0 {
		names, heads = append(names, indexFile), append(heads, "")
	}
	for k, head := range heads {
		f, err := os.Create(e.st.Path(names[k]))
		if err != nil {
			return &format.WriteError{File: e.Out, Err: err}
		}
		e.files = append(e.files, f)
		b, err := pack.Append(nil, []byte(head))
		if err == nil {
			err = e.put(k, b)
		}
		if err == nil && e.Shard.Of > 0 {
			e.sums[k].head = e.sums[k].bytes
		}
		if err != nil {
			return &format.WriteError{File: e.Out, Err: err}
		}
	}
	return nil
}

// put appends bytes to table k. Those of a shard are hashed.
func (e *engine[C]) put(k int, b []byte) error {
	if e.Shard.Of > 0 {
		if k == len(e.sums) {
			e.sums = append(e.sums, sum{hash: sha256.New()})
		}
		e.sums[k].hash.Write(b)
		e.sums[k].bytes += int64(len(b))
	}
	_, err := e.files[k].Write(b)
	return err
}

// write appends the packed lines of a block to the tables.
func (e *engine[C]) write(b *Block[C]) error {
	for k, lines := range b.packed {
		if err := e.put(k, lines); err != nil {
			return &format.WriteError{File: e.Out, Err: err}
		}
	}
	e.reportProgress("written", &e.written, b)
	return nil
}

// close closes the tables. If they are whole it makes them durable first.
func (e *engine[C]) close(whole bool) (err error) {
	for _, f := range e.files {
		var sync error
		if whole {
			sync = f.Sync()
		}
		if e := errors.Join(sync, f.Close()); err == nil {
			err = e
		}
	}
	if err != nil {
		err = &format.WriteError{File: e.Out, Err: err}
	}
	return err
}

// reportProgress reports progress after every 2^20 records.
func (e *engine[C]) reportProgress(what string, done *int64, b *Block[C]) {
	before := *done >> 20
	*done += int64(b.Len())
	if *done>>20 > before {
		e.Progress.Phase(fmt.Sprintf("%s %d %s", what, *done, e.Noun))
	}
}
