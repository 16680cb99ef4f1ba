package format

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"privrec/internal/dataset"
)

// maxDepth is the largest nesting depth of arrays and objects in one line.
const maxDepth = 64

// jsonLine reads one line that must be one JSON object. It builds only the requested values: most of a review is text
// that no reader needs.
type jsonLine struct {
	b  []byte
	at int
}

// members sets raw[i] to the bytes of the value of wanted[i] as they are in the line, or to nil if the object lacks it.
// It checks that the whole line is JSON. The slices are valid until the next line.
func (in *Input) members(line []byte, wanted []string, raw [][]byte) error {
	clear(raw)
	p := jsonLine{b: line}
	p.space()
	if !p.eat('{') {
		return in.Fail("", "not a JSON object: "+dataset.Quote(line),
			"each line of this file is one object between { and }")
	}
	p.space()
	if !p.eat('}') {
		for {
			p.space()
			key, ok := p.text()
			if !ok {
				return in.badJSON(&p, "a name between quotes")
			}
			p.space()
			if !p.eat(':') {
				return in.badJSON(&p, "a colon")
			}
			p.space()
			from := p.at
			if !p.value(0) {
				return in.badJSON(&p, "a value")
			}
			if i := indexBytes(wanted, key); i >= 0 {
				if raw[i] != nil {
					return in.Fail(wanted[i], "is twice in one object", "")
				}
				raw[i] = p.b[from:p.at]
			}
			p.space()
			if p.eat('}') {
				break
			}
			if !p.eat(',') {
				return in.badJSON(&p, "a comma or }")
			}
		}
	}
	p.space()
	if p.at < len(p.b) {
		return in.badJSON(&p, "the end of the line")
	}
	return nil
}

// indexBytes returns the index of a quoted name. It does not find names with escapes, which no format here has.
func indexBytes(names []string, quoted []byte) int {
	inner := quoted[1 : len(quoted)-1]
	return slices.IndexFunc(names, func(n string) bool { return n == string(inner) })
}

func (in *Input) badJSON(p *jsonLine, want string) error {
	if p.at >= len(p.b) {
		return in.Fail("", "JSON object ends too early, "+want+" should follow", "the line is short; was the file cut?")
	}
	return in.Fail("", "not JSON: "+want+" should stand at byte "+strconv.Itoa(p.at+1)+", got "+
		dataset.Quote(p.b[p.at:]), "")
}

func (p *jsonLine) space() {
	for p.at < len(p.b) && (p.b[p.at] == ' ' || p.b[p.at] == '\t' || p.b[p.at] == '\r') {
		p.at++
	}
}

func (p *jsonLine) eat(c byte) bool {
	if p.at < len(p.b) && p.b[p.at] == c {
		p.at++
		return true
	}
	return false
}

// text reads past a string and returns it with its quotes and escapes.
func (p *jsonLine) text() ([]byte, bool) {
	from := p.at
	if !p.eat('"') {
		return nil, false
	}
	for p.at < len(p.b) {
		c := p.b[p.at]
		switch {
		case c == '"':
			p.at++
			return p.b[from:p.at], true
		case c < ' ':
			return nil, false
		case c == '\\':
			if !p.escape() {
				return nil, false
			}
		default:
			p.at++
		}
	}
	return nil, false
}

func (p *jsonLine) escape() bool {
	rest := p.b[p.at+1:]
	switch {
	case len(rest) > 0 && bytes.IndexByte([]byte(`"\/bfnrt`), rest[0]) >= 0:
		p.at += 2
		return true
	case len(rest) > 4 && rest[0] == 'u':
		for _, c := range rest[1:5] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return false
			}
		}
		p.at += 6
		return true
	}
	return false
}

// value reads past any value.
func (p *jsonLine) value(depth int) bool {
	if p.at >= len(p.b) || depth >= maxDepth {
		return false
	}
	switch c := p.b[p.at]; {
	case c == '"':
		_, ok := p.text()
		return ok
	case c == '{' || c == '[':
		return p.nested(c, depth)
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(p.b[p.at:], []byte(word)) {
			p.at += len(word)
			return true
		}
	}
	return false
}

// nested reads past an object or array with the first byte open.
func (p *jsonLine) nested(open byte, depth int) bool {
	end := open + 2 // '{' and '}', '[' and ']' lie two apart
	p.at++
	p.space()
	if p.eat(end) {
		return true
	}
	for {
		p.space()
		if open == '{' {
			if _, ok := p.text(); !ok {
				return false
			}
			p.space()
			if !p.eat(':') {
				return false
			}
			p.space()
		}
		if !p.value(depth + 1) {
			return false
		}
		p.space()
		if p.eat(end) {
			return true
		}
		if !p.eat(',') {
			return false
		}
	}
}

func (p *jsonLine) number() bool {
	p.eat('-')
	if !p.eat('0') && !p.digits() {
		return false
	}
	if p.eat('.') && !p.digits() {
		return false
	}
	if p.eat('e') || p.eat('E') {
		if !p.eat('+') {
			p.eat('-')
		}
		return p.digits()
	}
	return true
}

func (p *jsonLine) digits() bool {
	from := p.at
	for p.at < len(p.b) && p.b[p.at] >= '0' && p.b[p.at] <= '9' {
		p.at++
	}
	return p.at > from
}

// JSONText returns the text of a string value. It fails on any other value.
func (in *Input) JSONText(field string, raw []byte) ([]byte, error) {
	switch {
	case raw == nil:
		return nil, in.Fail(field, "missing from the object", "")
	case raw[0] != '"':
		return nil, in.Fail(field, "not a text: "+dataset.Quote(raw), "")
	}
	b := raw[1 : len(raw)-1]
	if bytes.IndexByte(b, '\\') >= 0 {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, in.Fail(field, "not a text: "+dataset.Quote(raw), "")
		}
		b = []byte(s)
	}
	for _, c := range b {
		if c < ' ' {
			return nil, in.Fail(field, "control character in "+dataset.Quote(b), "")
		}
	}
	return b, nil
}

// JSONID returns the text of an id, like JSONText.
func (in *Input) JSONID(field string, raw []byte) ([]byte, error) {
	b, err := in.JSONText(field, raw)
	if err != nil {
		return nil, err
	}
	return in.Token(field, b)
}

// JSONNumber returns the digits of a number. It fails on any other value.
func (in *Input) JSONNumber(field string, raw []byte) ([]byte, error) {
	switch {
	case raw == nil:
		return nil, in.Fail(field, "missing from the object", "")
	case raw[0] != '-' && (raw[0] < '0' || raw[0] > '9'):
		return nil, in.Fail(field, "not a number: "+dataset.Quote(raw), "")
	}
	return raw, nil
}

// EachObject calls row for every remaining line, read as a JSON object, with the values of wanted.
func (in *Input) EachObject(wanted []string, row func(raw [][]byte) error) error {
	raw := make([][]byte, len(wanted))
	for {
		line, err := in.line()
		if err != nil {
			return ignoreEOF(err)
		}
		if err := in.members(line, wanted, raw); err != nil {
			return err
		}
		if err := row(raw); err != nil {
			return err
		}
	}
}
