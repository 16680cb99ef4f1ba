package privacy

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// headerLine is the first line of a ledger file. Every line ends in a check of its text and of the
// check before it, and so of all earlier lines.
type headerLine struct {
	Ledger string `json:"ledger"`
	Noise  Noise  `json:"noise"`
	Key    string `json:"key,omitempty"` // the ID of the ledger key
}

// endLine closes a ledger. A file without one was cut, or its run has not ended.
type endLine struct {
	End struct {
		Entries int `json:"entries"`
	} `json:"end"`
}

// endPrefix begins the closing line, and no other line.
var endPrefix = []byte(`{"end":`)

const (
	version    = "privrec/2"
	oldVersion = "privrec/1" // the same without a closing line

	chainPrefix = `,"chain":"`
	chainSize   = 16 // hex digits, without a key
)

// Seal is what the closing line of a ledger says: the number of entries, and the last check.
type Seal struct {
	Entries int    `json:"entries"`
	Chain   string `json:"chain"`
}

// String returns the seal as one phrase.
func (s Seal) String() string {
	if s.Entries == 1 {
		return "1 entry, the last check " + s.Chain
	}
	return fmt.Sprintf("%d entries, the last check %s", s.Entries, s.Chain)
}

// seal appends the check to a marshalled line. It returns the line, with its newline, and the new
// check.
func seal(k *Key, prev string, body []byte) (line []byte, chain string) {
	open := body[:len(body)-1] // without the brace
	chain = hex.EncodeToString(k.sum(append([]byte(prev), open...)))[:k.digits()]
	line = append(append([]byte{}, open...), chainPrefix+chain+"\"}\n"...)
	return line, chain
}

// unseal compares the check of a line (without newline) with the line and the check before it. It
// returns the body of the line.
func unseal(k *Key, prev string, line []byte) (body []byte, chain string, err error) {
	tail := len(chainPrefix) + k.digits() + len(`"}`)
	if len(line) < tail+2 {
		return nil, "", errors.New("not a ledger line")
	}
	body = append(append([]byte{}, line[:len(line)-tail]...), '}')
	sealed, chain := seal(k, prev, body)
	if !bytes.Equal(bytes.TrimSuffix(sealed, []byte("\n")), line) {
		return nil, "", errors.New("its check does not match: the line, or one before it, was changed or lost")
	}
	return body, chain, nil
}

// header is the first line of a ledger.
type header struct {
	version string
	noise   Noise
	key     *Key
}

func (h header) line() (line []byte, chain string) {
	body, err := json.Marshal(headerLine{h.version, h.noise, h.key.ID()})
	if err != nil {
		panic(err) // strings
	}
	return seal(h.key, "", body)
}

// parseHeader reads the first line of a ledger that was written under a ledger key, nil for none.
func parseHeader(k *Key, line []byte) (header, error) {
	i := bytes.LastIndex(line, []byte(chainPrefix))
	if i < 1 {
		return header{}, errors.New("not a ledger header: not a ledger line")
	}
	var raw headerLine
	if err := strict(append(bytes.Clone(line[:i]), '}'), &raw); err != nil {
		return header{}, fmt.Errorf("not a ledger header: %w", err)
	}
	h := header{raw.Ledger, raw.Noise, k}
	if h.version != version && h.version != oldVersion {
		return header{}, fmt.Errorf("ledger version %q, want %q or %q", raw.Ledger, version, oldVersion)
	}
	if err := h.noise.Validate(); err != nil {
		return header{}, fmt.Errorf("ledger: %w", err)
	}
	if err := k.opens(raw.Key); err != nil {
		return header{}, err
	}
	if _, _, err := unseal(k, "", line); err != nil {
		return header{}, fmt.Errorf("not a ledger header: %w", err)
	}
	if again, _ := h.line(); !bytes.Equal(again[:len(again)-1], line) {
		return header{}, errors.New("header not in canonical form")
	}
	return h, nil
}

// line is a line of a ledger after the first: a release, a statement or the end.
type line struct {
	text    []byte // with its newline
	chain   string
	entry   Entry
	holding *Holding
	public  *Assumption
	end     bool
	count   int // of entries, that the end states
}

// release reports whether a line lists releases.
func (x line) release() bool { return x.holding == nil && x.public == nil && !x.end }

// open reports whether a line lists releases of the open period. A later line replaces it.
func (x line) open() bool { return x.release() && x.entry.Period == underWay }

// sealing makes lines, each with a check that follows the one before.
type sealing struct {
	key   *Key
	chain string
	lines []line
}

// add seals a marshalled line.
func (s *sealing) add(x line, body []byte, err error) error {
	if err != nil {
		return err
	}
	x.text, s.chain = seal(s.key, s.chain, body)
	x.chain = s.chain
	s.lines = append(s.lines, x)
	return nil
}

// parseLine checks and reads a line (without newline) that follows the check prev.
func (h header) parseLine(prev string, text []byte) (l line, err error) {
	body, chain, err := unseal(h.key, prev, text)
	if err != nil {
		return l, err
	}
	l = line{text: append(bytes.Clone(text), '\n'), chain: chain}
	switch {
	case bytes.HasPrefix(body, holdingPrefix):
		held, err := parseHolding(body)
		l.holding = &held
		return l, err
	case bytes.HasPrefix(body, assumptionPrefix):
		public, err := parseAssumption(body)
		l.public = &public
		return l, err
	case bytes.HasPrefix(body, endPrefix) && h.version == version:
		l.end = true
		l.count, err = parseEnd(body)
	default:
		l.entry, err = parseEntry(body)
	}
	return l, err
}

func marshalEnd(entries int) ([]byte, error) {
	var e endLine
	e.End.Entries = entries
	return json.Marshal(e)
}

func parseEnd(body []byte) (entries int, err error) {
	var raw endLine
	if err := strict(body, &raw); err != nil {
		return 0, err
	}
	again, err := marshalEnd(raw.End.Entries)
	if err == nil && !bytes.Equal(again, body) {
		err = errors.New("not in canonical form")
	}
	return raw.End.Entries, err
}
