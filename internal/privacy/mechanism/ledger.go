package mechanism

import (
	"errors"
	"fmt"

	"privrec/internal/privacy"
)

// Marked fails on a ledger whose mark is not that of the noise. Secure noise in a research
// ledger would be safe, but a reader could not tell from the mark which noise a run had.
func Marked(l *privacy.Ledger, secret bool) error {
	noise := privacy.Research
	if secret {
		noise = privacy.Secure
	}
	if l == nil {
		return errors.New("no ledger, so no noise")
	}
	if l.Noise() != noise {
		return fmt.Errorf("this sampler draws %q, but the ledger promises %q", noise, l.Noise())
	}
	return nil
}

// Research fails on a missing ledger and on one that promises secure noise.
func Research(purpose string, l *privacy.Ledger) error {
	if err := Marked(l, false); err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	return nil
}
