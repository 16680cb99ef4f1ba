// Package chain seals the lines of append-only files, and reads them back as strictly as it wrote them. Ledgers
// and budgets are such files.
//
// Every line is a JSON object whose last key is a check: the first digits of a hash of the line's own text and of
// the check before it, and so of all lines before. A plain hash finds accidents. A keyed one (HMAC-SHA-256) finds
// changes on purpose too, since only the holders of the key can compute it. Neither tells that lines at the end are
// missing: that is for the file's own last line, or for who remembers the last check, to say.
//
// A line is read only if it is what its writer writes, byte for byte. So no key is unknown, missing, doubled, spelt
// otherwise or in another order, and no number has a second form.
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

// Digits is how many hex digits a plain check has. A keyed one has twice as many, so that it cannot be guessed.
const Digits = 16

// MaxLine bounds a line, in bytes.
const MaxLine = 1 << 20

// Form says how the lines of a file are sealed.
type Form struct {
	Name   string // of the last key of a line, which holds the check
	Secret []byte // of keyed checks; nil: plain ones
}

// Sum returns the hash of a text: HMAC-SHA-256 under a secret, SHA-256 where that is nil.
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

// before is what stands between the text of a line and its check.
func (f Form) before() string { return `,"` + f.Name + `":"` }

// behind is what stands after the check.
const behind = `"}`

// Seal returns the line of a marshalled object, with its newline, and its check. before is the check of the line
// before, "" for the first.
func (f Form) Seal(before string, body []byte) (line []byte, check string) {
	open := body[:len(body)-1] // without the brace
	check = hex.EncodeToString(Sum(f.Secret, append([]byte(before), open...)))[:f.digits()]
	return append(append([]byte{}, open...), f.before()+check+behind+"\n"...), check
}

// Open returns the object of a line (without newline), and its check, which it compares.
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

// Body returns the object of a line, with or without its newline, and compares no check. ok is false for a text
// that has no place for a check.
func (f Form) Body(line []byte) (body []byte, ok bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	tail := len(f.before()) + f.digits() + len(behind)
	if len(line) < tail+2 {
		return nil, false
	}
	return append(bytes.Clone(line[:len(line)-tail]), '}'), true
}

// Unkeyed returns the object of a line whose check may be of any length, as the first line of a file is read
// before it is known under which key the file was written.
func (f Form) Unkeyed(line []byte) (body []byte, ok bool) {
	i := bytes.LastIndex(line, []byte(f.before()))
	if i < 1 {
		return nil, false
	}
	return append(bytes.Clone(line[:i]), '}'), true
}

// ErrForm says that a line is not what its writer writes.
var ErrForm = errors.New("not in canonical form")

// Read decodes the object of a line into v, a pointer. It fails on anything that json.Marshal does not write for v
// byte for byte.
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

// Same fails with ErrForm unless a body is what its writer writes for it again.
func Same(body, again []byte) error {
	if !bytes.Equal(body, again) {
		return ErrForm
	}
	return nil
}

// Strict decodes one JSON value into v. It fails on a key that v does not have, that comes twice or that is spelt
// otherwise, and on anything after the value.
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

// plainKeys reports a key of an object that comes twice, or that is not in lower case. The JSON decoder would
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
		if strings.ContainsFunc(k, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
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

// ErrCut says that a line has no newline: a process was stopped while it wrote it, or bytes were lost.
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
