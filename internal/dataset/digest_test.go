package dataset

import (
	"strconv"
	"testing"
)

// splitLog is a log of user, item and part.
func splitLog(rows ...[3]int) *Log {
	b := Builder{name: "split"}
	for _, r := range rows {
		b.UserOf = append(b.UserOf, b.Users.ID([]byte(strconv.Itoa(r[0]))))
		b.ItemOf = append(b.ItemOf, b.Items.ID([]byte(strconv.Itoa(r[1]))))
		b.Parts = append(b.Parts, Part(r[2]))
	}
	return b.Log("")
}

// The digest is of the rows and their parts, in any order, and of nothing else.
func TestDigest(t *testing.T) {
	base := [][3]int{{1, 1, 0}, {1, 2, 0}, {1, 3, 2}, {2, 1, 0}, {2, 3, 2}}
	want := splitLog(base...).Digest()
	for _, c := range []struct {
		name string
		rows [][3]int
		same bool
	}{
		{"the same", base, true},
		{"another order of rows", [][3]int{{1, 3, 2}, {1, 2, 0}, {1, 1, 0}, {2, 3, 2}, {2, 1, 0}}, true},
		{"another order of users", [][3]int{{2, 1, 0}, {2, 3, 2}, {1, 1, 0}, {1, 2, 0}, {1, 3, 2}}, true},
		{"parts reshuffled within a user", [][3]int{{1, 1, 2}, {1, 2, 0}, {1, 3, 0}, {2, 1, 0}, {2, 3, 2}}, false},
		{"items exchanged between users", [][3]int{{1, 1, 0}, {1, 2, 0}, {1, 1, 2}, {2, 3, 0}, {2, 3, 2}}, false},
		{"another item", [][3]int{{1, 1, 0}, {1, 4, 0}, {1, 3, 2}, {2, 1, 0}, {2, 3, 2}}, false},
		{"a row less", base[:4], false},
		{"a row twice", append(base[:5:5], base[0]), false},
		{"two rows twice", append(base[:5:5], base[0], base[0]), false}, // an exclusive or would not see them
		{"digits moved from user to item", [][3]int{{11, 1, 0}, {1, 2, 0}, {1, 3, 2}, {2, 1, 0}, {2, 3, 2}}, false},
	} {
		if got := splitLog(c.rows...).Digest(); (got == want) != c.same || len(got) != 64 {
			t.Errorf("%s: %s, the original %s", c.name, got, want)
		}
	}
	if a, b := splitLog([3]int{1, 12, 0}).Digest(), splitLog([3]int{11, 2, 0}).Digest(); a == b {
		t.Error("ids run into each other")
	}
	if got := logOf([4]int{1, 1, 1, 1}).Digest(); got != "" {
		t.Errorf("a log without parts has the digest %s", got)
	}
}
