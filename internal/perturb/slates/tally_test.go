package slates

import (
	"strings"
	"testing"
)

// The most slates of one user are known of any number of users in order, and of few in
// none.
func TestUserTally(t *testing.T) {
	for name, c := range map[string]struct {
		users string
		most  int64
		known bool
	}{
		"in order of bytes":  {"a a b c c c c d e f", 4, true},
		"in order of size":   {"1 2 2 3 9 9 9 10 11 100", 3, true},
		"few in no order":    {"d a d b d a", 3, true},
		"many, grouped":      {"z z y x w v", 0, false},
		"many in no order":   {"a b c d e a", 0, false},
		"many after few":     {"b a b c d e", 0, false},
		"in neither order":   {"1 10 2 11 12", 0, false},
		"as many as fit":     {"d c b a d", 2, true},
		"a user comes again": {"a b a", 2, true},
	} {
		u := Users{Room: 4}
		for _, id := range strings.Fields(c.users) {
			u.Add([]byte(id))
		}
		if n, known := u.Most(); known != c.known || known && n != c.most {
			t.Errorf("%s: %d, %v, want %d, %v", name, n, known, c.most, c.known)
		}
	}
}

// A slate that comes again is found among the last half of its room, and nothing else is taken
// for one; where ids ascend none can come again.
func TestSlateTally(t *testing.T) {
	for name, c := range map[string]struct {
		keys            string
		again, complete bool
	}{
		"another user's":  {"a.1 b.1 c.1", false, true},
		"shifted":         {"a.bc ab.c", false, true},
		"next":            {"a.1 a.1", true, true},
		"later":           {"a.1 a.2 b.7 b.6 a.1", true, true},
		"half a room off": {"a.9 a.8 a.7 a.6 a.5 b.4 b.3 b.2 b.1 b.4", true, false},
		"in order":        {"a.1 a.2 a.3 b.1 b.2 b.3 b.9 b.10 c.1 c.2 c.3 c.4 c.5 d.1", false, true},
		"in no order":     {"a.14 a.13 a.12 a.11 a.10 a.9 a.8 a.7 a.6 a.5 a.4 a.3 a.2 a.1", false, false},
		"forgotten":       {"a.14 a.13 a.12 a.11 a.10 a.9 a.8 a.7 a.6 a.5 a.4 a.3 a.2 a.14", false, false},
	} {
		s := slateTally{room: 8}
		again := false
		for _, key := range strings.Fields(c.keys) {
			user, id, _ := strings.Cut(key, ".")
			again = !s.add([]byte(user), []byte(id)) || again
		}
		if again != c.again || s.complete() != c.complete {
			t.Errorf("%s: again %v, complete %v", name, again, s.complete())
		}
	}
}
