package format

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unicode/utf8"

	"privrec/internal/dataset"
	"privrec/internal/dataset/parquet"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxLine is the largest length of a line, so that reading a file without line ends fails before it fills the memory.
// The longest line of a published adjacency file is far shorter.
const maxLine = 16 << 20 // bytes

// Input reads the lines of one plain, gzip or zstd file and hashes its raw bytes.
type Input struct {
	file   string
	ctx    context.Context
	sum    hash.Hash // over the bytes as they lie on disk
	buf    *bufio.Reader
	closer []func()
	long   []byte // a line longer than buf's buffer
	num    int    // 1-based number of the last line that line returned
	text   []byte // that line, or the one that it failed on
	head   []byte // the header; nil: the file has none
	again  []byte // a line that came after blank ones and is still to be returned; nil: none
	blank  int    // line number of the first of a run of blank lines, 0 when none
	raw    io.Reader

	// OtherText accepts lines that are not UTF-8. The caller must check what is read of them.
	OtherText bool
}

// The first bytes of compressed files.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// openInput opens a file. The compression is recognised by the first bytes, not by the name.
func openInput(ctx context.Context, path string) (*Input, error) {
	f, err := openUntil(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := &dataset.Error{File: path, Msg: "cannot open", Err: err}
		if errors.Is(err, fs.ErrNotExist) {
			e.Hint = "check the path"
		}
		return nil, e
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return nil, &dataset.Error{File: path, Msg: "is a directory, not a data file"}
	}
	// A pipe may stay silent for ever, so a deadline ends a read from it. Other files have
	// none.
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	shown := newShare(ctx, "read", f)
	in, err := NewInput(ctx, path, shown)
	if err != nil {
		shown.End()
		stop()
		f.Close()
		return nil, err
	}
	if parquet.Is(f) {
		err = in.openParquet(f)
	}
	in.closer = append(in.closer, func() { shown.End(); stop(); f.Close() })
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// openUntil opens a file like os.Open, but stops when the context ends: os.Open waits until a pipe has a writer.
func openUntil(ctx context.Context, path string) (*os.File, error) {
	if st, err := os.Stat(path); err != nil || st.Mode()&fs.ModeNamedPipe == 0 {
		return os.Open(path)
	}
	opened := make(chan struct{})
	defer close(opened)
	stop := context.AfterFunc(ctx, func() {
		for waiting := true; waiting; { // opens the pipe for writing for a moment, once its reader is there
			if w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				w.Close()
			}
			select {
			case <-opened:
				waiting = false
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	defer stop()
	f, err := os.Open(path)
	if err == nil && ctx.Err() != nil {
		f.Close()
		return nil, ctx.Err()
	}
	return f, err
}

// NewInput returns an Input that reads from r, with a name for messages.
func NewInput(ctx context.Context, name string, r io.Reader) (*Input, error) {
	in := &Input{file: name, ctx: ctx, sum: sha256.New()}
	raw := bufio.NewReaderSize(io.TeeReader(r, in.sum), 1<<17)
	in.raw = raw
	magic, err := raw.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, in.readError(err)
	}
	var plain io.Reader = raw
	switch {
	case len(magic) == 0:
		return nil, &dataset.Error{File: name, Msg: "file is empty"}
	case len(magic) == 1 && magic[0] == gzipMagic[0], len(magic) > 1 && len(magic) < 4 &&
		bytes.HasPrefix(zstdMagic, magic):
		return nil, in.readError(io.ErrUnexpectedEOF) // all that is left of a compressed file; no text starts like this
	case bytes.HasPrefix(magic, gzipMagic):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, in.readError(err)
		}
		in.closer = append(in.closer, func() { z.Close() })
		plain = z
	case bytes.Equal(magic, zstdMagic):
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, in.readError(err)
		}
		in.closer = append(in.closer, z.Close)
		plain = z
	}
	in.buf = bufio.NewReaderSize(plain, 1<<17)
	// A read error is reported with the first line.
	if mark, _ := in.buf.Peek(2); bytes.Equal(mark, []byte{0xff, 0xfe}) || bytes.Equal(mark, []byte{0xfe, 0xff}) {
		in.Close()
		return nil, &dataset.Error{File: name, Msg: "the file is UTF-16, want UTF-8",
			Hint: "convert it, for example with: iconv -f utf-16 -t utf-8"}
	}
	return in, nil
}

// Close releases the decoders and the file.
func (in *Input) Close() {
	for _, c := range in.closer {
		c()
	}
}

// Digest reads the rest of the raw file and returns the hexadecimal SHA-256 of all of it.
func (in *Input) Digest() (string, error) {
	if _, err := io.Copy(io.Discard, in.raw); err != nil {
		return "", in.readError(err)
	}
	return hex.EncodeToString(in.sum.Sum(nil)), nil
}

// line returns the next line without its end, or io.EOF. The slice is valid until the next
// call. Blank lines are accepted only at the end of a file.
func (in *Input) line() ([]byte, error) {
	for {
		b, err := in.again, error(nil)
		if b == nil {
			if b, err = in.rawLine(); err == nil {
				in.num++
			}
		}
		in.again, in.text = nil, b
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		if in.num&4095 == 0 && in.ctx.Err() != nil {
			return nil, in.ctx.Err()
		}
		if in.num == 1 {
			b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) // byte order mark of spreadsheet exports
		}
		if n := len(b); n > 0 && b[n-1] == '\r' {
			b = b[:n-1]
		}
		if in.num == 1 && bytes.IndexByte(b, '\r') >= 0 {
			return nil, in.Fail("", "its lines end in CR alone, as old Macs and some exports of Excel write them",
				"tr '\\r' '\\n' < FILE > NEW mends it")
		}
		if len(b) == 0 {
			if in.blank == 0 {
				in.blank = in.num
			}
			continue
		}
		if bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
			return nil, in.Fail("", "a byte order mark inside the file",
				"were files joined? remove the mark: sed -i 's/\\xef\\xbb\\xbf//' FILE")
		}
		if in.blank != 0 {
			return nil, &dataset.Error{File: in.file, Line: in.blank, Msg: "blank line inside the file",
				Hint: "remove it, or check that the file was not cut and joined"}
		}
		if !in.OtherText && !utf8.Valid(b) {
			return nil, in.Fail("", "invalid UTF-8", "convert the file, for example with: iconv -f latin1 -t utf-8")
		}
		if bytes.IndexByte(b, 0) >= 0 {
			return nil, in.Fail("", "zero byte in a text file",
				"the file is binary or UTF-16; convert it to UTF-8 text")
		}
		if in.head != nil && bytes.EqualFold(b, in.head) {
			return nil, in.Fail("", "the header stands here again", "were files joined? remove this line")
		}
		return b, nil
	}
}

// skip makes the next line call continue after a line on which it, or a reader of its fields, failed. It returns the
// text of that line, or "" for blank lines. ok is false if the file cannot be read further.
func (in *Input) skip(err error) (text []byte, ok bool) {
	e := (*dataset.Error)(nil)
	if !errors.As(err, &e) || e.File != in.file || e.Line < 1 || e.Err != nil || in.text == nil {
		return nil, false
	}
	if in.blank != 0 {
		in.again, in.blank = in.text, 0
		return nil, true
	}
	return in.text, e.Line == in.num
}

// rawLine returns the bytes up to the next '\n' or the end of the file.
func (in *Input) rawLine() ([]byte, error) {
	b, err := in.buf.ReadSlice('\n')
	if err == nil {
		return b[:len(b)-1], nil
	}
	in.long = in.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(in.long)+len(b) > maxLine {
			return nil, &dataset.Error{File: in.file, Line: in.num + 1, Msg: fmt.Sprintf("line is longer than %d bytes",
				maxLine), Hint: "is this a text file?"}
		}
		in.long = append(in.long, b...)
		b, err = in.buf.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return nil, in.readError(err)
	}
	if len(in.long) > 0 {
		in.long = append(in.long, b...)
		b = in.long
	}
	if err == io.EOF {
		if len(b) == 0 {
			return nil, io.EOF
		}
		return b, nil
	}
	return b[:len(b)-1], nil
}

// readError returns the error for a failure below the level of lines.
func (in *Input) readError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && in.ctx.Err() != nil {
		return in.ctx.Err()
	}
	e := &dataset.Error{File: in.file, Line: in.num, Msg: "cannot read", Err: err}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		e.Msg, e.Err, e.Hint = "compressed file is cut short", err, "fetch or copy it again"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrCRCMismatch):
		e.Msg, e.Hint = "compressed file is damaged", "fetch or copy it again"
	}
	return e
}

// FirstLine returns the first line without its end, so that a reader can choose a form by its content. It does not
// advance, and fails after another line was read. If the line is longer than 64 KiB it returns the beginning.
func (in *Input) FirstLine() ([]byte, error) {
	if in.num > 0 {
		return nil, in.Fail("", "the first line was read", "")
	}
	b, err := in.buf.Peek(1 << 16)
	if len(b) == 0 && err != nil && err != io.EOF {
		return nil, in.readError(err)
	}
	b, _, _ = bytes.Cut(b, []byte{'\n'})
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	return bytes.TrimSuffix(b, []byte{'\r'}), nil
}

// Path returns the path of the file.
func (in *Input) Path() string { return in.file }

// Line returns the number of the last line read, from 1.
func (in *Input) Line() int { return in.num }

// Fail returns an error at the current line.
func (in *Input) Fail(field, msg, hint string) error { return in.bad(field, msg, hint) }

func (in *Input) bad(field, msg, hint string) *dataset.Error {
	return &dataset.Error{File: in.file, Line: in.num, Field: field, Msg: msg, Hint: hint}
}
