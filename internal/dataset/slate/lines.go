package slate

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
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"privrec/internal/dataset"
)

// maxLine bounds one line in bytes, so that a file without line ends is refused.
const maxLine = 16 << 20

// lines reads a plain, gzip or zstd text file field by field and hashes its raw bytes.
type lines struct {
	file   string
	ctx    context.Context
	sum    hash.Hash
	raw    io.Reader
	text   *bufio.Scanner
	sep    byte
	num    int // 1-based number of the line returned last
	blank  int // number of the first of a run of blank lines, 0 when none
	fields [][]byte
	names  []string // of the columns
	close  func()
}

// open opens a file whose fields stand between sep. names are the columns; with header
// the first line must be exactly these.
func open(ctx context.Context, path string, sep byte, header bool, names ...string) (*lines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &dataset.Error{File: path, Msg: "cannot open", Err: err, Hint: "check the path"}
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return nil, &dataset.Error{File: path, Msg: "is a directory, not a data file"}
	}
	in, err := newLines(ctx, path, f, sep, names)
	if err != nil {
		f.Close()
		return nil, err
	}
	decoder := in.close
	in.close = func() { decoder(); f.Close() }
	if header {
		if err := in.header(); err != nil {
			in.close()
			return nil, err
		}
	}
	return in, nil
}

func newLines(ctx context.Context, name string, r io.Reader, sep byte, names []string) (*lines, error) {
	in := &lines{file: name, ctx: ctx, sum: sha256.New(), sep: sep, names: names, close: func() {}}
	raw := bufio.NewReaderSize(io.TeeReader(r, in.sum), 1<<17)
	in.raw = raw
	magic, err := raw.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &dataset.Error{File: name, Msg: "cannot read", Err: err}
	}
	var plain io.Reader = raw
	switch {
	case len(magic) == 0:
		return nil, &dataset.Error{File: name, Msg: "file is empty"}
	case magic[0] == 0x1f:
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, in.readError(err)
		}
		plain, in.close = z, func() { z.Close() }
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, in.readError(err)
		}
		plain, in.close = z, z.Close
	}
	in.text = bufio.NewScanner(plain)
	in.text.Buffer(make([]byte, 0, 1<<17), maxLine)
	return in, nil
}

// header reads the first line, which must name the columns.
func (in *lines) header() error {
	want := strings.Join(in.names, string(in.sep))
	line, err := in.line()
	if err == io.EOF {
		return &dataset.Error{File: in.file, Msg: "no header in the file", Hint: fmt.Sprintf("the first line reads %q", want)}
	}
	if err == nil && string(line) != want {
		return in.fail("", "not the header: "+quote(line), fmt.Sprintf("the first line reads %q", want))
	}
	return err
}

// line returns the next line without its end, or io.EOF. Blank lines are accepted at
// the end of a file only.
func (in *lines) line() ([]byte, error) {
	for in.text.Scan() {
		if in.text.Err() != nil {
			break // what the scanner still holds may end in the middle of a line
		}
		in.num++
		if in.num&4095 == 0 && in.ctx.Err() != nil {
			return nil, in.ctx.Err()
		}
		b := in.text.Bytes()
		if in.num == 1 {
			b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) // byte order mark of spreadsheet exports
		}
		switch {
		case len(b) == 0:
			if in.blank == 0 {
				in.blank = in.num
			}
			continue
		case in.blank != 0:
			return nil, &dataset.Error{File: in.file, Line: in.blank, Msg: "blank line inside the file", Hint: "remove it, or check that the file was not cut and joined"}
		case !utf8.Valid(b):
			return nil, in.fail("", "invalid UTF-8", "convert the file, for example with: iconv -f latin1 -t utf-8")
		case bytes.IndexByte(b, 0) >= 0:
			return nil, in.fail("", "zero byte in a text file", "the file is binary or UTF-16; convert it to UTF-8 text")
		}
		return b, nil
	}
	err := in.text.Err()
	switch {
	case err == nil:
		return nil, io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &dataset.Error{File: in.file, Line: in.num + 1, Msg: fmt.Sprintf("line is longer than %d bytes", maxLine), Hint: "is this a text file?"}
	}
	return nil, in.readError(err)
}

// each calls row with the fields of every line, valid during the call. A file without
// rows is an error.
func (in *lines) each(row func(v [][]byte) error) error {
	for n := 0; ; n++ {
		line, err := in.line()
		if err == io.EOF && n == 0 {
			return &dataset.Error{File: in.file, Msg: "no rows in the file"}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		in.fields = in.fields[:0]
		for more := true; more; {
			var f []byte
			f, line, more = bytes.Cut(line, []byte{in.sep})
			in.fields = append(in.fields, f)
		}
		if got, want := len(in.fields), len(in.names); got != want {
			field := ""
			if got < want {
				field = in.names[got]
			}
			msg := fmt.Sprintf("%d fields instead of %d (%s)", got, want, strings.Join(in.names, ", "))
			if got == 1 {
				msg = "one field" + strings.TrimPrefix(msg, "1 fields")
			}
			return in.fail(field, msg, fmt.Sprintf("the separator is %q", string(in.sep)))
		}
		if err := row(in.fields); err != nil {
			return err
		}
	}
}

// digest is the hex SHA-256 of the whole file as it lies on disk.
func (in *lines) digest() (string, error) {
	if _, err := io.Copy(io.Discard, in.raw); err != nil {
		return "", &dataset.Error{File: in.file, Msg: "cannot read", Err: err}
	}
	return hex.EncodeToString(in.sum.Sum(nil)), nil
}

// readError explains a failure below the level of lines.
func (in *lines) readError(err error) error {
	e := &dataset.Error{File: in.file, Line: in.num, Msg: "cannot read", Err: err}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		e.Msg, e.Hint = "compressed file is cut short", "fetch or copy it again"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrCRCMismatch):
		e.Msg, e.Hint = "compressed file is damaged", "fetch or copy it again"
	}
	return e
}

// fail is an error at the current line.
func (in *lines) fail(field, msg, hint string) error {
	return &dataset.Error{File: in.file, Line: in.num, Field: field, Msg: msg, Hint: hint}
}

// integer parses a decimal number from least to most.
func (in *lines) integer(field string, b []byte, least, most int64) (int64, error) {
	digits, negative := bytes.CutPrefix(b, []byte("-"))
	var v int64
	for _, c := range digits {
		if c < '0' || c > '9' || v > (math.MaxInt64-9)/10 {
			digits = nil
			break
		}
		v = v*10 + int64(c-'0')
	}
	if negative {
		v = -v
	}
	switch {
	case len(digits) == 0:
		return 0, in.fail(field, "not an integer: "+quote(b), "")
	case least == most && v != least:
		return 0, in.fail(field, fmt.Sprintf("%d where %d is due", v, least), "")
	case v < least:
		return 0, in.fail(field, fmt.Sprintf("%d is below %d", v, least), "")
	case v > most:
		return 0, in.fail(field, fmt.Sprintf("%d is above %d", v, most), "")
	}
	return v, nil
}

// list appends the integers of a comma separated list to dst; an empty field is none.
func (in *lines) list(dst []int32, field string, b []byte, least, most int64) ([]int32, error) {
	for more := len(b) > 0; more; {
		var x []byte
		x, b, more = bytes.Cut(b, []byte{','})
		v, err := in.integer(field, x, least, most)
		if err != nil {
			return dst, err
		}
		dst = append(dst, int32(v))
	}
	return dst, nil
}

// quote renders a field for a message, shortened.
func quote(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
