package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/parquet"
)

// Read returns arrays of a file, in the order of want. A file of NumPy or Parquet has a single one, without a name.
func Read(ctx context.Context, path string, want ...Want) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, &dataset.Error{File: path, Msg: "cannot open", Err: err}
	}
	defer in.Close()
	st, err := in.Stat()
	switch {
	case err != nil:
		return nil, &dataset.Error{File: path, Msg: "cannot read", Err: err}
	case st.IsDir():
		return nil, &dataset.Error{File: path, Msg: "is a directory, not a file of vectors"}
	case !st.Mode().IsRegular():
		return nil, &dataset.Error{File: path, Msg: "is not a regular file",
			Hint: "vectors are read from several places of a file: a pipe cannot be"}
	}
	f := &File{Path: path}
	if err := f.read(ctx, in, st.Size(), want); err != nil {
		return nil, f.placed(ctx, err)
	}
	sum, err := format.HashFile(ctx, path)
	f.Digest = sum.SHA256
	return f, err
}

// read reads an open file of size bytes.
func (f *File) read(ctx context.Context, in io.ReaderAt, size int64, want []Want) error {
	head := make([]byte, 9)
	n, err := in.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case len(head) == 0:
		return errors.New("file is empty")
	case begins(npyMagic):
		f.Form = "NumPy array"
		return f.single(want, func(w Want) (Table, error) { return readNpy(ctx, in, size, w) })
	case begins("PK\x03\x04"), begins("PK\x05\x06"):
		f.Form = "NumPy archive"
		return f.npz(ctx, in, size, want)
	case begins(parquet.Magic):
		f.Form = "Parquet"
		return f.single(want, func(w Want) (Table, error) { return readParquet(ctx, in, size, w) })
	case len(head) == 9 && head[8] == '{':
		f.Form = "safetensors"
		return f.safetensors(ctx, in, size, want)
	case head[0] == 0x80 && len(head) > 1 && head[1] >= 2 && head[1] <= 5:
		return errors.New("a pickle: it is not read, since reading it runs what it holds; save arrays with " +
			"numpy.save or as safetensors")
	case begins("\x1f\x8b"), begins("\x28\xb5\x2f\xfd"):
		return errors.New("compressed: unpack it first")
	}
	return &dataset.Error{File: f.Path, Msg: "not a form that is read: it begins with " + dataset.Quote(head),
		Hint: "vectors come as .npy, .npz, .safetensors or Parquet"}
}

// single reads the array of a file that has only one.
func (f *File) single(want []Want, read func(w Want) (Table, error)) error {
	if len(want) != 1 {
		return fmt.Errorf("%s: one array in the file, and %d are wanted", f.Form, len(want))
	}
	t, err := read(want[0])
	f.Tables = []Table{t}
	return err
}

// readNpy reads the array of a file of size bytes, which must hold nothing else.
func readNpy(ctx context.Context, in io.ReaderAt, size int64, w Want) (t Table, err error) {
	r := io.NewSectionReader(in, 0, size)
	a, used, err := readNpyHeader(r)
	if err != nil {
		return t, err
	}
	rows, cols, err := a.size(w.Flat)
	if err != nil {
		return t, err
	}
	if need := int64(rows) * int64(cols) * int64(a.of.size); need != size-used {
		return t, fmt.Errorf("an array of %s %s takes %d bytes, and %d follow the header", a.of.name, shown(a.shape),
			need, size-used)
	}
	t.Rows, err = a.fill(ctx, r, rows, cols, size-used)
	return t, err
}

// placed returns an error as a *dataset.Error. A context's error stays unchanged.
func (f *File) placed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e := (*dataset.Error)(nil); errors.As(err, &e) {
		if e.File == "" {
			e.File = f.Path
		}
		return e
	}
	if e := (*parquet.ColumnError)(nil); errors.As(err, &e) {
		return &dataset.Error{File: f.Path, Line: int(e.Row), Field: e.Column, Msg: e.Err.Error()}
	}
	return &dataset.Error{File: f.Path, Msg: err.Error()}
}
