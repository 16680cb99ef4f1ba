// Package compress packs and unpacks blocks of files: gzip, zstd, and snappy inside of other files.
package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Kind names a compression of files.
type Kind string

// The kinds of compression that are read and written.
const (
	Plain Kind = ""
	Gzip  Kind = "gzip"
	Zstd  Kind = "zstd"
	// Snappy compresses single blocks inside of other files.
	Snappy Kind = "snappy"
)

// Of returns the kind that the end of a file's name stands for: .gz, .zst.
func Of(path string) Kind {
	switch {
	case strings.HasSuffix(path, ".gz"):
		return Gzip
	case strings.HasSuffix(path, ".zst"):
		return Zstd
	}
	return Plain
}

// Packer compresses blocks for one goroutine. Each block becomes a gzip member or a zstd frame of its own, and a file
// of several blocks reads as one. So several packers can work on the blocks of a file, and its bytes depend only on the
// blocks.
type Packer struct {
	kind Kind
	gzip *gzip.Writer
	zstd *zstd.Encoder
	buf  bytes.Buffer
}

// NewPacker returns a packer of the fastest level, or one that copies if kind is Plain.
func NewPacker(kind Kind) (p *Packer, err error) {
	p = &Packer{kind: kind}
	switch kind {
	case Plain:
	case Gzip:
		p.gzip, err = gzip.NewWriterLevel(&p.buf, gzip.BestSpeed)
	case Zstd:
		p.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	default:
		err = fmt.Errorf("unknown compression %q", kind)
	}
	return p, err
}

// Append appends the compressed block to dst.
func (p *Packer) Append(dst, block []byte) ([]byte, error) {
	switch p.kind {
	case Plain:
		return append(dst, block...), nil
	case Zstd:
		return p.zstd.EncodeAll(block, dst), nil
	}
	p.buf.Reset()
	p.gzip.Reset(&p.buf)
	if _, err := p.gzip.Write(block); err != nil {
		return dst, err
	}
	if err := p.gzip.Close(); err != nil {
		return dst, err
	}
	return append(dst, p.buf.Bytes()...), nil
}

// Unpack returns a decompressed block of size bytes. It fails if the block has another size, and never produces more
// than size bytes.
func Unpack(kind Kind, block []byte, size int) ([]byte, error) {
	wrong := fmt.Errorf("a compressed block does not have the %d bytes that it should", size)
	if size < 0 {
		return nil, wrong
	}
	var from io.Reader
	switch kind {
	case Plain:
		if len(block) != size {
			return nil, wrong
		}
		return block, nil
	case Snappy:
		if n, err := snappy.DecodedLen(block); err != nil || n != size {
			return nil, wrong
		}
		return snappy.Decode(nil, block)
	case Gzip:
		z, err := gzip.NewReader(bytes.NewReader(block))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		from = z
	case Zstd:
		z, err := zstd.NewReader(bytes.NewReader(block), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		from = z
	default:
		return nil, fmt.Errorf("unknown compression %q", kind)
	}
	out, err := io.ReadAll(io.LimitReader(from, int64(size)+1)) // grows as bytes come, not by what a block claims
	if err == nil && len(out) != size || errors.Is(err, io.ErrUnexpectedEOF) {
		err = wrong
	}
	return out, err
}
