package dataset

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReceiptName is the file in a set's folder that says where its files came from.
const ReceiptName = "receipt.json"

// receipt is the part of a receipt that the level of evidence depends on.
type receipt struct {
	PinnedNew bool `json:"pinned_new"`
	Files     []struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"files"`
}

// lowered returns the level that files of this folder can bear at most, and why: level
// C where the receipt says that their content was accepted although it is not the
// published one, or where a file is no longer the one that was fetched. A folder
// without receipt lowers nothing: the counts speak for such files alone.
func lowered(level Level, folder string, files []File) (Level, string, error) {
	path := filepath.Join(folder, ReceiptName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return level, "", nil
	}
	if err != nil {
		return level, "", &Error{File: path, Msg: "cannot read", Err: err}
	}
	var r receipt
	if err := json.Unmarshal(b, &r); err != nil {
		return level, "", &Error{File: path, Msg: "not a receipt", Err: err, Hint: "fetch the set again"}
	}
	why := ""
	if r.PinnedNew {
		why = "the files are not the published ones: their content was accepted with --pin-new"
	}
	for _, f := range files {
		rel, err := filepath.Rel(folder, f.Path)
		if err != nil {
			return level, "", &Error{File: f.Path, Msg: "cannot place", Err: err}
		}
		for _, g := range r.Files {
			if g.Name == filepath.ToSlash(rel) && g.SHA256 != f.SHA256 {
				why = f.Path + " changed after it was fetched"
			}
		}
	}
	if why != "" && level < LevelC {
		level = LevelC
	}
	return level, why, nil
}
