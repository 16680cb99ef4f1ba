package run

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"
	"unicode/utf8"

	"privrec/internal/safetensors"
)

// NamedTensor is an array under a name. Data is []float32, []float64 or
// []int64, row-major, with as many elements as the product of Shape.
type NamedTensor struct {
	Name  string
	Shape []int
	Data  any
}

// maxHeader bounds the JSON header of a safetensors file, in bytes, as the format's reference reader does.
const maxHeader = 100 << 20

type tensorInfo = safetensors.Info

// WriteSafetensors writes tensors and metadata in the safetensors format: 8 bytes little-endian
// header length, JSON header padded with spaces to a multiple of 8, then the data. It adds
// "checksum" to the metadata, over the metadata, the tensors' names, types and shapes, and the
// data. Equal input gives equal bytes.
func WriteSafetensors(w io.Writer, tensors []NamedTensor, metadata map[string]string) error {
	infos := make([]tensorInfo, len(tensors))
	seen := map[string]bool{safetensors.MetadataKey: true}
	names := make([]string, len(tensors))
	var at int64
	for i, t := range tensors {
		if seen[t.Name] {
			return fmt.Errorf("safetensors: tensor name %q is used twice or reserved", t.Name)
		}
		seen[t.Name] = true
		dtype, size, n := layout(t.Data)
		if dtype == "" {
			return fmt.Errorf("safetensors: tensor %q has data of type %T", t.Name, t.Data)
		}
		if want, ok := safetensors.Elements(t.Shape); !ok || want != int64(n) {
			return fmt.Errorf("safetensors: tensor %q has shape %v and %d elements", t.Name, t.Shape, n)
		}
		end := at + int64(n)*int64(size)
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		names[i], infos[i] = t.Name, tensorInfo{DType: dtype, Shape: shape, Offsets: [2]int64{at, end}}
		at = end
	}
	if _, taken := metadata[checksumKey]; taken {
		return fmt.Errorf("safetensors: the metadata key %q is reserved", checksumKey)
	}
	sum, err := sumHeader(names, infos, metadata)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		if err := writeData(sum, t.Data); err != nil {
			return err
		}
	}
	header, err := encodeHeader(names, infos, metadata, sum)
	if err != nil {
		return err
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	if err := safetensors.WriteHeader(bw, header); err != nil {
		return err
	}
	for _, t := range tensors {
		if err := writeData(bw, t.Data); err != nil {
			return err
		}
	}
	return bw.Flush()
}

const checksumKey = "checksum"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumHeader starts the checksum of a file with the content of its header, without the checksum
// itself; the data follow. It sums values, not bytes, so that a program may lay the header out
// anew without breaking it.
func sumHeader(names []string, infos []tensorInfo, metadata map[string]string) (hash.Hash32, error) {
	for k, v := range metadata {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, fmt.Errorf("safetensors: metadata %q is not UTF-8", k)
		}
	}
	for _, n := range names {
		if !utf8.ValidString(n) {
			return nil, fmt.Errorf("safetensors: tensor name %q is not UTF-8", n)
		}
	}
	said := map[string]string{}
	for k, v := range metadata {
		if k != checksumKey {
			said[k] = v
		}
	}
	text, err := json.Marshal([]any{said, names, infos})
	if err != nil {
		return nil, err
	}
	sum := crc32.New(castagnoli)
	sum.Write(text)
	return sum, nil
}

func checksum(sum hash.Hash32) string { return fmt.Sprintf("crc32c:%08x", sum.Sum32()) }

// encodeHeader writes the header with the checksum.
func encodeHeader(names []string, infos []tensorInfo, metadata map[string]string, sum hash.Hash32) ([]byte, error) {
	meta := map[string]string{checksumKey: checksum(sum)}
	for k, v := range metadata {
		meta[k] = v
	}
	return safetensors.Encode(names, infos, meta)
}

// ReadSafetensors reads a file written by WriteSafetensors or by any other writer of the
// format. It fails on a file that is not exactly well formed: truncated or surplus data, gaps,
// overlaps, unknown types, shapes that do not match their data, a wrong checksum. Files of
// other writers need no checksum.
func ReadSafetensors(path string) ([]NamedTensor, map[string]string, error) {
	d, err := readFile(path, true)
	return d.tensors, d.meta, err
}

// decoded holds the content of a safetensors file.
type decoded struct {
	tensors []NamedTensor
	meta    map[string]string // without the checksum
	sealed  bool              // it has a checksum, and the checksum is right
}

// readFile reads and checks a whole file. Without keep it returns no tensors and holds none in
// memory.
func readFile(path string, keep bool) (decoded, error) {
	f, err := os.Open(path)
	if err != nil {
		return decoded{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return decoded{}, err
	}
	d, err := decodeFile(bufio.NewReaderSize(f, 1<<16), info.Size(), keep)
	if err != nil {
		return decoded{}, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// decodeFile checks a file of the given size. It returns its metadata and, with keep, its
// tensors.
func decodeFile(r io.Reader, size int64, keep bool) (d decoded, err error) {
	header, err := safetensors.ReadHeader(r, size, maxHeader)
	if err != nil {
		return d, err
	}
	names, infos, meta, err := safetensors.Decode(header, "F32", "F64", "I64")
	if err != nil {
		return d, err
	}
	if err := safetensors.Fill(names, infos, size-8-int64(len(header))); err != nil {
		return d, err
	}
	sum, err := sumHeader(names, infos, meta)
	if err != nil {
		return d, err
	}
	for i, in := range infos {
		if !keep {
			if _, err := io.CopyN(sum, r, in.Offsets[1]-in.Offsets[0]); err != nil {
				return d, fmt.Errorf("tensor %q: truncated", names[i])
			}
			continue
		}
		data, err := readData(io.TeeReader(r, sum), in)
		if err != nil {
			return d, fmt.Errorf("tensor %q: %w", names[i], err)
		}
		d.tensors = append(d.tensors, NamedTensor{names[i], in.Shape, data})
	}
	want, sealed := meta[checksumKey]
	if got := checksum(sum); sealed && got != want {
		return d, fmt.Errorf("damaged: checksum %s, want %s", got, want)
	}
	delete(meta, checksumKey)
	d.meta, d.sealed = meta, sealed
	return d, nil
}

func layout(data any) (dtype string, size, n int) {
	switch d := data.(type) {
	case []float32:
		return "F32", 4, len(d)
	case []float64:
		return "F64", 8, len(d)
	case []int64:
		return "I64", 8, len(d)
	}
	return "", 0, 0
}

// chunk is the number of elements that are converted at a time.
const chunk = 8192

func writeData(w io.Writer, data any) error {
	_, size, n := layout(data)
	if size == 0 {
		return fmt.Errorf("safetensors: data of type %T", data)
	}
	le := binary.LittleEndian
	buf := make([]byte, 0, min(n, chunk)*size)
	for lo := 0; lo < n; lo += chunk {
		hi := min(n, lo+chunk)
		buf = buf[:0]
		switch d := data.(type) {
		case []float32:
			for _, x := range d[lo:hi] {
				buf = le.AppendUint32(buf, math.Float32bits(x))
			}
		case []float64:
			for _, x := range d[lo:hi] {
				buf = le.AppendUint64(buf, math.Float64bits(x))
			}
		case []int64:
			for _, x := range d[lo:hi] {
				buf = le.AppendUint64(buf, uint64(x))
			}
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

func readData(r io.Reader, in tensorInfo) (any, error) {
	size := safetensors.Size(in.DType)
	n := int(in.Offsets[1]-in.Offsets[0]) / size
	buf := make([]byte, min(n, chunk)*size)
	fill := func(put func(i int, b []byte)) error {
		for lo := 0; lo < n; lo += chunk {
			hi := min(n, lo+chunk)
			b := buf[:(hi-lo)*size]
			if _, err := io.ReadFull(r, b); err != nil {
				return errors.New("truncated")
			}
			for i := lo; i < hi; i++ {
				put(i, b[(i-lo)*size:])
			}
		}
		return nil
	}
	le := binary.LittleEndian
	switch in.DType {
	case "F32":
		d := make([]float32, n)
		return d, fill(func(i int, b []byte) { d[i] = math.Float32frombits(le.Uint32(b)) })
	case "F64":
		d := make([]float64, n)
		return d, fill(func(i int, b []byte) { d[i] = math.Float64frombits(le.Uint64(b)) })
	default:
		d := make([]int64, n)
		return d, fill(func(i int, b []byte) { d[i] = int64(le.Uint64(b)) })
	}
}
