package mechanismtest

import (
	"math/rand/v2"
	"strings"

	"privrec/internal/rng"
)

// ChaCha returns a good generator with a fixed key, so that tests repeat.
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
