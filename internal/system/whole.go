package system

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// MostOfRun is the largest size in bytes of a file of results, account or manifest that is read from a run directory.
// Real ones have a few hundred thousand.
const MostOfRun = 256 << 20

// Open opens a file for reading, if it is a regular file of at most most bytes. It checks both on the opened file and
// never waits: a pipe, a device or a folder is an error that says so.
func Open(path string, most int64) (*os.File, error) {
	f, err := openNow(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = readable(info, most)
	}
	if err != nil {
		f.Close()
		var named *fs.PathError
		if errors.As(err, &named) {
			return nil, err
		}
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return f, nil
}

// readable returns an error for anything but a regular file of at most most bytes.
func readable(info fs.FileInfo, most int64) error {
	mode, kind := info.Mode(), ""
	switch {
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case !mode.IsRegular():
		kind = "no regular file"
	case info.Size() > most:
		return fmt.Errorf("has %d bytes, more than the %d that are read", info.Size(), most)
	default:
		return nil
	}
	return fmt.Errorf("is %s, want a file", kind)
}

// ReadFile returns the content of a regular file of at most most bytes (see Open). It fails on a file that grows beyond
// that while it is read.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(Bounded(f, most))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return b, nil
}

// Bounded returns a reader of r that fails if there are more than most bytes.
func Bounded(r io.Reader, most int64) io.Reader { return &bounded{r, most, most} }

type bounded struct {
	r          io.Reader
	most, left int64
}

// Read reads, and fails on the first byte beyond the limit.
func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n + int(b.left), fmt.Errorf("has more than the %d bytes that are read", b.most)
	}
	return n, err
}
