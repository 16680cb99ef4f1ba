package run

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/system"
)

const another = "choose another --out"

// ofRun holds the file mode of a run directory: its owner alone may enter it.
const ofRun fs.FileMode = 0o700

// removeEmpty removes the directories made for a run, the deepest first, until one is not
// empty.
func removeEmpty(made []string) {
	for _, dir := range made {
		if os.Remove(dir) != nil {
			return
		}
	}
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

// contents holds what a run found in its directory.
type contents struct {
	manifest *Manifest // of the run that is here; nil: none
	config   bool      // the user's config.yaml is here, with the text that the run would write
}

// inspect reads a run directory and changes nothing. A directory with a manifest belongs to a run, since the manifest
// is the first file that a run writes and the last that it removes. A directory without one may hold only leftovers of
// a process killed before it wrote its manifest, and a config.yaml with exactly the text that the run would write. On
// anything else inspect fails.
func inspect(dir string, yaml []byte) (c contents, err error) {
	m, err := ReadManifest(dir)
	if err == nil {
		c.manifest = &m
		return c, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return c, WithHint(err, "the manifest is damaged; start again with another --out")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return c, fmt.Errorf("run directory: %w", err)
	}
	for _, e := range entries {
		name, plain := e.Name(), e.Type().IsRegular()
		switch {
		case plain && name == lockName: // checked when it is taken
		case plain && system.Unfinished(name) && strings.HasPrefix(name, system.TempPrefix+manifestName+"-"):
		case plain && name == configName:
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return c, fmt.Errorf("run directory: %w", err)
			}
			if !bytes.Equal(b, yaml) {
				return c, &UsageError{
					Message: fmt.Sprintf("%s is not the file of a run, and the run would replace it",
						filepath.Join(dir, name)),
					Fix: "choose another --out, or give the file another name",
				}
			}
			c.config = true
		default:
			return c, &UsageError{
				Message: fmt.Sprintf("%s is not empty and not a run directory (it holds %s)", dir, name),
				Fix:     another,
			}
		}
	}
	return c, nil
}
