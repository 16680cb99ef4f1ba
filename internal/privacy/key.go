package privacy

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// Key makes the checks of a ledger ones that only its holders can compute. Without
// one they show accidents alone: everybody can compute them again for changed lines.
type Key struct {
	secret []byte
	id     string
}

// minKey and maxKey bound a key, in bytes.
const (
	minKey = 16
	maxKey = 1 << 16
)

var (
	// ErrNoKey is returned for a keyed ledger that is opened without a key.
	ErrNoKey = errors.New("it was written under a key")
	// ErrWrongKey is returned for a ledger of another key.
	ErrWrongKey = errors.New("it was written under another key")
	// ErrUnkeyed is returned for a ledger without a key that is opened with one.
	ErrUnkeyed = errors.New("it was written without a key: its checks show accidents, not changes on purpose")
)

// NewKey takes a secret of 16 bytes to 64 KiB.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) < minKey || len(secret) > maxKey {
		return nil, fmt.Errorf("a ledger key of %d bytes, want %d to %d", len(secret), minKey, maxKey)
	}
	k := &Key{secret: append([]byte{}, secret...)}
	k.id = hex.EncodeToString(k.sum([]byte("privrec ledger key id")))[:chainSize]
	return k, nil
}

// ReadKey reads a key from a file: all bytes of it, a line break at its end included.
func ReadKey(path string) (*Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("ledger key: %w", err)
	}
	defer f.Close()
	secret, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return nil, fmt.Errorf("ledger key: %w", err)
	}
	k, err := NewKey(secret)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

// ID tells keys apart without giving them away: 16 hex digits.
func (k *Key) ID() string {
	if k == nil {
		return ""
	}
	return k.id
}

// Opens reports ErrNoKey, ErrWrongKey or ErrUnkeyed for a ledger file that k, nil for
// none, is not the key of. Whatever else is wrong with the file, and its absence, are
// found by reading it.
func (k *Key) Opens(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := readLine(bufio.NewReader(f))
	if err != nil {
		return nil
	}
	for _, refused := range []error{ErrNoKey, ErrWrongKey, ErrUnkeyed} {
		if _, err := parseHeader(k, text); errors.Is(err, refused) {
			return fmt.Errorf("ledger: %s: line 1: %w", path, err)
		}
	}
	return nil
}

func (k *Key) sum(text []byte) []byte {
	var h hash.Hash
	if k == nil {
		h = sha256.New()
	} else {
		h = hmac.New(sha256.New, k.secret)
	}
	h.Write(text)
	return h.Sum(nil)
}

// digits is the length of a check, in hex digits. To guess one of a key must be
// beyond reach, not only unlikely.
func (k *Key) digits() int {
	if k == nil {
		return chainSize
	}
	return 2 * chainSize
}

// opens reports whether a ledger whose header names a key, or none, is one of k's.
func (k *Key) opens(id string) error {
	switch {
	case id == k.ID():
		return nil
	case id == "":
		return ErrUnkeyed
	case k == nil:
		return fmt.Errorf("%w (%s)", ErrNoKey, clipID(id))
	}
	return fmt.Errorf("%w (%s, not %s)", ErrWrongKey, clipID(id), k.id)
}

func clipID(id string) string { return fmt.Sprintf("%.*s", chainSize, id) }
