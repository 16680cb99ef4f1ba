package pld

import "privrec/internal/privacy/accountant/terms"

// Supports reports the first term that has no bracket. It computes nothing else.
func Supports(ts []terms.Term) error {
	_, err := build(ts)
	return err
}
