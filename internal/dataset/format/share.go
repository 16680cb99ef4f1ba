package format

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"privrec/internal/dataset"
	"privrec/internal/progress"
)

// shareReader reads a file and shows as progress how much of it has been read.
type shareReader struct {
	*progress.Stretch
	f          *os.File
	done, size int64
}

// newShare returns a reader of a file that shows its progress. Only a regular file has a size, which a share needs.
func newShare(ctx context.Context, verb string, f *os.File) *shareReader {
	r := &shareReader{f: f}
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() && st.Size() > 0 {
		r.size = st.Size()
		r.Stretch = progress.BeginShares(ctx, fmt.Sprintf("%s %s, %.1f MB", verb, filepath.Base(f.Name()),
			float64(r.size)/1e6))
	}
	return r
}

// Read implements io.Reader.
func (r *shareReader) Read(p []byte) (int, error) {
	n, err := r.f.Read(p)
	if r.done += int64(n); r.size > 0 {
		r.Share(float64(r.done) / float64(r.size))
	}
	return n, err
}

// HashFile returns path, size and digest of a file as it is on disk.
func HashFile(ctx context.Context, path string) (dataset.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return dataset.File{}, &dataset.Error{File: path, Msg: "cannot open", Err: err}
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return dataset.File{}, &dataset.Error{File: path, Msg: "cannot read", Err: err}
	}
	sum, shown := sha256.New(), newShare(ctx, "hash", f)
	defer shown.End()
	for {
		_, err := io.CopyN(sum, shown, 16<<20)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return dataset.File{}, fmt.Errorf("dataset: hash %s: %w", path, err)
		}
	}
	return dataset.File{Path: path, Bytes: st.Size(), SHA256: hex.EncodeToString(sum.Sum(nil)),
		Modified: st.ModTime().UnixNano()}, nil
}
