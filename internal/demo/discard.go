package demo

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/run"
)

// discard removes what an earlier demo left in the directory, page and runs, so
// that this one starts afresh. What the demo did not make, and a run that is
// being written, is refused before anything is removed. The caller holds the
// directory.
func discard(out string) error {
	page := filepath.Join(out, pageName)
	text, err := os.ReadFile(page)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !bytes.Contains(text, []byte("<title>"+html.EscapeString(title)+"</title>")):
		return &run.UsageError{Message: fmt.Sprintf("%s is there and is no page of the demo", page), Fix: "choose another --out"}
	}
	if err := run.Discard(note, filepath.Join(out, private), filepath.Join(out, nonPrivate)); err != nil {
		return err
	}
	if err := os.Remove(page); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}
