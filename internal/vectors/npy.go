package vectors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// npyMagic begins a .npy file. Source: numpy.lib.format, "Format Version 1.0" to "3.0".
const npyMagic = "\x93NUMPY"

// maxNpyHeader is the largest length of a header in bytes. NumPy itself refuses more than 10,000.
const maxNpyHeader = 1 << 16

// readNpyHeader returns the array described before the numbers, and how many bytes that description takes.
func readNpyHeader(r io.Reader) (a array, used int64, err error) {
	var b [12]byte
	if _, err := io.ReadFull(r, b[:8]); err != nil || string(b[:6]) != npyMagic {
		return a, 0, errors.New("not an array of NumPy")
	}
	width := 4
	switch major, minor := b[6], b[7]; {
	case minor != 0 || major < 1 || major > 3:
		return a, 0, fmt.Errorf("version %d.%d of the format, want 1.0, 2.0 or 3.0", major, minor)
	case major == 1:
		width = 2
	}
	if _, err := io.ReadFull(r, b[8:8+width]); err != nil {
		return a, 0, errors.New("cut short within its header")
	}
	length := uint32(binary.LittleEndian.Uint16(b[8:]))
	if width == 4 {
		length = binary.LittleEndian.Uint32(b[8:])
	}
	if length > maxNpyHeader {
		return a, 0, fmt.Errorf("a header of %d bytes, at most %d are read", length, maxNpyHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return a, 0, errors.New("cut short within its header")
	}
	a, err = parseNpyHeader(string(text))
	return a, int64(8+width) + int64(length), err
}

// parseNpyHeader returns the array described by the header's dictionary, as Python writes it: {'descr': '<f4',
// 'fortran_order': False, 'shape': (3, 2), }.
func parseNpyHeader(text string) (a array, err error) {
	p := &literal{rest: text}
	seen := map[string]bool{}
	if !p.eat("{") {
		return a, p.wrong("a dictionary")
	}
	for !p.eat("}") {
		if len(seen) > 0 && !p.eat(",") {
			return a, p.wrong("a comma")
		}
		if p.eat("}") {
			break
		}
		key, ok := p.text()
		switch {
		case !ok || !p.eat(":"):
			return a, p.wrong("a name and a colon")
		case seen[key]:
			return a, fmt.Errorf("its header has %q twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			err = p.descr(&a)
		case "fortran_order":
			if a.byColumns = p.eat("True"); !a.byColumns && !p.eat("False") {
				err = p.wrong("True or False")
			}
		case "shape":
			a.shape, err = p.tuple()
		default:
			err = fmt.Errorf("its header has %q, which the format does not have", key)
		}
		if err != nil {
			return a, err
		}
	}
	if strings.TrimSpace(p.rest) != "" {
		return a, p.wrong("its end")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return a, fmt.Errorf("its header has no %q", key)
		}
	}
	return a, nil
}

// literal parses Python's literals from the front of rest.
type literal struct{ rest string }

// eat consumes a word if it is next.
func (p *literal) eat(word string) (ok bool) {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	p.rest, ok = strings.CutPrefix(p.rest, word)
	return ok
}

// wrong returns the error for anything but want at this place.
func (p *literal) wrong(want string) error {
	return fmt.Errorf("its header is damaged: want %s at %s", want, strconv.Quote(p.rest[:min(len(p.rest), 20)]))
}

// text consumes a string without escapes.
func (p *literal) text() (s string, ok bool) {
	quote := ""
	switch {
	case p.eat("'"):
		quote = "'"
	case p.eat(`"`):
		quote = `"`
	default:
		return "", false
	}
	s, p.rest, ok = strings.Cut(p.rest, quote)
	return s, ok && !strings.ContainsAny(s, "\\\n")
}

// tuple consumes a tuple of lengths, as (3, 2) or (3,). Python 2 wrote 3L.
func (p *literal) tuple() (out []int, err error) {
	if !p.eat("(") {
		return nil, p.wrong("a tuple")
	}
	for !p.eat(")") {
		if len(out) > 0 && !p.eat(",") {
			return nil, p.wrong("a comma")
		}
		if p.eat(")") {
			break
		}
		p.eat("") // spaces
		digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
		n, err := strconv.Atoi(p.rest[:digits])
		if err != nil || len(out) == 32 {
			return nil, p.wrong("a length")
		}
		p.rest = p.rest[digits:]
		p.eat("L")
		out = append(out, n)
	}
	return out, nil
}

// kinds maps the letters of NumPy's types that are not read to their names.
var kinds = map[byte]string{
	'i': "whole numbers", 'u': "whole numbers without sign", 'b': "booleans", 'c': "complex numbers",
	'S': "bytes", 'a': "bytes", 'U': "text", 'V': "raw bytes", 'M': "times", 'm': "lengths of time",
}

// descr consumes the type of the numbers.
func (p *literal) descr(a *array) error {
	s, ok := p.text()
	if !ok {
		return errors.New("an array of records with fields, want one of float16, float32 or float64")
	}
	order, kind := binary.ByteOrder(binary.LittleEndian), strings.TrimLeft(s, "<>|=")
	if strings.HasPrefix(s, ">") {
		order = binary.BigEndian
	}
	switch kind {
	case "f2", "f4", "f8":
		a.of = float(int(kind[1]-'0'), order)
		return nil
	case "":
		return fmt.Errorf("its header has the type %q", s)
	}
	if kind[0] == 'O' {
		return errors.New("an object array: it holds pickled Python objects, which are not read, since reading them " +
			"runs what they hold; save an array of float32")
	}
	what := kinds[kind[0]]
	if what == "" {
		what = "a type that is not read"
	}
	return fmt.Errorf("it holds %s (%s), want float16, float32 or float64", what, strconv.Quote(s))
}
