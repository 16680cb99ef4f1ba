package pricdsr

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// names of the files of a perturbation, beside the output.
const (
	outFile    = "out"
	emptyFile  = "empty"
	ledgerFile = "ledger"
	textFile   = "text"
	jsonFile   = "json"
)

// fileSet is where the files go, by name; the output last.
type fileSet []struct{ name, path string }

func filesOf(out string) fileSet {
	pack := ""
	stem := out
	for _, ext := range []string{".gz", ".zst"} {
		if s, ok := strings.CutSuffix(stem, ext); ok {
			stem, pack = s, ext
			break
		}
	}
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	return fileSet{{emptyFile, stem + ".empty.tsv" + pack}, {ledgerFile, stem + ".ledger.jsonl"}, {textFile, stem + ".report.txt"}, {jsonFile, stem + ".report.json"}, {outFile, out}}
}

// free refuses to write over what is there, and with force over what is read.
func (f fileSet) free(force bool, sources ...string) error {
	for _, x := range f {
		for _, path := range sources {
			if sameFile(path, x.path) {
				return refuse("choose another --out", "%s is read by this run: it cannot be written too", x.path)
			}
		}
		info, err := os.Lstat(x.path)
		switch {
		case err != nil:
		case info.IsDir():
			return refuse("choose another --out", "%s is a folder", x.path)
		case !force:
			return refuse("choose another --out, or --force to replace what is there", "%s is there already", x.path)
		}
	}
	return nil
}

// sameFile is true of two names of a file that is there.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// stage is a folder beside the output in which its files come to be.
type stage struct {
	dir   string
	files fileSet
}

func newStage(files fileSet) (*stage, error) {
	out := files[len(files)-1].path
	dir, err := os.MkdirTemp(filepath.Dir(out), ".tmp-perturb-*")
	if err != nil {
		return nil, &dataset.WriteError{File: out, Err: err}
	}
	return &stage{dir, files}, nil
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// create writes a file of the stage.
func (s *stage) create(name string, write func(w io.Writer) error) error {
	return run.WriteFile(s.path(name), write)
}

// commit gives the files their names, the output last. Where one cannot have its own,
// those that have go again.
func (s *stage) commit() error {
	for i, x := range s.files {
		if err := os.Rename(s.path(x.name), x.path); err != nil {
			for _, made := range s.files[:i] {
				os.Remove(made.path) // the error to tell is the first
			}
			return &dataset.WriteError{File: x.path, Err: err}
		}
	}
	d, err := os.Open(filepath.Dir(s.dir))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (s *stage) drop() error { return os.RemoveAll(s.dir) }
