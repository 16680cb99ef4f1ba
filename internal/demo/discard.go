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

// discard removes the runs of an earlier demo in the directory, so that this one starts afresh.
// page says whether the earlier page is there; it stays. discard fails before it removes
// anything if the directory has something that the demo did not make, or a run that is being
// written. The caller holds the directory.
func discard(out string) (page bool, err error) {
	path := filepath.Join(out, pageName)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !bytes.Contains(text, []byte("<title>"+html.EscapeString(title)+"</title>")):
		return false, &run.UsageError{Message: fmt.Sprintf("%s exists and is not a page of the demo", path), Fix: "choose another --out"}
	}
	page = err == nil
	return page, run.Discard(note, filepath.Join(out, private), filepath.Join(out, nonPrivate))
}
