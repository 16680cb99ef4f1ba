package privacy

import (
	"fmt"
	"math"
	"unicode/utf8"
)

func text(name, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s %q is not UTF-8", name, s)
	}
	return nil
}

func atLeast(name string, v, least int64) error {
	if v < least {
		return fmt.Errorf("%s is %d, want at least %d", name, v, least)
	}
	return nil
}

func first(kind string, errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// positive returns an error unless v is positive and finite.
func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s is %v, want positive and finite", name, v)
	}
	return nil
}

// maxLabel bounds the period and the purpose of an entry, in bytes.
const maxLabel = 1 << 10

func label(name, s string) error {
	if len(s) > maxLabel {
		return fmt.Errorf("%s has %d bytes, want at most %d", name, len(s), maxLabel)
	}
	return text(name, s)
}
