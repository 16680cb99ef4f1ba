package imported_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIDsThatMostlyDoNotMatch refuses files of which only a few ids are written in one way: an attack on these few would
// say that lists give nothing away.
func TestIDsThatMostlyDoNotMatch(t *testing.T) {
	const users, items = 10, 12
	write := func(dir, name, head string, of, n, shift int, as func(u, i int) (string, string)) string {
		var b strings.Builder
		b.WriteString(head + "\n")
		for u := of; u < of+users; u++ {
			for k := range n {
				user, item := as(u, (u+k+shift)%items)
				fmt.Fprintf(&b, "%s\t%s\t%d\n", user, item, k+1)
			}
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	same := func(u, i int) (string, string) { return fmt.Sprintf("u%d", u), fmt.Sprintf("i%d", i) }
	otherItems := func(all bool) func(u, i int) (string, string) {
		return func(u, i int) (string, string) {
			if all || i > 0 {
				return fmt.Sprintf("u%d", u), fmt.Sprintf("I%d", i)
			}
			return same(u, i)
		}
	}
	otherUsers := func(u, i int) (string, string) {
		if u > 0 {
			return fmt.Sprintf("U%d", u), fmt.Sprintf("i%d", i)
		}
		return same(u, i)
	}
	for _, test := range []struct {
		name         string
		lists, other func(u, i int) (string, string)
		want         string
	}{
		{"the same ids", same, same, ""},
		{"items of lists", otherItems(false), same, "rows of lists hold items of no other file"},
		{"users of lists", otherUsers, same, "users have a list"},
		{"items of non-members", same, otherItems(true), "40 of 40 rows of non-members hold items that no training row has"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			recs := write(dir, "recs.tsv", "user_id\titem_id\trank", 0, 4, 4, test.lists)
			train := write(dir, "train.tsv", "user_id\titem_id\ttimestamp", 0, 4, 0, same)
			others := write(dir, "others.tsv", "user_id\titem_id\ttimestamp", 100, 4, 0, test.other)
			_, _, err := start(t, "import lists", exported{recs: recs, train: train, nonMembers: others}.sets()...)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
