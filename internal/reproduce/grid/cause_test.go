package grid

import (
	"testing"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		fits       bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"*", "", true}, {"*", "a/b", true},
		{"a*", "ab", true}, {"a*", "ba", false},
		{"*b", "ab", true}, {"*b", "aba", false}, {"a*b*c", "aXbYbc", true},
		{"a*b*c", "acb", false}, {"K = *", "K = 5", true},
	} {
		if got := glob(c.pattern, c.s); got != c.fits {
			t.Errorf("glob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}
