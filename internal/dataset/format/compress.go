package format

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression names how a file is compressed.
type Compression string

// The kinds of compression that are read and written.
const (
	Plain Compression = ""
	Gzip  Compression = "gzip"
	Zstd  Compression = "zstd"
)

// CompressionOf returns the compression by the end of a file's name: .gz, .zst.
func CompressionOf(path string) Compression {
	switch {
	case strings.HasSuffix(path, ".gz"):
		return Gzip
	case strings.HasSuffix(path, ".zst"):
		return Zstd
	}
	return Plain
}

// Packer compresses blocks for one goroutine. Each block becomes a gzip member or a zstd frame
// of its own. A file of several blocks reads as one. So several packers can work on the blocks
// of a file, and its bytes depend only on the blocks.
type Packer struct {
	kind Compression
	gzip *gzip.Writer
	zstd *zstd.Encoder
	buf  bytes.Buffer
}

// NewPacker returns a packer of the fastest level, or one that copies if kind is Plain.
func NewPacker(kind Compression) (p *Packer, err error) {
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
