package fetch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/system"
)

// Receipt records where the files of a set came from and what they are. It is the file dataset.ReceiptName in the set's
// folder.
type Receipt struct {
	Version   int        `json:"version"`
	Name      string     `json:"name"`
	Time      time.Time  `json:"time"`
	Terms     string     `json:"terms"`      // terms that the user accepted
	PinnedNew bool       `json:"pinned_new"` // content that differs from the published one was accepted
	Archives  []Archived `json:"archives"`
	Files     []File     `json:"files"`

	Kept bool `json:"-"` // nothing was fetched: the files were there and verified
}

// Archived is one archive, or a file of it that was given instead.
type Archived struct {
	Name      string `json:"name"`
	Address   string `json:"address,omitempty"` // address that was asked
	Final     string `json:"final,omitempty"`   // address that answered, if another, without its query
	From      string `json:"from,omitempty"`    // path of the user's copy
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	Published string `json:"published,omitempty"` // what it was compared with: sha256, md5, rows or none
	Want      string `json:"want,omitempty"`      // the published hash, when the content differs and was accepted
}

// File is one file of a set; its name is relative to the set's folder, with slashes.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (r Receipt) archive(name string) (Archived, bool) {
	for _, a := range r.Archives {
		if a.Name == name {
			return a, true
		}
	}
	return Archived{}, false
}

func (r Receipt) file(name string) (File, bool) {
	for _, f := range r.Files {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}

// readReceipt returns the receipt of a folder, or the zero one if there is none.
func readReceipt(folder string) (Receipt, error) {
	path := filepath.Join(folder, registry.ReceiptName)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Receipt{}, nil
	}
	if err != nil {
		return Receipt{}, &dataset.Error{File: path, Msg: "cannot read", Err: err}
	}
	var r Receipt
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err = dec.Decode(&r)
	if err == nil && (r.Version != 1 || r.Name == "" || len(r.Files) == 0) {
		err = errors.New("this program does not write such a version or content")
	}
	for _, f := range r.Files {
		if err == nil && (!filepath.IsLocal(f.Name) || !hexadecimal(f.SHA256, 64)) {
			err = errors.New("names no file with its sha256")
		}
	}
	if err != nil {
		return Receipt{}, &dataset.Error{File: path, Msg: "not a receipt", Err: err,
			Hint: "remove it and fetch the set again"}
	}
	return r, nil
}

// write writes the receipt to its folder, whole or not at all.
func (r Receipt) write(folder string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(folder, registry.ReceiptName), append(b, '\n'))
}

// writeFile replaces a file by a complete and synced one.
func writeFile(path string, b []byte) error {
	err := system.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return &dataset.Error{File: path, Msg: "cannot write", Err: err}
	}
	return nil
}
