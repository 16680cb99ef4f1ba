package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Forgotten lists users whose rows are left out of data as if they had never been there: before any filter, count or
// draw. It holds the ForgottenID of each, so that a configuration that forgets users does not name them.
type Forgotten []string

// ForgottenID returns the name under which the user with an id is forgotten: half of the SHA-256 of the id, as 32
// hexadecimal digits. It hides an id from a glance only: whoever guesses the id can check the guess.
func ForgottenID(user string) string {
	h := sha256.Sum256([]byte("privrec: forgotten user\n" + user))
	return hex.EncodeToString(h[:16])
}

// Check returns an error for a name that ForgottenID does not return.
func (f Forgotten) Check() error {
	for _, name := range f {
		if b, err := hex.DecodeString(name); err != nil || len(b) != 16 || strings.ToLower(name) != name {
			return fmt.Errorf("dataset: %q is not 32 hexadecimal digits in lower case", name)
		}
	}
	return nil
}

// With returns the list with more users, given by their ids: ascending and without repeats.
func (f Forgotten) With(ids ...string) Forgotten {
	out := slices.Clone(f)
	for _, id := range ids {
		out = append(out, ForgottenID(id))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Among returns which of the users with some ids are forgotten.
func (f Forgotten) Among(ids []string) []bool {
	names := make(map[string]bool, len(f))
	for _, name := range f {
		names[name] = true
	}
	gone := make([]bool, len(ids))
	for u, id := range ids {
		gone[u] = names[ForgottenID(id)]
	}
	return gone
}

// Stated returns a list of users that was stated beforehand without those who are forgotten; nil for nil.
func (f Forgotten) Stated(s *Stated) *Stated {
	if s == nil || len(f) == 0 {
		return s
	}
	gone := f.Among(s.Names)
	out := *s
	out.Names = nil
	for u, id := range s.Names {
		if !gone[u] {
			out.Names = append(out.Names, id)
		}
	}
	return &out
}
