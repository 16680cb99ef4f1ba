package mechanismtest

import (
	"testing"

	"privrec/internal/privacy"
)

// LedgerFor opens a ledger that promises the given noise.
func LedgerFor(t testing.TB, noise privacy.Noise) *privacy.Ledger {
	t.Helper()
	l, err := privacy.NewLedger(noise)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Ledger opens a research ledger.
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

// SecureLedger opens a secure ledger.
func SecureLedger(t testing.TB) *privacy.Ledger {
	t.Helper()
	return LedgerFor(t, privacy.Secure)
}
