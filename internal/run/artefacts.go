package run

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ofItself are the files of a run directory that say how a run was made: where, when, with which key. Two
// runs with equal results differ in them.
var ofItself = []string{configName, manifestName, "log.jsonl", NoiseFile, spendsName, lockName, eventsName}

// Artefacts returns the SHA-256 of the files in a run directory that depend only on its configuration and data, by
// slash-separated name: all but settings, manifest, logs, keys and lock.
func Artefacts(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if name = filepath.ToSlash(name); err != nil || slices.Contains(ofItself, name) {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		out[name] = hex.EncodeToString(h.Sum(nil))
		return nil
	})
	return out, err
}
