package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"privrec/internal/system"
)

// Files are named as Beam names them: a path that every worker sees, or gs://BUCKET/PATH.

// isLocal reports whether a file is on a file system of the machine.
func isLocal(path string) bool { return !strings.Contains(path, "://") }

// absolute returns the absolute name of a file of this machine, so that workers find it from any folder.
func absolute(path string) (string, error) {
	if path == "" || !isLocal(path) {
		return path, nil
	}
	return filepath.Abs(path)
}

// matches returns the files that match a pattern, in order.
func matches(ctx context.Context, glob string) ([]string, error) {
	fs, err := filesystem.New(ctx, glob)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	list, err := fs.List(ctx, glob)
	slices.Sort(list)
	return list, err
}

// there reports whether a file exists.
func there(ctx context.Context, path string) bool {
	if isLocal(path) {
		_, err := os.Lstat(path)
		return err == nil
	}
	list, err := matches(ctx, path)
	return err == nil && len(list) > 0
}

// local returns a path on this machine with the content of a file: the file itself, or a copy in dir.
func local(ctx context.Context, path, dir string) (string, error) {
	if isLocal(path) {
		return path, nil
	}
	to := filepath.Join(dir, attempt()+"-"+filepath.Base(path))
	return to, copyFile(ctx, path, to, false)
}

// copyFile copies a file between any file systems.
func copyFile(ctx context.Context, from, to string, durable bool) (err error) {
	r, err := openFile(ctx, from)
	if err != nil {
		return err
	}
	defer r.Close()
	return putFile(ctx, to, durable, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// openFile opens a file for reading.
func openFile(ctx context.Context, path string) (io.ReadCloser, error) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	return fs.OpenRead(ctx, path)
}

// writeFile writes a file durably.
func writeFile(ctx context.Context, path string, write func(w io.Writer) error) error {
	return putFile(ctx, path, true, write)
}

// putFile writes a file. On the file system of a machine it appears whole or not at all.
func putFile(ctx context.Context, path string, durable bool, write func(w io.Writer) error) (err error) {
	to := path
	if isLocal(path) {
		to = filepath.Join(filepath.Dir(path), ".tmp-"+attempt())
		defer func() {
			if err != nil {
				os.Remove(to)
			}
		}()
	}
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	w, err := fs.OpenWrite(ctx, to)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<17)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if f, ok := w.(*os.File); ok && durable && err == nil {
		err = f.Sync()
	}
	if e := w.Close(); err == nil {
		err = e
	}
	if err == nil && to != path {
		err = os.Rename(to, path)
		if err == nil && durable {
			err = system.SyncDir(filepath.Dir(path))
		}
	}
	return err
}

// moveFile renames a file.
func moveFile(ctx context.Context, from, to string) error {
	fs, err := filesystem.New(ctx, from)
	if err != nil {
		return err
	}
	defer fs.Close()
	return filesystem.Rename(ctx, fs, from, to)
}

// removeNamed removes files. A missing one is no error.
func removeNamed(ctx context.Context, names ...string) error {
	for _, name := range names {
		if isLocal(name) {
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			continue
		}
		fs, err := filesystem.New(ctx, name)
		if err != nil {
			return err
		}
		r, ok := fs.(filesystem.Remover)
		if !ok {
			err = fmt.Errorf("%s cannot be removed: its file system has no way", name)
		} else {
			err = r.Remove(ctx, name)
		}
		if err = errors.Join(err, fs.Close()); err != nil {
			return err
		}
	}
	return nil
}

// removeFiles removes the files that match some patterns.
func removeFiles(ctx context.Context, patterns ...string) error {
	for _, pattern := range patterns {
		list, err := matches(ctx, pattern)
		if err == nil {
			err = removeNamed(ctx, list...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// literal returns a pattern that matches a name and nothing else.
func literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// folderOf returns the folder of a file, on any file system.
func folderOf(path string) string {
	if isLocal(path) {
		return filepath.Dir(path)
	}
	return path[:strings.LastIndexByte(path, '/')]
}

// join joins a folder and a name, on any file system.
func join(dir, name string) string {
	if isLocal(dir) {
		return filepath.Join(dir, name)
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// attempt returns a name that no other attempt at a piece of work has. No result depends on it.
func attempt() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
