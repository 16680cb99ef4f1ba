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

// discard removes the runs that an earlier demo left in the directory, so that this
// one starts afresh, and reports whether its page is there, which stays. What the demo
// did not make, and a run that is being written, is refused before anything is
// removed. The caller holds the directory.
func discard(out string) (page bool, err error) {
	path := filepath.Join(out, pageName)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !bytes.Contains(text, []byte("<title>"+html.EscapeString(title)+"</title>")):
		return false, &run.UsageError{Message: fmt.Sprintf("%s is there and is no page of the demo", path), Fix: "choose another --out"}
	}
	page = err == nil
	return page, run.Discard(note, filepath.Join(out, private), filepath.Join(out, nonPrivate))
}
