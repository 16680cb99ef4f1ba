package registry

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/dataset"
)

// ReceiptName is the file in a set's folder that says where its files came from.
const ReceiptName = "receipt.json"

// receipt is the part of a receipt that describes its files.
type receipt struct {
	PinnedNew bool `json:"pinned_new"`
	Files     []struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"files"`
}

// provenance returns a remark on how the files differ from the receipt of their folder: their
// content was accepted although it is not the published one, or a file is no longer the one
// that was fetched. It returns "" where there is no difference or no receipt. The level of
// evidence does not depend on the remark: rows are judged by their content, so that a folder
// with a receipt is worth no more than the same folder without one.
func provenance(folder string, files []dataset.File) (string, error) {
	path := filepath.Join(folder, ReceiptName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", &dataset.Error{File: path, Msg: "cannot read", Err: err}
	}
	var r receipt
	if err := json.Unmarshal(b, &r); err != nil {
		return "", &dataset.Error{File: path, Msg: "not a receipt", Err: err, Hint: "fetch the set again"}
	}
	why := ""
	if r.PinnedNew {
		why = "the files are not the published ones: their content was accepted with --pin-new"
	}
	for _, f := range files {
		rel, err := filepath.Rel(folder, f.Path)
		if err != nil {
			return "", &dataset.Error{File: f.Path, Msg: "cannot find the path within its folder", Err: err}
		}
		for _, g := range r.Files {
			if g.Name == filepath.ToSlash(rel) && g.SHA256 != f.SHA256 {
				why = f.Path + " changed after it was fetched"
			}
		}
	}
	return why, nil
}
