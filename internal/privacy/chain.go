package privacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"privrec/internal/privacy/chain"
)

// headerLine is the first line of a ledger file. Every line ends with a checksum over its own text and the previous
// checksum, so it covers all earlier lines.
type headerLine struct {
	Ledger string `json:"ledger"`
	Noise  Noise  `json:"noise"`
	Key    string `json:"key,omitempty"` // the ID of the ledger key
}

// endLine is the last line of a ledger file and closes it. A file without one was cut off, or its run has not ended.
type endLine struct {
	End struct {
		Entries int `json:"entries"`
	} `json:"end"`
}

// endPrefix is the beginning of the closing line, and of no other line.
var endPrefix = []byte(`{"end":`)

const (
	version    = "privrec/2"
	oldVersion = "privrec/1" // the same format without a closing line
)

// Seal holds the contents of a ledger's closing line: the number of entries and the last checksum.
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

// header is the first line of a ledger.
type header struct {
	version string
	noise   Noise
	key     *Key
}

func (h header) line() (line []byte, check string) {
	body, err := json.Marshal(headerLine{h.version, h.noise, h.key.ID()})
	if err != nil {
		panic(err) // strings
	}
	return h.key.form().Seal("", body)
}

// parseHeader reads the first line of a ledger that was written under key k; nil means without a key.
func parseHeader(k *Key, line []byte) (header, error) {
	body, ok := k.form().Unkeyed(line)
	if !ok {
		return header{}, errors.New("not a ledger header: not a ledger line")
	}
	var raw headerLine
	if err := strict(body, &raw); err != nil {
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
	if _, _, err := k.form().Open("", line); err != nil {
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
	count   int // number of entries, as the closing line states it
}

// release reports whether a line lists releases.
func (x line) release() bool { return x.holding == nil && x.public == nil && !x.end }

// open reports whether a line lists releases of the open period. A later line replaces it.
func (x line) open() bool { return x.release() && x.entry.Period == underWay }

// noisy returns how many releases with noise a line lists.
func (x line) noisy() int64 {
	if _, open := AsUnprotected(x.entry.Event); !x.release() || open {
		return 0
	}
	return x.entry.Count
}

// sealing collects sealed lines. Each line's checksum covers the one before.
type sealing struct {
	key   *Key
	chain string
	lines []line
}

// add seals a marshalled line and appends it.
func (s *sealing) add(x line, body []byte, err error) error {
	if err != nil {
		return err
	}
	x.text, s.chain = s.key.form().Seal(s.chain, body)
	x.chain = s.chain
	s.lines = append(s.lines, x)
	return nil
}

// parseLine parses a line (without newline) and verifies its checksum against prev, the checksum of the line before.
func (h header) parseLine(prev string, text []byte) (l line, err error) {
	body, check, err := h.key.form().Open(prev, text)
	if err != nil {
		return l, err
	}
	l = line{text: append(bytes.Clone(text), '\n'), chain: check}
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
	err = chain.Read(body, &raw)
	return raw.End.Entries, err
}

// underWay is the period name of provisional lines. It is no longer than real names of periods, so that the final lines
// of a period overwrite its provisional lines.
const underWay = "now"
