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
