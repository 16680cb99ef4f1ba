package mechanismtest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// LedgerFor returns a new ledger in memory with the given noise.
func LedgerFor(t testing.TB, noise privacy.Noise) *privacy.Ledger {
	t.Helper()
	l, err := privacy.NewLedger(noise)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Ledger returns a new research ledger.
func Ledger(t testing.TB) *privacy.Ledger {
	t.Helper()
	return LedgerFor(t, privacy.Research)
}

// CountOf returns the number of releases in a ledger.
func CountOf(l *privacy.Ledger) (n int64) {
	for _, e := range l.Entries() {
		n += e.Count
	}
	return n
}

// SecureLedger returns a new secure ledger.
func SecureLedger(t testing.TB) *privacy.Ledger {
	t.Helper()
	return LedgerFor(t, privacy.Secure)
}

// Must returns a, and panics on an error, for tests.
func Must[A any](a A, err error) A {
	if err != nil {
		panic(err)
	}
	return a
}

// Golden holds a value of testdata and how close ours must be.
type Golden struct {
	Fn     string         `json:"fn"`
	Params map[string]any `json:"params"`
	Value  float64        `json:"value"`
	RelTol float64        `json:"rel_tol"`
	AbsTol float64        `json:"abs_tol"`
}

// Number returns a parameter that is a number, 0 if there is none.
func (g Golden) Number(name string) float64 { v, _ := g.Params[name].(float64); return v }

// Word returns a parameter that is a word, "" if there is none.
func (g Golden) Word(name string) string { s, _ := g.Params[name].(string); return s }

// ChaCha returns a good generator with a fixed key, so that tests are repeatable.
func ChaCha(key byte) rng.Source { return rand.NewChaCha8([32]byte{key}) }

// ContainsAll reports whether s contains all parts.
func ContainsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// UpTo returns 0, 1, ..., n-1.
func UpTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}
