package mechanism

import (
	"strings"

	"privrec/internal/rng"
)

// containsAll reports whether s has all of the parts.
func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// meter counts the words that are read.
type meter struct {
	src rng.Source
	n   int
}

func (m *meter) Uint64() uint64 {
	m.n++
	return m.src.Uint64()
}
