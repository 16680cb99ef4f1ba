package fetch

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
)

// extraction takes the wanted files from one archive. It recognises the kind of archive by the first bytes. It judges
// every entry, wanted or not: an entry that would leave the folder, is a link or a device, or makes the archive grow
// beyond its limits fails the whole archive.
type extraction struct {
	ctx     context.Context
	archive Archive
	to      string // folder that no other process writes

	limits  Limits
	entries int
	out     int64             // bytes unpacked so far
	rank    map[string]int    // by place: 1 if the last element of the name agrees, 2 if the whole name does
	got     map[string]File   // by place
	source  map[string]string // by place: the entry it came from
}

// run unpacks the file at name.
func (x *extraction) run(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return &dataset.Error{File: name, Msg: "cannot open", Err: err}
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return &dataset.Error{File: name, Msg: "cannot read", Err: err}
	}
	x.limits = x.archive.limits(st.Size())
	x.rank, x.got, x.source = map[string]int{}, map[string]File{}, map[string]string{}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return &dataset.Error{File: name, Msg: "cannot read", Err: err}
	}
	head = head[:n]
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return &dataset.Error{File: name, Msg: "cannot read", Err: err}
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		err = x.zip(f, st.Size())
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		err = x.gzip(f)
	case isTar(head):
		err = x.tar(f)
	case path.Base(x.archive.Files[0]) == x.archive.FileName():
		x.limits.Ratio, x.limits.Bytes = 1, st.Size() // a plain file does not grow
		err = x.take(x.archive.Files[0], f, st.Size())
	default:
		return &dataset.Error{File: name, Msg: "is not a zip, tar or gzip archive",
			Hint: "look into the file: a server may have sent a web page in its place"}
	}
	if err != nil {
		if x.ctx.Err() != nil {
			return err
		}
		var known *dataset.Error
		if errors.As(err, &known) {
			return err
		}
		e := &dataset.Error{File: name, Msg: "cannot unpack", Err: err}
		if !errors.Is(err, errWrite) {
			e.Hint = "fetch or copy it again"
		}
		return e
	}
	return nil
}

// files returns the files taken, in the order of the source. It fails if one is missing.
func (x *extraction) files() ([]File, error) {
	var out []File
	for _, f := range x.archive.Files {
		g, ok := x.got[x.archive.place(f)]
		if !ok {
			return nil, &dataset.Error{
				File: x.archive.FileName(), Msg: "does not contain " + f,
				Hint: "is it the right archive? see privrec list",
			}
		}
		out = append(out, g)
	}
	return out, nil
}

func isTar(head []byte) bool { return len(head) >= 262 && string(head[257:262]) == "ustar" }

func (x *extraction) zip(f *os.File, size int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return err
	}
	var declared uint64
	for _, e := range z.File {
		if err := x.judge(e.Name, e.Mode().Type()); err != nil {
			return err
		}
		if declared += e.UncompressedSize64; e.UncompressedSize64 > uint64(x.limits.Bytes) ||
			declared > uint64(x.limits.Bytes) {
			return x.bomb()
		}
	}
	for _, e := range z.File {
		if e.FileInfo().IsDir() {
			continue
		}
		file, rank := x.wanted(e.Name)
		if rank == 0 {
			continue
		}
		r, err := e.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		err = x.offer(file, rank, e.Name, r, int64(min(e.CompressedSize64, uint64(size))))
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *extraction) gzip(f *os.File) error {
	in := &counter{r: f}
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	defer z.Close()
	buf := bufio.NewReaderSize(&meter{x: x, r: z, in: in}, 1<<16)
	head, err := buf.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if isTar(head) {
		return x.tar(buf)
	}
	if len(x.archive.Files) != 1 {
		return &dataset.Error{File: f.Name(), Msg: "contains one compressed file, but wanted are " +
			strings.Join(x.archive.Files, ", ")}
	}
	return x.take(x.archive.Files[0], buf, -1)
}

// tar reads a stream. If the stream is compressed, r is already metered.
func (x *extraction) tar(r io.Reader) error {
	_, plain := r.(*os.File)
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		kind := h.FileInfo().Mode().Type()
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeDir:
		case tar.TypeXGlobalHeader:
			continue // it has only comments
		default: // links, devices, sparse files, which a small archive can make huge
			kind |= fs.ModeIrregular
		}
		if err := x.judge(h.Name, kind); err != nil {
			return err
		}
		file, rank := x.wanted(h.Name)
		if kind.IsDir() || rank == 0 {
			continue
		}
		in := int64(-1)
		if plain {
			in = h.Size
		}
		if err := x.offer(file, rank, h.Name, t, in); err != nil {
			return err
		}
	}
}

// judge returns an error that condemns the archive because of one of its entries.
func (x *extraction) judge(name string, kind fs.FileMode) error {
	if x.entries++; x.entries > x.limits.Files {
		return x.refuse(fmt.Sprintf("more than %d entries", x.limits.Files))
	}
	clean := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	switch {
	case clean == "" || clean == ".":
		if !kind.IsDir() {
			return x.refuse("entry without a name")
		}
	case strings.ContainsAny(name, "\\:\x00") || !filepath.IsLocal(clean) || path.Clean(clean) != clean:
		return x.refuse(fmt.Sprintf("entry %q would leave the folder", name))
	}
	if kind&^fs.ModeDir != 0 {
		return x.refuse(fmt.Sprintf("entry %q is a link, a device or another special file", name))
	}
	return nil
}

func (x *extraction) refuse(why string) error {
	return &dataset.Error{File: x.archive.FileName(), Msg: "refused: " + why,
		Hint: "do not unpack it by hand either; get the archive from its owner"}
}

func (x *extraction) bomb() error {
	return x.refuse(fmt.Sprintf("unpacks to more than %s or %d bytes for each byte read", Size(x.limits.Bytes),
		x.limits.Ratio))
}

// wanted returns which file an entry may be, and how well its name agrees.
func (x *extraction) wanted(name string) (file string, rank int) {
	name = strings.TrimPrefix(name, "./")
	for _, f := range x.archive.Files {
		switch {
		case f == name:
			return f, 2
		case path.Base(f) == path.Base(name):
			file, rank = f, 1
		}
	}
	return file, rank
}

// offer takes an entry unless a better one was taken.
func (x *extraction) offer(file string, rank int, name string, r io.Reader, in int64) error {
	at := x.archive.place(file)
	switch old := x.rank[at]; {
	case old > rank:
		return nil
	case old == rank:
		return x.refuse(fmt.Sprintf("entries %q and %q could both be %s", x.source[at], name, file))
	case old > 0:
		if err := os.Remove(filepath.Join(x.to, at)); err != nil {
			return fmt.Errorf("%w: %w", errWrite, err)
		}
	}
	x.rank[at], x.source[at] = rank, name
	return x.take(file, r, in)
}

// errWrite marks failures to write.
var errWrite = errors.New("cannot write")

// take writes one file. in is the number of compressed bytes that it may come from, -1 where
// the reader is already metered.
func (x *extraction) take(file string, r io.Reader, in int64) error {
	if in >= 0 {
		r = &meter{x: x, r: r, in: &counter{n: in}}
	}
	at := x.archive.place(file)
	to := filepath.Join(x.to, at)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	defer f.Close()
	sum := sha256.New()
	n, err := copyContext(x.ctx, f, io.TeeReader(r, sum))
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	x.got[at] = File{Name: filepath.ToSlash(at), Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}
	return nil
}

// counter counts the bytes read from r; without r it has a fixed number.
type counter struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// meter stops a stream that grows too much for the bytes from which it is read.
type meter struct {
	x     *extraction
	r     io.Reader
	in    *counter
	total int64
}

// free is the number of bytes that may come from almost none: short files compress far better than any ratio allows.
const free = 1 << 20

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.total += int64(n)
	m.x.out += int64(n)
	if m.x.out > m.x.limits.Bytes || m.total > free && m.total-free > int64(m.x.limits.Ratio)*m.in.n {
		return 0, m.x.bomb()
	}
	return n, err
}

// copyContext copies until the end of r or of ctx.
func copyContext(ctx context.Context, w io.Writer, r io.Reader) (int64, error) {
	buf := make([]byte, 1<<18)
	var total int64
	for {
		if err := ctx.Err(); err != nil {
			return total, err
		}
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return total, fmt.Errorf("%w: %w", errWrite, err)
			}
			total += int64(n)
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}
