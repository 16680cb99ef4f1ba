package privacy

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"privrec/internal/privacy/chain"
)

// Key holds the secret of a ledger. Only its holders can compute the checksums of lines. Without a key the checksums
// reveal accidental changes only, because anyone can recompute them for changed lines.
type Key struct {
	secret []byte
	id     string
}

// minKey and maxKey bound the length of a secret, in bytes.
const (
	minKey = 16
	maxKey = 1 << 16
)

var (
	// ErrNoKey is returned for a keyed ledger that is opened without a ledger key.
	ErrNoKey = errors.New("it was written under a key")
	// ErrWrongKey is returned for a ledger that was written under another ledger key.
	ErrWrongKey = errors.New("it was written under another key")
	// ErrUnkeyed is returned for a ledger without a ledger key that is opened with one.
	ErrUnkeyed = errors.New("it was written without a key: its checks show accidents, not changes on purpose")
)

// NewKey returns a ledger key made from a secret of 16 bytes to 64 KiB.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) < minKey || len(secret) > maxKey {
		return nil, fmt.Errorf("a ledger key of %d bytes, want %d to %d", len(secret), minKey, maxKey)
	}
	k := &Key{secret: append([]byte{}, secret...)}
	k.id = hex.EncodeToString(chain.Sum(k.secret, []byte("privrec ledger key id")))[:chain.Digits]
	return k, nil
}

// ReadKey reads a ledger key from a file. All bytes of the file are the secret, with a line break
// at its end.
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

// ID returns 16 hex digits that identify the ledger key without revealing its secret; "" for no key.
func (k *Key) ID() string {
	if k == nil {
		return ""
	}
	return k.id
}

// Opens returns ErrNoKey, ErrWrongKey or ErrUnkeyed if the ledger file was written under another key than k; a nil k
// means no key. It ignores all other faults, such as a missing file; reading the ledger reports those.
func (k *Key) Opens(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := chain.ReadLine(bufio.NewReader(f))
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

// opens returns an error unless k has the ID that a ledger's header names; "" means no key.
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

func clipID(id string) string { return fmt.Sprintf("%.*s", chain.Digits, id) }

// form returns how the lines of a ledger are sealed under key k, or without a key if k is nil.
func (k *Key) form() chain.Form {
	f := chain.Form{Name: "chain"}
	if k != nil {
		f.Secret = k.secret
	}
	return f
}
