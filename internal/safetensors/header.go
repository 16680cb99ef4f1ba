// Package safetensors reads and writes the headers of safetensors files: what arrays a file holds, of which types and
// shapes, and at which bytes.
//
// A file is the length of its header in 8 bytes, little-endian, the header as JSON, and the data. The header has an
// object for each array under its name, and may have remarks under "__metadata__". Source: the format's description,
// github.com/huggingface/safetensors, README.md.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
)

// MetadataKey is the one name in a header that no array may have.
const MetadataKey = "__metadata__"

// Info describes an array.
type Info struct {
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"` // first byte and the one past the last, from the end of the header
}

// sizes maps each type to the size of an element in bytes.
var sizes = map[string]int{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
	"I32": 4, "U32": 4, "F32": 4, "F64": 8, "I64": 8, "U64": 8,
}

// Size returns the size of an element of a type in bytes; 0 for a type that the format does not have.
func Size(dtype string) int { return sizes[dtype] }

// ReadHeader returns the header of a file of size bytes. It allocates nothing for a header that is longer than limit or
// than the file.
func ReadHeader(r io.Reader, size, limit int64) ([]byte, error) {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, errors.New("truncated: no header length")
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > uint64(limit) {
		return nil, fmt.Errorf("header of %d bytes, not a safetensors file", n)
	}
	if int64(n)+8 > size {
		return nil, fmt.Errorf("truncated: header of %d bytes in a file of %d", n, size)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, errors.New("truncated: header cut short")
	}
	return header, nil
}

// Decode returns the arrays of a header in the order of their data, and its remarks. Only the types in read may occur;
// without any, all types of the format may. The byte range of an array must fit its shape and type.
func Decode(header []byte, read ...string) (names []string, infos []Info, meta map[string]string, err error) {
	raw, err := members(header)
	if err != nil {
		return nil, nil, nil, err
	}
	meta = map[string]string{}
	if m, ok := raw[MetadataKey]; ok {
		if err := json.Unmarshal(m, &meta); err != nil || meta == nil {
			return nil, nil, nil, fmt.Errorf("header: bad metadata: %v", err)
		}
		delete(raw, MetadataKey)
	}
	type entry struct {
		name string
		info Info
	}
	entries := make([]entry, 0, len(raw))
	for name, text := range raw {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		var in Info
		if err := dec.Decode(&in); err != nil {
			return nil, nil, nil, fmt.Errorf("header: tensor %q: %w", name, err)
		}
		n, ok := Elements(in.Shape)
		size := Size(in.DType)
		switch {
		case size == 0 && len(read) == 0:
			return nil, nil, nil, fmt.Errorf("tensor %q has type %q, which the format does not have", name, in.DType)
		case len(read) > 0 && !slices.Contains(read, in.DType):
			return nil, nil, nil, fmt.Errorf("tensor %q has type %q, want %s", name, in.DType, either(read))
		case !ok || in.Offsets[0] < 0 || in.Offsets[1]-in.Offsets[0] != n*int64(size):
			return nil, nil, nil, fmt.Errorf("tensor %q has shape %v in %d bytes", name, in.Shape,
				in.Offsets[1]-in.Offsets[0])
		}
		entries = append(entries, entry{name, in})
	}
	sort.Slice(entries, func(i, j int) bool {
		a, b := entries[i], entries[j]
		if a.info.Offsets != b.info.Offsets {
			return a.info.Offsets[0] < b.info.Offsets[0] ||
				a.info.Offsets[0] == b.info.Offsets[0] && a.info.Offsets[1] < b.info.Offsets[1]
		}
		return a.name < b.name
	})
	names, infos = make([]string, len(entries)), make([]Info, len(entries))
	for i, e := range entries {
		names[i], infos[i] = e.name, e.info
	}
	return names, infos, meta, nil
}

// members splits an object into its members. It refuses equal names, since readers differ in which of them they take.
func members(header []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(header))
	notJSON := func(err error) (map[string]json.RawMessage, error) {
		return nil, fmt.Errorf("header is not JSON: %w", err)
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return notJSON(errors.Join(err, errors.New("want an object")))
	}
	raw := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return notJSON(err)
		}
		name, _ := t.(string) // Token demands a name here
		if _, again := raw[name]; again {
			return nil, fmt.Errorf("header: %q stands twice", name)
		}
		var text json.RawMessage
		if err := dec.Decode(&text); err != nil {
			return notJSON(err)
		}
		raw[name] = text
	}
	if _, err := dec.Token(); err != nil {
		return notJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return notJSON(errors.New("something follows the object"))
	}
	return raw, nil
}

// either returns words as "A, B or C".
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Fill returns an error unless arrays, in the order of their data, fill bytes 0 to have without gap or overlap.
func Fill(names []string, infos []Info, have int64) error {
	var at int64
	for i, in := range infos {
		if in.Offsets[0] != at || in.Offsets[1] < at {
			return fmt.Errorf("tensor %q lies at bytes %d to %d, want its start at %d: gap or overlap",
				names[i], in.Offsets[0], in.Offsets[1], at)
		}
		at = in.Offsets[1]
	}
	if have != at {
		return fmt.Errorf("truncated or surplus data: %d bytes, the header wants %d", have, at)
	}
	return nil
}

// Encode returns a header, padded with spaces to a multiple of 8. Its entries keep the order of the data. Equal input
// gives equal bytes.
func Encode(names []string, infos []Info, meta map[string]string) ([]byte, error) {
	var b bytes.Buffer
	put := func(key string, v any) error {
		k, err := json.Marshal(key)
		if err != nil {
			return err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(text)
		return nil
	}
	b.WriteByte('{')
	if len(meta) > 0 {
		if err := put(MetadataKey, meta); err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		if err := put(name, infos[i]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	return b.Bytes(), nil
}

// WriteHeader writes the length of a header and the header.
func WriteHeader(w io.Writer, header []byte) error {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(header)))
	if _, err := w.Write(length[:]); err != nil {
		return err
	}
	_, err := w.Write(header)
	return err
}

// Elements returns the product of a shape. ok is false if it is negative or overflows.
func Elements(shape []int) (int64, bool) {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || (d > 0 && n > math.MaxInt64/16/int64(d)) {
			return 0, false
		}
		n *= int64(d)
	}
	return n, true
}
