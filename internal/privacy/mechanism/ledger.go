package mechanism

import (
	"errors"
	"fmt"

	"privrec/internal/privacy"
)

// Marked refuses a ledger whose mark is not that of the noise: secure noise in a
// research ledger would be honest, but a reader could no longer tell from the mark
// which noise a run had.
func Marked(l *privacy.Ledger, secret bool) error {
	noise := privacy.Research
	if secret {
		noise = privacy.Secure
	}
	if l == nil {
		return errors.New("no ledger, so no noise")
	}
	if l.Noise() != noise {
		return fmt.Errorf("this sampler gives noise marked %q and the ledger promises %q", noise, l.Noise())
	}
	return nil
}

// Research refuses a missing ledger and one that promises secure noise.
func Research(purpose string, l *privacy.Ledger) error {
	if err := Marked(l, false); err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	return nil
}
