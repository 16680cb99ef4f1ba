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

// TestWarnings: where half of the rows of lists or more hold items of no other file, or scores rise with the rows, the
// result says so itself: in metrics.json with the data, and first among the notes, of attacks too.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, head string, row func(u, k int) string) string {
		text := head + "\n"
		for u := range 12 {
			for k := range 4 {
				text += fmt.Sprintf("u%d\t%s\n", u, row(u, k))
			}
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	known := func(u, k int) string { return fmt.Sprintf("i%d", (u+k)%9) }
	train := write("train.tsv", "user_id\titem_id", known)
	half := write("half.tsv", "user_id\titem_id\trank", func(u, k int) string {
		return fmt.Sprintf("%s%s\t%d", []string{"", "x"}[k%2], known(u, k+4), k+1)
	})
	quarter := write("quarter.tsv", "user_id\titem_id\trank", func(u, k int) string {
		return fmt.Sprintf("%s%s\t%d", []string{"", "", "", "x"}[k], known(u, k+4), k+1)
	})
	rising := write("rising.tsv", "user_id\titem_id\tscore", func(u, k int) string { return fmt.Sprintf("%s\t%g", known(u, k+4), 0.5*float64(k*k)) })
	for _, test := range []struct{ recs, want, not string }{
		{half, "warning: 50.0 % of the rows of lists (24 of 48)", "listed items are in no other file"},
		{quarter, "", "warning"},
		{rising, "warning: the scores of every list rise with the rows of the file", "of the rows of lists"},
	} {
		run, text := must(t, "import lists", exported{recs: test.recs, train: train}.sets()...)
		metrics, err := os.ReadFile(filepath.Join(run, "metrics.json"))
		if err != nil {
			t.Fatal(err)
		}
		attacked, attack := must(t, "attack exposure", append(exported{recs: test.recs, train: train}.files(), "data.slate=3", "data.behaviour=2", "train.epochs=1", "attack.dim=8", "attack.ffn=8", "eval.k=[3]")...)
		found, err := os.ReadFile(filepath.Join(attacked, "metrics.json"))
		if err != nil {
			t.Fatal(err)
		}
		for where, text := range map[string]string{"metrics.json": string(metrics), "the result": text, "the attack": attack, "metrics.json of the attack": string(found)} {
			if !strings.Contains(text, test.want) || strings.Contains(text, test.not) {
				t.Errorf("%s: %s says %s, want %q and no %q", test.recs, where, text, test.want, test.not)
			}
		}
	}
}
