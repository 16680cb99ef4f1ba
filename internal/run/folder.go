package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/system"
)

// owned lists the files that a run writes at the top of its directory before it has a result to
// keep. A run that fails before its first checkpoint or artefact removes them again, the
// manifest, which marks the directory as a run's, last.
var owned = []string{configName, "log.jsonl", LedgerName, spendsName, NoiseFile, manifestName}

const (
	configName   = "config.yaml"
	manifestName = "manifest.json"
)

// results lists the files that a new run must not overwrite.
var results = []string{checkpointFile, "metrics.json", "privacy.json", "result.json"}

// LedgerName names the ledger of a run directory.
const LedgerName = "ledger.jsonl"

// spendsName names the file of a run directory that identifies the run's reservation in its budget.
const spendsName = "spends.json"

// checkpointFile is the only file of a checkpoint. Since one file is replaced by a rename, a
// kill at any moment leaves either the old or the new one. State, configuration hash and ledger
// state are in its metadata.
const checkpointFile = "checkpoint/checkpoint.safetensors"

// NoiseFile names the file with the secret key of the run's noise. A resumed run and the answers of a finished run read
// it. Whoever has the file and the data can remove the noise.
const NoiseFile = "noise.key"

// folder is a run directory as the process of a run found it and holds it.
type folder struct {
	lock       *lock
	made       []string          // directories that did not exist before, the deepest first
	fresh      bool              // it held no run before
	userConfig bool              // the user wrote config.yaml before the run, with the same text
	kept       bool              // a checkpoint or an artefact was written
	meta       map[string]string // of the checkpoint, once it was checked
}

// ofRun holds the file mode of a run directory: its owner alone may enter it.
const ofRun fs.FileMode = 0o700

// keep records that a file was written that the run keeps, unless err says otherwise, and returns err.
func (f *folder) keep(err error) error {
	f.kept = f.kept || err == nil
	return err
}

// makeDir creates dir and its missing parents, durably, for their owner alone. It returns the new directories, the
// deepest first. It tries again if another run removes a parent in the meantime.
func makeDir(dir string) (made []string, err error) {
	for range 100 {
		if made, err = missing(dir); err != nil {
			return nil, err
		}
		if err = os.MkdirAll(filepath.Dir(dir), 0o755); err == nil {
			err = os.MkdirAll(dir, ofRun)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	for _, d := range made {
		if err == nil {
			err = system.SyncDir(filepath.Dir(d))
		}
	}
	if err != nil {
		removeEmpty(made)
		return nil, WithHint(fmt.Errorf("create run directory: %w", err), "choose a writable --out")
	}
	return made, nil
}

// mkdir makes a folder of the run directory, durably.
func mkdir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	_, err := makeDir(dir)
	return err
}

// missing returns the directories on the way to dir that do not exist, the deepest first.
func missing(dir string) (names []string, err error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() || system.NotAFolder(err) {
			if at == filepath.Clean(dir) && err == nil {
				return nil, &UsageError{Message: fmt.Sprintf("run directory %s is a file", dir), Fix: another}
			}
			if err == nil {
				return nil, &UsageError{Message: fmt.Sprintf("run directory %s: %s is a file", dir, at), Fix: another}
			}
			continue // the file is further up
		}
		if err == nil {
			return names, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, WithHint(fmt.Errorf("run directory: %w", err), another)
		}
		names = append(names, at)
	}
}

// removeEmpty removes the directories made for a run, the deepest first, until one is not
// empty.
func removeEmpty(made []string) {
	for _, dir := range made {
		if os.Remove(dir) != nil {
			return
		}
	}
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return system.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}

// logFile keeps the first error of writing the log, which slog ignores.
type logFile struct {
	f   *os.File
	err error
}

// Write implements io.Writer.
func (l *logFile) Write(p []byte) (int, error) {
	n, err := l.f.Write(p)
	if err != nil && l.err == nil {
		l.err = err
	}
	return n, err
}

func (l *logFile) close() error {
	if err := errors.Join(l.err, l.f.Sync(), l.f.Close()); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}
