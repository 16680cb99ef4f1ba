package format

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression is how a file is packed.
type Compression string

// The kinds of compression that are read and written.
const (
	Plain Compression = ""
	Gzip  Compression = "gzip"
	Zstd  Compression = "zstd"
)

// CompressionOf tells it by the end of a file's name: .gz, .zst.
func CompressionOf(path string) Compression {
	switch {
	case strings.HasSuffix(path, ".gz"):
		return Gzip
	case strings.HasSuffix(path, ".zst"):
		return Zstd
	}
	return Plain
}

// Packer compresses blocks for one goroutine. A block becomes a gzip member or a zstd
// frame of its own; files of several read as one, so that several packers can work on
// the blocks of a file and its bytes depend on the blocks alone.
type Packer struct {
	kind Compression
	gzip *gzip.Writer
	zstd *zstd.Encoder
	buf  bytes.Buffer
}

// NewPacker returns a packer of the fastest level, and for Plain one that copies.
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

// Append appends the packed block to dst.
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
