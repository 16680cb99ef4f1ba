// Package chain seals the lines of append-only files, and reads them back as strictly as it wrote them. Ledgers and
// budgets are such files.
//
// Every line is a JSON object whose last key is a checksum: the first digits of a hash of the line's own text and of
// the checksum before it, and so of all lines before. A plain hash finds accidents. A keyed one (HMAC-SHA-256) finds
// changes on purpose too, since only the holders of the key can compute it. Neither shows that lines at the end are
// missing: only the file's own last line does, or a remembered last checksum.
//
// A line is accepted only if its writer would write exactly these bytes. So no key can be unknown, missing, repeated,
// spelt otherwise or in another order, and no number has a second form.
package chain

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Digits is the number of hex digits of a plain checksum. A keyed one has twice as many, so that it cannot be guessed.
const Digits = 16

// MaxLine is the largest length of a line, in bytes.
const MaxLine = 1 << 20

// Form says how the lines of a file are sealed with checksums.
type Form struct {
	Name   string // the last key of a line, which holds the checksum
	Secret []byte // secret of keyed checksums; nil: plain ones
}

// Sum returns the hash of a text: HMAC-SHA-256 under a secret, or SHA-256 if secret is nil.
func Sum(secret, text []byte) []byte {
	if secret == nil {
		sum := sha256.Sum256(text)
		return sum[:]
	}
	h := hmac.New(sha256.New, secret)
	h.Write(text)
	return h.Sum(nil)
}

func (f Form) digits() int {
	if f.Secret == nil {
		return Digits
	}
	return 2 * Digits
}

// before returns the text between the body of a line and its checksum.
func (f Form) before() string { return `,"` + f.Name + `":"` }

// behind is the text after the checksum.
const behind = `"}`

// Seal returns the sealed line of a marshalled object, with its newline, and the line's checksum. before is the
// checksum of the previous line, "" for the first.
func (f Form) Seal(before string, body []byte) (line []byte, check string) {
	open := body[:len(body)-1] // without the brace
	check = hex.EncodeToString(Sum(f.Secret, append([]byte(before), open...)))[:f.digits()]
	return append(append([]byte{}, open...), f.before()+check+behind+"\n"...), check
}

// Open returns the object of a line (without newline) and its checksum. It fails if the checksum is wrong; before is
// that of the previous line.
func (f Form) Open(before string, line []byte) (body []byte, check string, err error) {
	body, ok := f.Body(line)
	if !ok {
		return nil, "", errors.New("it has no check at its end")
	}
	sealed, check := f.Seal(before, body)
	if !bytes.Equal(sealed[:len(sealed)-1], line) {
		return nil, "", errors.New("its check does not match: the line, or one before it, was changed or lost")
	}
	return body, check, nil
}

// Body returns the object of a line, with or without its newline, without verifying the checksum. ok is false for a
// text that has no place for a checksum.
func (f Form) Body(line []byte) (body []byte, ok bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	tail := len(f.before()) + f.digits() + len(behind)
	if len(line) < tail+2 {
		return nil, false
	}
	return append(bytes.Clone(line[:len(line)-tail]), '}'), true
}

// Unkeyed returns the object of a line whose checksum may have any length. It serves to read the first line of a file
// before its key is known.
func (f Form) Unkeyed(line []byte) (body []byte, ok bool) {
	i := bytes.LastIndex(line, []byte(f.before()))
	if i < 1 {
		return nil, false
	}
	return append(bytes.Clone(line[:i]), '}'), true
}

// ErrForm is returned for a line that differs from what its writer would write.
var ErrForm = errors.New("not in canonical form")

// Read decodes the object of a line into v, a pointer. It fails unless json.Marshal writes exactly these bytes for v.
func Read(body []byte, v any) error {
	if err := Strict(body, v); err != nil {
		return err
	}
	again, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Same(body, again)
}

// Same returns ErrForm unless body equals again, the bytes that its writer writes for it.
func Same(body, again []byte) error {
	if !bytes.Equal(body, again) {
		return ErrForm
	}
	return nil
}

// Strict decodes one JSON value into v. It fails on unknown keys, repeated keys and keys in another spelling, and on
// anything after the value.
func Strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("data after the value")
	}
	return plainKeys(b)
}

// plainKeys returns an error for a key of an object that is repeated or not in lower case. The JSON decoder would
// accept both, and take the last of two.
func plainKeys(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		k := fmt.Sprint(key)
		if seen[k] {
			return fmt.Errorf("key %q comes twice", k)
		}
		if strings.ContainsFunc(k, func(r rune) bool {
			return r != '_' && (r < 'a' || r > 'z') && (r < '0' ||
				r > '9')
		}) {
			return fmt.Errorf("unknown key %q", k)
		}
		seen[k] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

// ErrCut is returned for a line without a newline: a process was stopped while writing it, or bytes were lost.
var ErrCut = errors.New("cut off: no newline at its end")

// ReadLine returns the next line without its newline, and io.EOF after the last.
func ReadLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxLine:
			return nil, fmt.Errorf("longer than %d bytes", MaxLine)
		case err == nil:
			return line[:len(line)-1], nil
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(line) == 0:
			return nil, io.EOF
		case err == io.EOF:
			return nil, ErrCut
		default:
			return nil, err
		}
	}
}
