// Package tensorboard writes numbers by step in the files that TensorBoard reads: records
// with a length and check sums, as TensorFlow's record_writer.cc has them, each a protocol
// buffer of tensorflow/core/util/event.proto.
//
// A file has the same bytes for the same numbers, save for the times of its records.
package tensorboard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"time"
)

// Scalar is a number with the name that TensorBoard shows; a slash in it makes groups.
type Scalar struct {
	Tag   string
	Value float64 // kept as float32; may be infinite
}

// File is an event file. It is for one goroutine.
type File struct {
	f    *os.File
	ends []mark // of the records with steps, in their order
	head int64  // where the first of them begins
}

// mark is where a record ends, and its step.
type mark struct {
	step int64
	end  int64
}

// Open opens a file for more records, or makes it. It cuts off a record that a kill left
// unfinished, and fails on a file that is not one of TensorBoard's.
func Open(path string, now time.Time) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	t := &File{f: f}
	if err := t.read(now); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return t, nil
}

// Add writes numbers of a step in one record. Records of this step and of later ones, which an
// attempt before this one wrote after its last checkpoint, are removed first.
func (t *File) Add(now time.Time, step int64, scalars []Scalar) error {
	end := t.head
	keep := 0
	for keep < len(t.ends) && t.ends[keep].step < step {
		end = t.ends[keep].end
		keep++
	}
	if keep < len(t.ends) {
		if err := t.f.Truncate(end); err != nil {
			return err
		}
		t.ends = t.ends[:keep]
	}
	b := record(event(now, step, scalars))
	if _, err := t.f.WriteAt(b, end); err != nil {
		return errors.Join(err, t.f.Truncate(end))
	}
	t.ends = append(t.ends, mark{step, end + int64(len(b))})
	return nil
}

// Close makes the file durable and closes it.
func (t *File) Close() error { return errors.Join(t.f.Sync(), t.f.Close()) }

// version is the first record of every file.
const version = "brain.Event:2"

// read finds the ends of all whole records, and writes the first one into an empty file.
func (t *File) read(now time.Time) error {
	r := bufio.NewReader(t.f)
	at, first := int64(0), true
	for {
		body, n, err := next(r)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("at byte %d: %w", at, err)
		}
		step, name, err := header(body)
		if err != nil {
			return fmt.Errorf("at byte %d: %w", at, err)
		}
		at += n
		if first {
			if name != version {
				return errors.New("not an event file of TensorBoard")
			}
			t.head, first = at, false
			continue
		}
		t.ends = append(t.ends, mark{step, at})
	}
	if err := t.f.Truncate(at); err != nil {
		return err
	}
	if !first {
		return nil
	}
	b := record(field(bytes8(nil, 1, now), 3, []byte(version)))
	t.head = int64(len(b))
	_, err := t.f.WriteAt(b, 0)
	return err
}

// event makes the protocol buffer of a step: wall_time 1, step 2, summary 5, in which each
// value 1 has tag 1 and simple_value 2.
func event(now time.Time, step int64, scalars []Scalar) []byte {
	var summary []byte
	for _, s := range scalars {
		value := field(nil, 1, []byte(s.Tag))
		value = binary.AppendUvarint(value, 2<<3|5)
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(s.Value)))
		summary = field(summary, 1, value)
	}
	b := bytes8(nil, 1, now)
	b = binary.AppendUvarint(b, 2<<3) // wire type 0
	b = binary.AppendUvarint(b, uint64(step))
	return field(b, 5, summary)
}

// bytes8 appends a time in seconds as a double.
func bytes8(b []byte, number uint64, now time.Time) []byte {
	b = binary.AppendUvarint(b, number<<3|1)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(now.UnixMicro())/1e6))
}

// field appends a field of bytes.
func field(b []byte, number uint64, body []byte) []byte {
	b = binary.AppendUvarint(b, number<<3|2)
	b = binary.AppendUvarint(b, uint64(len(body)))
	return append(b, body...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is a check sum as record files keep it.
func masked(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// record frames a protocol buffer.
func record(body []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(body)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, body...)
	return binary.LittleEndian.AppendUint32(b, masked(body))
}

// longest is the most bytes of a record that are read: this package writes far fewer.
const longest = 1 << 20

// next reads a record, and returns its bytes in the file.
func next(r io.Reader) (body []byte, n int64, err error) {
	head := make([]byte, 12)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, 0, err
	}
	size := binary.LittleEndian.Uint64(head)
	if masked(head[:8]) != binary.LittleEndian.Uint32(head[8:]) || size > longest {
		return nil, 0, errors.New("not a record of an event file")
	}
	body = make([]byte, size+4)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, 0, err
	}
	if masked(body[:size]) != binary.LittleEndian.Uint32(body[size:]) {
		return nil, 0, errors.New("a record is damaged")
	}
	return body[:size], int64(16 + size), nil
}

// header reads the step and the version of a record.
func header(b []byte) (step int64, name string, err error) {
	bad := errors.New("a record is not an event")
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, "", bad
		}
		b = b[n:]
		switch key & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return 0, "", bad
			}
			if key>>3 == 2 {
				step = int64(v)
			}
			b = b[n:]
		case 1, 5:
			size := 8
			if key&7 == 5 {
				size = 4
			}
			if len(b) < size {
				return 0, "", bad
			}
			b = b[size:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return 0, "", bad
			}
			if key>>3 == 3 {
				name = string(b[n : n+int(size)])
			}
			b = b[n+int(size):]
		default:
			return 0, "", bad
		}
	}
	return step, name, nil
}
