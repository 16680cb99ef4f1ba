package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/dataset/registry"
	"privrec/internal/fetch"
)

// Set is a data set and the state of its files.
type Set struct {
	Name    string `json:"name"`
	State   string `json:"state"`             // missing, incomplete, not read, or a verdict of package fetch
	Receipt bool   `json:"receipt"`           // its folder has a receipt that says where the files came from
	Bytes   int64  `json:"bytes"`             // of all files in its folder
	Problem string `json:"problem,omitempty"` // what is wrong, "" if nothing is
}

// States of a set besides those of [fetch.Report].
const (
	Missing    = "missing"
	Incomplete = "incomplete"        // it has files, but not all of any layout
	Unread     = "present, not read" // too large to read here
)

// readAtMost bounds the bytes that are read to verify sets: about a second's worth.
const readAtMost = 256 << 20

// sets looks for every set of the registry.
func sets(ctx context.Context, dir string) ([]Set, error) {
	if dir == "" {
		dir = os.Getenv("PRIVREC_DATA")
	}
	var out []Set
	left := int64(readAtMost)
	for _, s := range known() {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		v := Set{Name: s.Name, State: Missing}
		if dir != "" {
			look(ctx, s, dir, &v, &left)
		}
		out = append(out, v)
	}
	return out, nil
}

// look fills in the state of a set's folder. left is how much may still be read.
func look(ctx context.Context, s registry.Set, dir string, v *Set, left *int64) {
	folder := filepath.Join(dir, s.Name)
	size, err := sizeOf(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		v.State, v.Problem = Incomplete, err.Error()
		return
	}
	v.Bytes = size
	if _, err := os.Stat(filepath.Join(folder, registry.ReceiptName)); err == nil {
		v.Receipt = true
	}
	switch {
	case !s.Complete(folder):
		v.State = Incomplete
		if size == 0 {
			v.State = Missing
		}
		return
	case size > *left:
		v.State = Unread
		return
	}
	*left -= size
	r, err := fetch.Verify(ctx, s.Name, dir)
	switch {
	case errors.Is(err, context.Canceled):
		v.State = Unread
	case err != nil:
		v.State, v.Problem = Incomplete, err.Error()
	default:
		v.State, v.Receipt = r.Verdict, r.Receipt
		for _, f := range r.Bad() {
			v.Problem = f.Name + " is " + string(f.State)
			break
		}
	}
}

// sizeOf returns the bytes of all files below a folder.
func sizeOf(folder string) (size int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size, err
}
