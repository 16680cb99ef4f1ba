package vectors

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/safetensors"
)

// npz reads arrays of a NumPy zip archive.
func (f *File) npz(ctx context.Context, in io.ReaderAt, size int64, want []Want) error {
	z, err := zip.NewReader(in, size)
	if err != nil {
		return fmt.Errorf("the directory of the archive cannot be read, was the file cut? (%w)", err)
	}
	var names []string
	var members []*zip.File
	for _, m := range z.File {
		name, ok := strings.CutSuffix(m.Name, ".npy")
		switch {
		case strings.HasSuffix(m.Name, ".pkl"):
			return errors.New("an archive of pickles, as torch.save writes it: it is not read, since reading it runs " +
				"what it holds; save arrays with numpy.savez or as safetensors")
		case !ok:
			continue
		case slices.Contains(names, name):
			return fmt.Errorf("two arrays in the archive have the name %s", dataset.Quote([]byte(name)))
		case len(names) == maxArrays:
			return fmt.Errorf("more than %d arrays in the archive", maxArrays)
		}
		names, members = append(names, name), append(members, m)
	}
	for _, w := range want {
		i, err := w.pick(f.Path, names)
		if err != nil {
			return err
		}
		t, err := readMember(ctx, members[i], size, w)
		if err != nil {
			return inArray(f.Path, names[i], err)
		}
		t.Name = names[i]
		f.Tables = append(f.Tables, t)
	}
	return nil
}

// maxArrays is the largest number of names in a file.
const maxArrays = 1 << 12

// inArray returns an error with the file and the name of the array.
func inArray(path, name string, err error) error {
	return &dataset.Error{File: path, Field: name, Msg: err.Error()}
}

// readMember returns an array of an archive of size bytes.
func readMember(ctx context.Context, m *zip.File, size int64, w Want) (t Table, err error) {
	switch {
	case m.Flags&1 != 0:
		return t, errors.New("it is encrypted")
	case m.Method != zip.Store && m.Method != zip.Deflate:
		return t, fmt.Errorf("compressed by method %d of zip: only stored and deflated arrays are read", m.Method)
	}
	packed := int64(min(m.CompressedSize64, uint64(size)))
	full := int64(min(m.UncompressedSize64, 1<<62))
	if !plausible(full, packed) || m.Method == zip.Store && full != packed {
		return t, fmt.Errorf("the archive says that %d bytes hold %d: vectors do not compress so much", packed, full)
	}
	r, err := m.Open()
	if err != nil {
		return t, err
	}
	defer r.Close()
	a, used, err := readNpyHeader(r)
	if err != nil {
		return t, err
	}
	rows, cols, err := a.size(w.Flat)
	if err != nil {
		return t, err
	}
	if need := int64(rows) * int64(cols) * int64(a.of.size); need != full-used {
		return t, fmt.Errorf("an array of %s %s takes %d bytes, and %d follow the header", a.of.name, shown(a.shape),
			need, full-used)
	}
	if t.Rows, err = a.fill(ctx, r, rows, cols, min(packed, full)); err != nil {
		return t, err
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF { // the end is where its checksum is compared
		return t, fmt.Errorf("the archive is damaged (%w)", err)
	}
	return t, nil
}

// maxSafetensors is the largest length of a header in bytes.
const maxSafetensors = 8 << 20

// safetensors reads arrays of a file of that format. Arrays that are not wanted may have other types.
func (f *File) safetensors(ctx context.Context, in io.ReaderAt, size int64, want []Want) error {
	header, err := safetensors.ReadHeader(io.NewSectionReader(in, 0, size), size, maxSafetensors)
	if err != nil {
		return err
	}
	names, infos, _, err := safetensors.Decode(header)
	if err != nil {
		return err
	}
	begin := int64(8 + len(header))
	if err := safetensors.Fill(names, infos, size-begin); err != nil {
		return err
	}
	for _, w := range want {
		i, err := w.pick(f.Path, names)
		if err != nil {
			return err
		}
		t, err := readTensor(ctx, io.NewSectionReader(in, begin+infos[i].Offsets[0],
			infos[i].Offsets[1]-infos[i].Offsets[0]), infos[i], w)
		if err != nil {
			return inArray(f.Path, names[i], err)
		}
		t.Name = names[i]
		f.Tables = append(f.Tables, t)
	}
	return nil
}

// readTensor returns an array of a safetensors file, after its header has been compared with the length of the file.
func readTensor(ctx context.Context, r *io.SectionReader, info safetensors.Info, w Want) (t Table, err error) {
	of, ok := tensors[info.DType]
	if !ok {
		return t, fmt.Errorf("it holds %s, want F16, BF16, F32 or F64", info.DType)
	}
	a := array{of: of, shape: info.Shape}
	rows, cols, err := a.size(w.Flat)
	if err != nil {
		return t, err
	}
	t.Rows, err = a.fill(ctx, r, rows, cols, r.Size())
	return t, err
}
